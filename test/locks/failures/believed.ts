/** Failures S129, S130 and S132: what a holder believes, and what has been copied or is counted on no clock. */
import type { Failure } from './lab.ts';

const L = 'lock';

const clockSetBack: Failure = {
  id: 'S132',
  title: "the holder's wall clock is set back, and its lease seems to last longer",
  naive: async (lab) => {
    const [a, b] = [await lab.redis('A'), await lab.redis('B')];
    const validUntil = await lab.as('A', async () => {
      const until = Date.now() + 1000;
      await a.set(L, 'A', 'PX', 1000, 'NX');
      return until;
    });
    await lab.advance(lab.between(0, 900));
    lab.pair.world.actor('A').clock.jump(-lab.between(1000, 20_000));
    await lab.advance(1100);
    if (await lab.as('A', () => Date.now() < validUntil)) lab.believe(L, 'A');
    if ((await b.set(L, 'B', 'PX', 1000, 'NX')) === 'OK') lab.believe(L, 'B');
    return lab.verdict();
  },
  ours: async (lab) => {
    const [a, b] = [await lab.locks('A'), await lab.locks('B')];
    const held = await lab.as('A', () => a.simple(L).acquire({ leaseMs: 1000 }));
    const { signal } = held;
    await lab.advance(lab.between(0, 900));
    lab.pair.world.actor('A').clock.jump(-lab.between(1000, 20_000));
    await lab.advance(1100);
    const believes = await lab.as('A', () => {
      try {
        held.assertHeld();
        return true;
      } catch {
        return false;
      }
    });
    if (believes || !signal.aborted) lab.believe(L, 'A');
    const other = await b.simple(L).tryAcquire();
    if (other) lab.trust(other);
    return other ? lab.verdict() : ['the lease is over, and nobody gets the lock'];
  },
};

export const believed: readonly Failure[] = [clockSetBack];
