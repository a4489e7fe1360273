/** What the documentation of each library says about the safety of its lock, word for word. */

/** A sentence of a library's documentation. */
export interface Quote {
  /** The sentence, or a part of it, as it stands in the file; white space may differ. */
  readonly text: string;
  /** The file, in the package's folder; for our own locks in this repository. */
  readonly file: string;
}

const README = 'README.md';
const STRONG = 'provides strong guarantees in both single-redis and multi-redis environments';
const TWICE = 'it becomes theoretically possible that a lock is acquired twice';
const ATOMIC = 'redislock offers both atomic acquire and release operations, avoiding race conditions';

const FAIL_SAFE = 'Fail-safe (all actions performed by LUA scripts (atomic))';

/** The sentences, by package; those of our own locks under the empty name. */
export const QUOTES: Readonly<Record<string, readonly Quote[]>> = {
  bullmq: quotes(README, 'Carefully written for rock solid stability and atomicity.'),
  bull: quotes(README, 'The queue aims for an "at least once" working strategy.'),
  'bee-queue': quotes(
    README,
    'Any job enqueued should be processed at least once - and if a worker crashes, gets disconnected, or otherwise fails',
  ),
  redlock4: quotes(README, STRONG, TWICE),
  redlock: quotes(README, STRONG, TWICE),
  '@sesamecare-oss/redlock': quotes(README, STRONG, TWICE),
  'redlock-universal': quotes(
    README,
    'Locks can be lost during failover (eventual consistency).',
    'Locks are safe even if nodes crash. Use for critical consistency.',
  ),
  'redis-semaphore': quotes(README, FAIL_SAFE),
  'redis-semaphore53': quotes(README, FAIL_SAFE),
  'ioredis-lock': quotes(README, ATOMIC),
  '@microfleet/ioredis-lock': quotes(README, ATOMIC),
  redislock: quotes(README, ATOMIC),
  'simple-redis-mutex': quotes(
    'readme.md',
    'Application logic should not depend on lock timeout and polling interval.',
    'A fencing token is an increasing number that is used to identify the order at which locks are acquired',
    'so it does not release the lock from another holder',
  ),
  '@redis-kit/lock': quotes(README, 'Critical section - only one process can execute this'),
  'redis-lock': quotes(
    README,
    "It's guaranteed that only one function will be called at a time for the same lock.",
  ),
  murlock: quotes(
    README,
    'Ensure that your Redis instance has RDB persistence enabled. This ensures that in case of a crash, locks are not lost.',
  ),
  'node-redis-warlock': quotes(README, 'Battle-hardened distributed locking using redis.'),
  'node-redis-lock': quotes(README, "The value has to be passed to ensure another host doesn't release it."),
  '': quotes(
    'docs/using-locks.md',
    'Any lock on one server can be lost in a failover: if no replica has received the grant, it dies with the primary.',
    'A fence that the resource checks makes it harmless, as long as fences keep growing after the failover.',
  ),
};

function quotes(file: string, ...texts: readonly string[]): Quote[] {
  return texts.map((text) => ({ text, file }));
}

/** True when the text of a file has these words in this order. */
export function isQuoted(file: string, text: string): boolean {
  const plain = (of: string): string => of.replace(/[\s*>`]+/g, ' ');
  return plain(file).includes(plain(text));
}
