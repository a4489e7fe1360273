/** A small lock library as people write them: a lock with token and fence, a semaphore, and a lock for readers and writers. */
import type { Redis } from 'ioredis';

/** The scripts. Each can be replaced by a mutant. */
export const sampleScripts = {
  /** KEYS: 1 the lock · 2 the fence. ARGV: 1 token · 2 lease. Reply: the fence, or null. */
  acquire: `
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) end
if redis.call('get', KEYS[1]) == ARGV[1] then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return tonumber(redis.call('get', KEYS[2]))
end
return false`,
  /** KEYS: 1 the lock. ARGV: 1 token. */
  release: `
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end
return 0`,
  /** KEYS: 1 the lock. ARGV: 1 token · 2 lease. Reply: 1 when the token holds it for another lease. */
  extend: `
if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
return 0`,
  /** KEYS: 1 the permits. ARGV: 1 token · 2 lease · 3 how many there are. Reply: 1 when the token has one. */
  enter: `
local t = redis.call('time')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
if redis.call('zscore', KEYS[1], ARGV[1]) or redis.call('zcard', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])
  return 1
end
return 0`,
  /** KEYS: 1 the permits. ARGV: 1 token. */
  leave: `
return redis.call('zrem', KEYS[1], ARGV[1])`,
  /** KEYS: 1 the readers · 2 the writer. ARGV: 1 token · 2 lease. Reply: 1 when the token reads. */
  read: `
if redis.call('exists', KEYS[2]) == 1 then return 0 end
local t = redis.call('time')
redis.call('zadd', KEYS[1], t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2], ARGV[1])
return 1`,
  /** KEYS and ARGV as for \`read\`. Reply: 1 when the token writes. */
  write: `
local t = redis.call('time')
redis.call('zremrangebyscore', KEYS[1], '-inf', t[1] * 1000 + math.floor(t[2] / 1000))
if redis.call('zcard', KEYS[1]) > 0 then return 0 end
if redis.call('set', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return redis.call('get', KEYS[2]) == ARGV[1] and 1 or 0`,
};

/** How the library's own code behaves. Each can be replaced by a mutant. */
export const sampleHabits = {
  /** By how much a lease is believed to be shorter, in milliseconds. */
  margin: 100,
  /** A lease counts from before the request, not from its reply. */
  countsFromRequest: true,
  /** Its own token for each acquisition. */
  ownToken: true,
  /** Asks again with the same token when a request failed. */
  repeats: true,
  /** Looks at the time before it writes. */
  checks: true,
};

/** A lease that was granted. */
export interface Granted {
  readonly fence: number;
  /** True while the lease lasts, as far as the client knows. */
  isValid(): boolean;
  release(): Promise<void>;
  extend(): Promise<void>;
}

/** Asks by a script until it grants. */
export async function sampleAcquire(
  redis: Redis,
  names: { readonly take: keyof typeof sampleScripts; readonly give: keyof typeof sampleScripts },
  keys: readonly string[],
  options: {
    readonly name: string;
    readonly lease: number;
    readonly permits?: number;
    /** The keys of the release, if they are others. */
    readonly gives?: readonly string[];
    sleep(ms: number): Promise<void>;
  },
): Promise<Granted> {
  const { name, lease, permits = 1, gives = keys, sleep } = options;
  const { margin, countsFromRequest, ownToken, repeats } = sampleHabits;
  const run = (
    which: keyof typeof sampleScripts,
    on: readonly string[],
    ...args: readonly (string | number)[]
  ): Promise<unknown> => redis.eval(sampleScripts[which], on.length, ...on, ...args);
  const token = ownToken ? `${name}:${Math.random()}` : 'token';
  let reply: unknown;
  let until = 0;
  // A grant that comes when its lease is over is none.
  while (!reply || performance.now() >= until) {
    const sentAt = performance.now();
    reply = await run(names.take, keys, token, lease, permits).catch((error: unknown) => {
      if (!repeats) throw error;
    });
    until = (countsFromRequest ? sentAt : performance.now()) + lease - margin;
    if (!reply) await sleep(40);
  }
  return {
    fence: Number(reply),
    isValid: () => performance.now() < until,
    release: async () => {
      await run(names.give, gives, token).catch(() => undefined);
    },
    extend: async () => {
      const at = performance.now();
      if (Number(await run('extend', keys, token, lease).catch(() => 0)) === 1) until = at + lease - margin;
    },
  };
}
