/** The primary's side of replication: id, offset, backlog, the replicas, and the stream that they are sent. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { type Client, REPLICA_LINK } from '../clients/client.ts';
import { snapshot } from '../data/snapshot.ts';
import type { Statistics } from '../figures/statistics.ts';
import { Beat } from '../host/beat.ts';
import type { Timer } from '../host/host.ts';
import { type Durability, type Effect, isStored, type StreamObserver } from '../ports.ts';
import { Backlog } from './backlog.ts';
import type { FailoverNode } from './failover.ts';
import { Coordinator } from './failover.ts';
import { type Follower, lagsBehind } from './follower.ts';
import { GoodReplicas } from './good-replicas.ts';
import { Pings } from './pings.ts';
import { SyncQueue } from './sync-queue.ts';

/** A replication id that no node has. */
export const NO_ID = '0'.repeat(40);

/** The node, as its replication sees it. */
interface PrimaryNode extends FailoverNode {
  readonly durability: Durability | undefined;
  /** True while effects must be handed to `feed`. */
  readonly effects: { feeding: boolean };
  randomHex(digits: number): Bytes;
}

/**
 * A node's replication stream and its replicas
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/).
 */
export class Replication {
  readonly #server: PrimaryNode;
  /**
   * The id of the stream that this node produces or follows. `secondId` is the id before a promotion, valid up to
   * `secondOffset`.
   */
  id: Bytes;
  secondId: Bytes = NO_ID;
  secondOffset = -1;
  /** The length of the stream in bytes, as produced or applied by this node. */
  offset = 0;
  backlog: Backlog | undefined;
  downtime: Millis = 0;
  readonly good: GoodReplicas;
  readonly followers = new Map<Client, Follower>();
  // The database that the stream has selected; -1: unknown, so the next effect starts with SELECT.
  #selected = -1;
  readonly #heartbeat: Beat;
  readonly #pings: Pings;
  #release: Timer | undefined;
  /** True once the server stops: replicas that leave after that start no timer, which would keep all its data. */
  #isStopped = false;
  readonly #queue: SyncQueue;
  readonly #observers: StreamObserver[] = [];
  /** True if the backlog is kept even without replicas, as the lab requires. */
  keepsBacklog = false;
  /** The FAILOVER in progress, if any. */
  readonly failover: Coordinator;
  /** Called when an acknowledgement arrives, and when a follower comes or leaves. */
  onAcknowledged: () => void = () => {};

  constructor(server: PrimaryNode) {
    this.#server = server;
    this.id = server.randomHex(40);
    this.#pings = new Pings(server);
    this.good = new GoodReplicas(server, this);
    this.#heartbeat = new Beat(server, () => this.#beat());
    this.failover = new Coordinator(server);
    this.#queue = new SyncQueue(server, (client) => this.#resyncWhole(client));
  }

  /** The numbers of full and partial resyncs. */
  get counters(): Statistics['syncs'] {
    return this.#server.stats.syncs;
  }

  /** Returns the entry of a client that sends REPLCONF or PSYNC, and creates it if it is missing. */
  follower(client: Client): Follower {
    let follower = this.followers.get(client);
    if (follower === undefined) {
      follower = {
        client,
        state: 'handshake',
        port: 0,
        address: '',
        acknowledged: 0,
        synced: 0,
        acknowledgedAt: this.#server.host.clock.now(),
        capabilities: new Set(),
        leavesOut: new Set(),
        version: '',
        nodeId: undefined,
        silent: false,
      };
      this.followers.set(client, follower);
    }
    return follower;
  }

  /** The replicas that receive the stream. */
  online(): Follower[] {
    return [...this.followers.values()].filter(({ state }) => state === 'online');
  }

  /** Returns the address on which a replica listens: the one that it announced, else the one of its connection. */
  addressOf({ address, client }: Follower): Bytes {
    return address === '' ? (client.connection?.remote ?? '').replace(/:\d+$/, '') : address;
  }

  /** Returns the replica that listens at this address; undefined if there is none. */
  find(host: Bytes, port: number): Follower | undefined {
    return this.online().find((each) => each.port === port && this.addressOf(each) === host);
  }

  /** Registers an observer for everything that enters the stream from now on. */
  observe(observer: StreamObserver): void {
    this.#observers.push(observer);
    this.follow();
  }

  /** Takes an observer away. */
  unobserve(observer: StreamObserver): void {
    this.#observers.splice(this.#observers.indexOf(observer), 1);
    this.follow();
  }

