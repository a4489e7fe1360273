/** Plays the transcripts on our server in every dialect, and again on the real servers, so that they cannot drift from the truth. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dialectNames } from '../server/dialects/index.ts';
import { testBeside } from './support/beside/each.ts';
import { isLongRun, sampleOf } from './support/long.ts';
import { INSTALLED } from './support/oracles.ts';
import { startRedisServer } from './support/redis-server.ts';
import { GAPS, type Gap, gapOf, isFatalFor, withoutGaps } from './transcripts/gaps.ts';
import { OwnTarget } from './transcripts/own.ts';
import { FIRST } from './transcripts/recording.ts';
import { RECORDABLE, RedisTarget } from './transcripts/redis.ts';
import { parseTranscript, play, recordedOutcomes, type Section, written } from './transcripts/transcript.ts';

const folder = new URL('./transcripts/', import.meta.url);

const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));

function sectionsOf(file: string): Section[] {
  return parseTranscript(readFileSync(new URL(file, folder), 'latin1'));
}

/** What a section reads like, as recorded on a server. */
function recorded(section: Section, server: string): string {
  return written(section, recordedOutcomes(section, server));
}

describe.each(files)('%s', (file) => {
  test.each(sectionsOf(file))('our server answers as recorded: $name', async (section) => {
    const ours = new OwnTarget({ dialect: INSTALLED, strict: true });
    expect(written(section, await play(section, ours))).toBe(recorded(section, FIRST));
  });
});

const NEWER = dialectNames.filter((name) => name !== FIRST);

/** Whether an outcome of that server was recorded anywhere: a dialect without a server to record has none. */
function isRecorded(dialect: string): boolean {
  return files.some((file) =>
    sectionsOf(file).some(({ steps }) => steps.some(({ elsewhere }) => elsewhere.has(dialect))),
  );
}

describe.each(NEWER.filter(isRecorded))('in the strict dialect %s', (dialect) => {
  test.each(files)('our server answers %s as recorded', async (file) => {
    for (const [index, section] of sectionsOf(file).entries()) {
      // The sample: every section in which that server differs, and every eighth of the others.
      const differs = section.steps.some(({ elsewhere }) => elsewhere.has(dialect));
      if (!isLongRun && !differs && index % 8 !== 0) continue;
      const ours = await play(section, new OwnTarget({ dialect, strict: true }));
      const theirs = recordedOutcomes(section, dialect);
      const [left, right] = [ours, theirs].map((outcomes) =>
        written(section, withoutGaps(file, section, dialect, outcomes)),
      );
      expect(left).toBe(right);
    }
  });
});

/** How many redis-servers play the recordings side by side: most of the time each waits for something to expire. */
const SERVERS = 6;

test.skipIf(!isLongRun)(
  'every gap on the list still is one: closed gaps must leave it (needs the long run)',
  async () => {
    const open = new Set<Gap>();
    for (const dialect of NEWER.filter(isRecorded)) {
      for (const file of files) {
        for (const section of sectionsOf(file)) {
          const theirs = recordedOutcomes(section, dialect);
          const ours = await play(section, new OwnTarget({ dialect, strict: true }));
          for (const [i, step] of section.steps.entries()) {
            const gap = gapOf(file, section, step, dialect);
            if (gap !== undefined && `${ours[i]}` !== `${theirs[i]}`) open.add(gap);
          }
        }
      }
    }
    expect(GAPS.filter((gap) => !open.has(gap))).toEqual([]);
  },
);

/** The servers that play the recordings: in `npm test` only the one whose outcomes stand first. */
const played = [FIRST, ...NEWER].slice(0, sampleOf(dialectNames.length, 1));

describe('the recordings', () => {
  testBeside(
    played,
    'are what %s answers',
    async (name, program) => {
      const queue = files.flatMap(sectionsOf);
      expect(queue.length).toBeGreaterThan(0);
      const playOne = async (): Promise<void> => {
        await using redis = await startRedisServer({ ...RECORDABLE, program });
        const target = await RedisTarget.open(redis.path);
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          expect(written(next, await play(next, target, isFatalFor(name)))).toBe(recorded(next, name));
        }
        target.close();
      };
      await Promise.all(Array.from({ length: SERVERS }, playOne));
    },
    180_000,
  );
});
