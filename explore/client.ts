/** One client of a run, on any stage: its process, its Redis clients, and the lives of the user's code in it. */
import { checkMillis } from '../lab/checks.ts';
import type { Redis, RedisClusterOptions, RedisOptions } from '../lab/ioredis-types.ts';
import type { ProcessEnd } from '../lab/time/process-end.ts';
import { needsReadyCheck } from '../lab/virtual/client.ts';
import { describe } from './describe.ts';
import type { Ledger, LedgerClient } from './ledger.ts';
import type { OperationLog } from './operations/operation.ts';
import { type Carry, type ClientSession, resourceFor } from './session.ts';
import type { ClientControls, LifeEnd } from './stage/controls.ts';
import { PROBE } from './visit.ts';

/** The user's code. */
export type ClientCode = (session: ClientSession) => unknown;

/** What a client needs of its run. */
export interface ClientRun {
  readonly ledger: Ledger;
  readonly operations: OperationLog;
  /** What the clients share outside of the servers. */
  readonly store: Map<string, unknown>;
  readonly signal: AbortSignal;
  /** Milliseconds since the clients started. */
  now(): number;
  /** Notes trouble that a client met, for the story. */
  note(who: string, what: string): void;
  /** A client's program has ended by itself. @param thrown what nothing in it has caught, if that ended it */
  ended(who: string, what: string, thrown?: { readonly error: unknown }): void;
}

/** How clients reach the nodes of a stage. */
export interface Entrances {
  /** How many clients reach everything: one for each independent primary, or one for a cluster. */
  readonly entrances: number;
  /** Opens a client of a process, as which the caller must run. */
  open(name: string, options: RedisOptions | RedisClusterOptions, entrance: number): Redis;
  /** Opens a client of a node that is a replica as the world begins; undefined where the stage has none. */
  openReplica?(name: string, options: RedisOptions, entrance: number, index: number): Redis | undefined;
}

/** A client. Its process can be paused, killed and started again. */
export abstract class StageClient implements LedgerClient, ClientControls {
  readonly name: string;
  /** The name that its code is told. In a second deployment, it is the name of another client. */
  readonly known: string;
  life = 0;
  resumedAt = -1;
  end: LifeEnd | undefined;
  /** The text of what its last life threw. */
  error: string | undefined;
  protected readonly run: ClientRun;
  protected servers: readonly Redis[] = [];
  readonly #nodes: Entrances;
  #hang: { readonly ms: number; readonly began: () => void } | undefined;
  #died: (() => void) | undefined;

  constructor(run: ClientRun, nodes: Entrances, name: string, known = name) {
    this.run = run;
    this.#nodes = nodes;
    this.name = name;
    this.known = known;
  }

  abstract get paused(): boolean;
  abstract get alive(): boolean;

  /** A URL for each entrance: each primary, or each node of a cluster. */
  protected abstract get urls(): readonly string[];

  /** Opens its first clients. */
  abstract connect(): Promise<void>;

  /** Runs code as the process. */
  protected abstract call<T>(code: () => Promise<T>): Promise<T>;

  protected abstract sleep(ms: number, life: number): Promise<void>;

  /** Keeps the process busy. */
  protected abstract block(ms: number): void;

  /** Carries a write to a resource at a distance. */
  protected abstract readonly carry: Carry;

  /** Throws when the process in which this life began is dead, as far as the stage does not stop it by itself. */
  protected checkAlive(_life: number): void {}

  /** Called when a client is about to enter a resource. */
  protected entering(): void {}

  protected abstract continueProcess(): void;
  protected abstract endProcess(): void;
  protected abstract beginProcess(): void;

  abstract pause(): void;

  /** Opens a client of this process. */
  protected open(options: RedisOptions | RedisClusterOptions, entrance: number): Redis {
    // Nodes of the lab never load anything slowly, so that INFO, by which ioredis looks for that, only costs time.
    const light: RedisOptions = needsReadyCheck() ? {} : { enableReadyCheck: false };
    return this.#nodes.open(this.name, { ...light, ...options }, entrance);
  }

