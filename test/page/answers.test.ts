/** What the page says at a glance: who holds the lock from moment to moment, roles and absences, and one sentence on top. */
import { expect, test } from 'vitest';
import { startPair } from '../../index.ts';
import { namedStories } from '../../lab/demo/stories.ts';
import { answersOf, partText } from '../../page/drawing/answers.ts';
import { absencesOf, rolesOf, roleText } from '../../page/drawing/states.ts';
import { FIRST_FILTER, RunView } from '../../page/drawing/view.ts';
import type { Timeline, TimelineMark } from '../../page/format.ts';
import { plainSentence } from '../../page/plain.ts';

async function story(name: string): Promise<Timeline> {
  return (await namedStories[name]?.(7))?.timeline as Timeline;
}

/** Each row as text. */
function rows(run: Timeline): string[] {
  return answersOf(run).map(({ key, kind, parts }) => {
    const said = parts.map((part) => `${partText(part)}${part.broken ? '!' : ''}`);
    return `${kind} ${key}: ${said.join(' | ')}`;
  });
}

test.each([
  ['failover', ['lock my:lock: free | A | A and B! | B']],
  ['wait', ['lock my:lock: free | A | free | B']],
  [
    'redlock-clock',
    [
      'lock my:lock: free | A | A and B! | B',
      expect.stringMatching(/^votes my:lock: .*A 3 of 5 \| A 2 of 5 .*A 2, B 3 of 5/),
    ],
  ],
])('in the story %s the rows say who holds the lock', async (name, expected) => {
  expect(rows(await story(name))).toEqual(expected);
});

test('the parts of a row follow one another without a hole, from the beginning to the end', async () => {
  for (const name of Object.keys(namedStories)) {
    const run = await story(name);
    for (const { parts } of answersOf(run)) {
      expect(parts[0]?.from).toBe(0);
      for (const [i, part] of parts.entries()) if (i > 0) expect(part.from).toBe(parts[i - 1]?.to);
      expect(parts.at(-1)?.to).toBeGreaterThanOrEqual(run.end);
    }
  }
});

test('a cache has no row, and a lock that two clients held has one before the others', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const [a, b] = [pair.client('A'), pair.client('B')];
  for (const name of ['l1', 'l2', 'l3']) await a.set(name, 'A', 'PX', 60_000, 'NX');
  await a.set('cache', 'x', 'PX', 1000);
  await b.set('cache', 'y', 'PX', 1000);
  pair.link.hold();
  await a.set('lost', 'A', 'PX', 60_000, 'NX');
  await pair.failover({ crash: true });
  await b.set('lost', 'B', 'PX', 60_000, 'NX');
  const said = rows(pair.timelineData());
  expect(said).toHaveLength(3);
  expect(said[0]).toBe('lock lost: free | A | A and B! | B');
  expect(said.join()).not.toContain('cache');
});

test('roles change with a promotion, and a crashed node stays dead until it starts again', async () => {
  const run = await story('failover');
  const roles = rolesOf(run);
  expect([roleText(roles.get('redis-1')), roleText(roles.get('redis-2'))]).toEqual([
    'primary',
    'replica \u2192 primary',
  ]);
  expect(absencesOf(run).map(({ lane, why, to }) => [lane, why, to])).toEqual([['redis-1', 'dead', null]]);
  expect(rolesOf(await story('redlock-clock')).size).toBe(0);
});

test('a pause ends with a crash, and a restart ends both', () => {
  const mark = (at: number, kind: TimelineMark['kind']): TimelineMark => ({
    at,
    lane: 'n',
    kind,
    text: kind,
  });
  const marks = [mark(1, 'pause'), mark(2, 'crash'), mark(3, 'resume'), mark(4, 'restart'), mark(5, 'pause')];
  expect(absencesOf({ marks } as unknown as Timeline)).toEqual([
    { lane: 'n', why: 'paused', from: 1, to: 2 },
    { lane: 'n', why: 'dead', from: 2, to: 4 },
    { lane: 'n', why: 'paused', from: 5, to: null },
  ]);
});

test.each([
  [
    'failover',
    'redis-1 told A yes. The copy of that never reached redis-2, which took over, knew nothing of A, and told B yes.',
  ],
  [
    'redlock-restart',
    'redis-1, redis-2 and redis-3 told A yes. redis-3 started again without its data. Then redis-3, redis-4 and redis-5 told B yes: each has a majority of 5.',
  ],
  [
    'redlock-clock',
    "redis-1, redis-2 and redis-3 told A yes. The clock of redis-3 jumped ahead, so redis-3 ended A's lease too early. Then redis-3, redis-4 and redis-5 told B yes: each has a majority of 5.",
  ],
  ['wait', undefined],
])('the sentence on top of %s says why, without offsets and deadlines', async (name, sentence) => {
  expect(plainSentence(await story(name))).toBe(sentence);
});

test('a node that started again without a write is told as such, and a failover by its new primary', async () => {
  const losses = async (name: string): Promise<string[]> =>
    (await story(name)).story.flatMap(({ text }) => (text.includes(' is lost: ') ? [text] : []));
  expect(await losses('redlock-restart')).toEqual([
    expect.stringMatching(
      /^An acknowledged write of A is lost: redis-3 started again without SET my:lock A PXAT \d+\.$/,
    ),
  ]);
  expect(await losses('failover')).toEqual([
    expect.stringMatching(
      /^An acknowledged write of A is lost: the new primary never received SET my:lock A PXAT \d+\.$/,
    ),
  ]);
});

test('the sentence names whose DEL freed the lock, and the end of a lease', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const [a, b, c] = [pair.client('A'), pair.client('B'), pair.client('C')];
  await a.set('k', 'A', 'PX', 60_000, 'NX');
  await c.del('k');
  await b.set('k', 'B', 'PX', 60_000, 'NX');
  expect(plainSentence(pair.timelineData())).toBe(
    "C deleted A's lock on redis-1 with DEL. Then redis-1 told B yes.",
  );
});

test('acknowledgements that confirm nothing new are upkeep', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  await pair.client('A').set('k', '1');
  await pair.advance(5000);
  const scene = new RunView(pair.timelineData());
  const acks = (): number =>
    scene.run.messages.filter(({ kind }, index) => kind === 'ack' && scene.shows(index)).length;
  expect(acks()).toBe(1);
  scene.filter = { ...FIRST_FILTER, kinds: new Set([...FIRST_FILTER.kinds, 'service']) };
  expect(acks()).toBeGreaterThan(3);
});

test('what a waiter asks again and again is drawn as one, but not what the story tells, and a filter shows it all', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('k', 'A', 'PX', 60_000, 'NX');
  for (let i = 0; i < 30; i++) {
    await b.set('k', `B-${i}`, 'PX', 60_000, 'NX');
    await pair.advance(50);
  }
  await a.del('k');
  await b.set('k', 'B', 'PX', 60_000, 'NX');
  const scene = new RunView(pair.timelineData());
  const requests = (): number =>
    scene.run.messages.filter(({ kind, from }, i) => kind === 'request' && from === 'B' && scene.shows(i))
      .length;
  // The first is told: B does not get it. Then one more, and the last before the grant, and the grant.
  expect(requests()).toBe(4);
  expect(scene.repeats).toEqual([expect.objectContaining({ client: 'B', count: 27 })]);
  scene.filter = { ...scene.filter, repeats: true };
  expect(requests()).toBe(31);
});
