/** A node of a cluster: a server whose requests are routed by slot, and that talks to the other nodes on the bus. */
import type { Keyspace } from '../keyspace/keyspace.ts';
import type { Bytes, Millis } from '../protocol/bytes.ts';
import { OK, type Reply, ReplyError } from '../protocol/reply.ts';
import {
  ASKING,
  type Client,
  IN_MULTI,
  PRIMARY_LINK,
  READS_REPLICAS,
  SCRIPT,
  type Transaction,
} from '../server/clients/client.ts';
import type { Connection, Host, PendingConnection, Receiver } from '../server/host/host.ts';
import type { Membership } from '../server/membership.ts';
import { dial } from '../server/replication/dial.ts';
import { replicateFrom } from '../server/replication/role.ts';
import type { Server } from '../server/server.ts';
import { type Command, WRITE } from '../server/table/command.ts';
import type { Outcome } from '../server/table/outcome.ts';
import { Cluster } from './cluster.ts';
import { runClusterCommand } from './commands/run.ts';
import { readSetSlot, setSlotTimeout } from './commands/slots.ts';
import { continueHandover, continueTakeover } from './election.ts';
import { broadcast } from './gossip.ts';
import { updateState } from './health.ts';
import { ClusterHeartbeat } from './heartbeat.ts';
import { BusLink, type LinkOwner } from './link.ts';
import type { Member, MemberLink } from './member.ts';
import type { BusMessage } from './message.ts';
import { SlotMoves } from './moving/moves.ts';
import { replicationPort } from './ports.ts';
import { receive } from './receive.ts';
import { errorOf, namesKeys, type Redirect, redirectBlocked, route } from './routing.ts';
import { endSubscriptions } from './slot-keys.ts';

/** The error of SETSLOT when not all replicas have acknowledged it in time. */
const TOO_FEW = 'NOREPLICAS Not enough good replicas to write.';

/** A node's part in a cluster. */
export class ClusterNode implements Membership, LinkOwner<Member> {
  readonly cluster: Cluster;
  /** The moves of slots in which this node takes part. */
  readonly moves: SlotMoves;
  readonly #server: Server;
  readonly #heartbeat: ClusterHeartbeat;
  /** The slot of the keys that a client's request has named so far, its scripts' calls included. */
  readonly #slots = new WeakMap<Client, number>();
  /** True when a request has run and the state was not judged since. A reshard sends thousands of requests in one event. */
  #isDue = false;
  #stopped = false;

  /** @param id the node's id: 40 hexadecimal digits */
  constructor(server: Server, id: Bytes) {
    this.#server = server;
    this.cluster = new Cluster(server, id);
    this.moves = new SlotMoves(this.cluster, (work) => this.enter(work));
    this.#heartbeat = new ClusterHeartbeat(this.cluster, this);
    const onFailed = (member: Member): void => this.#tellFailure(member);
    const onMoved = (member: Member): void => this.#followMoved(member);
    const onBeat = (): void => {
      redirectBlocked(this.cluster);
      this.moves.beat();
    };
    const onSlotLost = (slot: number): void => endSubscriptions(this.cluster, slot);
    this.cluster.onFailed = onFailed;
    this.cluster.onMoved = onMoved;
    this.cluster.onBeat = onBeat;
    this.cluster.onSlotLost = onSlotLost;
  }

  get host(): Host {
    return this.#server.host;
  }

  get now(): Millis {
    return this.cluster.now;
  }

  /** Begins to talk to the other nodes. The node should listen by then, because it announces its ports. */
  start(): void {
    this.cluster.followSettings();
    this.cluster.due.state = true;
    this.#heartbeat.start();
  }

  stop(): void {
    this.#stopped = true;
    this.#heartbeat.stop();
    this.moves.stop();
    for (const link of [...this.cluster.links]) this.cluster.unlink(link);
  }

  /** Takes a connection to the port of the bus. Returns undefined for one that is refused. */
  accept(connection: Connection): Receiver | undefined {
    if (this.#stopped) {
      connection.abort();
      return undefined;
    }
    const link = BusLink.accepted<Member>(this, connection);
    this.cluster.links.add(link);
    return link;
  }

  // The bus

  dial(
    { ip, busPort }: Member,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): PendingConnection | undefined {
    const withTls = this.#server.settings['tls-cluster'];
    return dial(this.host, withTls, { host: ip, port: busPort }, receiver, opened);
  }

