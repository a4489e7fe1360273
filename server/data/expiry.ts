/** Active expiry: removes keys when their deadline has passed, with one timer for the earliest deadline. */
import { NONE } from '../../keyspace/expiry/deadlines.ts';
import type { Millis } from '../../protocol/bytes.ts';
import { GATE_PAUSED } from '../gates.ts';
import type { Timer } from '../host/host.ts';
import type { Gated, HasData, HasHost, HasSettings, Units } from '../ports.ts';

/** The node, as expiry sees it. */
interface ExpiringNode extends Pick<Gated, 'state'>, Pick<HasData, 'world'>, HasHost, HasSettings, Units {
  readonly stats: {
    expired: number;
    expiredFields: number;
    expiredActively: { keys: number; fields: number };
  };
  /** The primary that the node follows; undefined on a primary. */
  readonly primary: object | undefined;
  readonly observer: { timed<T>(event: 'expire-cycle', work: () => T): T };
}

/**
 * After so many keys, expiry looks at the clock. Few, because one takes 0.1 ms at first, before V8 has compiled the code.
 */
const BATCH = 8;

/** Removes the expired keys of a node (https://redis.io/docs/latest/commands/expire/#how-redis-expires-keys). */
export class Expiry {
  readonly #server: ExpiringNode;
  #timer: Timer | undefined;
  #armedFor: Millis = Infinity;
  /** Removes the remaining keys in a later turn, if more keys were due than one turn has time for. */
  #rest: Timer | undefined;
  /** False after DEBUG SET-ACTIVE-EXPIRE 0: expired keys are then removed only when a command accesses them. */
  active = true;

  constructor(server: ExpiringNode) {
    this.#server = server;
  }

  /**
   * Removes the keys whose deadline has passed, in order of deadlines. If the host limits how long that may take in one
   * turn, the others follow in later turns; until then they are removed when a command accesses them, as in Redis.
   */
  expireDue(): void {
    const { world, host } = this.#server;
    if (this.#rest !== undefined || world.expiryPolicy !== 'delete' || !this.active) return;
    if (this.#server.observer.timed('expire-cycle', () => this.#countRemoved())) return;
    // Not in the next turn: the replies to requests that arrived in this turn leave at its end.
    this.#rest = host.clock.soon(() => {
      this.#rest = host.clock.soon(() => {
        this.#rest = undefined;
        this.#expire();
      });
    });
  }

  /** Removes expired keys, and counts them as removed by the timer. True when none is left. */
  #countRemoved(): boolean {
    const { stats } = this.#server;
    const [keys, fields] = [stats.expired, stats.expiredFields];
    const done = this.#removeDue();
    stats.expiredActively.keys += stats.expired - keys;
    stats.expiredActively.fields += stats.expiredFields - fields;
    return done;
  }

  /** Removes expired keys until the host's time for one turn is over. True when none is left. */
  #removeDue(): boolean {
    const { world, host } = this.#server;
    const { deadlines, wheel, now } = world;
    const { clock, expiryMicros } = host;
    const end = expiryMicros === undefined ? undefined : clock.micros() + expiryMicros;
    for (let left = BATCH; ; ) {
      if (left === 0 || !wheel.prepare(now, BATCH)) {
        if (end !== undefined && clock.micros() >= end) return false;
        left = BATCH;
        continue;
      }
      const due = wheel.popDue(now);
      if (due === NONE) return true;
      deadlines.owner(due).expire(due);
      left--;
    }
  }

  /** Sets the timer to one millisecond after the earliest deadline. */
  arm(): void {
    const { world, host } = this.#server;
    if (world.expiryPolicy !== 'delete' || !this.active || this.#rest !== undefined) return;
    // Only a deadline before the one that the timer is set for changes the timer.
    if (!world.wheel.mayBeDue(this.#armedFor - 1)) return;
    const next = world.wheel.next();
    if (next === undefined || next + 1 >= this.#armedFor) return;
    this.#timer?.cancel();
    this.#armedFor = next + 1;
    this.#timer = host.clock.at(next + 1, () => this.#ring());
  }

  /**
   * Chooses the expiry policy: only a primary removes keys, and neither during CLIENT PAUSE nor in Valkey's import mode.
   */
  follow(): void {
    const { world, primary, state, settings } = this.#server;
    const hides = primary !== undefined || (state & GATE_PAUSED) !== 0 || settings['import-mode'];
    world.expiryPolicy = hides ? 'hide' : 'delete';
    if (world.expiryPolicy !== 'delete') this.cancel();
  }

  /**
   * Runs a command of a client that imports data (CLIENT IMPORT-SOURCE): in import mode, it sees expired keys as if they
   * were alive, because the server that it imports from decides about them.
   */
  importing<T>(work: () => T): T {
    const { world, primary, settings } = this.#server;
    if (!settings['import-mode'] || primary !== undefined) return work();
    world.expiryPolicy = 'keep';
    try {
      return work();
    } finally {
      this.follow();
    }
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
    const { world, host } = this.#server;
    const next = world.wheel.next();
    // A lock that was renewed has a later deadline than the timer, and one that was released has none.
    if (next === undefined || next >= host.clock.now()) this.arm();
    else this.#expire();
  }

  #expire(): void {
    this.#server.unit(() => this.expireDue());
    this.#server.settle();
  }
}
