/** The re-entrant lock and the fenced lock, on the keys of Redisson's RLock and RFencedLock. */
import type { Core } from './core.ts';
import { type CountedKind, CountedLock, type Give } from './counted.ts';
import { abandonedKey, prefixed } from './keys.ts';
import { checkOptions, oneOf } from './options.ts';
import { fencedAcquireScript } from './scripts/fenced.ts';
import { reentrantAcquireScript, reentrantReleaseScript } from './scripts/reentrant.ts';
import type { LockServer } from './server.ts';

export const lockChannelName = (name: string): string => prefixed('redisson_lock__channel', name);

function reentrantKind(name: string): CountedKind {
  return {
    name,
    id: 'lock',
    ordered: true,
    channel: () => lockChannelName(name),
    token: (owner) => owner,
    takeScript: ({ owner, target, ttlMs, request }) => ({
      script: reentrantAcquireScript,
      keys: [name, abandonedKey(name, request)],
      args: [ttlMs, owner, target],
    }),
    taken: (reply) => {
      if (reply === null) return { granted: true };
      return Number(reply) === -2
        ? { granted: false, gone: true }
        : { granted: false, retryInMs: Number(reply) };
    },
    give: (server, give) => giveReentrant(server, name, give),
    renewal: (owner) => ({ kind: 'hash', keys: [name], token: owner }),
  };
}

async function giveReentrant(server: LockServer, name: string, give: Give): Promise<number> {
  const reply = await server.run(
    reentrantReleaseScript,
    [name, lockChannelName(name), abandonedKey(name, give.takenBy), give.requests],
    [...give.once, give.ttlMs, give.owner, give.target, server.publish, give.lateMs],
  );
  return Number(reply);
}

/** Excludes everybody but its owner, who may enter it again. */
export class ReentrantLock extends CountedLock {
  constructor(core: Core, name: string) {
    super(core, reentrantKind(name));
  }
}

export interface FencedOptions {
  /**
   * How the fence grows. `counter` (default): by one, as Redisson counts; after a failover that lost grants it can
   * repeat. `clock`: it also never falls behind the server's clock in microseconds, which closes that gap as long as
   * the promoted server's clock is not behind.
   */
  fence?: 'counter' | 'clock';
}

/** A re-entrant lock whose grants are numbered, for resources that refuse smaller numbers. */
export class FencedLock extends CountedLock {
  constructor(core: Core, name: string, options: FencedOptions = {}) {
    checkOptions('fenced', options, { fence: oneOf('counter', 'clock') });
    const { fence = 'counter' } = options;
    super(core, {
      ...reentrantKind(name),
      takeScript: ({ owner, target, ttlMs, request }) => ({
        script: fencedAcquireScript,
        keys: [name, abandonedKey(name, request), prefixed('redisson_lock_token', name)],
        args: [ttlMs, owner, target, fence],
      }),
      taken: (reply) => {
        const [given, left] = (reply as unknown[]).map(Number) as [number, number];
        if (given >= 0) return { granted: true, fence: given };
        return left === -2 ? { granted: false, gone: true } : { granted: false, retryInMs: left };
      },
    });
  }
}
