/** Every wrong option of the locks' API is refused with its name, its value and what is allowed, before anything is sent. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { createLocks, type Locks } from '../../locks/index.ts';

let server: LostlockServer;
let redis: Redis;
let locks: Locks;
beforeAll(async () => {
  server = await startServer();
  redis = new Redis({ Connector: server.connector });
  locks = createLocks(redis);
});
afterAll(async () => {
  locks.close();
  redis.disconnect();
  await server.stop();
});

/** The locks without their types, as plain JavaScript sees them. */
type Untyped = Record<
  'simple' | 'fair' | 'readWrite' | 'segmented' | 'multi',
  (...words: unknown[]) => unknown
>;
const untyped = (): Untyped => locks as unknown as Untyped;

test.each<[what: string, call: () => unknown, option: string]>([
  ['options that are a number', () => createLocks(redis, 5 as never), 'createLocks'],
  ['null for the options', () => createLocks(redis, null as never), 'createLocks'],
  ['no client', () => createLocks([]), 'clients'],
  ['something else for a client', () => createLocks({} as never), 'clients'],
  ['null for a client', () => createLocks(null as never), 'clients'],
  ['undefined for a client', () => createLocks(undefined as never), 'clients'],
  ['a negative lease for all', () => createLocks(redis, { leaseMs: -1 }), 'createLocks.leaseMs'],
  ['a misspelt setting', () => createLocks(redis, { lease: 1 } as never), 'createLocks.lease'],
  ['a name of a prototype', () => createLocks(redis, { toString: 1 } as never), 'createLocks.toString'],
  ['half a replica', () => createLocks(redis, { replicas: 0.5 }), 'createLocks.replicas'],
  ['a drift of everything', () => createLocks(redis, { driftFactor: 1 }), 'createLocks.driftFactor'],
  [
    'a whole lease for one server',
    () => createLocks(redis, { redlockServerShare: 1 }),
    'createLocks.redlockServerShare',
  ],
  ['a lease of nothing for all', () => createLocks(redis, { leaseMs: 0 }), 'createLocks.leaseMs'],
  ['no time for a reply', () => createLocks(redis, { requestTimeoutMs: 0 }), 'createLocks.requestTimeoutMs'],
  ['a sleep of nothing', () => createLocks(redis, { maxSleepMs: 0 }), 'createLocks.maxSleepMs'],
  ['an endless lease for all', () => createLocks(redis, { leaseMs: Infinity }), 'createLocks.leaseMs'],
  ['a drift back in time', () => createLocks(redis, { driftFactor: -0.1 }), 'createLocks.driftFactor'],
  ['a delay below none', () => createLocks(redis, { lockDelayMs: -1 }), 'createLocks.lockDelayMs'],
  ['a longest hold of nothing', () => createLocks(redis, { maxHoldMs: 0 }), 'createLocks.maxHoldMs'],
  [
    'replicas in another word',
    () => createLocks(redis, { replicas: 'most' as never }),
    'createLocks.replicas',
  ],
  ['no replicas', () => createLocks(redis, { replicas: 0 }), 'createLocks.replicas'],
  ['replicas before now', () => createLocks(redis, { replicaTimeoutMs: -1 }), 'createLocks.replicaTimeoutMs'],
  ['disks in words', () => createLocks(redis, { fsync: 'yes' as never }), 'createLocks.fsync'],
  ['a fair wait of nothing', () => createLocks(redis, { fairWaitMs: 0 }), 'createLocks.fairWaitMs'],
  ['a place for no time', () => createLocks(redis, { placeMs: 0 }), 'createLocks.placeMs'],
  ['an empty client', () => createLocks(redis, { clientId: '' }), 'createLocks.clientId'],
  ['a lock without a name', () => untyped().simple(), 'name'],
  ['a latch with an empty name', () => locks.latch(''), 'name'],
  ['a read-write lock with a number for a name', () => untyped().readWrite(5), 'name'],
  ['a fair lock without a name', () => untyped().fair(), 'name'],
  ['an event that does not exist', () => locks.on('lots' as never, () => {}), 'on'],
  ['an event to end that does not exist', () => locks.off('lots' as never, () => {}), 'off'],
  ['a task that is not a function', () => locks.run(5 as never), 'run'],
  ['no segments', () => locks.segmented('G', { segments: 0 }), 'segmented.segments'],
  ['segments without a name', () => locks.segmented('', { segments: 2 }), 'name'],
  ['segments of another name', () => untyped().segmented('G', { segments: 2, parts: 2 }), 'segmented.parts'],
  ['segments left out', () => untyped().segmented('G', {}), 'segmented.segments'],
  ['a fence of another kind', () => locks.fenced('F', { fence: 'wall' as never }), 'fenced.fence'],
  ['a misspelt fence', () => locks.fenced('F', { fens: 1 } as never), 'fenced.fens'],
  ['a multi lock of none', () => locks.multi([]), 'multi'],
  ['a multi lock that is a lock', () => untyped().multi(locks.simple('L')), 'multi'],
  ['a multi lock of one twice', () => locks.multi([locks.simple('a'), locks.simple('a')]), 'multi'],
  ['a multi lock of names', () => untyped().multi(['a', 'b']), 'multi'],
  ['a negative wait', () => locks.simple('L').acquire({ waitMs: -5 }), 'acquire.waitMs'],
  ['a wait in words', () => locks.simple('L').acquire({ waitMs: '5' as never }), 'acquire.waitMs'],
  ['a misspelt wait', () => locks.simple('L').tryAcquire({ wait: 5 } as never), 'acquire.wait'],
  ['a lease of nothing', () => locks.reentrant('L').acquire({ leaseMs: 0 }), 'acquire.leaseMs'],
  ['an endless lease', () => locks.fair('L').acquire({ leaseMs: Infinity }), 'acquire.leaseMs'],
  ['a signal that is none', () => locks.queue('L').acquire({ signal: 5 as never }), 'acquire.signal'],
  [
    'a signal that cannot be aborted',
    () => locks.queue('L').acquire({ signal: new EventTarget() as never }),
    'acquire.signal',
  ],
  [
    'a signal that cannot be listened to',
    () => locks.queue('L').acquire({ signal: { aborted: false } as never }),
    'acquire.signal',
  ],
  ['an empty owner', () => locks.readWrite('L').read.acquire({ owner: '' }), 'acquire.owner'],
  [
    'permits of another kind of lock',
    () => locks.simple('L').acquire({ permits: 1 } as never),
    'acquire.permits',
  ],
  ['half a permit more', () => locks.semaphore('S').acquire({ permits: 1.5 }), 'acquire.permits'],
  ['permits in words', () => locks.semaphore('S').acquire({ permits: '2' as never }), 'acquire.permits'],
  ['no permits', () => locks.semaphore('S').acquire({ permits: 0 }), 'acquire.permits'],
  [
    'a lease of permits without one',
    () => locks.semaphore('S').acquire({ leaseMs: 5 as never }),
    'acquire.leaseMs',
  ],
  ['null for a multi lock', () => locks.multi([locks.simple('L')]).acquire(null as never), 'acquire'],
  ['null for a Redlock', () => locks.redlock('L').acquire(null as never), 'acquire'],
  ['null beside a function', () => locks.simple('L').using(null as never, () => {}), 'acquire'],
  ['null for a segment', () => locks.segmented('G', { segments: 2 }).acquire(null as never), 'acquire'],
  ['null beside units', () => locks.segmented('G', { segments: 2 }).take(1, null as never), 'take'],
  ['permits to set that are none', () => locks.semaphore('S').trySetPermits(Number.NaN), 'trySetPermits'],
  ['permits to add that are none', () => locks.semaphore('S').addPermits(0), 'addPermits'],
  ['permits to set below none', () => locks.expirablePermits('S').trySetPermits(-1), 'trySetPermits'],
  ['a latch that is open from the start', () => locks.latch('C').trySetCount(0), 'trySetCount'],
  ['a wait for a latch that is over', () => locks.latch('C').await({ waitMs: -1 }), 'await.waitMs'],
  ['a wait for a latch with a lease', () => locks.latch('C').await({ leaseMs: 5 } as never), 'await.leaseMs'],
  [
    'a signal for a latch that is none',
    () => locks.latch('C').await({ signal: {} as never }),
    'await.signal',
  ],
  ['stock below none', () => locks.segmented('G', { segments: 2 }).trySetStock(-1), 'trySetStock'],
  ['units that are none', () => locks.segmented('G', { segments: 2 }).take(0), 'take'],
  ['null for a session', () => locks.session(null as never), 'session'],
  ['a misspelt session', () => locks.session({ lease: 5 } as never), 'session.lease'],
  ['a session of no length', () => locks.session({ leaseMs: 0 }), 'session.leaseMs'],
])('%s is refused', async (_what, call, option) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toContain(`lostlock: option ${option} is `);
  expect((error as TypeError).message).toContain('; allowed: ');
  expect(error).toMatchObject({ code: 'LOSTLOCK_BAD_OPTION', option });
  expect(server.dump()).toEqual([]);
});

