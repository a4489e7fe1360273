/** The protocol for programs: what each message answers, that one that comes twice acts once, and what an ended world answers. */
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { afterEach, expect, test } from 'vitest';
import type { ExploreReport } from '../../../explore/index.ts';
import { ProgramExplorer } from '../../../explore/programs/explorer.ts';
import { fullProgramOptions, type ProgramOptions } from '../../../explore/programs/options.ts';

const stop: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const each of stop.splice(0)) await each();
});

/** Starts an exploration to which this test is the program. */
async function attach(
  options: Partial<ProgramOptions> = {},
): Promise<{ line: () => Promise<Redis>; report: Promise<ExploreReport> }> {
  const ending = new AbortController();
  let announced: (url: string) => void;
  const url = new Promise<string>((resolve) => {
    announced = resolve;
  });
  const full = fullProgramOptions({
    ...{ program: [], clients: 1, faults: [], budget: { worlds: 2 }, sideBySide: 1, signal: ending.signal },
    ...options,
    attached: (text) => announced(text),
  });
  const report = new ProgramExplorer(full).explore();
  report.catch(() => {});
  stop.push(async () => {
    ending.abort();
    await report.catch(() => {});
  });
  const port = Number((await url).split(':').at(-1));
  const line = async (): Promise<Redis> => {
    const client = new Redis({ port, maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on('error', () => {});
    stop.unshift(async () => client.disconnect());
    return client;
  };
  return { line, report };
}

/** Sends a command. Resolves to its reply, also when that is an error. */
const say = (client: Redis, command: string, ...words: string[]): Promise<unknown> =>
  client.call(command, ...words).catch((error: Error) => error.message);

/** The fields of a map, which is a flat list in RESP2. */
function fieldsOf(reply: unknown): Record<string, unknown> {
  const list = reply as unknown[];
  return Object.fromEntries(
    list.flatMap((each, i) => (i % 2 === 0 ? [[String(each), list[i + 1]] as const] : [])),
  );
}

test('HELLO agrees on version 1, and says what to update', async () => {
  const { line } = await attach();
  const client = await line();
  expect(await say(client, 'LAB', 'HELLO', '1')).toEqual(['version', 1, 'lostlock', expect.any(String)]);
  expect(String(await say(client, 'LAB', 'HELLO', '2'))).toMatch(/version 2 .* version 1: update lostlock/);
  expect(String(await say(client, 'LAB', 'HELLO', '0'))).toContain("update the program's front end");
  expect(String(await say(client, 'SET', 'k', 'v'))).toContain(
    'the URLs of the nodes are in the answer to LAB NEXT',
  );
});

test('a world is handed out, its messages act once, and afterwards they get WORLDOVER', async () => {
  const { line } = await attach();
  const client = await line();
  const told = fieldsOf(await say(client, 'LAB', 'NEXT'));
  const token = String(told.token);
  expect(token).toMatch(/^w:\d+:A:\w+$/);
  expect(told).toMatchObject({ client: 'A', lease: 300, probe: 0, urls: [expect.stringMatching(/^redis:/)] });
  const lab = (...words: string[]): Promise<unknown> => say(client, 'LAB', ...words);
  expect(await lab('ENTER', token, 'stock', 'FENCE', '3', 'NUMBER', '1')).toBe(1);
  expect(await lab('ENTER', token, 'stock', 'FENCE', '3', 'NUMBER', '1')).toBe(1);
  expect(String(await lab('ENTER', token, 'stock', 'FENCE', 'x'))).toContain('not a valid float');
  expect(String(await lab('ENTER', token, 'stock', 'SHARED', 'PERMITS', '2'))).toContain('SHARED');
  expect(await lab('WRITE', token, '1', 'NUMBER', '2')).toBe(1);
  expect(String(await lab('WRITE', token, '7'))).toContain('no visit of this number');
  expect(await lab('INVOKE', token, 'add', '5', 'OF', 'cart')).toBe(1);
  expect(await lab('RESULT', token, '1', 'OK', '5')).toBe('OK');
  expect(String(await lab('RESULT', token, '1', 'MAYBE'))).toContain('OK, FAILED or UNKNOWN');
  expect(await lab('SLEEP', token, '1')).toBe('OK');
  expect(await lab('NOW', token)).toEqual(expect.any(Number));
  expect(await lab('NOTE', token, 'a remark')).toBe('OK');
  expect(await lab('BEAT', token, 'LATE', '0.5')).toBe('OK');
  expect(await lab('LEAVE', token, '1', 'NUMBER', '3')).toBe('OK');
  expect(await lab('DONE', token)).toBe('OK');
  expect(String(await lab('ENTER', token, 'stock'))).toContain('WORLDOVER');
  expect(String(await lab('BEAT', token))).toContain('WORLDOVER');
});

test('a message that waits while its world ends gets WORLDOVER', async () => {
  const { line, report } = await attach({ clients: 2, budget: { worlds: 1 } });
  const answers: unknown[] = [];
  const play = async (client: Redis): Promise<void> => {
    for (let isFirst = true; ; isFirst = false) {
      const told = await say(client, 'LAB', 'NEXT');
      if (!Array.isArray(told)) return;
      const fields = fieldsOf(told);
      const token = String(fields.token);
      await say(client, 'LAB', 'ENTER', token, 'stock', 'SHARED');
      if (!isFirst && fields.client === 'A')
        answers.push(await say(client, 'LAB', 'SLEEP', token, '1000000'));
      else if (!isFirst) await say(client, 'LAB', 'BROKEN', token, 'the stock is -1');
      await say(client, 'LAB', 'DONE', token);
    }
  };
  await Promise.all([play(await line()), play(await line())]);
  expect((await report).findings.map(({ what }) => what)).toEqual(['the stock is -1']);
  expect(answers.length).toBeGreaterThan(3);
  for (const answer of answers) expect(String(answer)).toContain('WORLDOVER');
});

/** Takes a lock with a lease of a second, and gives it back. */
async function takeLock(url: string): Promise<void> {
  const redis = new Redis(url);
  redis.on('error', () => {});
  await redis.set('lock', 'mine', 'PX', 1000, 'NX');
  await redis.del('lock');
  redis.disconnect();
}

test('a world that ends before the turn of a client takes nothing from the next one', async () => {
  const { line, report } = await attach({ clients: 2, faults: ['connection-reset'], budget: { worlds: 12 } });
  const worlds: number[] = [];
  const play = async (client: Redis): Promise<void> => {
    for (;;) {
      const told = await say(client, 'LAB', 'NEXT');
      if (!Array.isArray(told)) return;
      const fields = fieldsOf(told);
      const token = String(fields.token);
      const world = Number(token.split(':')[1]);
      worlds.push(world);
      const number = new Set(worlds).size;
      // B waits for A, at most as long as a lease. A does nothing in the 8th world, and acts late in the 9th. The first ones may be
      // trials of the world without faults.
      if (fields.client === 'A') await takeLock(String((fields.urls as unknown[])[0]));
      if (fields.client === 'A' && number === 8) await say(client, 'LAB', 'BROKEN', token, 'the stock is -1');
      if (fields.client === 'A' && number === 9) await say(client, 'LAB', 'SLEEP', token, '2000');
      await say(client, 'LAB', 'ENTER', token, 'stock', 'SHARED');
      await say(client, 'LAB', 'DONE', token);
    }
  };
  await Promise.all([play(await line()), play(await line())]);
  await report;
  expect(new Set(worlds).size).toBeGreaterThan(9);
  expect(worlds).toEqual([...worlds].sort((a, b) => a - b));
});

test('a promise that the program says is broken is a finding', async () => {
  const { line, report } = await attach({ budget: { worlds: 1 } });
  const client = await line();
  let worlds = 0;
  for (;;) {
    const told = await say(client, 'LAB', 'NEXT', 'WITHIN', '60000');
    if (!Array.isArray(told)) break;
    const token = String(fieldsOf(told).token);
    await say(client, 'LAB', 'ENTER', token, 'stock');
    if (worlds++ > 1) await say(client, 'LAB', 'BROKEN', token, 'the stock is -1');
    await say(client, 'LAB', 'DONE', token);
  }
  const { findings } = await report;
  expect(findings.map(({ promise, what }) => ({ promise, what }))).toEqual([
    { promise: 'program', what: 'the stock is -1' },
  ]);
});

test('a process judges promises of its own, by the history of each world', async () => {
  let asks: (url: string) => void = () => {};
  const url = new Promise<string>((resolve) => {
    asks = resolve;
  });
  const more = {
    faults: ['connection-reset'],
    judged: ['mine', 'other'],
    judge: (text: string) => asks(text),
  } as const;
  const { line, report } = await attach({ ...more, budget: { worlds: 2 } });
  const client = await line();
  const judge = new Redis({ port: Number((await url).split(':').at(-1)), retryStrategy: () => null });
  judge.on('error', () => {});
  stop.unshift(async () => judge.disconnect());
  const play = async (): Promise<void> => {
    for (;;) {
      const told = await say(client, 'LAB', 'NEXT');
      if (!Array.isArray(told)) return;
      const token = String(fieldsOf(told).token);
      await say(client, 'LAB', 'ENTER', token, 'stock');
      await say(client, 'LAB', 'DONE', token);
    }
  };
  const decide = async (): Promise<void> => {
    for (;;) {
      const told = await say(judge, 'LAB', 'JUDGE');
      if (!Array.isArray(told)) return;
      const { token, history } = fieldsOf(told);
      for (const [wrong, what] of [
        ['no', 'is no JSON'],
        ['5', 'is no JSON object'],
        ['{"mien":"x"}', 'names mien, and the promises that are judged are mine, other'],
      ] as const)
        expect(await say(judge, 'LAB', 'VERDICT', String(token), wrong)).toBe(`ERR the verdict ${what}`);
      const { visits, faults } = JSON.parse(String(history));
      const isStruck = visits.length === 1 && faults.length > 0;
      const said = { what: 'the stock is -1', clients: ['A'] };
      const verdict = JSON.stringify(isStruck ? { mine: said } : { other: { throws: 'no fault' } });
      expect(await say(judge, 'LAB', 'VERDICT', String(token), verdict)).toBe('OK');
      expect(String(await say(judge, 'LAB', 'VERDICT', String(token), '{}'))).toContain('WORLDOVER');
    }
  };
  // A judge that goes away while it waits takes no world with it.
  const gone = judge.duplicate();
  gone.on('error', () => {});
  await once(gone, 'ready');
  const asked = say(gone, 'LAB', 'JUDGE');
  gone.disconnect();
  expect(String(await asked)).toContain('closed');
  await Promise.all([play(), decide()]);
  const found = (await report).findings.map(({ promise, what }) => [promise, what]);
  expect(found).toContainEqual(['mine', 'the stock is -1']);
  expect(found).toContainEqual(['no-error', 'the promise other throws Error: no fault']);
  expect(() => fullProgramOptions({ program: ['x'], judged: ['once'], judge: () => {} })).toThrow('judged');
});

test('what comes again with an idempotency key is done once', async () => {
  const play = async (...key: string[]): Promise<[promises: string[], written: unknown[]]> => {
    const { line, report } = await attach({ budget: { worlds: 1 } });
    const client = await line();
    const written: unknown[] = [];
    for (;;) {
      const told = await say(client, 'LAB', 'NEXT', 'WITHIN', '60000');
      if (!Array.isArray(told)) break;
      const token = String(fieldsOf(told).token);
      for (const visit of ['1', '2']) {
        await say(client, 'LAB', 'ENTER', token, 'order 1', ...key, 'ONCE');
        written.push(await say(client, 'LAB', 'WRITE', token, visit));
        await say(client, 'LAB', 'LEAVE', token, visit);
      }
      await say(client, 'LAB', 'DONE', token);
    }
    return [(await report).findings.map(({ promise }) => promise), written];
  };
  const [broken] = await play();
  expect(broken).toEqual(['once']);
  const [kept, written] = await play('KEY', 'o1');
  expect(kept).toEqual([]);
  expect(written.slice(0, 2)).toEqual([1, 1]); // As payment providers do, it answers the second as the first.
});
