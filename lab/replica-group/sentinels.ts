/** The roles of the nodes of one dataset when Sentinels may decide on them, on either clock. */

import { badOption } from '../../base/options.ts';
import type { SentinelEvent } from '../../sentinel/sentinel.ts';
import {
  type Interception,
  type Interceptor,
  type Intervention,
  interceptAt,
  type RequestFilter,
  recordAt,
} from '../../start/control/interceptor.ts';
import type { RequestRecording } from '../../start/control/recording.ts';
import type { DumpEntry, Seed } from '../../start/dataset.ts';
import { readSentinels, type SentinelsOptions } from '../../start/sentinel-options.ts';
import type { LaneControls } from '../links/gate.ts';
import type { DialectOptions } from './dialects.ts';
import type { Losses } from './losses.ts';
import type { CrashOptions } from './node.ts';
import {
  checkFailover,
  type Failover,
  type FailoverOptions,
  type Member,
  ReplicaGroup,
} from './replica-group.ts';
import type { AnySentinel, SentinelsPlan } from './sentinel.ts';

/** The options of a set about its Sentinels. */
export interface SentinelChoice {
  /**
   * How many Sentinels decide on failovers, or their options; default 0. They run on the same clock, behind the same
   * links, under the names sentinel-1, sentinel-2 and so on.
   */
  readonly sentinels?: number | SentinelsOptions;
}

/** The options of a set about who decides on the roles. */
interface RolesOptions extends SentinelChoice, DialectOptions {
  readonly quorum?: boolean;
}

/** How long a failover by Sentinels may take, in milliseconds: they notice it, and try again once. */
function patienceOf({ options }: SentinelsPlan): number {
  const { downAfter = 5000, failoverTimeout = 60_000 } = options;
  return downAfter + 4 * failoverTimeout + 60_000;
}

/** True when the last switch of a Sentinel was to the node at this port. */
function hasSwitchedTo(events: readonly SentinelEvent[], port: number): boolean {
  const last = events.findLast(({ type }) => type === '+switch-master');
  return last?.text.endsWith(` ${port}`) === true;
}

/** The error when no replica was promoted in time, with what the Sentinels said last. */
function notPromoted(sentinels: readonly AnySentinel[], ms: number): Error {
  const last = sentinels.map(({ name, events }) => {
    const event = events.at(-1);
    return event === undefined ? name : `${name}: ${event.type} ${event.text}`;
  });
  return new Error(
    `the Sentinels promoted no replica within ${ms} ms; their last events: ${last.join('; ')}`,
  );
}

/** Throws TypeError for options of `failover` that only the lab itself can follow. */
function checkSentinelFailover({ to, after, demote }: FailoverOptions): void {
  const refused = { to, after, demote };
  for (const [name, value] of Object.entries(refused)) {
    if (value !== undefined) throw badOption(`failover.${name}`, value, 'no value (the Sentinels decide)');
  }
}

/** A node that a failover may crash, and whose requests can be watched. */
interface Crashing<N> extends Member<N> {
  /** @internal */
  fellows: readonly string[];
  /** @internal */
  readonly interceptor: Interceptor;
  /** Stores these keys. */
  seed(data: Seed): void;
  /** Its keys and values. */
  dump(): DumpEntry[];
  /** Ends the process of the node. */
  crash(options: CrashOptions): void | Promise<void>;
}

/** One primary and its replicas, with the Sentinels that decide on their roles, if there are any. */
export abstract class SentinelGroup<
  N extends Crashing<N>,
  L extends LaneControls,
  S extends AnySentinel,
