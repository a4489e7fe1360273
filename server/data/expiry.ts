/** Active expiry: removes keys once their deadline has passed, by one timer for the earliest of all deadlines. */
import type { Millis } from '../../protocol/bytes.ts';
import { GATE_PAUSED } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import type { Gated, HasData, HasHost, Units } from '../ports.ts';

/** The node, as expiry sees it. */
interface ExpiringNode extends Pick<Gated, 'state'>, Pick<HasData, 'world'>, HasHost, Units {
  /** The primary that the node follows; undefined: it is one itself. */
  readonly primary: object | undefined;
}

export class Expiry {
  readonly #server: ExpiringNode;
  #timer: Timer | undefined;
  #armedFor: Millis = Infinity;
  /** Goes on in a later turn, where more keys were due than one turn may end. */
  #rest: Timer | undefined;
  /** False while DEBUG SET-ACTIVE-EXPIRE 0 holds: keys then end at first touch only. */
  active = true;

  constructor(server: ExpiringNode) {
    this.#server = server;
  }

  /**
   * Removes the keys whose deadline lies before the present instant, in order of deadlines. Where the host limits how
   * many may end in one turn, the others follow in the next ones; until then they end when they are touched, as in Redis.
   */
  expireDue(): void {
    const { world, host } = this.#server;
    if (this.#rest !== undefined || world.expiryPolicy !== 'delete' || !this.active) return;
    const { wheel, now } = world;
    const most = host.expiriesPerTurn ?? Infinity;
    for (let ended = 0; wheel.prepare(now, most); ended++) {
      if (ended === most) break;
      const due = wheel.popDue(now);
      if (due === undefined) return;
      due.db.expire(due);
    }
    this.#rest = host.clock.soon(() => {
      this.#rest = undefined;
      this.#expire();
    });
  }

  /** Sees to it that the timer rings one millisecond after the earliest deadline. */
  arm(): void {
    const { world, host } = this.#server;
    const next = world.wheel.next();
    if (next === undefined || next + 1 >= this.#armedFor || this.#rest !== undefined) return;
    if (world.expiryPolicy !== 'delete' || !this.active) return;
    this.#timer?.cancel();
    this.#armedFor = next + 1;
    this.#timer = host.clock.at(next + 1, () => this.#ring());
  }

  /** Takes the policy that the node's role and CLIENT PAUSE call for: only a primary deletes, and not while paused. */
  follow(): void {
    const { world, primary, state } = this.#server;
    world.expiryPolicy = primary !== undefined || (state & GATE_PAUSED) !== 0 ? 'hide' : 'delete';
    if (world.expiryPolicy !== 'delete') this.cancel();
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#armedFor = Infinity;
    this.#rest?.cancel();
    this.#rest = undefined;
  }

  #ring(): void {
    this.#timer = undefined;
    this.#armedFor = Infinity;
    this.#expire();
  }

  #expire(): void {
    this.#server.unit(() => this.expireDue());
    this.#server.settle();
  }
}
