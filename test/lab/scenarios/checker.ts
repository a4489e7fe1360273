/**
 * Checks a history of lock holders against what locks promise: exclusion (O1), fencing (O2), and that acknowledged
 * writes last (O3).
 */
import type { Write } from '../../../lab/replica-group/write-log.ts';

/** What a client received when it got a lock. */
export interface Grant {
  /** When the claim ends by itself, in the checker's milliseconds; by default it never does. */
  readonly until?: number;
  /** The fencing token of this grant. */
  readonly fence?: number;
  /** True for a reader's claim: readers do not exclude each other. */
  readonly shared?: boolean;
}

/** Two clients that held one lock at the same time. Times are in the checker's milliseconds. */
export interface Overlap {
  readonly lock: string;
  readonly holders: readonly [string, string];
  readonly from: number;
  /** The end of the overlap; Infinity while neither claim has ended. */
  readonly to: number;
}

/** A broken promise. */
export interface Violation {
  readonly oracle: 'O1' | 'O2' | 'O3';
  readonly lock: string;
  readonly what: string;
}

/** One client's belief that it holds a lock. */
export class Claim {
  readonly client: string;
  readonly lock: string;
  readonly from: number;
  readonly fence: number | undefined;
  readonly shared: boolean;
  until: number;
  readonly #now: () => number;

  constructor(client: string, lock: string, grant: Grant, now: () => number) {
    this.client = client;
    this.lock = lock;
    this.from = now();
    this.until = grant.until ?? Infinity;
    this.fence = grant.fence;
    this.shared = grant.shared ?? false;
    this.#now = now;
  }

  /** The client has extended its claim, which now ends at `until`. Has no effect on a claim that is over. */
  extend(until: number): void {
    if (this.until > this.#now()) this.until = until;
  }

  /** The client has released the lock, or has learnt that it lost it. */
  end(): void {
    this.until = Math.min(this.until, this.#now());
  }
}

/** A write that a protected resource accepted. */
interface Accepted {
  readonly client: string;
  readonly lock: string;
  readonly fence: number;
}

/**
 * Records what clients believe, independently of what servers know: who was granted a lock, who released it, and what
 * protected resources accepted. Claims of one client never conflict.
 */
export class LockChecker {
  readonly #now: () => number;
  readonly #claims: Claim[] = [];
  readonly #accepted: Accepted[] = [];

  /** @param now the time in milliseconds of a clock that never jumps, such as `() => world.elapsed() / 1000` */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A client was told that it holds the lock. */
  granted(client: string, lock: string, grant: Grant = {}): Claim {
    const claim = new Claim(client, lock, grant, this.#now);
    this.#claims.push(claim);
    return claim;
  }

  /** The resource that the lock protects has accepted a client's write with this fencing token. */
  accepted(client: string, lock: string, fence: number): void {
    this.#accepted.push({ client, lock, fence });
  }

  /** The clients that currently believe that they hold the lock. */
  holders(lock: string): string[] {
    const now = this.#now();
    const live = this.#claims.filter((claim) => claim.lock === lock && claim.until > now);
    return [...new Set(live.map(({ client }) => client))];
  }

  /** O1: the times at which two clients held one lock and at least one of them held it exclusively. */
  overlaps(lock?: string): Overlap[] {
    const found: Overlap[] = [];
    for (const [i, one] of this.#claims.entries()) {
      if (lock !== undefined && one.lock !== lock) continue;
      for (const other of this.#claims.slice(i + 1)) {
        if (other.lock !== one.lock || other.client === one.client || (one.shared && other.shared)) continue;
        const from = Math.max(one.from, other.from);
        const to = Math.min(one.until, other.until);
        if (from < to) found.push({ lock: one.lock, holders: [one.client, other.client], from, to });
      }
    }
    return found;
  }

  /** O2: grants whose tokens do not grow, and accepted writes whose tokens decrease or are used by two clients. */
  fencing(lock?: string): Violation[] {
    const found: Violation[] = [];
    const report = (of: string, what: string) => found.push({ oracle: 'O2', lock: of, what });
    const highest = new Map<string, number>();
    for (const { client, lock: of, fence } of this.#claims) {
      if (fence === undefined || (lock !== undefined && of !== lock)) continue;
      const last = highest.get(of);
      if (last !== undefined && fence <= last)
        report(of, `${client} was granted token ${fence} after ${last}`);
      highest.set(of, Math.max(fence, last ?? fence));
    }
    const seen = new Map<string, Accepted>();
    for (const write of this.#accepted) {
      if (lock !== undefined && write.lock !== lock) continue;
      const last = seen.get(write.lock);
      if (last !== undefined && write.fence < last.fence) {
        report(write.lock, `${write.client}'s write with token ${write.fence} was taken after ${last.fence}`);
      } else if (last !== undefined && write.fence === last.fence && write.client !== last.client) {
        report(
          write.lock,
          `writes of ${last.client} and ${write.client} with token ${write.fence} were taken`,
        );
      }
      if (last === undefined || write.fence >= last.fence) seen.set(write.lock, write);
    }
    return found;
  }

  /** Every broken promise. @param lost the acknowledged writes that are gone, as in `pair.lost` (O3) */
  violations(lost: readonly Write[] = []): Violation[] {
    const exclusion = this.overlaps().map(({ lock, holders, from, to }): Violation => {
      return { oracle: 'O1', lock, what: `${holders.join(' and ')} both held it from ${from} to ${to} ms` };
    });
    const durability = lost.map(({ key, client, command }): Violation => {
      return { oracle: 'O3', lock: key, what: `${client ?? '-'}'s ${command.join(' ')} is gone` };
    });
    return [...exclusion, ...this.fencing(), ...durability];
  }
}
