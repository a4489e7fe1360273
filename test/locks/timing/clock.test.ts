/** Leases and waits use the client's monotonic clock, so setting its wall clock changes nothing. On the lab's virtual clock. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { type HeldLock, LockTimeout } from '../../../locks/index.ts';
import { Lab } from '../failures/lab.ts';

const HOUR = 3_600_000;

/** Plays in a lab whose latency is 1 ms. `step` sets A's wall clock. */
async function play(body: (lab: Lab, step: (byMs: number) => void) => Promise<void>): Promise<void> {
  await using pair = await startPair({ clock: 'virtual', seed: 1, network: { latency: 1, jitter: 0 } });
  await pair.run(async () => {
    const lab = new Lab(pair);
    await body(lab, (byMs) => pair.world.actor('A').clock.jump(byMs));
  });
}

/** Whether the holder, asked as A, still believes. */
const believes = (lab: Lab, held: HeldLock): Promise<boolean> =>
  lab.as('A', () => {
    try {
      held.assertHeld();
      return true;
    } catch {
      return false;
    }
  });

test.each([-10_000, -HOUR, 10_000, HOUR])(
  'a wall clock that is set by %i ms does not change when a lease ends',
  (byMs) =>
    play(async (lab, step) => {
      const locks = await lab.locks('A');
      const held = await lab.as('A', () => locks.simple('lock').acquire({ leaseMs: 1000 }));
      step(byMs);
      await lab.advance(900);
      expect(await believes(lab, held)).toBe(true);
      expect(held.signal.aborted).toBe(false);
      await lab.advance(100);
      expect(await believes(lab, held)).toBe(false);
      expect(held.signal.aborted).toBe(true);
    }),
);

test.each([-HOUR, HOUR])(
  'a wall clock that is set by %i ms does not change how long an acquisition waits',
  (byMs) =>
    play(async (lab, step) => {
      const [a, b] = [await lab.locks('A'), await lab.locks('B')];
      await lab.as('B', () => b.simple('lock').acquire());
      const startedAt = performance.now();
      const waited = lab.as('A', () =>
        a
          .simple('lock')
          .acquire({ waitMs: 5000 })
          .catch((error: unknown) => error),
      );
      await lab.advance(1000);
      step(byMs);
      expect(await waited).toBeInstanceOf(LockTimeout);
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(5000);
      expect(performance.now() - startedAt).toBeLessThan(5100);
    }),
);

test.each([-HOUR, HOUR])('a wall clock that is set by %i ms does not delay renewals', (byMs) =>
  play(async (lab, step) => {
    const locks = await lab.locks('A', { leaseMs: 1000 });
    const held = await lab.as('A', () => locks.reentrant('lock').acquire());
    step(byMs);
    await lab.advance(10_000);
    expect(await believes(lab, held)).toBe(true);
    await lab.as('A', () => held.release());
  }),
);

test.each([-HOUR, HOUR])('a session survives a wall clock that is set by %i ms, and ends in time', (byMs) =>
  play(async (lab, step) => {
    const locks = await lab.locks('A', { leaseMs: 1000 });
    const session = await lab.as('A', () => locks.session());
    step(byMs);
    await lab.advance(5000);
    await lab.as('A', () => session.assertAlive());
    lab.requests('A').partition();
    await lab.advance(1100);
    await expect(lab.as('A', () => session.assertAlive())).rejects.toThrow('was lost');
  }),
);

test('validUntil follows the current wall clock', () =>
  play(async (lab, step) => {
    const locks = await lab.locks('A');
    const held = await lab.as('A', () => locks.simple('lock').acquire({ leaseMs: 1000 }));
    const left = (): Promise<number> => lab.as('A', () => held.validUntil - Date.now());
    const before = await left();
    expect(before).toBeGreaterThan(980);
    expect(before).toBeLessThanOrEqual(990);
    step(-10_000);
    expect(await left()).toBe(before);
    step(HOUR);
    expect(await left()).toBe(before);
  }));
