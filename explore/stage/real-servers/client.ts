/** A client of a play on real servers. It runs in this process: what it sends, receives and sleeps can be held up. */
import type { Redis, RedisClusterOptions, RedisOptions } from '../../../lab/ioredis-types.ts';
import type { Link } from '../../../lab/links/link.ts';
import type { RealClockLane } from '../../../lab/real-clock/lane.ts';
import { type ClientRun, StageClient } from '../../client.ts';
import type { Carry } from '../../session.ts';
import { linksOf, type ServersNodes } from './nodes.ts';
import type { Order, Turn } from './order.ts';

const FREE: Turn = { ask: true, receive: true, wake: true, held: false, loses: undefined };

/** Why no write travels here. */
export const NO_DISTANCE = 'real servers have no resource at a distance: send() needs virtual time';

/** A client. */
export class ServersClient extends StageClient {
  alive = true;
  /** True while a fault has stopped it. */
  paused = false;
  protected urls: readonly string[] = [];
  protected readonly carry: Carry = () => Promise.reject(new Error(NO_DISTANCE));
  readonly #servers: ServersNodes;
  readonly #order: Order;
  readonly #clients: Redis[] = [];
  #turn: Turn = FREE;
  readonly #holds = { out: false, back: false };
  #sleepers: (() => void)[] = [];
  #visits = 0;

  constructor(run: ClientRun, nodes: ServersNodes, order: Order, name: string, known?: string) {
    super(run, nodes, name, known);
    this.#servers = nodes;
    this.#order = order;
  }

  /** Resolves when its first clients are connected. */
  async connect(): Promise<void> {
    this.urls = await this.#servers.urls(this.name);
    this.openAll();
    await Promise.all(this.servers.map((redis) => this.#servers.ready(redis)));
  }

  protected override open(options: RedisOptions | RedisClusterOptions, entrance: number): Redis {
    const redis = super.open(options, entrance);
    this.#clients.push(redis);
    return redis;
  }

  protected call<T>(code: () => Promise<T>): Promise<T> {
    this.#visits = 0;
    return code();
  }

  protected override checkAlive(life: number): void {
    if (life !== this.life || !this.alive) throw new Error('this process is dead');
  }

  protected override entering(): void {
    this.#visits++;
  }

  protected async sleep(ms: number, life: number): Promise<void> {
    await new Promise<void>((wake) => setTimeout(wake, ms));
    while (this.alive && life === this.life && this.#standsStill)
      await new Promise<void>((wake) => this.#sleepers.push(wake));
    // A dead process never wakes up.
    if (!this.alive || life !== this.life) await new Promise<never>(() => {});
  }

  protected block(ms: number): void {
    const end = performance.now() + ms;
    while (performance.now() < end);
  }

  /** Looks whose turn it is. */
  look(): void {
    const free = this.end !== undefined || !this.alive;
    this.#turn = free ? FREE : this.#order.turnOf(this.name);
    this.#apply();
  }

  /** Receives the replies that wait, and goes on being held up. */
  receive(): void {
    if (this.paused) return;
    for (const { back } of this.#links) if (back.suspended) back.letWaitingPass();
  }

  pause(): void {
    this.paused = true;
    this.#apply();
  }

  protected continueProcess(): void {
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
      for (const link of this.#links) holds[side] ? link[side].suspend() : link[side].proceed();
    }
    if (this.#standsStill) return;
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const wake of sleepers) wake();
  }

  get #links(): Link<RealClockLane>[] {
    return linksOf(this.#servers.sets, this.name);
  }

  /** The process is dead as far as that can be seen from outside: its connections break, and its code does nothing more. */
  protected endProcess(): void {
    this.alive = false;
    for (const link of this.#links) link.reset();
    for (const redis of this.#clients.splice(0)) redis.disconnect();
  }

  protected beginProcess(): void {
    this.alive = true;
    this.paused = false;
    this.look();
  }
}
