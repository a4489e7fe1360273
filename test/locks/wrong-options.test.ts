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
type Untyped = Record<'simple' | 'readWrite' | 'segmented' | 'multi', (...words: unknown[]) => unknown>;
const untyped = (): Untyped => locks as unknown as Untyped;

test.each<[what: string, call: () => unknown, option: string]>([
  ['no client', () => createLocks([]), 'clients'],
  ['something else for a client', () => createLocks({} as never), 'clients'],
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
  ['a lock without a name', () => untyped().simple(), 'name'],
  ['a latch with an empty name', () => locks.latch(''), 'name'],
  ['a read-write lock with a number for a name', () => untyped().readWrite(5), 'name'],
  ['no segments', () => locks.segmented('G', { segments: 0 }), 'segmented.segments'],
  ['segments left out', () => untyped().segmented('G', {}), 'segmented.segments'],
  ['a fence of another kind', () => locks.fenced('F', { fence: 'wall' as never }), 'fenced.fence'],
  ['a multi lock of none', () => locks.multi([]), 'multi'],
  ['a multi lock of names', () => untyped().multi(['a', 'b']), 'multi'],
  ['a negative wait', () => locks.simple('L').acquire({ waitMs: -5 }), 'acquire.waitMs'],
  ['a misspelt wait', () => locks.simple('L').tryAcquire({ wait: 5 } as never), 'acquire.wait'],
  ['a lease of nothing', () => locks.reentrant('L').acquire({ leaseMs: 0 }), 'acquire.leaseMs'],
  ['an endless lease', () => locks.fair('L').acquire({ leaseMs: Infinity }), 'acquire.leaseMs'],
  ['a signal that is none', () => locks.queue('L').acquire({ signal: 5 as never }), 'acquire.signal'],
  ['an empty owner', () => locks.readWrite('L').read.acquire({ owner: '' }), 'acquire.owner'],
  [
    'permits of another kind of lock',
    () => locks.simple('L').acquire({ permits: 1 } as never),
    'acquire.permits',
  ],
  ['no permits', () => locks.semaphore('S').acquire({ permits: 0 }), 'acquire.permits'],
  ['permits to set that are none', () => locks.semaphore('S').trySetPermits(Number.NaN), 'trySetPermits'],
  ['a latch that is open from the start', () => locks.latch('C').trySetCount(0), 'trySetCount'],
  ['a wait for a latch that is over', () => locks.latch('C').await({ waitMs: -1 }), 'await.waitMs'],
  ['units that are none', () => locks.segmented('G', { segments: 2 }).take(0), 'take'],
  ['a session of no length', () => locks.session({ leaseMs: 0 }), 'session.leaseMs'],
])('%s is refused', async (_what, call, option) => {
  const error = await (async () => call())().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RangeError);
  expect((error as RangeError).message).toContain(`lostlock: option ${option} is `);
  expect((error as RangeError).message).toContain('; allowed: ');
  expect(server.dump()).toEqual([]);
});

test('an extension by nothing is refused, and the lock stays as it was', async () => {
  const held = await locks.simple('L').acquire({ leaseMs: 5000 });
  await expect(held.extend(0)).rejects.toThrow('lostlock: option extend is 0; allowed: milliseconds from 1');
  held.assertHeld();
  await held.release();
});
