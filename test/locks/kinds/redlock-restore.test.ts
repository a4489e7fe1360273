/** Redlock on servers that come back empty: which of them get the lock back, and what is left when that comes too late. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { createLocks, fromIoredis, type Locks } from '../../../locks/index.ts';
import { simpleAcquireScript } from '../../../locks/scripts/simple.ts';
import { L } from '../every-kind.ts';
import { inLab, type Lab } from '../failures/lab.ts';
import { faulty } from '../faulty.ts';

const LEASE_MS = 3000;
/** Within this time each hold is renewed, and what is missing is restored. */
const RENEWED_MS = LEASE_MS / 3 + 100;

/** The servers that have the key. */
const copies = (lab: Lab): number[] =>
  lab.sets.flatMap(({ primary }, index) => (primary.server.db(0).entries.has(L) ? [index] : []));

/** A server crashes and starts again, without any data. */
function restartEmpty(lab: Lab, server: number): void {
  const { primary } = lab.sets[server]!;
  primary.crash({ keep: 'nothing' });
  primary.restart();
}

function play(
  primaries: number,
  code: (lab: Lab, locks: Locks, other: Locks) => Promise<void>,
): Promise<void> {
  return inLab(
    1,
    async (lab) => {
      const [locks, other] = [
        await lab.locks('A', { leaseMs: LEASE_MS }),
        await lab.locks('B', { leaseMs: LEASE_MS }),
      ];
      await code(lab, locks, other);
      locks.close();
      other.close();
    },
    primaries,
  );
}

describe.each([3, 5])('with %d servers', (size) => {
  const all = Array.from({ length: size }, (_, index) => index);

  test('servers that restart empty one after the other do not cost the lock', () =>
    play(size, async (lab, locks, other) => {
      const held = await lab.as('A', () => locks.redlock(L).acquire());
      for (let round = 0; round < 2 * size; round++) {
        restartEmpty(lab, round % size);
        await lab.advance(RENEWED_MS);
        expect(copies(lab)).toEqual(all);
        expect(await lab.as('B', () => other.redlock(L).tryAcquire())).toBeNull();
      }
      held.assertHeld();
      await lab.as('A', () => held.release());
      await lab.advance(100);
      expect(copies(lab)).toEqual([]);
    }));

  test('when a majority came back empty, the lock is lost, and nothing is restored', () =>
    play(size, async (lab, locks) => {
      const held = await lab.as('A', () => locks.redlock(L).acquire());
      const gone = all.slice(0, (size + 1) / 2);
      for (const server of gone) restartEmpty(lab, server);
      await lab.advance(RENEWED_MS);
      expect(String(held.signal.reason)).toContain('does not know it any more');
      expect(copies(lab)).toEqual(all.filter((server) => !gone.includes(server)));
    }));
});

test('a server that another client has taken meanwhile is left to it', () =>
  play(3, async (lab, locks) => {
    const held = await lab.as('A', () => locks.redlock(L).acquire());
    restartEmpty(lab, 2);
    const set = lab.sets[2]!.client('C');
    await set.set(L, 'another');
    await lab.advance(RENEWED_MS);
    expect(await set.get(L)).toBe('another');
    held.assertHeld();
  }));

describe('a server is silent for longer than the lease, and another one had refused the lock', () => {
  /** Server 3 has another's key when A takes the lock on the other two, of which one is cut off then. */
  const heldByTwo = async (lab: Lab, locks: Locks) => {
    const third = lab.sets[2]!.client('C');
    await third.set(L, 'another', 'PX', 60_000);
    const held = await lab.as('A', () => locks.redlock(L).acquire());
    expect(copies(lab)).toEqual([0, 1, 2]);
    lab.pair.world.network.partition(['A'], [lab.sets[1]!.primary.name]);
    return { held, third };
  };

  test('when it is free, it takes the place of the silent one', () =>
    play(3, async (lab, locks, other) => {
      const { held, third } = await heldByTwo(lab, locks);
      await third.del(L);
      await lab.advance(3 * LEASE_MS);
      held.assertHeld();
      expect(await third.get(L)).toBe(held.token);
      expect(await lab.as('B', () => other.redlock(L).tryAcquire())).toBeNull();
      lab.pair.world.network.heal();
      await lab.as('A', () => held.release());
      await lab.advance(LEASE_MS);
      expect(copies(lab)).toEqual([]);
    }));

  test('and when the silent one answers late that it has lost the lock, the lock is kept', () =>
    play(3, async (lab, locks) => {
      const { held, third } = await heldByTwo(lab, locks);
      await lab.advance(LEASE_MS / 3 + 50); // Two servers have answered a renewal: one has the lock, one not.
      await third.del(L);
      await lab.advance(LEASE_MS / 3);
      expect(await third.get(L)).toBe(held.token);
      const second = lab.sets[1]!.client('C');
      await second.del(L);
      lab.pair.world.network.heal();
      await lab.advance(RENEWED_MS);
      held.assertHeld();
      expect(await second.get(L)).toBe(held.token);
    }));

  test('while it is not free, the lock ends with its lease', () =>
    play(3, async (lab, locks) => {
      const { held, third } = await heldByTwo(lab, locks);
      await lab.advance(LEASE_MS + 100);
      expect(held.signal.aborted).toBe(true);
      expect(await third.get(L)).toBe('another');
    }));
});

test('extend() restores as well', () =>
  play(3, async (lab, locks) => {
    const held = await lab.as('A', () => locks.redlock(L).acquire({ leaseMs: 60_000 }));
    restartEmpty(lab, 0);
    await lab.as('A', () => held.extend(60_000));
    await lab.advance(1000); // The client connects again, and learns that the server does not know the scripts.
    expect(copies(lab)).toEqual([0, 1, 2]);
  }));

/**
 * Server 2 came back empty, and the connection breaks while the request to restore the lock there is under way. The lock is
 * released. Resolves to a function that delivers the request.
 */
async function restoredTooLate(lab: Lab): Promise<() => Promise<void>> {
  const clients = lab.sets.map((set) => faulty(fromIoredis(set.client('A'))));
  const locks = createLocks(clients, { leaseMs: LEASE_MS });
  const held = await lab.as('A', () => locks.redlock(L).acquire());
  restartEmpty(lab, 2);
  await lab.sets[2]!.client('C').script('LOAD', simpleAcquireScript.text);
  const last = clients[2]!;
  last.fault = ([, script]) => (script === simpleAcquireScript.sha ? 'late' : undefined);
  await lab.advance(RENEWED_MS);
  expect(last.fired).toEqual(['late']);
  await lab.as('A', () => held.release());
  await lab.advance(100);
  expect(copies(lab)).toEqual([]);
  return () => last.deliverLate();
}

test('a request to restore that arrives after the release takes nothing', () =>
  play(3, async (lab) => {
    const deliver = await restoredTooLate(lab);
    await deliver();
    expect(copies(lab)).toEqual([]);
  }));

test('on a server that has lost its data again it leaves an orphan, which keeps nobody out and ends with its lease', () =>
  play(3, async (lab, _, other) => {
    const deliver = await restoredTooLate(lab);
    await lab.sets[2]!.client('C').flushall();
    await deliver();
    expect(copies(lab)).toEqual([2]);
    const held = await lab.as('B', () => other.redlock(L).tryAcquire());
    expect(held).not.toBeNull();
    await lab.as('B', () => held!.release());
    await lab.advance(LEASE_MS + 100);
    expect(copies(lab)).toEqual([]);
  }));
