/** CLIENT PAUSE: requests wait and keys do not expire, until the pause times out or CLIENT UNPAUSE ends it. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import { GATE_PAUSED } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import type { Gated, HasHost, Requests, Units } from '../ports.ts';
import type { Blocking } from './blocking.ts';
import { type Client, PRIMARY_LINK, REPLICA_LINK } from './client.ts';
import { PostponedRequests } from './postponed.ts';

/** The node, as pausing sees it. */
interface PausingNode extends Gated, HasHost, Requests, Units {
  readonly blocking: Pick<Blocking, 'block' | 'forget'>;
  readonly expiry: { follow(): void };
}

/** The pause of a node (https://redis.io/docs/latest/commands/client-pause/). */
export class Pausing {
  readonly #server: PausingNode;
  // CLIENT PAUSE is in force.
  #paused = false;
  #all = false;
  #until: Millis = 0;
  // FAILOVER holds writes back, independently of CLIENT PAUSE and CLIENT UNPAUSE.
  #failingOver = false;
  // A move of slots holds writes back, independently of both.
  #moving = false;
  #timer: Timer | undefined;
  readonly #postponed: PostponedRequests;

  constructor(server: PausingNode) {
    this.#server = server;
    this.#postponed = new PostponedRequests(server);
  }

  /**
   * Pauses for `timeout` milliseconds. An existing pause is never shortened or weakened.
   * @param all true: all commands wait; false: only writes
   */
  pause(timeout: Millis, all: boolean): void {
    const { clock } = this.#server.host;
    this.#all = all || (this.#paused && this.#all);
    this.#until = Math.max(this.#paused ? this.#until : 0, clock.now() + timeout);
    this.#paused = true;
    this.#timer?.cancel();
    this.#timer = clock.at(this.#until, () => {
      this.unpause();
      this.#server.settle();
    });
    this.#follow();
  }

  /** What INFO of Valkey says about the pause: why, what waits, and for how many more milliseconds. */
  get described(): { reason: string; actions: string; remaining: Millis } {
    if (this.#failingOver) return { reason: 'failover_in_progress', actions: 'write', remaining: 0 };
    if (this.#moving && !this.#paused)
      return { reason: 'slot_migration_in_progress', actions: 'write', remaining: 0 };
    if (!this.#paused) return { reason: 'none', actions: 'none', remaining: 0 };
    const remaining = Math.max(0, this.#until - this.#server.host.clock.now());
    return { reason: 'client_pause', actions: this.#all ? 'all' : 'write', remaining };
  }

  /** True after the end of a pause, until the requests that it held have run. */
  get releasing(): boolean {
    return this.#postponed.running;
  }

  /** Ends CLIENT PAUSE. */
  unpause(): void {
    this.#timer?.cancel();
    this.#paused = false;
    this.#all = false;
    this.#follow();
  }

  /** Holds writes back during a failover, or releases them. */
  holdWrites(on: boolean): void {
    this.#failingOver = on;
    this.#follow();
  }

  /** Holds writes back while slots are handed over to another node, or releases them. */
  holdWritesForMove(on: boolean): void {
    this.#moving = on;
    this.#follow();
  }

  #follow(): void {
    const server = this.#server;
    const active = this.#paused || this.#failingOver || this.#moving;
    if (active === ((server.state & GATE_PAUSED) !== 0)) return;
    server.gate(GATE_PAUSED, active);
    server.expiry.follow();
    if (!active) this.#postponed.runInTurn();
  }

  /** Returns whether the client's request must wait. Links between nodes never wait. */
  holds(client: Client, writes: boolean): boolean {
    if (client.has(PRIMARY_LINK | REPLICA_LINK)) return false;
    return this.#all || writes;
  }

  /** Postpones a request until the pause ends. */
  postpone(client: Client, argv: Bytes[]): void {
    this.#postponed.keep(client, argv);
  }
}