  /**
   * Appends the effects of one execution unit to the stream.
   * @param atomic wrap them in MULTI and EXEC
   * @param limited whether some do not go to replicas
   */
  feed(all: readonly Effect[], atomic: boolean, limited = false): void {
    const server = this.#server;
    server.durability?.record(all, atomic, this.#isHeard);
    if (server.role === 'replica') return;
    const effects = limited ? all.filter(({ to }) => to !== 'disk') : all;
    if (effects.length === 0) return;
    if (this.backlog !== undefined) {
      let bytes = '';
      const selectsFirst = this.#server.dialect.transactionSelect === 'before MULTI';
      if (atomic) bytes += (selectsFirst ? this.#select(effects[0]!.db) : '') + encodeRequest(['MULTI']);
      for (const { db, argv } of effects) bytes += this.#select(db) + encodeRequest(argv);
      if (atomic) bytes += encodeRequest(['EXEC']);
      server.observer.usage?.replicated(effects, atomic, this.online().length);
      this.feedBytes(bytes);
    } else if (server.durability?.recording && server.dialect.offsetWithoutReplicas === 'counts effects') {
      const stored = effects.filter(isStored).length;
      this.offset += stored + (atomic && stored > 1 ? 2 : 0);
    }
    for (const observer of [...this.#observers]) observer.effects?.(effects, atomic);
  }

  get #isHeard(): boolean {
    return this.backlog !== undefined || this.#observers.length > 0;
  }

  /** Returns the SELECT for a change of database; empty if the stream has already selected it. */
  #select(db: number): Bytes {
    if (db === this.#selected) return '';
    this.#selected = db;
    return encodeRequest(['SELECT', String(db)]);
  }

  /** Appends raw bytes to the stream: this node's own, or the primary's bytes, which are passed on. */
  feedBytes(bytes: Bytes): void {
    for (const observer of this.#observers) observer.bytes?.(bytes);
    this.offset += bytes.length;
    this.#pings.grew();
    this.backlog?.append(bytes);
    for (const follower of this.followers.values()) {
      if (follower.state === 'online') follower.client.output.write(bytes);
    }
  }

  /** Asks every replica, through the stream, to acknowledge at once. */
  askForAcknowledgement(): void {
    if (this.backlog !== undefined) this.feedBytes(encodeRequest(['REPLCONF', 'GETACK', '*']));
    else if (this.#server.dialect.offsetWithoutReplicas === 'counts effects') {
      this.offset++;
      this.#pings.grew();
    }
  }

  /** The primary's stream continues under another id. The old id stays valid up to the current offset. */
  rename(id: Bytes): void {
    this.secondId = this.id;
    this.secondOffset = this.offset + 1;
    this.id = id;
    for (const { client } of this.online()) client.abort();
  }

  /**
   * PSYNC: resumes the replica's stream if the backlog allows it, else sends the whole dataset.
   * @param id the replication id that the replica knows
   * @param from the offset of the first byte that the replica lacks
   */
  synchronize(client: Client, id: Bytes, from: number): void {
    const rest = this.#resumable(id, from) ? this.backlog?.from(from) : undefined;
    if (rest !== undefined) {
      this.#server.stats.syncs.partial++;
      this.#enlist(client);
      const id = this.follower(client).capabilities.has('psync2') ? ` ${this.id}` : '';
      client.output.write(`+CONTINUE${id}\r\n${rest}`);
      return;
    }
    if (id !== '?') this.#server.stats.syncs.refused++;
    this.#queue.add(client);
  }

  #resyncWhole(client: Client): void {
    this.#ensureBacklog();
    client.output.write(`+FULLRESYNC ${this.id} ${this.offset}\r\n`);
    this.sendDataset(client);
  }

  /** Sends the dataset as an RDB, then the stream. */
  sendDataset(client: Client): void {
    this.#server.stats.syncs.full++;
    this.#ensureBacklog();
    // The new replica's stream has no database selected, so the next effect must start with SELECT.
    this.#selected = -1;
    const rdb = snapshot(this.#server, 'dump', this.follower(client).leavesOut);
    client.output.write(`$${rdb.length}\r\n${rdb}`);
    this.#enlist(client);
  }

  #resumable(id: Bytes, from: number): boolean {
    if (id === this.id) return true;
    return id === this.secondId && from <= this.secondOffset;
  }

  #enlist(client: Client): void {
    const follower = this.follower(client);
    follower.state = 'online';
    follower.acknowledgedAt = this.#server.host.clock.now();
    client.mark(REPLICA_LINK, true);
    this.#startHeartbeat();
    this.#release?.cancel();
    this.good.refresh();
    this.onAcknowledged();
  }

  #ensureBacklog(): void {
    if (this.backlog !== undefined) return;
    // Starts a new history: a replica that followed before the backlog existed cannot resume.
    this.id = this.#server.randomHex(40);
    this.secondId = NO_ID;
    this.secondOffset = -1;
    this.backlog = new Backlog(this.offset, this.#server.settings['repl-backlog-size']);
    this.#selected = -1;
    this.follow();
  }

  /**
   * Turns the recording of effects on if the node is a primary whose stream has a reader, a backlog or an observer, or if
   * writes are stored on a disk.
   */
  follow(): void {
    const server = this.#server;
    server.effects.feeding =
      (this.#isHeard && server.role === 'primary') || server.durability?.recording === true;
  }

  /** Removes a replica whose connection is closed. */
  forget(client: Client): void {
    if (!this.followers.delete(client)) return;
    this.#queue.forget(client);
    this.#releaseBacklogLater();
    this.good.refresh();
    this.onAcknowledged();
  }

  /**
   * Notes a replica's REPLCONF ACK.
   * @param offset the offset that the replica has applied
   * @param synced the offset that the replica has on its disk; undefined if it did not say
   */
  acknowledge(client: Client, offset: number, synced: number | undefined): void {
    const follower = this.followers.get(client);
    if (follower === undefined) return;
    follower.acknowledged = Math.max(follower.acknowledged, offset);
    if (synced !== undefined) follower.synced = Math.max(follower.synced, synced);
    follower.acknowledgedAt = this.#server.host.clock.now();
    this.onAcknowledged();
    // In a later turn: a handover resets connections, including this one.
    if (this.failover.state === 'waiting-for-sync')
      this.#server.host.clock.soon(() => this.failover.review());
  }

  /** Returns how many replicas have applied the stream up to the offset. */
  countAcknowledged(offset: number): number {
    return this.online().filter(({ acknowledged }) => acknowledged >= offset).length;
  }

  /** Returns how many replicas have the stream on their disk up to the offset. */
  countSynced(offset: number): number {
    return this.online().filter(({ synced }) => synced >= offset).length;
  }

  /** Called when the node becomes a replica: the stream is the primary's from now on, and is passed on. */
  becomeReplica(): void {
    this.#pings.grew();
    this.follow();
    for (const observer of this.#observers) observer.roleChanged?.('replica');
  }

  /** Keeps a backlog from here on, if there is none: the node resumes a primary's stream, or belongs to a lab. */
  keepBacklog(): void {
    this.backlog ??= new Backlog(this.offset, this.#server.settings['repl-backlog-size']);
    this.follow();
  }

  configure(): void {
    if (this.backlog !== undefined) this.backlog.capacity = this.#server.settings['repl-backlog-size'];
    this.#releaseBacklogLater();
    this.good.refresh();
  }

  /** Drops the backlog, and with it the history, when a primary has had no replica for `repl-backlog-ttl` seconds. */
  #releaseBacklogLater(): void {
    this.#release?.cancel();
    const server = this.#server;
    const { clock } = server.host;
    const ttl = server.settings['repl-backlog-ttl'];
    if (this.#isStopped || ttl === 0 || this.backlog === undefined || this.keepsBacklog || this.#isFollowed())
      return;
    // Redis checks once a second whether more than that many seconds have passed.
    this.#release = clock.at(clock.now() + (ttl + 1) * 1000, () => {
      if (this.#isFollowed()) return;
      this.backlog = undefined;
      this.id = server.randomHex(40);
      this.secondId = NO_ID;
      this.secondOffset = -1;
      this.follow();
    });
  }

  #isFollowed(): boolean {
    return this.#server.role !== 'primary' || this.online().length > 0;
  }

  /** Called on promotion: starts a new history. The old id stays valid up to the current offset. */
  beginHistory(): void {
    this.secondId = this.id;
    this.secondOffset = this.offset + 1;
    this.id = this.#server.randomHex(40);
    this.#selected = -1;
    this.follow();
    this.#releaseBacklogLater();
    for (const observer of this.#observers) observer.roleChanged?.('primary');
  }

  /** Takes over the id and offset of a dataset that was loaded from the primary. The backlog starts empty. */
  adopt(id: Bytes, offset: number): void {
    this.id = id;
    this.offset = offset;
    this.secondId = NO_ID;
    this.secondOffset = -1;
    this.backlog = new Backlog(offset, this.#server.settings['repl-backlog-size']);
    this.follow();
    for (const observer of this.#observers) observer.replaced?.();
    this.#server.durability?.replaced();
  }

  #startHeartbeat(): void {
    if (this.#heartbeat.running) return;
    this.#pings.begin(this.#server.host.clock.now());
    this.#heartbeat.start();
  }

  // Runs once a second while there are replicas: adds a PING to the stream when due, and drops silent replicas.
  #beat(): void {
    if (this.followers.size === 0) {
      this.#heartbeat.stop();
      return;
    }
    const server = this.#server;
    server.unit(() => {
      if (
        server.role === 'primary' &&
        this.#pings.due &&
        this.online().length > 0 &&
        !this.failover.holdsStream
      ) {
        this.#pings.begin(server.now);
        this.feedBytes(encodeRequest(['ping']));
      }
      for (const follower of this.online()) {
        const isGone = lagsBehind(server, follower, server.settings['repl-timeout']);
        if (!follower.silent && isGone) follower.client.abort();
      }
      this.good.refresh();
    });
    server.settle();
  }

  stop(): void {
    this.#isStopped = true;
    this.#heartbeat.stop();
    this.#release?.cancel();
    this.#queue.stop();
    this.failover.stop();
  }
}
