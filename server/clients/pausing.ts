/** CLIENT PAUSE: requests wait, expiry stands still, until time runs out or UNPAUSE comes. */
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

export class Pausing {
  readonly #server: PausingNode;
  // CLIENT PAUSE is in force.
  #paused = false;
  #all = false;
  #until: Millis = 0;
  // FAILOVER holds writes back, whatever CLIENT PAUSE and UNPAUSE say.
  #failingOver = false;
  #timer: Timer | undefined;
  readonly #postponed: PostponedRequests;

  constructor(server: PausingNode) {
    this.#server = server;
    this.#postponed = new PostponedRequests(server);
  }

  /** Pauses for so many milliseconds; a pause in force is never shortened or weakened. */
  pause(timeout: Millis, all: boolean): void {
    const { clock } = this.#server.host;
    this.#all = all || (this.#paused && this.#all);
    this.#until = Math.max(this.#paused ? this.#until : 0, clock.now() + timeout);
    this.#paused = true;
    this.#timer?.cancel();
    this.#timer = clock.at(this.#until, () => this.unpause());
    this.#follow();
  }

  /** Ends CLIENT PAUSE. */
  unpause(): void {
    this.#timer?.cancel();
    this.#paused = false;
    this.#all = false;
    this.#follow();
  }

  /** Holds writes back for a hand-over of the role, or lets them go. */
  holdWrites(on: boolean): void {
    this.#failingOver = on;
    this.#follow();
  }

  #follow(): void {
    const server = this.#server;
    const active = this.#paused || this.#failingOver;
    if (active === ((server.state & GATE_PAUSED) !== 0)) return;
    server.gate(GATE_PAUSED, active);
    server.expiry.follow();
    if (!active) this.#postponed.runInTurn();
  }

  /** True when the client's request has to wait; links between nodes never do. */
  holds(client: Client, writes: boolean): boolean {
    if (client.has(PRIMARY_LINK | REPLICA_LINK)) return false;
    return this.#all || writes;
  }

  /** Keeps a request for later. */
  postpone(client: Client, argv: Bytes[]): void {
    this.#postponed.keep(client, argv);
  }
}
