/** How a run of Redis' own tests is compared with the list of tests that remain. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { judge, outcomesOf, reasonsOf, testsOf } from './judge.ts';

const BASELINE =
  '# file\ttest\toccurrence\tclass\nunit/a\tone\t1\tscore\nunit/a\tone\t2\tscore\nunit/a\ttwo\t1\tflaky\nunit/b\tthree\t1\tscore\n';

test('a failure that the list does not name is broken, and one that it names and that passes is mended', () => {
  const tests = testsOf(BASELINE);
  expect(tests).toHaveLength(3);
  const outcomes = outcomesOf('unit/a\tone\t1\tok\ttag\t3\nunit/a\tone\t2\terr\ttag\twrong\n');
  const reasons = reasonsOf('# comment\nunit/a | one\ta reason\n');
  expect(judge(tests, outcomes, reasons)).toEqual({
    passed: 1,
    broken: ['unit/a | one | 2: wrong', 'unit/b | three: did not run'],
    mended: ['unit/a | one'],
  });
  expect(judge(tests, outcomes, new Map()).mended).toEqual([]);
});

test('every test that remains has a reason', () => {
  expect(() => reasonsOf('unit/a | one\n')).toThrow('no reason for unit/a | one');
  const lists = readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.txt'));
  expect(lists).toHaveLength(3);
  for (const file of lists) {
    expect(reasonsOf(readFileSync(new URL(file, import.meta.url), 'utf8')).size, file).toBeGreaterThan(0);
  }
});
