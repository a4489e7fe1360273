/** Generated programs on lostlock and redis-server: a sample of the tester, and proof that it finds planted faults. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encodeRequest } from '../../protocol/encode.ts';
import { type DialectName, dialectNames } from '../../server/dialects/index.ts';
import { differencesPage } from '../../tools/docs/differences-page.ts';
import { isLongRun, sampleOf } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import type { RawReply } from '../support/reply-text.ts';
import { compareList, excuse, waitOut } from './compare/compare.ts';
import { added, excluded, loose } from './compare/known.ts';
import { same } from './compare/normalise.ts';
import { unspecified } from './compare/unspecified.ts';
import { findMutant, mutants } from './mutants.ts';
import { grammarOf } from './requests.ts';
import { OurSide, RealSide } from './sides.ts';
import { test as run } from './tester.ts';

/** Mutants that show soon. `npm run test:differential -- --mutants` looks for all of them, which takes minutes. */
const SAMPLE = [
  'a write that does not happen',
  'a transaction that ignores WATCH',
  'an acknowledgement that is forgotten',
  'a place too few',
  'a register that is not merged',
];

describe.skipIf(!hasRedisServer)('generated programs (needs redis-server)', () => {
  let real: RealSide;
  beforeAll(async () => {
    real = await RealSide.start();
  });
  afterAll(() => real.stop());

  // .ci/run plays 50,000 requests.
  test.each(isLongRun ? [1, 2, 3] : [1])('seed %i shows no difference from redis-server', async (seed) => {
    const result = await run(real, { seed, commands: sampleOf(1_000_000, 2000) });
    expect(result.transcripts.join('\n\n')).toBe('');
    expect(result.commands).toBeGreaterThanOrEqual(2000);
    expect(result.inconclusive + result.vanished).toBeLessThan(result.programs / 20);
  });

  test.each(isLongRun ? Object.keys(mutants) : SAMPLE)('%s is found and shrunk', async (name) => {
    expect(await findMutant(real, mutants[name] ?? [])).toBeDefined();
  });
});

test('ACL rules are equal if they differ only in the order of single commands, and in what 7.0 does not have', () => {
  const list = (text: string): RawReply => ['*', [['$', text]]];
  const alike = (mine: string, theirs: string): boolean => same('rules', list(mine), list(theirs));
  const theirs = 'user a off ~k -@all +@read -get -set +select|0';
  expect(alike('user a off ~k -@all +@read +select|0 -set -get -digest', theirs)).toBe(true);
  expect(alike('user a off ~k -@all +@read +select|0 -set -get', `${theirs} -not-ours`)).toBe(true);
  expect(alike('user a off ~k -@all +@read +select|0 -set -get', `${theirs} -lcs`)).toBe(false);
  expect(alike('user a off ~k +@read -@all -get -set +select|0', theirs)).toBe(false);
  expect(alike('user a off ~k -@all +@read -get -set +select|1', theirs)).toBe(false);
  expect(alike('user a ~k off -@all +@read -get -set +select|0', theirs)).toBe(false);
});

test('a difference that is accepted alone is accepted within EXEC if everything else is equal', () => {
  const taken = (name: string): string => `-ERR Library ${name} already exists\r\n`;
  const restore = ['FUNCTION', 'RESTORE', 'payload'];
  const asked = { argv: ['EXEC'], rule: 'exact' } as const;
  const inside = [restore, ['PING']];
  const excused = (mine: string, theirs: string): boolean => {
    const reply = (text: string): string => `*2\r\n${text}`;
    return excuse(asked, inside, reply(mine), reply(theirs)) !== undefined;
  };
  expect(excuse({ argv: restore, rule: 'exact' }, [], taken('la'), taken('lc'))).toBeDefined();
  expect(excused(`${taken('la')}+PONG\r\n`, `${taken('lc')}+PONG\r\n`)).toBe(true);
  expect(excused(`${taken('la')}+PONG\r\n`, `${taken('lc')}+PANG\r\n`)).toBe(false);
  expect(excused(`${taken('la')}+PONG\r\n`, '+OK\r\n+PONG\r\n')).toBe(false);
});

test('a count of references may differ in the elements of EXEC alone', () => {
  const count = ['object', 'refcount', 'k'];
  const inExec = (words: string[], mine: string, theirs: string): boolean =>
    excuse({ argv: ['EXEC'], rule: 'exact' }, [words], `*1\r\n${mine}`, `*1\r\n${theirs}`) !== undefined;
  expect(inExec(count, ':1\r\n', ':3\r\n')).toBe(true);
  expect(inExec(count, ':3\r\n', ':1\r\n')).toBe(false);
  expect(inExec(count, ':1\r\n', '$-1\r\n')).toBe(false);
  expect(inExec(['object', 'freq', 'k'], ':1\r\n', ':3\r\n')).toBe(false);
  expect(excuse({ argv: count, rule: 'exact' }, [], ':1\r\n', ':3\r\n')).toBeUndefined();
});