test.each<[what: string, call: () => unknown, says: string | RegExp]>([
  [
    'a server for a client',
    () => createLocks(server as never),
    /This is a server: pass .*new Redis\(server\.url\)$/,
  ],
  ['a servers among clients', () => createLocks([redis, server] as never), 'This is a server: pass a client'],
  ['a long text for a client', () => createLocks('x'.repeat(1000) as never), 'option clients is '],
  ['a lease in short', () => createLocks(redis, { lease: 5 } as never), 'did you mean leaseMs?'],
  ['letters swapped', () => createLocks(redis, { repilcas: 1 } as never), 'did you mean replicas?'],
  ['another spelling', () => createLocks(redis, { drift_factor: 0 } as never), 'did you mean driftFactor?'],
  ['a wait without its unit', () => locks.simple('L').acquire({ wait: 5 } as never), 'did you mean waitMs?'],
  ['another ending', () => locks.semaphore('S').acquire({ permit: 1 } as never), 'did you mean permits?'],
  ['nothing like it', () => locks.simple('L').acquire({ colour: 5 } as never), /owner$/],
  ['segments in small', () => untyped().segmented('G', { segment: 2 }), 'did you mean segments?'],
])('%s gives an error of one line', async (_what, call, says) => {
  const error = (await (async () => call())().catch((thrown: unknown) => thrown)) as Error;
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toMatch(says);
  expect(error.message.split('\n')).toHaveLength(1);
  expect(error.message.length).toBeLessThan(400);
});

