/** The roles of the nodes of one dataset, on either clock: the primary, failover, and what a failover loses. */
import { badOption, checkFlag, checkNames } from '../../base/options.ts';
import { checkMillis } from '../checks.ts';
import type { LaneControls } from '../links/gate.ts';
import type { Lanes } from '../links/lanes.ts';
import { ReplicationLink } from '../links/link.ts';
import { appoint, type Candidate, type Election, elect, isReachable } from './election.ts';
import { type Logged, type Losses, lossesBetween, sharedOffset } from './losses.ts';
import { type CrashOptions, checkCrash } from './node.ts';
import type { Write, WriteLog } from './write-log.ts';

/** How a failover happens. */
export interface FailoverOptions {
  /**
   * Crash the primary first; `true` means that it loses its data. By default it stays up and becomes a replica of the
   * new primary.
   */
  readonly crash?: boolean | CrashOptions;
  /** How long there is no primary, in milliseconds of the lab's clock; default 0. */
  readonly after?: number;
  /**
   * The name of the replica to promote; it may be unreachable, but not down. By default Redis' own rule decides, by
   * priority, offset and run id, among the replicas that are up, not paused and reachable. A replica is unreachable when
   * it is partitioned off from every client of the set and every other node that is up, or from the party 'failover'.
   */
  readonly to?: string;
  /** False leaves the old primary alone, as if it were unreachable; then two nodes accept writes. Default true. */
  readonly demote?: boolean;
}

/** Throws TypeError for a wrong option of a failover. @param nodes the nodes that may be promoted */
export function checkFailover(options: FailoverOptions, nodes: readonly { readonly name: string }[]): void {
  checkNames(options, ['crash', 'after', 'to', 'demote'], 'failover');
  const { crash, after, to, demote } = options;
  if (typeof crash === 'object' && crash !== null) checkCrash('failover.crash', crash);
  else if (crash !== undefined) checkFlag('failover.crash', crash, ' or the options of a crash');
  if (after !== undefined) checkMillis('failover.after', after);
  const names = nodes.map(({ name }) => name);
  if (to !== undefined && !names.includes(to))
    throw badOption('failover.to', to, `a node's name: ${names.join(', ')}`);
  if (demote !== undefined) checkFlag('failover.demote', demote);
}

/** What a failover did. */
export interface Failover extends Losses {
  /** The name of the old primary. */
  readonly from: string;
  /** The name of the new primary. */
  readonly to: string;
  /** The offset up to which both have the same stream; undefined when their histories have nothing in common. */
  readonly offset: number | undefined;
  /** The old primary's replication offset. */
  readonly oldOffset: number;
}

/** The name of the party that decides on failovers. */
export const FAILOVER_PARTY = 'failover';

/** A node of either clock. */
export interface Member<N> extends Candidate {
  /** The port of the node. */
  readonly port: number;
  /** @internal */
  onRoleChanged: (role: 'primary' | 'replica') => void;
  /** @internal */
  onRestart: (dead: Logged) => void;
  /** @internal */
  readonly log: WriteLog;
  /** REPLICAOF NO ONE: the node accepts writes from now on. */
  promote(): void;
  /** REPLICAOF: the node follows another one. */
  follow(primary: N): void;
  /** Resets the connections of its clients, and leaves those of its replicas open. */
  disconnectClients(): void;
}

/** How far a former primary's writes have been compared with the data of the node that took over. */
interface Judgement {
  /** The replication offset of the last one. */
  readonly offset: number;
  /** The offset up to which both had the same stream; undefined when their histories had nothing in common. */
  readonly shared: number | undefined;
  /** Those that may still be lost: their replies had not arrived, or the node was left alone with them. */
  readonly open: readonly Write[];
}

/** One primary and its replicas, and the controls that change their roles. */
export abstract class ReplicaGroup<N extends Member<N>, L extends LaneControls> {
  /** All nodes. */
  readonly nodes: readonly N[];
  /** How many nodes are a majority, in quorum mode; otherwise 0. */
  readonly quorum: number;
  /** @internal The names of the clients that follow the primary. */
  protected readonly clientNames = new Set<string>();
  readonly #lost: Write[] = [];
  readonly #failovers: Failover[] = [];
  /** The former primaries, with what was known of their writes when another node took over. */
  readonly #judged = new Map<N, Judgement>();
  /** True when Sentinels decide on the roles. */
  #sentinelsDecide = false;
  /** True while this object itself changes roles. */
  #changing = false;
  #primary: N;

  /**
   * @internal
   * @param names the nodes' names, the primary's first
   * @param make makes a node; `writeQuorum` replicas must have a write before it is answered
   */
  constructor(
    names: readonly string[],
    quorum: boolean,
    make: (name: string, index: number, writeQuorum: number) => N,
  ) {
    this.quorum = quorum ? (names.length >> 1) + 1 : 0;
    // The primary counts itself among the majority.
    const writeQuorum = Math.max(0, this.quorum - 1);
    this.nodes = names.map((name, index) => make(name, index, writeQuorum));
    this.#primary = this.nodes[0] as N;
    for (const node of this.nodes) {
      const restarts = (dead: Logged): void => this.#wasRestarted(node, dead);
      node.onRestart = restarts;
    }
  }

