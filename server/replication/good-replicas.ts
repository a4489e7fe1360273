/** The replicas that count for `min-replicas-to-write`: those that acknowledged within `min-replicas-max-lag`. */
import type { Millis } from '../../protocol/bytes.ts';
import { GATE_MIN_REPLICAS } from '../gates.ts';
import type { Gated, HasHost } from '../ports.ts';
import { type Follower, lagsBehind } from './follower.ts';

/** The node, as its good replicas see it. */
interface Guarded extends HasHost, Pick<Gated, 'gate'> {
  readonly now: Millis;
  readonly settings: { readonly 'min-replicas-to-write': number; readonly 'min-replicas-max-lag': number };
}

/** Counts good replicas once a second, and when a replica comes or leaves. An acknowledgement counts only then. */
export class GoodReplicas {
  readonly #server: Guarded;
  readonly #primary: { online(): readonly Follower[] };
  /** How many there were when they were counted last. */
  count = 0;

  constructor(server: Guarded, primary: { online(): readonly Follower[] }) {
    this.#server = server;
    this.#primary = primary;
  }

  /** True if there are enough of them, so that writes may be accepted. */
  get enough(): boolean {
    return this.count >= this.#server.settings['min-replicas-to-write'];
  }

  /** Counts them, and sets the gate that asks for them before writes if the settings want that. */
  refresh(): void {
    const { settings } = this.#server;
    const lagMax = settings['min-replicas-max-lag'];
    this.count = this.#primary.online().filter((each) => !lagsBehind(this.#server, each, lagMax)).length;
    this.#server.gate(GATE_MIN_REPLICAS, settings['min-replicas-to-write'] > 0 && lagMax > 0);
  }
}
