/** Worlds of programs that broke a promise are made smaller, and are told by how often the smaller one repeats. */
import { expect, test } from 'vitest';
import { timedPlan } from '../../../explore/anchors/play-text.ts';
import { captured } from '../../../explore/capture.ts';
import { reasoned } from '../../../explore/findings.ts';
import { FoundReasons } from '../../../explore/found.ts';
import { judge } from '../../../explore/judge.ts';
import { fullOptions } from '../../../explore/options.ts';
import { decodePlan, encodePlan, NO_HASH, type WorldPlan } from '../../../explore/plan.ts';
import { playWorld } from '../../../explore/play.ts';
import { type PlayedAgain, Sightings } from '../../../explore/programs/sightings.ts';
import { survey } from '../../../explore/search/survey.ts';
import { stock } from '../stock.ts';

const full = fullOptions(stock());
/** Only the pause breaks the promise, and only A and B are needed for it. */
const WIDE = '2:1:0:A,B,C:script-flush@A.enters.stock.1/redis-1;client-pause@A.enters.stock.1/A/1512';
const SMALL = '2:1:0:A,B:client-pause@A.enters.stock.1/A/1500';

/**
 * Adds the wide world.
 * @param play plays a plan again by what it gets, in virtual time; text is the plan, and times how often it was played with this time
 */
async function seen(
  play: (again: () => Promise<PlayedAgain>, text: string, times: number) => Promise<PlayedAgain | undefined>,
  isOver = (): boolean => false,
) {
  return await captured(async () => {
    const { rules } = await survey(full);
    const played: string[] = [];
    const once = async (plan: WorldPlan): Promise<PlayedAgain> => {
      const timed = await timedPlan(rules, plan);
      const world = await playWorld(rules, timed);
      const struck = world.struck.map((fault) => plan.faults[timed.faults.indexOf(fault)] ?? fault);
      return { world: { ...world, plan, struck }, breaches: judge(world, full.promises, full.own) };
    };
    const { plan } = decodePlan(`${WIDE}:${NO_HASH}`) as { readonly plan: WorldPlan };
    const { world, breaches } = await once(plan);
    const found = new FoundReasons([]);
    const sightings = new Sightings('stock', found, isOver);
    const failing = reasoned({ plan, world, breach: breaches[0]! });
    const add = (firstIn: number) =>
      sightings.add({ failing, strategy: 'random', firstIn }, (again) => {
        const text = encodePlan(again, '').slice(0, -1);
        played.push(text);
        return play(() => once(again), text, played.filter((each) => each === text).length);
      });
    await add(1);
    return { found, sightings, played, add };
  });
}

test('a finding has fewer faults and clients and rounder lengths, and repeats so', async () => {
  const { found, played, sightings } = await seen((again) => again());
  const [finding] = found.findings;
  expect(finding?.replay).toContain(SMALL);
  expect(finding?.repeats).toEqual({ times: 3, of: 3 });
  expect(finding?.story).toContain('(repeats 3 of 3)');
  expect(played.slice(-3)).toEqual([SMALL, SMALL, SMALL]);
  expect(played.length).toBeLessThanOrEqual(8 + 3);
  expect(sightings.unrepeated).toEqual([]);
});

test('when the budget is used up, nothing is made smaller, and the finding still says how often it repeats', async () => {
  const { found, played } = await seen(
    (again) => again(),
    () => true,
  );
  expect(played).toEqual([WIDE, WIDE, WIDE]);
  expect(found.findings[0]?.repeats).toEqual({ times: 3, of: 3 });
});

test('when the smaller world never repeats, the first one is told if it does', async () => {
  // The smallest one breaks the promise once, when it is tried.
  const { found, played } = await seen(async (again, text, times) => {
    const { world, breaches } = await again();
    return { world, breaches: text === SMALL && times > 1 ? [] : breaches };
  });
  expect(found.findings[0]?.replay).toContain('2:1:0:A,B,C:script-flush');
  expect(played.slice(-3)).toEqual([WIDE, WIDE, WIDE]);
});

test('a reason that never repeats is not played again without end', async () => {
  const { found, played, sightings, add } = await seen(async (again) => ({
    world: (await again()).world,
    breaches: [],
  }));
  for (let firstIn = 2; firstIn < 6; firstIn++) await captured(() => add(firstIn));
  expect(found.findings).toEqual([]);
  expect(sightings.unrepeated.map(({ worlds }) => worlds)).toEqual([5]);
  const before = played.length;
  await add(6);
  expect(played.length).toBe(before);
});