  enter(work: () => void): void {
    if (this.#stopped) return;
    this.#server.unit(() => {
      work();
      this.#finish();
    });
    this.#server.settle();
  }

  /** Does what became due during an event, as Redis does before it sleeps. */
  #finish(): void {
    const { cluster } = this;
    if (cluster.due.handover && cluster.myself.isReplica) continueHandover(cluster);
    if (cluster.due.takeover && cluster.myself.isReplica) continueTakeover(cluster);
    if (cluster.due.state) updateState(cluster);
    this.moves.review();
    if (!cluster.due.store) return;
    cluster.due.store = false;
    cluster.store();
  }

  received(link: MemberLink, message: BusMessage, size: number): void {
    receive(this.cluster, link, message, size);
  }

  ended(link: MemberLink): void {
    const { dialled } = link;
    this.cluster.unlink(link);
    if (dialled !== undefined && dialled.pingSentAt === 0) dialled.pingSentAt = this.now;
  }

  #tellFailure({ id }: Member): void {
    if (this.cluster.myself.isPrimary) broadcast(this.cluster, 'fail', { about: id });
  }

  #followMoved(member: Member): void {
    if (this.cluster.myself.primary !== member) return;
    replicateFrom(this.#server, member.ip, replicationPort(this.cluster.server, member));
  }

  // What the server asks

  ownSlots(): [first: number, last: number][] {
    return (
      (this.cluster.myself.isReplica ? this.cluster.myself.primary : this.cluster.myself)?.slots.ranges() ??
      []
    );
  }

  takes(client: Client, command: Command, argv: Bytes[]): boolean {
    const move = this.moves.importOf(client);
    if (move === undefined || command.fullName.startsWith('cluster')) return false;
    move.keep(argv);
    return true;
  }

  refusal(client: Client, command: Command, argv: readonly Bytes[], writes: boolean): ReplyError | undefined {
    this.#slots.delete(client);
    if (client.has(PRIMARY_LINK) || !namesKeys(command)) return undefined;
    const { cluster } = this;
    const queue = this.#queueOf(client);
    const { slot, redirect } = route(cluster, {
      command,
      argv,
      queue,
      writes,
      states: client.state,
      db: client.db,
    });
    if (slot !== undefined) this.#slots.set(client, slot);
    const moves = redirect?.why === 'ask' || redirect?.why === 'unstable';
    const isQueued = client.has(IN_MULTI) && command.name !== 'exec';
    if (moves && isQueued && this.#server.dialect.cluster.queuesForMovingSlots) return undefined;
    if (redirect === undefined) this.#server.observer.usage?.charge(client, slot);
    return redirect && errorOf(cluster, redirect, client);
  }

  /** The commands whose keys EXEC looks at. */
  #queueOf({ transaction, watches }: Client): Transaction['queue'] | undefined {
    if (transaction === undefined || this.#server.dialect.cluster.routesSpoiltTransactions) {
      return transaction?.queue;
    }
    return transaction.aborted || watches.touched ? undefined : transaction.queue;
  }

  refusalInScript(
    caller: Client,
    db: Keyspace,
    command: Command,
    argv: readonly Bytes[],
    crosses: boolean,
  ): ReplyError | undefined {
    if (caller.has(PRIMARY_LINK)) return undefined;
    const { usage } = this.#server.observer;
    usage?.chargeInScript(caller, undefined);
    if (!namesKeys(command)) return undefined;
    if (command.name === 'msetex' && this.#server.dialect.cluster.msetexAnywhere !== 'nowhere')
      return undefined;
    const states = caller.state & (READS_REPLICAS | ASKING);
    const writes = (command.bits & WRITE) !== 0;
    const { slot, redirect } = route(this.cluster, { command, argv, queue: undefined, writes, states, db });
    if (redirect !== undefined) return this.#elsewhere(redirect.why, command);
    usage?.chargeInScript(caller, slot);
    if (crosses || slot === undefined) return undefined;
    const before = this.#slots.get(caller);
    if (before === undefined) this.#slots.set(caller, slot);
    if ((before ?? slot) === slot) return undefined;
    return new ReplyError('ERR Script attempted to access keys that do not hash to the same slot');
  }

  /** The error for a script whose call cannot run on this node. */
  #elsewhere(why: Redirect['why'], { fullName }: Command): ReplyError {
    const { scriptTexts } = this.#server.dialect.cluster;
    const [who, what, write] =
      scriptTexts === 'without the word script'
        ? ['Can not execute', `a command '${fullName}'`, `a write command '${fullName}'`]
        : ['Script attempted to execute', 'a command', 'a write command'];
    if (why === 'down') return new ReplyError(`ERR ${who} ${what} while the cluster is down`);
    if (why === 'read only') {
      return new ReplyError(`ERR ${who} ${write} while the cluster is down and readonly`);
    }
    if (scriptTexts === 'without the word script')
      return new ReplyError('ERR Attempted to access a non local key in a cluster node');
    if (scriptTexts === 'one for each') {
      if (why === 'unserved') return new ReplyError('ERR Script attempted to access a slot not served');
      if (why === 'cross slot') {
        const what = `Command '${fullName}' in script attempted to access keys`;
        return new ReplyError(`ERR ${what} that don't hash to the same slot`);
      }
    }
    return new ReplyError('ERR Script attempted to access a non local key in a cluster node');
  }

  run(client: Client, subcommand: Bytes, argv: readonly Bytes[]): Outcome {
    this.cluster.followSettings(); // CONFIG SET may have changed what the node announces.
    this.#isDue = true;
    const replicates = subcommand === 'setslot' && this.#server.dialect.cluster.replicatesSetSlot;
    return replicates && !client.has(PRIMARY_LINK) && this.cluster.myself.replicas.length > 0
      ? this.#setSlotBehindReplicas(client, argv)
      : runClusterCommand(this.moves, subcommand, argv, client);
  }

  /**
   * SETSLOT of Valkey on a primary: its replicas hear of the step first, and it is taken once all of them have acknowledged it.
   * In a transaction or a script, where Valkey ends with a failed assertion, it is taken at once. Replicas before Valkey 8, which
   * name no version, do not count.
   */
  #setSlotBehindReplicas(client: Client, argv: readonly Bytes[]): Outcome {
    const { effects, replication, waiting } = this.#server;
    const read = (): (() => void) => readSetSlot(this.cluster, argv, false, this.moves);
    const act = read();
    const timeout = setSlotTimeout(client, argv);
    const wanted = replication.online().filter(({ version }) => /^([89]|\d\d)/.test(version)).length;
    if (wanted > 0) effects.propagate(client, argv, 'replicas');
    if (wanted === 0 || client.has(IN_MULTI | SCRIPT)) {
      act();
      return OK;
    }
    const behind = replication.offset + 1;
    const ready = (): Reply | undefined => {
      if (replication.countAcknowledged(behind) < wanted) return undefined;
      this.#isDue = true;
      try {
        read()();
        return OK;
      } catch (error) {
        if (error instanceof ReplyError) return error;
        throw error;
      }
    };
    return waiting.wait(client, timeout, ready, () => new ReplyError(TOO_FEW));
  }

  settle(): void {
    if (!this.#isDue || this.#stopped) return;
    this.#isDue = false;
    this.#server.unit(() => this.#finish());
  }

  holdMoves(step: 'pause' | 'failover', holds: boolean): void {
    this.cluster.heldMoves[step] = holds;
  }

  get introduction(): readonly (readonly Bytes[])[] {
    if (!this.#server.dialect.cluster.passesOn) return [];
    return [['REPLCONF', 'set-cluster-node-id', this.cluster.myself.id]];
  }

  get isNeeded(): boolean {
    const { myself } = this.cluster;
    return myself.isPrimary && myself.slots.size > 0;
  }

  passOn(): Bytes | undefined {
    const { myself } = this.cluster;
    if (!myself.isPrimary) return undefined;
    const { replication, effects, databases } = this.#server;
    const heirs = replication.online().flatMap((follower) => {
      const member = myself.replicas.find(({ id }) => id === follower.nodeId);
      return member === undefined ? [] : [{ member, offset: follower.acknowledged }];
    });
    const [heir] = heirs.sort((a, b) => b.offset - a.offset);
    if (heir === undefined) return undefined;
    const { id } = heir.member;
    effects.propagateOwn(databases[0]!, ['CLUSTER', 'FAILOVER', 'FORCE', 'REPLICAID', id]);
    return id;
  }

  areTogether(slot: number, other: number): boolean {
    return this.cluster.owners[slot] === this.cluster.owners[other];
  }

  publish(channel: Bytes, text: Bytes, sharded: boolean): void {
    const { cluster } = this;
    if (!sharded) broadcast(cluster, 'publish', { channel, text });
    else {
      const head = cluster.myself.head;
      const to = head === undefined ? [] : [head, ...head.replicas];
      broadcast(cluster, 'publishshard', { channel, text, to });
    }
  }

  get connections(): number {
    return (this.cluster.members.size - 1) * 2;
  }

  get linkBytes(): number {
    let bytes = 0;
    for (const link of this.cluster.links) bytes += link.pending;
    return bytes;
  }
}