test.each<[what: string, call: () => unknown, option: string]>([
  ['a default lease too short to renew', () => createLocks(redis, { leaseMs: 29 }), 'createLocks.leaseMs'],
  ['a look in no time', () => createLocks(redis, { maxSleepMs: 9 }), 'createLocks.maxSleepMs'],
  ['a place for a moment', () => createLocks(redis, { placeMs: 29 }), 'createLocks.placeMs'],
  ['replicas at once', () => createLocks(redis, { replicaTimeoutMs: 0 }), 'createLocks.replicaTimeoutMs'],
  ['most of a lease not trusted', () => createLocks(redis, { driftFactor: 0.6 }), 'createLocks.driftFactor'],
  [
    'no share for a server',
    () => createLocks(redis, { redlockServerShare: 0 }),
    'createLocks.redlockServerShare',
  ],
  ['a session too short to renew', () => locks.session({ leaseMs: 29 }), 'session.leaseMs'],
  ['a lease that drift takes whole', () => locks.simple('L').acquire({ leaseMs: 1 }), 'acquire.leaseMs'],
  [
    'a wait for a set-up of what needs none',
    () => locks.nonReentrant('N').acquire({ waitForSetup: true } as never),
    'acquire.waitForSetup',
  ],
  [
    'a wait for a set-up in words',
    () => locks.semaphore('S').acquire({ waitForSetup: 'yes' as never }),
    'acquire.waitForSetup',
  ],
])('%s cannot work and is refused', async (_what, call, option) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TypeError);
  expect((error as TypeError).message).toContain(`lostlock: option ${option} is `);
});

test('extending by 0 is refused, and the lock stays as it was', async () => {
  const held = await locks.simple('L').acquire({ leaseMs: 5000 });
  await expect(held.extend(0)).rejects.toThrow('lostlock: option extend is 0; allowed: milliseconds from 1');
  held.assertHeld();
  await held.release();
});

test('the error for a wrong option carries its name, its value and what is allowed as properties', () => {
  const refused = (call: () => unknown): unknown => {
    try {
      return call();
    } catch (error) {
      return error;
    }
  };
  expect(refused(() => createLocks(redis, { leaseMs: -1 }))).toMatchObject({
    name: 'TypeError',
    code: 'LOSTLOCK_BAD_OPTION',
    option: 'createLocks.leaseMs',
    value: -1,
    allowed: 'milliseconds from 30',
    message: 'lostlock: option createLocks.leaseMs is -1; allowed: milliseconds from 30',
  });
  const wrongClient = {};
  const error = refused(() => createLocks(wrongClient as never)) as { value: unknown };
  expect(error.value).toBe(wrongClient);
  expect(Object.keys(error)).not.toContain('value'); // A whole client would flood the printed error.
});
