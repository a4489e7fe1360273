/** Active expiry: removes keys once their deadline has passed, by one timer for the earliest of all deadlines. */
import type { Millis } from '../protocol/bytes.ts';
import { GATE_PAUSED } from './execute.ts';
import type { Timer } from './host.ts';
import type { Server } from './server.ts';

export class Expiry {
  readonly #server: Server;
  #timer: Timer | undefined;
  #armedFor: Millis = Infinity;
  /** False while DEBUG SET-ACTIVE-EXPIRE 0 holds: keys then end at first touch only. */
  active = true;

  constructor(server: Server) {
    this.#server = server;
  }

  /** Removes every key whose deadline lies before the present instant, in order of deadlines. */
  expireDue(): void {
    const { world } = this.#server;
    if (world.expiryPolicy !== 'delete' || !this.active) return;
    const { wheel, now } = world;
    for (let due = wheel.popDue(now); due !== undefined; due = wheel.popDue(now)) due.db.expire(due);
  }

  /** Sees to it that the timer rings one millisecond after the earliest deadline. */
  arm(): void {
    const { world, host } = this.#server;
    const next = world.wheel.next();
    if (next === undefined || next + 1 >= this.#armedFor) return;
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
  }

  #ring(): void {
    this.#timer = undefined;
    this.#armedFor = Infinity;
    this.#server.unit(() => this.expireDue());
    this.#server.settle();
  }
}
