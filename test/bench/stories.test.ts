/** The check of `npm run explore:stories`: real stories pass it, and none from which an event that it must have was deleted. */
import { expect, test } from 'vitest';
import { lock } from '../../bench/specimens/forms.ts';
import { problemsOf } from '../../bench/stories/check.ts';
import { reportModels, withoutModel } from '../../bench/stories/reports.ts';
import { type ExploreOptions, explore, type PlannedFault } from '../../explore/index.ts';
import { storyOf } from '../../explore/story/story.ts';
import type { FindingEvent } from '../../explore/visit.ts';
import { type BrokenWorld, playBroken } from '../explore/play-finding.ts';

const blind = lock({ give: ({ redis }) => redis.del('lock').catch(() => 0) });
const believing = lock({ believes: 'always' });
const options: ExploreOptions = {
  ...{
    name: 'lock',
    client: believing,
    clients: 3,
    topology: { replicas: 1 },
    promises: ['mutual-exclusion'],
  },
};

async function played(own: ExploreOptions, fault: Partial<PlannedFault>): Promise<BrokenWorld> {
  const whole = { at: 0, on: 'A', ms: 0, by: 0, how: '', ...fault } as PlannedFault;
  return await playBroken(own, { seed: 1, clients: ['A', 'B', 'C'], jitter: 0, faults: [whole] });
}

async function firstFound(own: ExploreOptions, worlds: number): Promise<BrokenWorld> {
  const [finding] = (await explore({ ...own, budget: { worlds } })).findings;
  return await playBroken(own, finding!.replay);
}

/** The stories, and what each must have: patterns of its events, all of which the check must miss. */
const stories: readonly [name: string, story: () => Promise<BrokenWorld>, needs: readonly RegExp[]][] = [
  [
    'a DEL that was sent again',
    () => firstFound({ ...options, client: blind, topology: { replicas: 0 }, faults: ['lost-reply'] }, 120),
    [/is executed, but the reply is lost$/, /, sent again, deletes the lock of /],
  ],
  [
    'a lease that ended',
    () => played(options, { kind: 'client-pause', at: 30, ms: 1500 }),
    [/^the lease of A's lock ends$/, /^writes to stock$/],
  ],
  [
    'a failover that did not have the grant',
    () => firstFound({ ...options, faults: ['failover-behind'] }, 60),
    [/is lost by the failover to redis-2/],
  ],
  [
    'a reply that came late',
    () => played(options, { kind: 'delay', at: 0.5, ms: 1400, by: 1200, how: 'replies' }),
    [/^the lease of A's lock ends/, /^the reply to its SET NX arrives 1,200 ms late$/],
  ],
  [
    "a server's error that a client takes for a grant",
    () =>
      firstFound(
        {
          ...{ ...options, faults: ['out-of-memory'] },
          client: lock({
            take: ({ redis }, token) => redis.set('lock', token, 'PX', 1000, 'NX').catch(() => 'OK'),
          }),
        },
        60,
      ),
    [/^answers OOM /],
  ],
];

test.each(stories)('%s: the check misses every event that the story must have', async (_, story, needs) => {
  const { world, breach, cause } = await story();
  const { events } = storyOf(world, breach, 'lock');
  expect(problemsOf(world, breach, events)).toEqual([]);
  const isEntry = ({ who, at, text }: FindingEvent): boolean =>
    text.startsWith('enters ') && cause.entries.some((each) => each.client === who && each.at === at);
  const isGrant = ({ who, at, text }: FindingEvent): boolean =>
    text.startsWith('SET ') && cause.grants.some((each) => each.client === who && each.executed === at);
  const needed = events.filter(
    (event, i) =>
      isEntry(event) ||
      isGrant(event) ||
      needs.some((each) => each.test(event.text) && event.at <= breach.at) ||
      i === events.length - 1,
  );
  expect(needed.length).toBeGreaterThanOrEqual(needs.length + 5);
  const unnoticed = needed.filter(
    (event) =>
      problemsOf(
        world,
        breach,
        events.filter((each) => each !== event),
      ).length === 0,
  );
  // Of several writes to the resource, one at the breach shows it.
  expect(unnoticed.filter(({ at, text }) => text !== 'writes to stock' || at === breach.at)).toEqual([]);
});

test('every report has a model or a reason, and no two are the same', () => {
  const names = [...reportModels, ...withoutModel].map(({ report }) => report);
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBe(30);
  expect(withoutModel.every(({ why }) => why.length > 20)).toBe(true);
});
