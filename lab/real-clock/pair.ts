/**
 * A primary and its replicas on the real clock, over TCP, with those controls of the virtual pair that make sense
 * there.
 */

import { badOption, checkFlag, checkInteger, checkString } from '../../base/options.ts';
import type { Timeline } from '../../page/format.ts';
import { fromText } from '../../protocol/bytes.ts';
import { nodeClock } from '../../server/host/node.ts';
import type { LockAccount } from '../account/account.ts';
import { checkLocks, holdersOf, type LockHolder, type LockOverlap, overlapsIn } from '../account/queries.ts';
import { checkMillis } from '../checks.ts';
import type { Redis, RedisOptions } from '../ioredis-types.ts';
import type { Link } from '../links/link.ts';
import type { RestartOptions } from '../replica-group/dialects.ts';
import { checkPort, checkSets, nodeNames, refuseVirtual, type Starter } from '../replica-group/layout.ts';
import { obstacle } from '../replica-group/obstacle.ts';
import { FAILOVER_PARTY, type Failover, type FailoverOptions } from '../replica-group/replica-group.ts';
import { type SentinelChoice, SentinelGroup } from '../replica-group/sentinels.ts';
import type { Write } from '../replica-group/write-log.ts';
import { spanText } from '../timeline/plot.ts';
import { type RealClockTimelineNotes, realClockAccount, realClockTimeline } from '../timeline/real-clock.ts';
import { noteIn, toldStory } from '../timeline/told.ts';
import type { IoredisConstructor } from '../virtual/client.ts';
import { RealClockClients } from './clients.ts';
import { ANYBODY, type RealClockEndpoint } from './endpoint.ts';
import type { Entrance } from './entrance.ts';
import { type IndependentSets, startSets } from './independent.ts';
import { CLOSED, type RealClockLane } from './lane.ts';
import { RealClockNetwork } from './network.ts';
import { RealClockNode, type RealClockNodeOptions } from './node.ts';
import { RealClockSentinel } from './sentinel.ts';
import type { VisitOptions, Visits } from './visits.ts';
import { pass } from './wait.ts';

/** The longest time that `advance` lets pass: a hundred years, in milliseconds. */
const LONGEST = 100 * 365.25 * 86_400_000;

/** The options of a pair on the real clock. */
export interface RealClockPairOptions extends RealClockNodeOptions, SentinelChoice {
  /** Real time over TCP. */
  readonly clock: 'real';
  /** How many replicas the primary has; default 1. */
  readonly replicas?: number;
  /**
   * True: a write is answered only when a majority has it, and only a node with every such write can be promoted.
   * Default false.
   */
  readonly quorum?: boolean;
  /** True: what happens is recorded, for `timelineData` and `timeline`. Default false. */
  readonly trace?: boolean;
  /** Patterns of keys that are locks, such as 'stock:*', and with ! of keys that are none, for what `trace` records. */
  readonly locks?: readonly string[];
  /** The TCP port of the pair's own URL. 0, the default, picks a free one. */
  readonly port?: number;
  /** @internal Where the URLs of clients listen. */
  readonly entrance?: Entrance;
  /** @internal The ports of the nodes, as far as they are free; 0 picks a free one. */
  readonly nodePorts?: readonly number[];
}

/** The options of several independent primaries on the real clock. */
export interface RealClockServersOptions extends RealClockPairOptions {
  /** How many independent primaries to start; default 1. */
  readonly primaries?: number;
}

/** A client on the real clock. */
export interface RealClockActor {
  /** The name of the client in `clientLink` and `lost`. */
  readonly name: string;
  /** The URL to which the client connects. */
  readonly url: string;
}

