/** One client of a play on real servers. It runs in this process: what it sends, receives and sleeps can be held up. */
import type { Redis, RedisClusterOptions, RedisOptions } from '../../lab/ioredis-types.ts';
import type { Ledger, LedgerClient } from '../ledger.ts';
import { PROBE } from '../names.ts';
import { type ClientCode, describe, type LifeEnd, lightOptions } from '../player.ts';
import { type ClientSession, resourceFor } from '../session.ts';
import type { RealNodes } from './nodes.ts';
import type { Order, Turn } from './order.ts';

/** What a client needs of its play. */
export interface RealStage {
  readonly nodes: RealNodes;
  readonly ledger: Ledger;
  readonly order: Order;
  readonly signal: AbortSignal;
  /** Milliseconds since the clients started. */
  now(): number;
  /** Notes what a client did, for the story. */
  note(who: string, what: string): void;
}

const FREE: Turn = { ask: true, receive: true, wake: true, held: false, loses: undefined };

/** A client. */
export class RealPlayer implements LedgerClient {
  readonly name: string;
  life = 0;
  resumedAt = -1;
  alive = true;
  /** How its last life ended; undefined while it lasts. */
  end: LifeEnd | undefined;
  readonly #stage: RealStage;
  #urls: string[] = [];
  #servers: Redis[] = [];
  readonly #clients: Redis[] = [];
  /** True while a fault has stopped it. */
  paused = false;
  #turn: Turn = FREE;
  readonly #holds = { out: false, back: false };
  #sleepers: (() => void)[] = [];
  #visits = 0;
  #died: (() => void) | undefined;

  constructor(stage: RealStage, name: string) {
    this.#stage = stage;
    this.name = name;
  }

  /** Opens its first clients. Resolves when they are connected. */
  async connect(): Promise<void> {
    const { nodes } = this.#stage;
    this.#urls = await nodes.urls(this.name);
    this.#servers = Array.from({ length: nodes.entrances }, (_, i) => this.#client({}, i));
    await Promise.all(this.#servers.map((redis) => nodes.ready(redis)));
  }

  #client(options: RedisOptions | RedisClusterOptions, entrance: number): Redis {
    const redis = this.#stage.nodes.open(this.name, { ...lightOptions(), ...options }, entrance);
    this.#clients.push(redis);
    return redis;
  }

  /** Runs the user's code once. Settles when it has returned, thrown or died; never rejects. */
  live(code: ClientCode): Promise<void> {
    this.end = undefined;
    const life = ++this.life;
    this.#visits = 0;
    this.#stage.ledger.started(this.name);
    const death = new Promise<void>((resolve) => {
      this.#died = resolve;
    });
    const done = (async () => code(this.#session(life)))().then(
      () => this.#over(life, 'returned'),
      (error: unknown) => {
        if (this.life === life && this.end === undefined)
          this.#stage.note(this.name, `gives up: ${describe(error)}`);
        this.#over(life, 'threw');
      },
    );
    return Promise.race([done, death]);
  }

  #over(life: number, how: LifeEnd): void {
    if (life !== this.life || this.end !== undefined) return;
    this.end = how;
    const { ledger } = this.#stage;
    for (const visit of ledger.inside) if (visit.client === this.name) ledger.leave(visit, this);
  }

  #session(life: number): ClientSession {
    const { nodes, ledger, signal } = this.#stage;
    const servers = this.#servers;
    const alive = (): void => {
      if (life !== this.life || !this.alive) throw new Error('this process is dead');
    };
    return {
      ...{ name: this.name, probe: this.name === PROBE, servers, urls: this.#urls, signal },
      redis: servers[0] as Redis,
      connect: (options: RedisOptions | RedisClusterOptions = {}, primary = 0) => {
        alive();
        if (primary < 0 || primary >= nodes.entrances)
          throw new RangeError(`there is no primary ${primary}; there are ${nodes.entrances}`);
        return this.#client(options, primary);
      },
      sleep: (ms) => this.#sleep(ms, life),
      resource: (name, options) => {
        const resource = resourceFor(ledger, this, name, options);
        return {
          enter: (how) => {
            alive();
            this.#visits++;
            return resource.enter(how);
          },
        };
      },
    };
  }

  async #sleep(ms: number, life: number): Promise<void> {
    await new Promise<void>((wake) => setTimeout(wake, ms));
    while (this.alive && life === this.life && this.#standsStill)
      await new Promise<void>((wake) => this.#sleepers.push(wake));
    // A dead process never wakes up.
    if (!this.alive || life !== this.life) await new Promise<never>(() => {});
  }

  /** Looks whose turn it is. */
  look(): void {
    const free = this.end !== undefined || !this.alive;
    this.#turn = free ? FREE : this.#stage.order.turnOf(this.name);
    this.#apply();
  }

  /** Receives the replies that wait, and goes on being held up. */
  receive(): void {
    if (this.paused) return;
    for (const { back } of this.#links()) if (back.suspended) back.letWaitingPass();
  }

  pause(): void {
    this.paused = true;
    this.#apply();
  }

  resume(): void {
    if (!this.paused) return;
    this.resumedAt = this.#stage.now();
    this.paused = false;
    this.#apply();
  }

  get #standsStill(): boolean {
    return this.paused || !this.#turn.wake;
  }

  #apply(): void {
    // A client that has been inside must be able to release, even when it is another one's turn to act.
    const bound = this.#visits === 0;
    const { ask, receive, held, loses } = this.#turn;
    const holds = {
      out: this.paused || (bound && !ask) || loses === 'request',
      back: this.paused || ((bound || held) && !receive) || loses === 'reply',
    };
    for (const side of ['out', 'back'] as const) {
      if (holds[side] === this.#holds[side]) continue;
      this.#holds[side] = holds[side];
      for (const link of this.#links()) holds[side] ? link[side].suspend() : link[side].proceed();
    }
    if (this.#standsStill) return;
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const wake of sleepers) wake();
  }

  #links() {
    return this.#stage.nodes.links(this.name);
  }

  /** Kills the process, as far as that can be seen from outside: its connections break, and its code does nothing more. */
  kill(): void {
    this.alive = false;
    this.#stage.ledger.died(this.name);
    if (this.end === undefined) this.end = 'died';
    for (const link of this.#links()) link.reset();
    this.disconnect();
    this.#died?.();
  }

  /** Disconnects its clients. */
  disconnect(): void {
    for (const redis of this.#clients.splice(0)) redis.disconnect();
  }

  /** Starts a new process of the same name. */
  revive(): void {
    this.alive = true;
    this.resumedAt = -1;
    this.paused = false;
    this.look();
  }
}
