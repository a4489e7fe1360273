/** What the page says at a glance: who holds the lock from moment to moment, roles and absences, and one sentence on top. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { storyLines, verdictTable } from '../../cli/demo/print.ts';
import { startPair } from '../../index.ts';
import type { Played } from '../../lab/demo/recorder.ts';
import { namedStories } from '../../lab/demo/stories.ts';
import { answersOf, briefText, partText } from '../../page/drawing/answers.ts';
import { Axis } from '../../page/drawing/axis.ts';
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

test('a part of two holders has a short form for a narrow place', () => {
  const part = { from: 0, to: 1, holders: ['A', 'B'], broken: true };
  expect([partText(part), briefText(part)]).toEqual(['A and B', 'A+B']);
});

test('a client whose key was deleted is shown as one that only believes, until its lease is over', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('my:lock', 'A', 'PX', 1000, 'NX');
  await pair.advance(100);
  await b.del('my:lock');
  await pair.advance(1500);
  expect(rows(pair.timelineData())).toEqual(['lock my:lock: free | A | A, whose key is gone | free']);
  const gone = { from: 0, to: 1, holders: ['A'], broken: false, text: 'A, whose key is gone' };
  expect(briefText(gone)).toBe('A');
});

test('a write that travels to a resource has an arrow, and the sentence about its arrival is at it', async () => {
  for (const name of ['fence', 'fence-rolled-back']) {
    const { messages, story: steps } = await story(name);
    const told = steps.flatMap(({ text, about, at }) => {
      const message = about !== undefined && 'message' in about ? messages[about.message] : undefined;
      return message?.to === 'store' ? [{ text, by: message.from, isThen: message.arrived === at }] : [];
    });
    expect(told).toEqual([
      { text: expect.stringMatching(/the write of B/), by: 'B', isThen: true },
      { text: expect.stringMatching(/the write of A/), by: 'A', isThen: true },
    ]);
    expect(messages.map(({ sent }) => sent)).toEqual(messages.map(({ sent }) => sent).sort((x, y) => x - y));
    for (const { cause, kind } of messages)
      if (kind === 'reply' && cause !== undefined) expect(messages[cause]?.kind).toMatch(/request|service/);
  }
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
    'An acknowledged write of A is lost: redis-3 started again without SET my:lock A.',
  ]);
  expect(await losses('failover')).toEqual([
    'An acknowledged write of A is lost: the new primary, redis-2, never received SET my:lock A.',
  ]);
});

test('no story has offsets or deadlines in its sentences', async () => {
  for (const name of Object.keys(namedStories)) {
    const texts = (await story(name)).story.map(({ text }) => text).join(' ');
    expect(texts).not.toMatch(/offset|PXAT|\d{10}/);
  }
});

test('an event has one time, on the page as in the terminal', async () => {
  for (const [name, play] of Object.entries(namedStories)) {
    const { events, timeline } = await play(7);
    const granted = events.filter(({ lane, text }) => /^[AB]$/.test(lane) && /-> OK|: acquired$/.test(text));
    expect(granted.length).toBeGreaterThan(0);
    const told = timeline?.story.filter(({ text }) => text.includes(' acquires ')) ?? [];
    const shown = told.map(({ at, lane }) => `${name} ${lane} ${(at / 1000).toFixed(1)}`);
    expect(shown).toEqual(granted.map(({ at, lane }) => `${name} ${lane} ${at?.toFixed(1)}`));
  }
});

test('the terminal says the verdict in the words of the page, and loses nothing where nothing was lost', async () => {
  const jump = (await namedStories['redlock-clock']?.(7)) as Played;
  const lines = storyLines(jump, (_, text) => text).join('\n');
  expect(lines).toContain('Broken: A and B both have it. redis-3 ended the lease by its own clock');
  expect(lines).not.toContain('LOST');
  const fence = (await namedStories.fence?.(7)) as Played;
  expect(verdictTable([jump, fence], (_, text) => text).slice(2)).toEqual([
    expect.stringMatching(/clock jumps +Broken: A and B both have it\.$/),
    expect.stringMatching(/at the resource +Two holders, but harmless: A and B\.$/),
  ]);
});

test('the main actors have sentences: fences, the client that gives up, and why a jump of a clock matters', async () => {
  const told = async (name: string): Promise<string> =>
    (await story(name)).story.map(({ text }) => text).join('\n');
  const fence = await told('fence');
  expect(fence).toContain('A counts my:lock:fence up (INCR), and gets 1.');
  expect(fence).toContain('B counts my:lock:fence up (INCR), and gets 2.');
  expect(await told('quorum-cp')).toContain('A gives up: it has had no answer for 500 ms.');
  expect(await told('redlock-clock')).toContain(
    "The clock of redis-3 jumps by 11 s, which ends A's lease of 10 s on my:lock there.",
  );
  const restart = await told('redlock-restart');
  expect(restart).toContain('redis-3 starts again, without any data.');
  expect(restart).toContain('3 of 5 nodes granted it (redis-3, redis-4 and redis-5), so B believes');
});

test('each lost write is told once: as a loss where a client relied on it, else as a copy', async () => {
  const lost = async (name: string): Promise<string[]> =>
    (await story(name)).story.flatMap(({ text }) => (/\blost\b/.test(text) ? [text] : []));
  expect(await lost('quorum-ap')).toEqual([
    'An acknowledged write of A is lost: the new primary, redis-3, never received SET my:lock A.',
  ]);
  expect(await lost('fence-rolled-back')).toEqual([
    '2 acknowledged writes of A are lost: the new primary, redis-2, never received SET my:lock A and INCR my:lock:fence.',
  ]);
  expect(await lost('wait')).toEqual([
    'The copies of the writes SET my:lock A and DEL my:lock are lost on their way from redis-1: redis-2 never receives them.',
  ]);
  expect(await lost('quorum-cp')).toEqual([
    'The lock of A on my:lock is lost: the failover to redis-3, which never received it.',
  ]);
});

test('the sentence of a loss is about the copy that did not arrive at the new primary', async () => {
  const { story: steps, messages } = await story('quorum-ap');
  const about = steps.find(({ text }) => text.includes(' is lost: '))?.about;
  const copy = messages[about !== undefined && 'message' in about ? about.message : -1];
  expect(copy).toMatchObject({ kind: 'stream', from: 'redis-1', to: 'redis-3', fate: 'lost' });
});

test('an axis to scale leaves out no time', () => {
  const moments = [0, 1000, 2000, 30_000_000];
  expect(new Axis(moments).gaps).toHaveLength(1);
  const axis = new Axis(moments, true);
  expect(axis.gaps).toEqual([]);
  expect(moments.map((at) => axis.place(at))).toEqual(moments);
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

test('a client that only connects has no lane, until upkeep is shown', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  await pair.client('A').set('k', 'A', 'PX', 500, 'NX');
  await pair.client('idle').ping();
  const scene = new RunView(pair.timelineData());
  const names = (): readonly string[] => scene.lanes.map(({ name }) => name);
  expect(names()).toEqual(['A', 'redis-1', 'redis-2']);
  scene.filter = { ...FIRST_FILTER, kinds: new Set([...FIRST_FILTER.kinds, 'service']) };
  expect(names()).toContain('idle');
});

type Take = (client: Redis) => Promise<unknown>;

test.each([
  ['SET NX', (client) => client.set('my:lock', 'A', 'NX')],
  ['SETNX', (client) => client.setnx('my:lock', 'A')],
  ['MSETNX', (client) => client.msetnx('other', 'x', 'my:lock', 'A')],
  ['a script', (client) => client.eval("return redis.call('SETNX', KEYS[1], 'A')", 1, 'my:lock')],
] as [string, Take][])(
  'a replica that received a lock taken by %s is drawn as knowing it, until it is gone',
  async (_, take) => {
    await using pair = await startPair({ clock: 'virtual' });
    const a = pair.client('A');
    const known = (): unknown[] =>
      pair
        .timelineData()
        .keys.filter(({ key }) => key === 'my:lock')
        .map(({ node, holder, to }) => [node, holder, to !== null]);
    await take(a);
    await pair.advance(500);
    expect(known()).toEqual([
      ['redis-1', 'A', false],
      ['redis-2', 'A', false],
    ]);
    await a.del('nothing', 'my:lock');
    await pair.advance(500);
    expect(known()).toEqual([
      ['redis-1', 'A', true],
      ['redis-2', 'A', true],
    ]);
  },
);

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
