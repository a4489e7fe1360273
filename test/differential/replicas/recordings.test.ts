/** The recorded programs about replication, played without any server: each dialect answers as recorded, and broken nodes do not. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { sampleOf } from '../../support/long.ts';
import { mutants } from './mutants.ts';
import { FIRST, outcomesOn, parseRecording, printRecording, type Recorded } from './recording.ts';
import { firstDifference, playOurs } from './tester.ts'; // tidy suffixes: only our nodes play, on a clock of the test

const folder = new URL('../../golden/replication/', import.meta.url);
const recorded = ['written.txt', 'generated.txt'].flatMap((file) =>
  parseRecording(readFileSync(new URL(file, folder), 'latin1')),
);

/** The dialects that were recorded: those of the first server, and of each that differs somewhere. */
const dialects = dialectNames.filter(
  (name) => name === FIRST || recorded.some(({ outcomes }) => outcomes.some((each) => each.has(name))),
);

/** A program's text, with what it brought about on one server. */
function textOf({ name, program }: Recorded, outcomes: readonly string[][]): string {
  return printRecording(name, program, new Map([[FIRST, outcomes]]));
}

test('the recordings are of the six servers', () => {
  expect(dialects).toEqual(['redis-7.0', 'redis-8.0', 'redis-8.2', 'redis-8.6', 'valkey-8.1', 'valkey-9']);
  expect(recorded.length).toBeGreaterThan(30);
});

describe.each(dialects)('%s', (dialect) => {
  test.each(recorded)('answers as recorded: $name', async (each) => {
    const ours = await playOurs(each.program, dialect);
    expect(textOf(each, ours)).toBe(textOf(each, outcomesOn(each, dialect)));
  });
});

describe.each(Object.entries(mutants))('%s', (_name, { dialects: shown, mutation }) => {
  // In all dialects the same rule is broken: two of them are the sample.
  test.each(shown.slice(-sampleOf(shown.length, 2)))('is found in the recordings of %s', async (dialect) => {
    const found = async (each: Recorded): Promise<boolean> => {
      const ours = await playOurs(each.program, dialect, mutation);
      return firstDifference(each.program, ours, outcomesOn(each, dialect)) !== undefined;
    };
    let isFound = false;
    for (const each of recorded) isFound ||= await found(each);
    expect(isFound).toBe(true);
  });
});