test('fields that expire together are compared in any order, those of other hashes are not', () => {
  const gone = (...words: string[]): string => encodeRequest(['HDEL', ...words]);
  const alike = (mine: string, theirs: string): boolean =>
    compareList([mine], [theirs], 'stream', false) === undefined;
  expect(alike(gone('h', 'a', 'b', 'c'), gone('h', 'c', 'a', 'b'))).toBe(true);
  expect(alike(gone('h', 'a', 'b'), gone('h', 'a', 'c'))).toBe(false);
  expect(alike(gone('h', 'a', 'b'), gone('a', 'h', 'b'))).toBe(false);
  const mine = [gone('h', 'a', 'z'), gone('h', 'b', 'c')];
  expect(compareList(mine, [gone('h', 'c', 'b'), gone('h', 'z', 'a')], 'stream', true)).toBeUndefined();
});

test('after a wait, effects are compared in any order, and in whichever millisecond they happened', () => {
  const claim = (at: number, count: string): string =>
    encodeRequest(['XCLAIM', 'x', 'grp', 'bob', '0', '1-0', 'TIME', String(at), 'RETRYCOUNT', count]);
  const now = 1_700_000_000_000;
  const mine = (): string[] => [claim(now, '2'), claim(now, '1')];
  expect(compareList(mine(), [claim(now, '2'), claim(now + 1, '1')], 'stream', true)).toBeUndefined();
  expect(compareList(mine(), [claim(now, '1'), claim(now + 1, '2')], 'stream', true)).toBeUndefined();
  expect(compareList(mine(), [claim(now, '2'), claim(now + 1, '2')], 'stream', true)).toBeDefined();
  expect(compareList(mine(), [claim(now, '1'), claim(now, '2')], 'stream', false)).toBeDefined();
});

test('every deadline that is near is waited for, not only the first', async () => {
  const ours = new OurSide({ protocols: [2], settings: [], steps: [] }, 'redis-7.0');
  for (const [key, ms] of [
    ['a', '3'],
    ['b', '8'],
  ] as const)
    ours.send(0, ['SET', key, 'x', 'PX', ms]);
  expect(await waitOut(ours)).toBe('waited');
  expect(ours.server.databases.reduce((keys, { size }) => keys + size, 0)).toBe(0);
  expect(await waitOut(ours)).toBe('nothing');
  ours.stop();
});

test('CLIENT NO-TOUCH ON is left out where the real server crashes of it', () => {
  const leaves = (dialect: DialectName, mode: string): boolean => {
    const ours = new OurSide({ protocols: [2], settings: [], steps: [] }, dialect);
    ours.stop();
    return unspecified(['client', 'no-touch', mode], ours, 0);
  };
  expect(dialectNames.filter((name) => leaves(name, 'on'))).toEqual(['redis-8.0', 'valkey-8.1']);
  expect(dialectNames.filter((name) => leaves(name, 'off'))).toEqual([]);
});

test('HSETEX of a field that is named twice is left out where the real server aborts', () => {
  const leaves = (dialect: DialectName, ...words: string[]): boolean => {
    const ours = new OurSide({ protocols: [2], settings: [], steps: [] }, dialect);
    ours.stop();
    return unspecified(['HSETEX', 'h', ...words], ours, 0);
  };
  const [long, timed] = ['x'.repeat(65), ['EX', '9', 'FIELDS', '2']];
  expect(dialectNames.filter((name) => leaves(name, ...timed, 'f', '1', 'f', long))).toEqual(['redis-8.6']);
  expect(leaves('redis-8.6', ...timed, 'f', '1', 'g', long)).toBe(false);
  expect(leaves('redis-8.6', ...timed, 'f', '1', 'f', '2')).toBe(true); // The hash may be a table already.
  expect(leaves('redis-8.6', 'FIELDS', '2', 'f', '1', 'f', long)).toBe(false);
});

test('every command has a generator or a reason to have none', () => {
  for (const dialect of dialectNames) {
    const missing = grammarOf(dialect).withoutGenerator;
    expect(missing, `${dialect}: give it a template in test/differential/grammar/`).toEqual([]);
  }
});

test('no command is both generated and left out', () => {
  const { generated } = grammarOf('redis-7.0');
  expect(generated.filter((name) => excluded[name] !== undefined || added[name] !== undefined)).toEqual([]);
});

test('every exception has its reason, also in docs/differences.md', () => {
  for (const reason of [...Object.values(excluded), ...Object.values(loose).map(([, why]) => why)]) {
    expect(reason.length).toBeGreaterThan(5);
  }
  const page = existsSync('docs/differences.md') ? readFileSync('docs/differences.md', 'utf8') : '';
  expect(page === differencesPage(), 'docs/differences.md is out of step: npm run docs').toBe(true);
});
