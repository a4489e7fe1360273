/** The re-entrant lock and the fenced lock, on the keys of Redisson's RLock and RFencedLock. */

import type { LockRequest } from '../asking/requests.ts';
import type { LockContext } from '../holding/context.ts';
import type { Renewal } from '../holding/hold.ts';
import type { FencedHold } from '../holding/hold-handle.ts';
import { abandonedKey, prefixed } from '../keys.ts';
import { checkOptions, oneOf } from '../options.ts';
import { fencedAcquireScript } from '../scripts/fenced.ts';
import {
  reentrantAcquireScript,
  reentrantFreeScript,
  reentrantHandOverScript,
  reentrantReleaseScript,
} from '../scripts/reentrant.ts';
import type { LockServer } from '../server/server.ts';
import type { Successor } from '../server/wakeups.ts';
import {
  type CountedAcquire,
  type CountedKind,
  CountedLock,
  type CountedRelease,
  type CountedReply,
} from './counted.ts';

/** The channel on which releases of a re-entrant lock are published, named as in Redisson. */
export const lockChannelName = (name: string): string => prefixed('redisson_lock__channel', name);

/** How the re-entrant lock communicates with the server. */
class ReentrantKind implements CountedKind {
  readonly name: string;
  readonly id = 'lock';
  readonly ordered = true;

  constructor(name: string) {
    this.name = name;
  }

  channel(): string {
    return lockChannelName(this.name);
  }

  token(owner: string): string {
    return owner;
  }

  acquireRequest({ owner, target, ttlMs, request }: CountedAcquire): LockRequest {
    const keys = [this.name, abandonedKey(this.name, request)];
    const args = target === 1 ? [ttlMs, owner] : [ttlMs, owner, target];
    return { script: reentrantAcquireScript, keys, args };
  }

  readAcquireReply(reply: unknown): CountedReply {
    if (reply === null) return { granted: true };
    const left = Number(reply);
    return left === -2 ? { granted: false, gone: true } : { granted: false, retryInMs: left };
  }

  release(server: LockServer, give: CountedRelease): Promise<unknown> {
    const { name } = this;
    const channel = lockChannelName(name);
    const last = give.target === 0 && give.lateMs === 0 && give.once[0] === 0;
    return last
      ? server.run(reentrantFreeScript, [name, channel], [give.owner])
      : server.run(
          reentrantReleaseScript,
          [name, channel, abandonedKey(name, give.takenBy), give.requests],
          [...give.once, give.ttlMs, give.owner, give.target, give.lateMs],
        );
  }

  readReleaseReply(server: LockServer, reply: unknown): number {
    const left = Number(reply);
    if (left > 1) server.wakeups.heardBy(this.channel(), left - 1);
    return left;
  }

  renewal(owner: string): Renewal {
    return { kind: 'hash', keys: [this.name], token: owner };
  }
}

/** A lock without a fencing token can be handed over within the process. */
class PlainKind extends ReentrantKind {
  handOver(owner: string, { token, ttlMs, markerKey }: Successor): LockRequest {
    const keys = [this.name, markerKey!];
    return { script: reentrantHandOverScript, keys, args: [owner, token, ttlMs] };
  }
}

/** A lock that its owner may acquire again. Compatible with Redisson's RLock. */
export class ReentrantLock extends CountedLock {
  /** @internal */
  constructor(context: LockContext, name: string) {
    super(context, new PlainKind(name));
  }
}

/** Options of `Locks.fenced`. */
export interface FencedOptions {
  /**
   * How the fencing token grows. `counter` (default): by one, as in Redisson; it can repeat after a failover that lost
   * grants. `clock`: it is also at least the server's time in microseconds, so it does not repeat unless the clock of
   * the promoted replica is behind.
   */
  fence?: 'counter' | 'clock';
}

class FencedKind extends ReentrantKind {
  readonly #fence: string;

  constructor(name: string, fence: string) {
    super(name);
    this.#fence = fence;
  }

  override acquireRequest({ owner, target, ttlMs, request }: CountedAcquire): LockRequest {
    const { name } = this;
    const keys = [name, abandonedKey(name, request), prefixed('redisson_lock_token', name)];
    return { script: fencedAcquireScript, keys, args: [ttlMs, owner, target, this.#fence] };
  }

  override readAcquireReply(reply: unknown): CountedReply {
    const [given, left] = (reply as unknown[]).map(Number) as [number, number];
    if (given >= 0) return { granted: true, fence: given };
    return left === -2 ? { granted: false, gone: true } : { granted: false, retryInMs: left };
  }
}

/** A re-entrant lock with a fencing token per grant, for resources that refuse smaller tokens. */
export class FencedLock extends CountedLock<FencedHold> {
  /** @internal */
  constructor(context: LockContext, name: string, options: FencedOptions = {}) {
    checkOptions('fenced', options, { fence: oneOf('counter', 'clock') });
    const { fence = 'counter' } = options;
    super(context, new FencedKind(name, fence));
  }
}
