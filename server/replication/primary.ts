/** The primary's side of replication: identity, offset, backlog, the replicas that follow, and the stream fed to them. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import { type Client, REPLICA_LINK } from '../clients/client.ts';
import { snapshot } from '../data/snapshot.ts';
import type { Statistics } from '../figures/statistics.ts';
import { GATE_MIN_REPLICAS } from '../gates.ts';
import { Beat } from '../host/beat.ts';
import type { Timer } from '../host/host.ts';
import type { Effect, StreamObserver } from '../ports.ts';
import { Backlog } from './backlog.ts';
import type { FailoverNode } from './failover.ts';
import { Coordinator } from './failover.ts';
import type { Follower } from './follower.ts';
import { SyncQueue } from './sync-queue.ts';

/** The id of a stream that no node has. */
export const NO_ID = '0'.repeat(40);

/** The node, as its replication sees it. */
interface PrimaryNode extends FailoverNode {
  /** True while effects are to be handed to `feed`. */
  readonly effects: { feeding: boolean };
  randomHex(digits: number): Bytes;
}

export class Replication {
  readonly #server: PrimaryNode;
  /** The id of the stream we produce or follow, and the one before a promotion with the offset up to which it is ours. */
  id: Bytes;
  secondId: Bytes = NO_ID;
  secondOffset = -1;
  /** Bytes of the stream produced or applied. */
  offset = 0;
  backlog: Backlog | undefined;
  readonly followers = new Map<Client, Follower>();
  // The database that the stream's reader has selected; -1: it must be told.
  #selected = -1;
  readonly #heartbeat: Beat;
  #pingDueAt: Millis = 0;
  #release: Timer | undefined;
  readonly #queue: SyncQueue;
  readonly #observers: StreamObserver[] = [];
  /** The backlog is kept even without replicas (the lab reads it). */
  keepsBacklog = false;
  /** FAILOVER, while it is under way. */
  readonly failover: Coordinator;
  /** Called when an acknowledgement arrives or a follower leaves. */
  onAcknowledged: () => void = () => {};

  constructor(server: PrimaryNode) {
    this.#server = server;
    this.id = server.randomHex(40);
    this.#heartbeat = new Beat(server, () => this.#beat());
    this.failover = new Coordinator(server);
    this.#queue = new SyncQueue(server, (client) => this.#resyncWhole(client));
  }

  /** How replicas came by the dataset. */
  get counters(): Statistics['syncs'] {
    return this.#server.stats.syncs;
  }

