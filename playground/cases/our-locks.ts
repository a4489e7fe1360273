/** The kinds of `lostlock/locks` that the playground offers, most of them on the data of Redisson's kinds. */

/** A lock of the playground. */
export interface PlayLock {
  readonly name: string;
  readonly title: string;
  /** The topology that it is made for. */
  readonly nodes: string;
  /** The body of an async function of `name`, `redis`, `servers`, `sleep`, `resource`, `createLocks`, `signal`. */
  readonly code: string;
}

/** The work that all clients do with the lock. */
export const WORK = `const inside = resource('stock').enter();
await sleep(250); // The work.
inside.write();
inside.leave();
`;

const FENCED = `const locks = createLocks(redis, { replicas: 1 });
const held = await locks.fenced('lock', { fence: 'clock' }).acquire({ leaseMs: 1000 });
const inside = resource('stock').enter({ fence: held.fence }); // The resource refuses smaller fences.
await sleep(250);
inside.write();
inside.leave();
await held.release();
await locks.close();
`;

/** A client that holds a lock while it works. @param lock the lock, as code @param made how the locks are made */
function holding(lock: string, made = 'createLocks(redis)'): string {
  return `const locks = ${made};
const held = await locks.${lock}.acquire({ leaseMs: 1000 });
${WORK}await held.release();
await locks.close();
`;
}

const SHARED = `const locks = createLocks(redis);
const writes = name === 'A'; // A writes, and the others read.
const { read, write } = locks.readWrite('lock');
const held = await (writes ? write : read).acquire({ leaseMs: 1000 });
const inside = resource('stock').enter({ shared: !writes });
await sleep(250); // The work.
if (writes) inside.write();
inside.leave();
await held.release();
await locks.close();
`;

/** A pool of two permits. @param pool the pool, as code @param lease options of acquire, as code */
function pooled(pool: string, lease: string): string {
  return `const PERMITS = 2; // With three clients or more, one has to wait.
const locks = createLocks(redis);
const pool = locks.${pool};
await pool.trySetPermits(PERMITS); // Only the first one sets them.
const held = await pool.acquire(${lease});
const inside = resource('stock', { permits: PERMITS }).enter();
await sleep(250); // The work.
inside.write();
inside.leave();
await held.release();
await locks.close();
`;
}

const LATCH = `const locks = createLocks(redis);
const ready = locks.latch('ready');
if (name === 'A') {
  await ready.trySetCount(1); // The others wait until it is 0.
  await redis.set('begun', 'A');
  const inside = resource('stock').enter();
  await sleep(250); // A fills the stock.
  inside.write();
  inside.leave();
  await ready.countDown();
} else {
  while ((await redis.get('begun')) === null) await sleep(20); // A latch that nobody has set is open.
  await ready.await();
  const inside = resource('stock').enter({ shared: true }); // The others only read.
  await sleep(250);
  inside.leave();
}
await locks.close();
`;

const SEGMENTED = `const locks = createLocks(redis);
const tickets = locks.segmented('tickets', { segments: 2 });
const { segment, held } = await tickets.acquire({ leaseMs: 1000 });
const inside = resource(\`tickets \${segment}\`).enter(); // Another client may be in the other half.
await sleep(250); // The work.
inside.write();
inside.leave();
await held.release();
await locks.close();
`;

const SESSION = `const locks = createLocks(redis);
const session = await locks.session({ leaseMs: 1000 }); // Its locks end with it.
const held = await session.lock('lock').acquire();
${WORK}await held.release();
await session.close();
await locks.close();
`;

const code = (name: string, title: string, text: string, nodes = 'pair'): PlayLock => ({
  ...{ name, title: `lostlock/locks: ${title}`, nodes, code: text },
});

/** By their names. */
export const ourLocks: readonly PlayLock[] = [
  code('reentrant', 'reentrant (RLock)', holding("reentrant('lock')")),
  code(
    'confirmed',
    'reentrant, confirmed by a replica',
    holding("reentrant('lock')", 'createLocks(redis, { replicas: 1 })'),
  ),
  code('simple', 'simple', holding("simple('lock')")),
  code('fair', 'fair (fair RLock)', holding("fair('lock')")),
  code('queue', 'queue, with a fence for each grant', holding("queue('lock')")),
  code('non-reentrant', 'not reentrant, not even for its owner', holding("nonReentrant('lock')")),
  code('read-write', 'A writes, the others read (RReadWriteLock)', SHARED),
  code(
    'multi',
    'two locks, all or none (RedissonMultiLock)',
    holding("multi([locks.reentrant('lock:1'), locks.reentrant('lock:2')])"),
  ),
  code('semaphore', 'two permits (RSemaphore)', pooled("semaphore('pool')", '')),
  code(
    'permits',
    'two permits with leases (RPermitExpirableSemaphore)',
    pooled("expirablePermits('pool')", '{ leaseMs: 1000 }'),
  ),
  code('latch', 'A prepares, the others wait (RCountDownLatch)', LATCH),
  code('segmented', 'a stock in two segments', SEGMENTED),
  code('session', 'locks that end with a session', SESSION),
  code(
    'our-redlock',
    'Redlock on three primaries',
    holding("redlock('lock')", 'createLocks(servers)'),
    'three',
  ),
  code('fenced', 'fenced, confirmed by a replica (RFencedLock)', FENCED),
];
