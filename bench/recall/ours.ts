/** Our own locks, one program for each kind and form of the registry: nothing may be found in them. */
import type { ClientSession } from '../../explore/index.ts';
import type { Lock } from '../../locks/asking/lock.ts';
import type { HeldLock } from '../../locks/holding/hold-handle.ts';
import { createLocks } from '../../locks/index.ts';
import { kinds, type LockForm } from '../../locks/kinds/index.ts';
import { asHeld, LEASE, none, work } from '../libraries/work.ts';
import type { RecallCase } from './case.ts';

/** How long a client waits before it sets a pool up again, in milliseconds. */
const RETRY = 50;
/** How many permits a pool has: with one, it is a lock. */
const PERMITS = 1;

/** Takes the lock, works under it, and gives it back. @param replicas how many replicas must have a grant; by default none */
function client({ make, open, setUp }: LockForm, servers: number, isShared: boolean, replicas?: 1) {
  return async (session: ClientSession): Promise<void> => {
    const { redis, signal, sleep } = session;
    await using locks = createLocks(servers > 1 ? (session.servers as never) : redis, {
      // By default a waiter that died keeps its place for six seconds: longer than a lock may stay closed here.
      ...{ leaseMs: LEASE, placeMs: LEASE },
      ...(replicas !== undefined && { replicas }),
    });
    while (setUp !== undefined) {
      const isDone = await setUp(locks, 'lock', PERMITS).then(
        () => true,
        () => false,
      );
      if (isDone) break;
      await sleep(RETRY);
    }
    const lock = (make?.(locks, 'lock') ?? (await open?.(locks, 'lock'))) as Lock<HeldLock>;
    const held = asHeld(await lock.acquire({ signal }));
    await work(session, { ...held, extend: none }, { enter: { shared: isShared } });
  };
}

/** The kinds and forms on one server, whose grants a replica must confirm (WAIT), or need not. */
export function ourReplicated(replicas: 1 | undefined): readonly RecallCase[] {
  return Object.entries(kinds)
    .filter(([kind, { primaries }]) => kind !== 'semaphore' && primaries === 1)
    .flatMap(([, { title, forms }]) =>
      Object.entries(forms).map(
        ([form, how]): RecallCase => ({
          name: `our ${title}${form === title ? '' : ` (${form})`}${replicas === undefined ? '' : ', replicas: 1'}`,
          group: 'program',
          topology: { replicas: 1 },
          sound: client(how, 1, form === 'read', replicas),
        }),
      ),
    );
}

/** One case for each kind and form. A permit without a lease stays with a dead client, as its page says: it is left out. */
export const ourLocks: readonly RecallCase[] = Object.entries(kinds)
  .filter(([kind]) => kind !== 'semaphore')
  .flatMap(([, { title, primaries, forms }]) =>
    Object.entries(forms).map(
      ([form, how]): RecallCase => ({
        name: `our ${title}${form === title ? '' : ` (${form})`}`,
        group: 'program',
        ...(primaries > 1 && { topology: { primaries }, part: 0.3 }),
        sound: client(how, primaries, form === 'read'),
      }),
    ),
  );