/** A primary with its replicas, over TCP in real time. */
export class RealClockPair
  extends SentinelGroup<RealClockNode, RealClockLane, RealClockSentinel>
  implements AsyncDisposable
{
  /** The lanes between the nodes and the pair's clients, by name. */
  readonly network: RealClockNetwork;
  readonly #ioredis: IoredisConstructor;
  readonly #clients: RealClockClients;
  readonly #port: number;
  #own: RealClockEndpoint | undefined;
  #closed = false;

  /** @internal @param names the nodes' names, the primary's first; `start` makes them listen and follow */
  constructor(names: readonly string[], options: RealClockPairOptions, ioredis: IoredisConstructor) {
    const network = new RealClockNetwork();
    super(
      names,
      options,
      (name, i, writeQuorum) =>
        new RealClockNode(network, name, options, writeQuorum, options.nodePorts?.[i]),
      (name, _, plan) => new RealClockSentinel(network, name, plan),
    );
    this.network = network;
    if (options.trace === true) network.trace.begin();
    network.trace.locks = options.locks ?? [];
    this.#ioredis = ioredis;
    this.#clients = new RealClockClients(network, options.entrance);
    this.#port = options.port ?? 0;
  }

  /** @internal The names of the nodes, Sentinels and clients, between which links can be controlled. */
  get parties(): readonly string[] {
    const own = [ANYBODY, FAILOVER_PARTY];
    return [...this.nodes.map(({ name }) => name), ...this.otherNames, ...this.clientNames, ...own];
  }

  /** @internal */
  protected override noteLost(old: RealClockNode, lost: readonly Write[]): void {
    for (const { client = '-', command } of lost) {
      this.network.trace.note(old.name, 'lost', `${client} ${command.join(' ')}`);
    }
  }

  /** @internal */
  protected get time(): number {
    return this.network.time.now();
  }

  /** @internal */
  protected pass(ms: number): Promise<void> {
    return new Promise((wake) => void this.network.time.after(ms, wake));
  }

  /** @internal */
  protected checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /** @internal The port of its URL at which connections speak TLS; undefined if there is none. */
  get tlsPort(): number | undefined {
    return this.#own?.tlsPort;
  }

  /** @internal Makes every node listen, and the replicas follow the primary. Resolves when they are in sync. */
  async start(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.listen()));
    const toPrimary = (): number => this.primary.port;
    this.#own = await this.#clients.endpoint(ANYBODY, ANYBODY, toPrimary, this.#port, true);
    for (const replica of this.replicas) replica.follow(this.primary);
    await this.synchronize();
    for (const sentinel of this.sentinels) await sentinel.start();
    await this.untilSentinelsDecide();
  }

  /**
   * A URL for any client, also in another process. It leads to the node that is primary when the client connects. A
   * failover breaks these connections like those to the primary itself. While there is no primary, connections are
   * accepted and reset.
   */
  get url(): string {
    return (this.#own as RealClockEndpoint).url;
  }

  /**
   * A client of any library. Connections to the actor's `url` follow the primary as those to `pair.url` do, and
   * `clientLink` and `lost` know them by the name. Rejects with TypeError for a name that a client cannot have.
   */
  async actor(name: string): Promise<RealClockActor> {
    this.checkOpen();
    this.checkParty('actor', name);
    this.clientNames.add(name);
    return this.#endpoint(name);
  }

  #endpoint(name: string): Promise<RealClockEndpoint> {
    return this.#clients.endpoint(name, name, () => this.primary.port);
  }

  /** The link between a client and a node, by default the current primary: `out` carries requests, `back` replies. */
  clientLink(client: string, node: string = this.primary.name): Link<RealClockLane> {
    this.checkOpen();
    this.node(node);
    return this.network.link(client, node);
  }

  /** An ioredis client with this name that follows the primary. `close` disconnects it. */
  client(name: string, options: RedisOptions = {}): Redis {
    this.checkOpen();
    this.checkParty('client', name);
    const client = this.#clients.open(this.#ioredis, name, options, () => this.primary.port);
    this.clientNames.add(name);
    return client;
  }

  /**
   * Waits until `synchronized`, at most `maxMs` milliseconds (default 60,000). Rejects when that takes longer, with what is in
   * the way if that is a held or cut link or a paused node.
   */
  synchronize(maxMs = 60_000): Promise<void> {
    return this.#catchUp(maxMs, false);
  }

  /** @internal As `synchronize`, but rejects at once when a held or cut link or a paused node is in the way. */
  synchronizeUnlessStopped(maxMs = 60_000): Promise<void> {
    return this.#catchUp(maxMs, true);
  }

  async #catchUp(maxMs: number, isImpatient: boolean): Promise<void> {
    this.checkOpen();
    checkMillis('synchronize', maxMs);
    const end = nodeClock.now() + maxMs;
    while (!this.synchronized) {
      const why = obstacle(this.primary, this.replicas, (from, to) => this.network.lane(from, to));
      if (isImpatient && why !== undefined) throw new Error(`the replicas cannot catch up: ${why}`);
      if (nodeClock.now() > end) {
        const reason = why === undefined ? '' : `: ${why}`;
        throw new Error(`the replicas did not catch up within ${maxMs} ms${reason}`);
      }
      await pass(2);
    }
  }

  /**
   * Stops a node's process, as SIGSTOP does; `resume` continues it. Throws for a client, because its timers belong to
   * the test's own process, which cannot be stopped in real time; hold its `clientLink` instead. Throws RangeError for
   * an unknown name.
   */
  pause(name: string): void {
    this.checkOpen();
    this.#running(name).pause();
  }

  /**
   * Continues a paused node: everything that came due during the pause happens now, in order. Throws as `pause` does.
   */
  resume(name: string): void {
    this.checkOpen();
    this.#running(name).resume();
  }

  #running(name: string): { pause(): void; resume(): void } {
    if (this.clientNames.has(name)) {
      throw badOption(
        'pause',
        name,
        `a node: a client's timers are this process' own with clock: 'real'; hold clientLink('${name}') instead`,
      );
    }
    return this.otherNames.includes(name) ? this.sentinel(name) : this.node(name);
  }

  /**
   * Does what Sentinel does: promotes a replica, makes the other nodes and the old primary follow it, and disconnects
   * their clients. For the pair's own clients, a write counts as acknowledged when the reply has reached the client;
   * for other clients, when the reply was written to the socket. Rejects when no replica can be promoted, and with
   * TypeError for a wrong option.
   */
  async failover(options: FailoverOptions = {}): Promise<Failover> {
    this.checkOpen();
    return this.failOver(options);
  }

  /**
   * Restarts a node that crashed, as a replica unless it is still the primary. Its own replicas connect at once, instead of
   * trying again once a second. Rejects with RangeError for an unknown name.
   */
  async restart(name: string, options?: RestartOptions): Promise<void> {
    this.checkOpen();
    const node = this.node(name);
    const upstream = node.server.primary?.port;
    await node.restart(options);
    this.rejoin(node, upstream);
    for (const { up, server } of this.nodes) {
      if (up && server.primary?.port === node.port) server.primary.redial();
    }
  }

  /**
   * Lets time pass at once: for all nodes and Sentinels with their timers, for messages that are delayed, and for what `holders` and
   * `overlaps` say about leases. The timers of clients are in their own processes, and are not moved. Resolves when the time has
   * passed. Rejects with TypeError for anything but whole milliseconds, 0 or more.
   */
  async advance(ms: number): Promise<void> {
    this.checkOpen();
    checkInteger('advance', ms, 0, LONGEST);
    this.network.trace.visits.remark(`${spanText(ms * 1000)} pass at once.`);
    await this.network.time.advance(ms);
  }

  /**
   * Says that a client is inside a resource from now on, until `leave`. `holders` and `overlaps` then know who is inside. A resource
   * that is named as a lock stands for it: overlaps of visits then count, and what clients believe does not. Throws TypeError for
   * a wrong name or option, and Error without the option `trace`.
   */
  enter(client: string, resource: string, how: VisitOptions = {}): void {
    this.#visits('enter', client, resource).enter(client, fromText(resource), how);
  }

  /** Says that a client has left a resource. Throws Error when it is not inside, and as `enter` does. */
  leave(client: string, resource: string): void {
    this.#visits('leave', client, resource).leave(client, fromText(resource));
  }

  #visits(call: string, client: string, resource: string): Visits {
    this.checkOpen();
    this.checkParty(call, client);
    checkString(`${call}.resource`, resource);
    if (!this.network.trace.isOn) throw new Error(`${call}() needs startPair with trace: true`);
    return this.network.trace.visits;
  }

  /** @internal Writes a sentence into the story that belongs to no party. Throws TypeError for an empty one. */
  remark(text: string): void {
    this.checkOpen();
    checkString('note', text);
    this.network.trace.visits.remark(text);
  }

  /**
   * What has happened so far, as the data of a timeline (docs/timeline.md). A message counts as arrived when it has passed its
   * link. About the last 20,000 messages are kept. Throws Error without the option `trace`.
   */
  timelineData(notes: RealClockTimelineNotes = {}): Timeline {
    if (!this.network.trace.isOn) throw new Error('timelineData() needs startPair with trace: true');
    return realClockTimeline(this, notes);
  }

  /**
   * The clients that hold the lock now, or believe so, in the order of their grants. A grant that its client does not know
   * of is among them, with `believes: false`. Throws Error without the option `trace`.
   */
  holders(key: string): LockHolder[] {
    return holdersOf(this.#account('holders'), key, this.network.trace.elapsed());
  }

  /**
   * The times in which two clients believed that they held the same lock. Empty when no lock was lost. Throws Error
   * without the option `trace`.
   */
  overlaps(): LockOverlap[] {
    return overlapsIn(this.#account('overlaps'));
  }

  /**
   * Writes a line into the story and onto the timeline, now: `note('w1', 'charges o1')`. Throws TypeError for a name that no
   * party can have, and for an empty text.
   * @param who a client or a node
   */
  note(who: string, text: string): void {
    this.checkOpen();
    if (!this.hasParty(who)) this.checkParty('note', who);
    noteIn(this.network.trace, who, text);
  }

  /**
   * What has happened so far, in sentences, a line for each with its time in milliseconds, as the timeline tells it. Throws
   * Error without the option `trace`.
   */
  story(): string {
    return toldStory(this.timelineData());
  }

  /** What happened before is no longer recorded, in milliseconds since the recording began; 0 when everything is. */
  get knownFrom(): number {
    return this.network.trace.forgottenUpTo / 1000;
  }

  /** @internal The account of its locks. @param asked the method that needs it */
  account(): LockAccount {
    return this.#account('account');
  }

  #account(asked: string): LockAccount {
    if (!this.network.trace.isOn) throw new Error(`${asked}() needs startPair with trace: true`);
    return realClockAccount(this);
  }

  /**
   * Writes a timeline of what has happened so far: a self-contained page for a browser (a name that ends in `.html`), or its
   * data (`.json`). Rejects with TypeError for another name, and as `timelineData` does.
   */
  async timeline(file: string, notes: RealClockTimelineNotes = {}): Promise<void> {
    await (await import('../timeline/write.ts')).writeTimeline(file, [this.timelineData(notes)]);
  }

  /** Disconnects the pair's clients and stops every node. Resolves when no handle is left. */
  async close(): Promise<void> {
    this.#clients.disconnect();
    this.#closed = true;
    await Promise.all(this.sentinels.map((each) => each.close()));
    this.network.close();
    await this.#clients.close();
    await Promise.all(this.nodes.map((node) => node.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Independent primaries, each with its replicas if any, over TCP in real time. */
export type RealClockServers = IndependentSets<RealClockNode, RealClockPair>;

function checkOptions(options: RealClockServersOptions, starter: Starter): void {
  refuseVirtual(options, starter);
  checkSets(options, ['port', 'trace', 'locks', 'entrance', 'nodePorts', 'diskOf'], starter, 100);
  if (options.trace !== undefined) checkFlag('trace', options.trace);
  if (options.locks !== undefined) checkLocks(options.locks);
  checkPort(options.port, options.primaries);
}

/**
 * Starts nodes on the real clock, with the replicas in sync. Rejects with a TypeError that names a wrong option, and with
 * Node's error for a port in use.
 */
export async function startOnRealClock(
  options: RealClockServersOptions,
  starter: Starter,
  ioredis: () => Promise<IoredisConstructor>,
): Promise<RealClockServers> {
  checkOptions(options, starter);
  const Ioredis = await ioredis();
  const sets = nodeNames(options, starter).map((names) => new RealClockPair(names, options, Ioredis));
  return startSets(sets);
}
