/** The manifest of an append-only file: what is read, what is refused in redis-server's words, and what is written. */
import { describe, expect, test } from 'vitest';
import { emptyManifest, printManifest, readManifest } from '../../../server/aof/manifest.ts';

const BASE = 'file a.1.base.rdb seq 1 type b\n';
const INCREMENT = 'file a.1.incr.aof seq 1 type i\n';

test('a manifest that was read is written as it was', () => {
  const text = `${BASE}file a.0.incr.aof seq 7 type h\n${INCREMENT}file "a b\\xff.aof" seq 2 type i startoffset 5 endoffset 9\n`;
  expect(printManifest(readManifest(text), true)).toBe(text);
  expect(printManifest(readManifest(text), false)).not.toContain('offset');
  expect(printManifest(emptyManifest(), true)).toBe('');
});

test('fields may come in any order and case, and comments and unknown fields are skipped', () => {
  expect(readManifest('# made by hand\r\n  TYPE b Seq 3 FILE x colour red\r\n').base).toMatchObject({
    name: 'x',
    seq: 3,
  });
});

describe('what is refused', () => {
  const line = (number: number, text: string, why: string) =>
    `Reading the manifest file, at line ${number}\n>>> '${text}'\n${why}`;
  const invalid = 'Invalid AOF manifest file format';

  test.each([
    ['an empty file', '', 'Found an empty AOF manifest'],
    ['a line without an end', BASE.slice(0, -1), 'The AOF manifest file contains too long line'],
    [
      'a long line',
      `file ${'x'.repeat(1100)} seq 1 type b\n`,
      'The AOF manifest file contains too long line',
    ],
    ['an empty line', `\n${BASE}`, line(1, '', invalid)],
    ['a missing value', 'file x seq 1 type\n', line(1, 'file x seq 1 type', invalid)],
    ['the number 0', 'file x seq 0 type b\n', line(1, 'file x seq 0 type b', invalid)],
    ['open quotes', 'file "x seq 1 type b\n', line(1, 'file "x seq 1 type b', invalid)],
    [
      'a path',
      'file ../x seq 1 type b\n',
      line(1, 'file ../x seq 1 type b', "File can't be a path, just a filename"),
    ],
    ['a second base', BASE + BASE, line(2, BASE.trim(), 'Found duplicate base file information')],
    ['an order', INCREMENT + INCREMENT, line(2, INCREMENT.trim(), 'Found a non-monotonic sequence number')],
    ['a type', 'file x seq 1 type z\n', line(1, 'file x seq 1 type z', 'Unknown AOF file type')],
  ])('%s', (_title, text, why) => {
    expect(() => readManifest(text)).toThrow(`\n*** FATAL AOF MANIFEST FILE ERROR ***\n${why}`);
  });
});
