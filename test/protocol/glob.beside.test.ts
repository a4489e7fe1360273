/** Glob patterns: edge cases, and thousands of generated ones compared with redis-server. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { globMatch, globTest } from '../../protocol/glob.ts';
import { sampleOf } from '../support/long.ts';
import { RawClient } from '../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { request } from '../support/reply-text.ts';

const cases: readonly [pattern: string, text: string, fits: boolean][] = [
  ['*', 'anything', true],
  ['*', '', false],
  ['', '', true],
  ['', 'a', false],
  ['a*', 'a', true],
  ['a**', 'a', true],
  ['*a*', 'a', true],
  ['a*?', 'a', false],
  ['h?llo', 'hello', true],
  ['h?llo', 'hllo', false],
  ['h[ae]llo', 'hallo', true],
  ['h[^e]llo', 'hello', false],
  ['h[a-c]llo', 'hbllo', true],
  ['h[c-a]llo', 'hbllo', true],
  ['h\\?llo', 'h?llo', true],
  ['h\\?llo', 'hello', false],
  ['a\\', 'a\\', true],
  ['[', '[', false],
  ['[^', 'x', true],
  ['[a', 'a', true],
  ['[\\', '\\', true],
  ['[a-', '-', true],
  ['[a-]', 'b', false],
  ['[a-]x]', 'a', true],
  ['[]', 'a', false],
  ['[^]', 'a', true],
  ['[a-\xff]', 'b', false],
  ['[a-\xff]', 'A', true],
  ['user:*:lock', 'user::lock', true],
  ['*abc', 'ababcabc', true],
  ['*a*b*c', 'xaxbxcxc', true],
];

test.each(cases)('the pattern %j and the text %j: %j', (pattern, text, fits) => {
  expect(globMatch(pattern, text)).toBe(fits);
  expect(globTest(pattern)(text)).toBe(fits);
});

test('with nocase, letters are folded except after an escape in a class, and [Z-a] is empty', () => {
  expect(globMatch('MAX*', 'maxmemory', true)).toBe(true);
  expect(globMatch('[a-c]', 'B', true)).toBe(true);
  expect(globMatch('\\A', 'a', true)).toBe(true);
  expect(globMatch('[\\A]', 'a', true)).toBe(false);
  expect(globMatch('[Z-a]', 'a', true)).toBe(false);
});

test('a thousand stars are matched, more are refused, and none takes exponential time', () => {
  const text = 'a'.repeat(5000);
  expect(globMatch('*a'.repeat(1000), text)).toBe(true);
  expect(globMatch('*a'.repeat(1001), text)).toBe(false);
  expect(globMatch(`${'a*'.repeat(1001)}`, text)).toBe(true);
  expect(globMatch(`${'a*'.repeat(900)}b`, text)).toBe(false);
});

const letters = [
  'a',
  'b',
  'c',
  'A',
  'C',
  '*',
  '?',
  '[',
  ']',
  '^',
  '-',
  '\\',
  'z',
  'Z',
  '\x7f',
  '\x80',
  '\xff',
];
const patterns = fc
  .array(fc.constantFrom(...letters, '*', '[', ']', '-'), { maxLength: 9 })
  .map((all) => all.join(''));
const texts = fc.array(fc.constantFrom(...letters), { maxLength: 5 }).map((all) => all.join(''));

describe.skipIf(!hasRedisServer)('beside redis-server (needs redis-server)', () => {
  test('KEYS finds the same keys', async () => {
    const server = await startRedisServer();
    const client = await RawClient.connect({ path: server.path });
    const keys = [...new Set(fc.sample(texts, { numRuns: 400, seed: 1 }))];
    for (const key of keys) await client.ask('SET', key, '');
    for (const pattern of fc.sample(patterns, { numRuns: sampleOf(50_000, 1500), seed: 2 })) {
      if (pattern === '*') continue; // KEYS answers it without asking the matcher.
      const { value } = await client.ask('KEYS', pattern);
      const found = (value[1] as readonly (readonly [string, string])[]).map(([, key]) => key);
      const ours = keys.filter(globTest(pattern));
      expect({ pattern, keys: found.sort() }).toEqual({ pattern, keys: ours.sort() });
    }
    client.close();
    await server.stop();
  });

  test('COMMAND LIST FILTERBY PATTERN, which ignores case, finds the same names', async () => {
    const server = await startRedisServer();
    const client = await RawClient.connect({ path: server.path });
    const named = async (...filter: string[]): Promise<string[]> =>
      (
        (await client.ask('COMMAND', 'LIST', ...filter)).value[1] as readonly (readonly [string, string])[]
      ).map(([, name]) => name);
    const names = await named();
    const around = ['*', '?', 'S', 'e', 't', 'G', '[', ']', '^', '-', '\\', 'A', 'z', 'Z', 'a', '|'];
    const folded = fc
      .array(fc.constantFrom(...around), { minLength: 1, maxLength: 8 })
      .map((all) => all.join(''));
    for (const pattern of fc.sample(folded, { numRuns: sampleOf(20_000, 800), seed: 3 })) {
      const ours = names.filter((name) => globMatch(pattern, name, true));
      expect({ pattern, names: (await named('FILTERBY', 'PATTERN', pattern)).sort() }).toEqual({
        pattern,
        names: ours.sort(),
      });
    }
    client.close();
    await server.stop();
  });

  test('PUBLISH reaches the same patterns, with the same limit on stars', async () => {
    const server = await startRedisServer();
    const [listener, client] = [
      await RawClient.connect({ path: server.path }),
      await RawClient.connect({ path: server.path }),
    ];
    const stars = ['*a'.repeat(1000), '*a'.repeat(1001), 'a*'.repeat(1000), 'a*'.repeat(1001), '*'];
    const some = [...new Set([...stars, ...fc.sample(patterns, { numRuns: 500, seed: 4 })])];
    await listener.send(some.map((pattern) => request('PSUBSCRIBE', pattern)).join(''));
    for (let i = 0; i < some.length; i++) await listener.read();
    for (const text of ['a'.repeat(1500), ...fc.sample(texts, { numRuns: 200, seed: 5 })]) {
      const reached = (await client.ask('PUBLISH', text, '')).value[1];
      const ours = some.filter((pattern) => globMatch(pattern, text)).length;
      expect({ text, reached }).toEqual({ text, reached: String(ours) });
    }
    listener.close();
    client.close();
    await server.stop();
  });
});
