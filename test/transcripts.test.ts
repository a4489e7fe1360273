/** Plays the transcripts on our server, and again on redis-server, so that they cannot drift from the truth. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasRedisServer, startRedisServer } from './support/redis-server.ts';
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
    expect(written(section, await play(section, new OwnTarget()))).toBe(recorded(section, FIRST));
  });
});

/** How many redis-servers play the recordings side by side: most of the time each waits for something to expire. */
const SERVERS = 6;

describe('the recordings', () => {
  test.skipIf(!hasRedisServer)(
    'are what redis-server answers (needs redis-server)',
    async () => {
      const queue = files.flatMap(sectionsOf);
      const playOne = async (): Promise<void> => {
        await using redis = await startRedisServer(RECORDABLE);
        const target = await RedisTarget.open(redis.path);
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          expect(written(next, await play(next, target))).toBe(recorded(next, FIRST));
        }
        target.close();
      };
      await Promise.all(Array.from({ length: SERVERS }, playOne));
    },
    180_000,
  );
});