  /** Opens a client for each entrance. */
  protected openAll(): void {
    this.servers = Array.from({ length: this.#nodes.entrances }, (_, i) => this.open({}, i));
  }

  /** Runs the user's code once. Settles when it has returned, thrown or died; never rejects. */
  live(code: ClientCode): Promise<void> {
    this.end = undefined;
    this.error = undefined;
    const life = ++this.life;
    this.run.ledger.started(this.name);
    const session = this.#session(life);
    const death = new Promise<void>((resolve) => {
      this.#died = resolve;
    });
    const done = this.call(async () => await code(session)).then(
      () => this.#over(life, 'returned'),
      (error: unknown) => {
        if (this.life === life && this.end === undefined) {
          this.error = describe(error);
          this.run.note(this.name, `gives up: ${this.error}`);
        }
        this.#over(life, 'threw');
      },
    );
    return Promise.race([done, death]);
  }

  #over(life: number, how: LifeEnd): void {
    if (life !== this.life || this.end !== undefined) return;
    this.end = how;
    const { ledger } = this.run;
    for (const visit of ledger.inside)
      if (visit.client === this.name) ledger.leave(visit, this, how === 'threw');
  }

  #session(life: number): ClientSession {
    const { ledger, operations, store, signal } = this.run;
    const { name, known, servers, urls } = this;
    const { entrances } = this.#nodes;
    return {
      ...{ name: known, probe: name === PROBE, redis: servers[0] as Redis, servers, urls, store, signal },
      connect: (options = {}, primary = 0) => {
        this.checkAlive(life);
        if (primary < 0 || primary >= entrances)
          throw new RangeError(`there is no primary ${primary}; there are ${entrances}`);
        return this.open(options, primary);
      },
      replica: (options = {}, index = 0, primary = 0) => {
        this.checkAlive(life);
        return this.#openReplica(options, index, primary);
      },
      sleep: (ms) => this.sleep(this.#longer(ms), life),
      block: (ms) => {
        checkMillis('block', ms);
        this.checkAlive(life);
        this.block(ms);
      },
      record: (operation, input, of = '') => operations.begin(this, operation, input, of),
      resource: (which, options) => {
        const resource = resourceFor(ledger, this, this.carry, which, options);
        return {
          enter: (how) => {
            this.checkAlive(life);
            this.entering();
            return resource.enter(how);
          },
        };
      },
    };
  }

  #openReplica(options: RedisOptions, index: number, primary: number): Redis {
    const light: RedisOptions = needsReadyCheck() ? {} : { enableReadyCheck: false };
    const opened = this.#nodes.openReplica?.(this.name, { ...light, ...options }, primary, index);
    if (opened !== undefined) return opened;
    throw new RangeError(
      `there is no replica ${index} of primary ${primary} to connect to: topology.replicas says how many there are; a client of a ` +
        "cluster reads from replicas with connect({ scaleReads: 'slave' }); and replay on real servers has no replica()",
    );
  }

  hang(ms: number, began: () => void = () => {}): void {
    this.#hang = ms === 0 ? undefined : { ms, began };
  }

  /** How long a sleep lasts that begins now. */
  #longer(ms: number): number {
    const hang = this.#hang;
    if (hang === undefined || !this.run.ledger.inside.some(({ client }) => client === this.name)) return ms;
    this.#hang = undefined;
    hang.began();
    return ms + hang.ms;
  }

  /** Continues the process. */
  resume(): void {
    if (!this.paused) return;
    this.resumedAt = this.run.now();
    this.continueProcess();
  }

  /** Kills the process. */
  kill(): void {
    this.endProcess();
    this.run.ledger.died(this.name);
    if (this.end === undefined) this.end = 'died';
    this.#died?.();
  }

  /** The program ends by itself, and its process with it. */
  protected ended({ how, text, error }: ProcessEnd): void {
    if (this.end === undefined) this.error = text;
    this.run.ended(this.name, text, how === 'exception' || how === 'rejection' ? { error } : undefined);
    // One whose code has returned has still been running: its timers and listeners.
    this.kill();
  }

  /** Starts a new process of the same name; its clients connect anew. */
  revive(): void {
    this.resumedAt = -1;
    this.beginProcess();
  }
}
