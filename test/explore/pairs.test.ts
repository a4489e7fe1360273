/** The moments at which faults strike, and which second faults an exhaustive exploration plays after a first one. */
import { expect, test } from 'vitest';
import type { PlayedWorld } from '../../explore/played-world.ts';
import { EverySingle } from '../../explore/search/moments.ts';
import { Pairs } from '../../explore/search/pairs.ts';
import { momentsOf } from '../../explore/search/states.ts';
import { faultOf, type SearchInput } from '../../explore/search/strategy.ts';

const input: SearchInput = {
  seed: 1,
  among: { clients: ['A', 'B'], sets: [['redis-1']], sentinels: false, cluster: false },
  scales: { leaseMs: 1000, reconnectMs: 250, leases: [] },
  faults: ['client-death'],
  moments: [],
  span: 10,
  depth: 3,
};

/** A world in which a fault strikes a client at 1 ms. A sends a request at 2 ms, and B at 3 ms. */
function struck(on: string): PlayedWorld {
  const first = faultOf('client-pause', 1, { on, ms: 1500 });
  const events = ['A', 'B'].map((name, i) => ({
    ...{ at: (2 + i) * 1000, what: 'data', who: `${name}:1>redis-1`, detail: '*1\r\n$4\r\nPING\r\n' },
  }));
  const plan = { seed: 1, clients: ['A', 'B'], jitter: 0, faults: [first] };
  const sets = [{ nodes: [{ name: 'redis-1' }] }];
  return { begunAt: 0, span: 10, visits: [], struck: [first], events, plan, sets } as unknown as PlayedWorld;
}

test('the same first fault on another client leads to other pairs, and the same world again to none', () => {
  const pairs = new Pairs(input);
  const added = (world: PlayedWorld): string[] => {
    const before = pairs.plans.length;
    pairs.add(world);
    return pairs.plans
      .slice(before)
      .map(({ faults }) => `${faults[1]?.on}${faults[1]?.how} at ${faults[1]?.at}`);
  };
  // At 2 ms, both clients have done nothing yet, but one of them is paused.
  const one = ['A at 2', 'Arestart at 2', 'B at 2', 'Brestart at 2'];
  const both = [...one, 'A at 3', 'Arestart at 3', 'B at 3', 'Brestart at 3'];
  expect(added(struck('A'))).toEqual(both);
  // At 2 ms it makes no difference which of the two is paused. At 3 ms it does: A has sent a request.
  expect(added(struck('B'))).toEqual(['A at 3', 'Arestart at 3', 'B at 3', 'Brestart at 3']);
  expect(added(struck('B'))).toEqual([]);
});

test.each([1, 2, 3])('%i shards together play every form at every moment, each once', (of) => {
  for (let count = 1; count <= 12; count++) {
    const moments = Array.from({ length: count }, (_, i) => i);
    const every = new EverySingle({ ...input, faults: ['client-death', 'clock-drift'] }, moments);
    const plans = Array.from({ length: of }, (_, i) => [...every.plans({ index: i + 1, of })]).flat();
    const played = plans.flatMap(({ faults }) => faults.map((fault) => JSON.stringify(fault)));
    expect([played.length, new Set(played).size]).toEqual([every.length, every.length]);
    const deaths = played.filter((text) => text.includes('"client-death"'));
    // Two clients die, and come back or not. A drift strikes once, as the moment makes no difference.
    expect(deaths).toHaveLength(4 * count);
    expect(every.length).toBe(deaths.length + every.forms - 4);
  }
});

test('a fault also strikes in the middle of a visit, when no message arrives', () => {
  const visit = { client: 'A', from: 2, to: 9 };
  const world = { ...struck('A'), visits: [visit] } as unknown as PlayedWorld;
  expect(momentsOf(world, 1000).map(({ at, rest }) => [at, rest])).toEqual([
    [2, ''],
    [3, ''],
    [5.5, ' inside'],
  ]);
});
