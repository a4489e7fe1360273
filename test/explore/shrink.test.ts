/** How a failing plan is reduced: to fewer faults and clients, without jitter, at rounder times and shorter lengths. */
import { expect, test } from 'vitest';
import type { PlannedFault } from '../../explore/faults/index.ts';
import type { WorldPlan } from '../../explore/plan.ts';
import type { PlayedWorld } from '../../explore/played-world.ts';
import { type Reducible, shrink } from '../../explore/search/shrink.ts';
import { faultOf } from '../../explore/search/strategy.ts';

/** A world in which every fault struck, and A and B broke the promise. */
function failing(plan: WorldPlan): Reducible {
  const visits = [{ client: 'A' }, { client: 'B' }];
  const world = {
    plan,
    struck: plan.faults,
    visits,
    lines: [],
    events: [],
    begunAt: 0,
  } as unknown as PlayedWorld;
  return {
    plan,
    world,
    breach: { promise: 'p', at: 1, what: 'w', visits: [0, 1] },
    actors: new Set(['A', 'B']),
    shape: '',
  };
}

async function shrunk(
  faults: readonly PlannedFault[],
  breaks: (plan: WorldPlan) => boolean,
): Promise<WorldPlan> {
  const plan: WorldPlan = { seed: 1, clients: ['A', 'B', 'C', 'D'], jitter: 1, faults };
  const attempt = async (smaller: WorldPlan): Promise<Reducible | undefined> =>
    breaks(smaller) ? failing(smaller) : undefined;
  return (await shrink(failing(plan), attempt)).plan;
}

const pause = faultOf('client-pause', 12.345, { on: 'A', ms: 9876 });
const late = faultOf('late', 1, { on: 'B', by: 3333 });

test('what the promise does not need goes: faults, delays, clients and jitter', async () => {
  const others = [late, faultOf('late', 2, { on: 'C', by: 10 }), faultOf('script-flush', 3, {})];
  const { faults, clients, jitter } = await shrunk([...others, pause], (plan) =>
    plan.faults.some(({ kind }) => kind === 'client-pause'),
  );
  expect(faults.map(({ kind }) => kind)).toEqual(['client-pause']);
  expect(clients).toEqual(['A', 'B']);
  expect(jitter).toBe(0);
});

test('a fault comes to have a round time, and a length that is no longer than it must be', async () => {
  const { faults } = await shrunk([pause], ({ faults: [only] }) => (only?.ms ?? 0) >= 1500);
  expect(faults).toEqual([{ ...pause, at: 12, ms: 2500 }]);
  // A time that must stay within a millisecond keeps a tenth.
  const tight = await shrunk([pause], ({ faults: [only] }) => only !== undefined && only.at > 12.2);
  expect(tight.faults[0]?.at).toBe(12.3);
});

test('what the promise needs stays', async () => {
  const kept = await shrunk([late, pause], (plan) => plan.faults.length === 2 && plan.clients.length === 4);
  expect(kept.faults.map(({ kind }) => kind)).toEqual(['late', 'client-pause']);
  expect(kept.clients).toEqual(['A', 'B', 'C', 'D']);
});
