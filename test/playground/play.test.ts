/** Cases of the playground in Node: their texts, what they play, and that they play the same every time. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { namedStories } from '../../lab/demo/stories.ts';
import { Locks } from '../../locks/index.ts';
import { laterCommands } from '../../playground/bundle.ts';
import { caseText, type PlayCase, readCase } from '../../playground/cases/case.ts';
import { FIRST_CASE } from '../../playground/cases/first.ts';
import { codeOf, playLocks } from '../../playground/cases/locks.ts';
import { STORIES } from '../../playground/cases/stories.ts';
import { findLoss, playCase } from '../../playground/play.ts';
import { compileBody } from '../../playground/typescript.ts';
import { DEFAULT_DIALECT, dialectNamed } from '../../server/dialects/index.ts';
import { fitted } from '../../server/table/fit.ts';

const read = (text: string): PlayCase => readCase(text, FIRST_CASE, codeOf);

test('the text of a case has all of it, and reads back the same', () => {
  const play: PlayCase = {
    ...FIRST_CASE,
    code: "// 'quotes' & <tags> = + % é\nawait redis.get('x');",
    clients: ['A', 'C'],
    jitter: 0.5,
    steps: [
      { kind: 'hold', at: 1.25, on: 'redis-2', ms: 500, by: 0, how: '' },
      { kind: 'clock-jump', at: 20, on: 'redis-1', ms: 0, by: -1100, how: '' },
      { kind: 'failover', at: 30, on: 'redis-1', ms: 20, by: 0, how: 'crash' },
    ],
  };
  expect(read(`#${caseText(play, codeOf)}`)).toEqual(play);
  expect(caseText(FIRST_CASE, codeOf)).toBe('lock=token&nodes=pair&clients=A,B&seed=7');
  expect(read(caseText({ ...FIRST_CASE, story: 'wait' }, codeOf)).story).toBe('wait');
});

test('what is wrong in a text is left out', () => {
  expect(read('#lock=no&clients=a;b&seed=-1&jitter=x&steps=hold@x/redis-2;;promote@5/redis-2;<b>@1')).toEqual(
    {
      ...FIRST_CASE,
      steps: [{ kind: 'promote', at: 5, on: 'redis-2', ms: 0, by: 0, how: '' }],
    },
  );
  for (const wrong of ['nodes=moon', 'story=moon', 'seed=1.5', 'seed=', 'clients=A,B,C,D,E,F', 'jitter=1001'])
    expect([wrong, read(`#${wrong}`)]).toEqual([wrong, FIRST_CASE]);
});

test('every kind of lostlock/locks can be chosen, each under a name of its own', () => {
  const others = ['constructor', 'run', 'on', 'off', 'close'];
  const kinds = Object.getOwnPropertyNames(Locks.prototype).filter((name) => !others.includes(name));
  expect(kinds).toContain('fenced');
  for (const kind of kinds) {
    const found = playLocks.filter(({ code }) => new RegExp(`\\blocks\\.${kind}\\(`).test(code));
    expect([kind, found.length > 0]).toEqual([kind, true]);
  }
  expect(new Set(playLocks.map(({ name }) => name)).size).toBe(playLocks.length);
});

test('every lock keeps its promises without faults, on the nodes that it is made for', async () => {
  for (const { name, code, nodes } of playLocks) {
    const { timeline } = await playCase({ ...FIRST_CASE, clients: ['A', 'B', 'C'], lock: name, code, nodes });
    expect([name, timeline.verdict?.safe]).toEqual([name, true]);
    const together = ['read-write', 'semaphore', 'permits', 'latch', 'segmented'].includes(name);
    expect([name, timeline.verdict?.why]).toEqual([
      name,
      expect.stringContaining(together ? 'together only where the lock allows it' : 'one after the other'),
    ]);
    // A drawing that shows two holders would contradict the verdict.
    expect([name, timeline.overlaps]).toEqual([name, []]);
    expect(timeline.holds.some(({ kind }) => kind === 'visit')).toBe(true);
  }
});

test('bars have the names of the locks, and not those of the keys beside them', async () => {
  const locks: Record<string, string[]> = {};
  for (const { name, code, nodes } of playLocks) {
    const { timeline } = await playCase({ ...FIRST_CASE, lock: name, code, nodes });
    const held = timeline.holds.filter(({ kind }) => kind === 'lock');
    locks[name] = [...new Set([...held, ...timeline.keys].map(({ key }) => key))].sort();
  }
  const { multi, segmented, semaphore, permits, latch, ...others } = locks;
  expect(multi).toEqual(['lock:1', 'lock:2']);
  expect(segmented).toEqual(['tickets:segment:0', 'tickets:segment:1']);
  expect([semaphore, permits]).toEqual([['pool'], ['pool']]);
  expect(latch).toEqual([]); // Nobody holds a latch.
  for (const [name, keys] of Object.entries(others)) expect([name, keys]).toEqual([name, ['lock']]);
});

test('readers share a lock; a reader beside a writer is an overlap', async () => {
  const play = read('#lock=read-write&clients=A,B,C');
  const healthy = (await playCase(play)).timeline;
  const held = healthy.holds.filter(({ kind }) => kind === 'lock');
  expect(held.map(({ client, key, shared }) => [client, key, shared])).toEqual([
    ['A', 'lock', undefined],
    ['B', 'lock', true],
    ['C', 'lock', true],
  ]);
  expect(held[2]!.from).toBeLessThan(held[1]!.to ?? 0);
  expect(healthy.overlaps).toEqual([]);
  expect(healthy.story.map(({ text }) => text).join(' ')).toContain('B acquires lock for reading: ');
  // The writer loses its lease, works on, and the readers come in: both pairs overlap, and the readers do not.
  const paused = (await playCase(read('#lock=read-write&clients=A,B,C&steps=client-pause@5/A/1100')))
    .timeline;
  expect(paused.overlaps.map(({ key, clients }) => [key, ...clients].join(' ')).sort()).toEqual([
    'stock A B',
    'stock A C',
  ]);
  // A failover that loses the writer's lock: both believe that they hold it.
  const lost = (
    await playCase(read('#lock=read-write&clients=A,B&steps=hold@0/redis-2/2000;promote@20/redis-2'))
  ).timeline;
  expect(lost.overlaps.map(({ key, clients }) => [key, ...clients].join(' ')).sort()).toEqual([
    'lock A B',
    'stock A B',
  ]);
});

test('a client that finds its lock gone believes in it no more', async () => {
  const { timeline } = await playCase(read('#lock=token&steps=hold@0/redis-2/2000;promote@20/redis-2'));
  const [first] = timeline.holds.filter(({ kind, client }) => kind === 'lock' && client === 'A');
  expect(first).toMatchObject({ key: 'lock', ended: 'denied' });
  expect(first!.to).toBeLessThan(first!.lease ?? 0);
  expect(timeline.story.map(({ text }) => text)).toContain('A learns that it no longer holds lock.');
});

test('a held link and a promotion lose the lock; the same case gives the same hash', async () => {
  const play = read('#steps=hold@0/redis-2/2000;promote@20/redis-2');
  const one = await playCase(play);
  expect(one.timeline.verdict).toMatchObject({ safe: false, holders: ['A', 'B'] });
  expect(one.timeline.overlaps.some(({ key }) => key === 'stock')).toBe(true);
  expect(one.missed).toEqual([]);
  expect(one.timeline.story.map(({ text }) => text).join(' ')).toContain(
    'Mutual exclusion is broken: B entered stock while A was still inside.',
  );
  expect((await playCase(play)).hash).toBe(one.hash);
  expect((await playCase({ ...play, seed: 8, jitter: 1 })).hash).not.toBe(one.hash);
  // With WAIT the same faults do no harm.
  const wait = await playCase({ ...play, lock: 'wait', code: codeOf('wait') ?? '' });
  expect(wait.timeline.verdict?.safe).toBe(true);
});

test('a step that finds nothing to strike is named', async () => {
  const { missed } = await playCase(read('#steps=promote@5/redis-9'));
  expect(missed.map(({ kind }) => kind)).toEqual(['promote']);
  expect((await playCase(read('#steps=client-pause@5/Z/100'))).missed).toHaveLength(1);
});

test('the verdict counts the clients that were inside', async () => {
  for (const [text, why] of [
    ['clients=A,B', '2 clients were inside, one after the other, and a new client'],
    ['clients=A', '1 client was inside, and a new client'],
    ['clients=A&steps=client-death@0/A', 'No client was inside, and a new client'],
  ] as const)
    expect((await playCase(read(`#${text}`))).timeline.verdict?.why).toContain(why);
});

test('the search finds what breaks a lock, and the found case breaks it', async () => {
  const worlds: number[] = [];
  const { play, story } = await findLoss(read('#lock=no-token'), (played) => worlds.push(played));
  expect(story).toContain('is broken');
  expect(worlds.length).toBeGreaterThan(0);
  expect((await playCase(play as PlayCase)).timeline.verdict?.safe).toBe(false);
});

test('TypeScript plays as the same code without types; JavaScript is not touched', async () => {
  const code = codeOf('token') ?? '';
  const typed = `interface Held { readonly token: string }
const mine: Held = { token: name satisfies string };
${code.replace('await redis.eval(', 'await (redis as any).eval(').replaceAll("'lock', name", "'lock', mine.token!")}`;
  expect(typed).not.toBe(code);
  const plain = await playCase({ ...FIRST_CASE, code });
  expect((await playCase({ ...FIRST_CASE, code: typed })).hash).toBe(plain.hash);
  // In TypeScript, f<a>(b) is a call with a type.
  const names = ['a', 'b', 'f'];
  expect(await compileBody(names, 'return f<a>(b)')(2, 1, 1)).toBe(false);
  await expect(compileBody(names, 'return f<a>(b) as any')(2, 1, 1)).rejects.toThrow('f is not a function');
});

test('an error of syntax names its line', () => {
  for (const [code, message] of [
    ['const a: number = 1;\nlet x = ;\n', 'Line 2: Unexpected token'],
    ['const a = 1;\n\nfor (;;) {\n', 'Line 4: Unexpected token'],
    [
      "const a: string = '';\nawait a;\nconst a = 2;\nreturn a;",
      "Line 3: Identifier 'a' has already been declared",
    ],
    ['if (true) {\n  let b = 1;\n  let b = 2;\n}', "Line 3: Identifier 'b' has already been declared"],
    ['\n\ndelete name;', 'Line 3: Delete of an unqualified identifier in strict mode.'],
  ] as const)
    expect(() => compileBody(['name'], code)).toThrow(new SyntaxError(message));
});

test('code that cannot run is refused with its reason', async () => {
  await expect(playCase({ ...FIRST_CASE, code: 'this is no code' })).rejects.toThrow(SyntaxError);
  await expect(playCase({ ...FIRST_CASE, code: "throw new Error('no lock')" })).rejects.toThrow('no lock');
  await expect(playCase({ ...FIRST_CASE, code: 'foo.bar()' })).rejects.toThrow(
    /^A lock of your own: A gives up: ReferenceError: foo is not defined; .*; without any fault, no client entered/,
  );
  await expect(playCase({ ...FIRST_CASE, nodes: 'moon' })).rejects.toThrow('must be one of pair, two');
  await expect(playCase({ ...FIRST_CASE, story: 'moon' })).rejects.toThrow('must be one of failover');
});

test('the guided stories are those of the demo', () => {
  expect(STORIES.map(([name]) => name)).toEqual(Object.keys(namedStories));
});

test("the commands that the bundle leaves out do not exist on the playground's servers", async () => {
  for (const [name, file] of Object.entries(laterCommands)) {
    const commands = (await import(`../../server/commands/${file}.ts`))[name];
    expect([name, commands.length > 0]).toEqual([name, true]);
    for (const command of commands)
      expect([command.fullName, fitted(command, dialectNamed(DEFAULT_DIALECT), false)]).toEqual([
        command.fullName,
        undefined,
      ]);
  }
});
