/** Replication under control on the real servers: they answer as recorded, and generated programs show no difference. */
import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { dialectNames } from '../../../server/dialects/index.ts';
import { testBeside } from '../../support/beside/each.ts';
import { sampleOf } from '../../support/long.ts';
import { FIRST, outcomesOn, parseRecording, printRecording } from './recording.ts';
import { compareReplication, playTheirs, printDifference } from './tester.ts';

const folder = new URL('../../golden/replication/', import.meta.url);
const recorded = ['written.txt', 'generated.txt'].flatMap((file) =>
  parseRecording(readFileSync(new URL(file, folder), 'latin1')),
);

/** The dialects without a server to record, which are known from documentation alone. */
const UNKNOWN = ['redis-7.2', 'redis-8.8'];
const dialects = dialectNames.filter((name) => !UNKNOWN.includes(name));

const LIMIT = 240_000;

describe('replication under control', () => {
  testBeside(
    dialects,
    'is on %s as recorded',
    async (dialect, server) => {
      for (const each of recorded) {
        const theirs = await playTheirs(each.program, server);
        const [left, right] = [theirs, outcomesOn(each, dialect)].map((outcomes) =>
          printRecording(each.name, each.program, new Map([[FIRST, outcomes]])),
        );
        expect(left).toBe(right);
      }
    },
    LIMIT,
  );

  testBeside(
    dialects,
    'is the same on %s in generated programs',
    async (dialect, server) => {
      const { differences } = await compareReplication(server, dialect, {
        commands: sampleOf(20_000, 400),
        seed: 5,
      });
      expect(differences.map(printDifference)).toEqual([]);
    },
    LIMIT,
  );
});
