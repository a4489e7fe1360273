/** What a reduction must keep: the reason why the promise broke, and the clients that it is about. */
import { expect, test } from 'vitest';
import { kindsOf } from '../../explore/findings.ts';
import type { ExploreOptions, History } from '../../explore/index.ts';
import { isSameReason, reducible } from '../../explore/search/same-reason.ts';
import type { Reducible } from '../../explore/search/shrink.ts';
import { playBroken } from './play-finding.ts';
import { stock } from './stock.ts';

async function broken(text: string, options: ExploreOptions = stock()): Promise<Reducible> {
  const { world, breach } = await playBroken(options, `${text}:000000000000`);
  return reducible({ plan: world.plan, world, breach });
}

/** A restart loses A's lock. B gets it, and then A's DEL takes it from B: so C gets in as well. */
const FREED_BY_A = '2:1:0:A,B,C:restart-empty@A.enters.stock.1+259/redis-1/20';

test('a smaller world that breaks the promise for another reason is not the same', async () => {
  const found = await broken(FREED_BY_A);
  expect(found.breach.what).toBe('C entered stock while B was still inside');
  // B gets in because the restart has lost A's lock; nobody deletes anything.
  const slipped = await broken('2:1:0:A,B,C:restart-empty@A.enters.stock.1/redis-1/20');
  expect(slipped.breach.what).toBe('B entered stock while A was still inside');
  expect(slipped.shape).not.toBe(found.shape);
  expect(isSameReason(found, slipped)).toBe(false);
  // The same at another moment.
  expect(isSameReason(found, await broken(FREED_BY_A.replace('+259', '+250')))).toBe(true);
});

test('a fault that strikes a client in another role is another reason', async () => {
  const first = await broken('2:1:0:A,B:client-pause@A.enters.stock.1/A/1500');
  const [paused] = first.world.struck;
  expect(isSameReason(first, first)).toBe(true);
  const struck = [{ ...paused!, on: 'B' }];
  expect(isSameReason(first, { ...first, world: { ...first.world, struck } })).toBe(false);
});

test('the client whose act freed the lock stays, although it visits nothing in the breach', async () => {
  const { actors, breach, world } = await broken(FREED_BY_A);
  expect(breach.visits.map((id) => world.visits[id]?.client)).toEqual(['B', 'C']);
  expect([...actors].sort()).toEqual(['A', 'B', 'C']);
});

test('clients that a promise names in its text or returns stay', async () => {
  const served = ({ visits }: History): string => `C was served as number ${visits.length}`;
  const named = await broken('2:1:0:A,B,C:', { ...stock(), promises: [served] });
  expect([...named.actors]).toEqual(['C']);
  const { breach } = named;
  const returned = reducible({ ...named, breach: { ...breach, what: 'somebody waited', clients: ['B'] } });
  expect([...returned.actors]).toEqual(['B']);
});

test('late messages are a cause, which is named and told', async () => {
  const { world } = await broken('2:1:0:A,B:late@0/B//80;client-pause@A.enters.stock.1/A/1500');
  expect(kindsOf(world)).toEqual(['client-pause', 'late']);
  expect(kindsOf({ ...world, plan: { ...world.plan, jitter: 1 } })).toEqual([
    'client-pause',
    'jitter',
    'late',
  ]);
  expect(world.lines).toContainEqual({
    ...{ at: 0, who: 'B', what: 'its messages are 80 ms late from now on', kind: 'fault' },
  });
});