  /** @internal Throws when the set is closed. */
  protected abstract checkOpen(): void;

  /** @internal The names of other processes of the set, which clients cannot have. */
  protected get otherNames(): readonly string[] {
    return [];
  }

  /**
   * @internal
   * Throws TypeError unless a client may have this name. @param what the function that was called, for the error
   */
  protected checkParty(what: string, name: unknown): void {
    const taken = [...this.nodes.map((node) => node.name), ...this.otherNames, FAILOVER_PARTY, 'kernel'];
    if (typeof name === 'string' && name !== '' && !taken.includes(name)) return;
    throw badOption(what, name, `a client's name: not empty, and none of ${taken.join(', ')}`);
  }

  /** @internal True for the name of a node or a Sentinel. */
  protected hasParty(name: string): boolean {
    return this.otherNames.includes(name) || this.nodes.some((node) => node.name === name);
  }

  /** The lanes between the nodes and the clients, by name. */
  abstract get network(): Lanes<L>;

  /** The node that the set's own clients connect to for writes. */
  get primary(): N {
    return this.#primary;
  }

  /** The nodes that are not the primary. */
  get replicas(): readonly N[] {
    return this.nodes.filter((node) => node !== this.#primary);
  }

  /** The first replica. Throws RangeError when there is none. */
  get replica(): N {
    const [replica] = this.replicas;
    if (replica === undefined) throw new RangeError('there is no replica');
    return replica;
  }

  /** The acknowledged writes that a promotion, a demotion or the restart of a primary has lost so far. */
  get lost(): readonly Write[] {
    return this.#lost;
  }

  /** The promotions by Sentinels so far, oldest first. */
  get failovers(): readonly Failover[] {
    return this.#failovers;
  }

  /** @internal From now on Sentinels decide on the roles. What their decisions lose is noted when they take effect. */
  protected letSentinelsDecide(): void {
    this.#sentinelsDecide = true;
    for (const node of this.nodes) {
      const obey = (role: 'primary' | 'replica'): void => {
        if (this.#changing) return;
        if (role === 'primary') this.#wasPromoted(node);
        else this.#wasDemoted(node);
      };
      node.onRoleChanged = obey;
    }
  }

  /** @internal The Sentinels have promoted the node at this port. No role change is reported if it already is a primary. */
  protected wasAnnounced(port: number): void {
    const node = this.nodes.find((each) => each.port === port);
    if (this.#sentinelsDecide && node?.up && node.server.primary === undefined) this.#wasPromoted(node);
  }

  #wasPromoted(node: N): void {
    const old = this.#primary;
    if (node === old) return;
    const offset = sharedOffset(old.server, node.server);
    const losses = this.#lossesOf(old, node);
    if (offset !== undefined) node.log.inherit(old.log, offset);
    this.#primary = node;
    this.#judged.delete(node);
    this.#judge(old, losses);
    this.#failovers.push({ from: old.name, to: node.name, offset, oldOffset: old.offset, ...losses });
  }

  /** A former primary becomes a replica: what it took meanwhile is lost too. Others have logged nothing. */
  #wasDemoted(node: N): void {
    if (node !== this.#primary) this.#judge(node, this.#lossesOf(node, this.#primary));
  }

  /** A new process has replaced one that died: what the dead one alone had is lost. The new one has logged nothing. */
  #wasRestarted(node: N, dead: Logged): void {
    this.#judge(node, this.#lossesOf(node, this.#primary, dead));
    this.#judged.delete(node);
  }

  /** @param had what the node has, or had when its process died */
  #lossesOf(node: N, fresh: N, had: Logged = node): Losses {
    return lossesBetween(had, fresh, { parted: this.#judged.get(node)?.shared, lost: this.#lost });
  }

  /**
   * Notes what a former primary has lost, and returns it. A write that was compared before is lost only if it was left open:
   * its key may differ by now because of the new primary's own clients.
   */
  #judge(old: N, losses: Losses): Losses {
    const { open, offset = -1 } = this.#judged.get(old) ?? {};
    const [stillOpen, known] = [new Set(open), new Set(this.#lost)];
    const isNew = (write: Write): boolean => write.offset > offset || stillOpen.has(write);
    const unanswered = losses.unanswered.filter(isNew);
    const news = losses.lost.filter((write) => isNew(write) && !known.has(write));
    this.#leaveOpen(old, unanswered);
    for (const write of news) this.#lost.push(write);
    this.noteLost(old, news);
    const lost = losses.lost.filter((write) => isNew(write) || known.has(write));
    // Beside what had been lost, the new primary has the writes of its own clients.
    return { ...losses, lost, unanswered, returned: losses.returned.filter((write) => known.has(write)) };
  }

  /** Remembers how far a former primary has been compared with the current one. */
  #leaveOpen(old: N, open: readonly Write[]): void {
    const before = this.#judged.get(old);
    const shared = before === undefined ? sharedOffset(old.server, this.#primary.server) : before.shared;
    this.#judged.set(old, { offset: old.offset, shared, open });
  }

  /** Runs work that changes roles by itself. */
  #change(work: () => void): void {
    this.#changing = true;
    try {
      work();
    } finally {
      this.#changing = false;
    }
  }

  /** The node with this name. Throws RangeError when there is none. */
  node(name: string): N {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) {
      const names = this.nodes.map((node) => node.name).join(', ');
      throw new RangeError(`no node is called '${name}'; there are ${names}`);
    }
    return found;
  }

  /** The replication link from the primary to the first replica; use `linkTo(name)` for another. Throws RangeError when there is none. */
  get link(): ReplicationLink<L> {
    return this.linkTo(this.replica.name);
  }

  /** The replication link from the current primary to the named replica. Throws RangeError for an unknown name. */
  linkTo(replica: string): ReplicationLink<L> {
    this.checkOpen();
    this.node(replica);
    const { network } = this;
    const primary = this.#primary.name;
    return new ReplicationLink(network.lane(primary, replica), network.lane(replica, primary));
  }

  /** True when every replica that is up has its primary's stream, and knows that it has. */
  get synchronized(): boolean {
    const { replication } = this.#primary.server;
    return this.replicas
      .filter((node) => node.up)
      .every(
        ({ server }) =>
          server.primary?.linkUp === true &&
          server.replication.id === replication.id &&
          server.replication.offset === replication.offset,
      );
  }

  /** Makes a node the primary, and leaves all others as they are. Throws RangeError for an unknown name. */
  promote(name: string): void {
    this.checkOpen();
    const node = this.node(name);
    const old = this.#primary;
    const { lost, unanswered } = this.#lossesOf(old, node);
    this.#promote(node);
    if (node !== old) this.#leaveOpen(old, [...lost, ...unanswered]);
  }

  #promote(node: N): void {
    const shared = sharedOffset(this.#primary.server, node.server);
    if (shared !== undefined) node.log.inherit(this.#primary.log, shared);
    this.#change(() => node.promote());
    node.disconnectClients();
    this.#primary = node;
    this.#judged.delete(node);
  }

  /** @internal REPLICAOF at once. Throws RangeError for an unknown name. */
  protected demoteNow(name: string): Losses {
    this.checkOpen();
    const node = this.node(name);
    if (node === this.#primary)
      throw badOption('demote', name, 'a node that is not the primary (promote another one first)');
    const losses = this.#judge(node, this.#lossesOf(node, this.#primary));
    this.#follow(node);
    node.disconnectClients();
    return losses;
  }

  /**
   * @internal
   * A node restarts as a primary: makes it follow the current primary, unless it is that itself. Behind Sentinels it
   * comes back in the role that it had, as its configuration says, and they reconfigure it.
   * @param upstream the port of the primary that it followed when it crashed
   */
  protected rejoin(node: N, upstream: number | undefined): void {
    const before = this.nodes.find(({ port }) => port === upstream);
    const primary = this.#sentinelsDecide ? before : this.#primary;
    if (primary !== undefined && node !== primary) this.#change(() => node.follow(primary));
  }

  /**
   * @internal
   * Promotes a replica in place of the old primary and makes the other nodes follow it. Throws when none can be promoted.
   */
  protected replace(old: N, { to, demote = true }: FailoverOptions): Failover {
    const election = this.#election();
    const fresh = to === undefined ? elect(election) : appoint(election, this.node(to));
    const oldOffset = old.offset;
    const offset = sharedOffset(old.server, fresh.server);
    const losses = this.#lossesOf(old, fresh);
    this.#promote(fresh);
    this.#judge(old, losses);
    for (const node of this.nodes) {
      if (node === fresh || !node.up || (node === old && !demote)) continue;
      if (node === old) this.#follow(node);
      else this.redirect(node);
      node.disconnectClients();
    }
    return { from: old.name, to: fresh.name, offset, oldOffset, ...losses };
  }

  /** @internal Called with the writes that a failover has lost. */
  protected noteLost(_old: N, _lost: readonly Write[]): void {}

  /** @internal Makes a node follow the current primary. What it took as a primary itself is lost. */
  redirect(node: N): void {
    this.#wasDemoted(node);
    this.#follow(node);
  }

  #follow(node: N): void {
    this.#change(() => node.follow(this.#primary));
  }

  #election(): Election<N> {
    return {
      primary: this.#primary,
      replicas: this.replicas,
      quorum: this.quorum,
      reaches: ({ name }) => {
        const others = this.nodes.filter((node) => node.up && node.name !== name).map((node) => node.name);
        return isReachable(this.network, name, FAILOVER_PARTY, [...this.clientNames, ...others]);
      },
    };
  }
}