> extends ReplicaGroup<N, L> {
  /** The Sentinels that decide on failovers, if there are any. */
  readonly sentinels: readonly S[];
  readonly #plan: SentinelsPlan;
  /** The latest epoch in which a node was promoted. */
  #epoch = 0;

  /**
   * @internal
   * @param names the nodes' names, the primary's first
   * @param make makes a node, as for `ReplicaGroup`
   * @param makeSentinel makes a Sentinel that does not run yet
   */
  constructor(
    names: readonly string[],
    options: RolesOptions,
    make: (name: string, index: number, writeQuorum: number) => N,
    makeSentinel: (name: string, index: number, plan: SentinelsPlan) => S,
  ) {
    super(names, options.quorum === true, make);
    const { dialect, strict } = options;
    const plan: SentinelsPlan = {
      options: readSentinels(options.sentinels),
      primary: () => ({ host: '127.0.0.1', port: this.primary.port }),
      ...(typeof dialect === 'string' && { dialect }),
      ...(strict !== undefined && { strict }),
    };
    this.#plan = plan;
    this.sentinels = Array.from({ length: plan.options.count }, (_, index) =>
      makeSentinel(`sentinel-${index + 1}`, index, plan),
    );
    const promoted = (port: number, epoch: number): void => {
      // A Sentinel that was paused may learn late of a promotion that others have superseded.
      if (epoch < this.#epoch) return;
      this.#epoch = epoch;
      this.wasAnnounced(port);
    };
    for (const sentinel of this.sentinels) sentinel.onPromoted = promoted;
    const fellows = [...names, ...this.sentinels.map(({ name }) => name)];
    for (const node of this.nodes) node.fellows = fellows;
  }

  /** @internal The time of the set's clock, in milliseconds. */
  protected abstract get time(): number;

  /** @internal Lets so many milliseconds of the set's clock pass. */
  protected abstract pass(ms: number): Promise<void>;

  /**
   * Answers, delays or breaks matching requests of clients, at all nodes: one rule counts the requests of all of them. Rules are
   * checked in the order in which they were added. Throws TypeError for an unknown filter or intervention.
   */
  intercept(filter: RequestFilter, intervention: Intervention): Interception {
    this.checkOpen();
    return interceptAt(this.#interceptors, filter, intervention);
  }

  /**
   * Begins to record the requests that clients send to any node, in order; `stop` ends it. Each names its node.
   * @param most how many it keeps at least: the newest ones; default all
   */
  requests(most?: number): RequestRecording {
    this.checkOpen();
    return recordAt(this.#interceptors, most);
  }

  get #interceptors(): readonly Interceptor[] {
    return this.nodes.map(({ interceptor }) => interceptor);
  }

  /**
   * Stores keys at the primary, overwriting existing ones, in one step. Throws TypeError for invalid data and then stores nothing,
   * and Error when the primary is down.
   */
  seed(data: Seed): void {
    this.primary.seed(data);
  }

  /** Every key of the primary as plain values, in the form that `seed` accepts. Throws Error when the primary is down. */
  dump(): DumpEntry[] {
    return this.primary.dump();
  }

  /** @internal */
  protected override get otherNames(): readonly string[] {
    return this.sentinels.map(({ name }) => name);
  }

  /** The Sentinel with this name. Throws RangeError when there is none. */
  sentinel(name: string): S {
    const found = this.sentinels.find((each) => each.name === name);
    if (found !== undefined) return found;
    const names = this.otherNames.join(', ') || 'none';
    throw new RangeError(`no Sentinel is called '${name}'; there are ${names}`);
  }

  /**
   * Makes a node follow the current primary. Returns the writes that it took as a primary and that are lost, also those that
   * an earlier failover has lost. Throws RangeError for an unknown name.
   */
  demote(name: string): Losses {
    return this.demoteNow(name);
  }

  /**
   * @internal
   * Waits until the Sentinels know each other and every replica; from then on they decide. Rejects after a minute.
   */
  protected async untilSentinelsDecide(): Promise<void> {
    if (this.sentinels.length === 0) return;
    const end = this.time + 60_000;
    while (!this.sentinels.every((each) => each.knowsEverybody(this.replicas.length))) {
      if (this.time > end) throw new Error('the Sentinels did not find each other within 60000 ms');
      await this.pass(10);
    }
    this.letSentinelsDecide();
  }

  /** @internal Replaces the primary, or has the Sentinels replace it. */
  protected async failOver(options: FailoverOptions): Promise<Failover> {
    checkFailover(options, this.replicas);
    if (this.sentinels.length > 0) checkSentinelFailover(options);
    const { crash = false, after = 0 } = options;
    const old = this.primary;
    if (crash !== false) await old.crash(crash === true ? {} : crash);
    if (this.sentinels.length > 0) return this.#leaveItToSentinels(old);
    if (after > 0) await this.pass(after);
    this.checkOpen();
    if (this.primary !== old)
      throw new Error(
        `${old.name} is not the primary any more: another failover has replaced it by ${this.primary.name}`,
      );
    return this.replace(old, options);
  }

  /** The Sentinels replace the primary: because it has crashed, or because one of them is told to. */
  async #leaveItToSentinels(old: N): Promise<Failover> {
    const before = this.failovers.length;
    if (old.up)
      (this.sentinels.find(({ up, paused }) => up && !paused) ?? this.sentinels[0])?.forceFailover();
    const patience = patienceOf(this.#plan);
    const end = this.time + patience;
    const isOver = (): boolean =>
      this.sentinels.some(({ events }) => hasSwitchedTo(events, this.primary.port));
    while (this.failovers.length === before || !isOver()) {
      if (this.time > end) throw notPromoted(this.sentinels, patience);
      await this.pass(10);
      this.checkOpen();
    }
    return this.failovers.at(-1) as Failover;
  }
}