  /** The entry of a client that speaks REPLCONF or PSYNC. */
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
        acknowledgedAt: this.#server.now,
        capabilities: new Set(),
        silent: false,
      };
      this.followers.set(client, follower);
    }
    return follower;
  }

  /** The followers that receive the stream. */
  online(): Follower[] {
    return [...this.followers.values()].filter(({ state }) => state === 'online');
  }

  /** Where a follower listens, as far as is known. */
  addressOf({ address, client }: Follower): Bytes {
    return address === '' ? (client.connection?.remote ?? '').replace(/:\d+$/, '') : address;
  }

  /** The follower that listens there. */
  find(host: Bytes, port: number): Follower | undefined {
    return this.online().find((each) => each.port === port && this.addressOf(each) === host);
  }

  /** Tells the observer of everything that enters the stream from now on. */
  observe(observer: StreamObserver): void {
    this.#observers.push(observer);
    this.follow();
  }

  /** Takes the effects of one execution unit into the stream. */
  feed(effects: readonly Effect[], atomic: boolean): void {
    if (this.backlog !== undefined) {
      let bytes = '';
      // The first effect's database is selected before MULTI, as Redis does.
      if (atomic) bytes += this.#select(effects[0]!.db) + encodeRequest(['MULTI']);
      for (const { db, argv } of effects) bytes += this.#select(db) + encodeRequest(argv);
      if (atomic) bytes += encodeRequest(['EXEC']);
      this.feedBytes(bytes);
    }
    for (const observer of this.#observers) observer.effects?.(effects, atomic);
  }

  /** What tells the stream's reader to change to the database; nothing where it is there already. */
  #select(db: number): Bytes {
    if (db === this.#selected) return '';
    this.#selected = db;
    return encodeRequest(['SELECT', String(db)]);
  }

  /** Takes raw bytes into the stream: our own, or those of the primary that we pass on. */
  feedBytes(bytes: Bytes): void {
    for (const observer of this.#observers) observer.bytes?.(bytes);
    this.offset += bytes.length;
    this.backlog?.append(bytes);
    for (const follower of this.followers.values()) {
      if (follower.state === 'online') follower.client.output.write(bytes);
    }
  }

  /** Asks every follower to acknowledge at once, through the stream. */
  askForAcknowledgement(): void {
    if (this.online().length > 0) this.feedBytes(encodeRequest(['REPLCONF', 'GETACK', '*']));
  }

  /** Our primary's stream goes on under another id: the old one stays valid up to here. */
  rename(id: Bytes): void {
    this.secondId = this.id;
    this.secondOffset = this.offset + 1;
    this.id = id;
    for (const { client } of this.online()) client.abort();
  }

  /** PSYNC: resumes where the replica left off when the backlog allows, else sends everything. */
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

  /** Sends the dataset as an RDB, and then the stream. */
  sendDataset(client: Client): void {
    this.#server.stats.syncs.full++;
    this.#ensureBacklog();
    // Nobody knows which database the newcomer's stream has selected: the next effect says so.
    this.#selected = -1;
    const rdb = snapshot(this.#server);
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
    follower.acknowledgedAt = this.#server.now;
    client.mark(REPLICA_LINK, true);
    this.#startHeartbeat();
    this.#release?.cancel();
    this.refreshGate();
  }

  #ensureBacklog(): void {
    if (this.backlog !== undefined) return;
    // A new history: a replica that followed before there was a backlog cannot resume in it.
    this.id = this.#server.randomHex(40);
    this.secondId = NO_ID;
    this.secondOffset = -1;
    this.backlog = new Backlog(this.offset, this.#server.settings['repl-backlog-size']);
    this.#selected = -1;
    this.follow();
  }

  /** Lets the node's effects flow into the stream, if anybody may ever read it and it is ours to write. */
  follow(): void {
    const server = this.#server;
    const heard = this.backlog !== undefined || this.#observers.length > 0;
    server.effects.feeding = heard && server.role === 'primary';
  }

  /** The replica's connection is gone. */
  forget(client: Client): void {
    if (!this.followers.delete(client)) return;
    this.#queue.forget(client);
    this.#releaseBacklogLater();
    this.refreshGate();
    this.onAcknowledged();
  }

  acknowledge(client: Client, offset: number, synced: number | undefined): void {
    const follower = this.followers.get(client);
    if (follower === undefined) return;
    follower.acknowledged = Math.max(follower.acknowledged, offset);
    if (synced !== undefined) follower.synced = Math.max(follower.synced, synced);
    follower.acknowledgedAt = this.#server.now;
    this.onAcknowledged();
    // Later: a hand-over resets connections, this one among them.
    if (this.failover.state === 'waiting-for-sync')
      this.#server.host.clock.soon(() => this.failover.review());
  }

  /** Followers that have applied the stream up to the offset. */
  countAcknowledged(offset: number): number {
    return this.online().filter(({ acknowledged }) => acknowledged >= offset).length;
  }

  /** Followers that have made the stream durable up to the offset. */
  countSynced(offset: number): number {
    return this.online().filter(({ synced }) => synced >= offset).length;
  }

  /** Seconds since the follower last acknowledged. */
  lag(follower: Follower): number {
    return Math.floor(this.#server.now / 1000) - Math.floor(follower.acknowledgedAt / 1000);
  }

  /** Whether so many followers are near enough that writes may be taken. */
  enoughReplicas(): boolean {
    const { settings } = this.#server;
    const good = this.online().filter((follower) => this.lag(follower) <= settings['min-replicas-max-lag']);
    return good.length >= settings['min-replicas-to-write'];
  }

  /** From now on the stream is our primary's, which we pass on. */
  becomeReplica(): void {
    this.backlog ??= new Backlog(this.offset, this.#server.settings['repl-backlog-size']);
    this.follow();
  }

  /** Follows the settings. */
  configure(): void {
    if (this.backlog !== undefined) this.backlog.capacity = this.#server.settings['repl-backlog-size'];
    this.#releaseBacklogLater();
    this.refreshGate();
  }

  /** A primary that nobody has followed for repl-backlog-ttl gives its backlog up, and with it its history. */
  #releaseBacklogLater(): void {
    this.#release?.cancel();
    const server = this.#server;
    const { clock } = server.host;
    const ttl = server.settings['repl-backlog-ttl'];
    if (ttl === 0 || this.backlog === undefined || this.keepsBacklog || this.#isFollowed()) return;
    // Redis looks once a second, for more than so many seconds.
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

  /** Makes the node ask before writes exactly while min-replicas-to-write is set. */
  refreshGate(): void {
    const { settings } = this.#server;
    this.#server.gate(
      GATE_MIN_REPLICAS,
      settings['min-replicas-to-write'] > 0 && settings['min-replicas-max-lag'] > 0,
    );
  }

  /** A promotion: the old id stays valid up to here, and a new history begins. */
  beginHistory(): void {
    this.secondId = this.id;
    this.secondOffset = this.offset + 1;
    this.id = this.#server.randomHex(40);
    this.#selected = -1;
    this.follow();
    this.#releaseBacklogLater();
  }

  /** What the replica's stream has selected is unknown to us once it is our own stream again. */
  adopt(id: Bytes, offset: number): void {
    this.id = id;
    this.offset = offset;
    this.secondId = NO_ID;
    this.secondOffset = -1;
    this.backlog = new Backlog(offset, this.#server.settings['repl-backlog-size']);
    this.follow();
    for (const observer of this.#observers) observer.replaced?.();
  }

  #startHeartbeat(): void {
    if (this.#heartbeat.running) return;
    const { host, settings } = this.#server;
    this.#pingDueAt = host.clock.now() + settings['repl-ping-replica-period'] * 1000;
    this.#heartbeat.start();
  }

  // Once a second while anybody follows: PING into the stream when due, and drop followers that fell silent.
  #beat(): void {
    if (this.followers.size === 0) {
      this.#heartbeat.stop();
      return;
    }
    const server = this.#server;
    server.unit(() => {
      if (
        server.role === 'primary' &&
        server.now >= this.#pingDueAt &&
        this.online().length > 0 &&
        !this.failover.holdsStream
      ) {
        this.#pingDueAt = server.now + server.settings['repl-ping-replica-period'] * 1000;
        this.feedBytes(encodeRequest(['PING']));
      }
      for (const follower of this.online()) {
        if (!follower.silent && this.lag(follower) > server.settings['repl-timeout']) follower.client.abort();
      }
    });
    server.settle();
  }

  /** Lets go of timers. */
  stop(): void {
    this.#heartbeat.stop();
    this.#release?.cancel();
    this.#queue.stop();
    this.failover.stop();
  }
}
