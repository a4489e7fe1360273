/** Plays the transcripts on our server, and again on redis-server, so that they cannot drift from the truth. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { hasRedisServer, startRedisServer } from './support/redis-server.ts';
import { OwnTarget } from './transcripts/own.ts';
import { RECORDABLE, RedisTarget } from './transcripts/redis.ts';
import { parseTranscript, play, type Section } from './transcripts/transcript.ts';

const folder = new URL('./transcripts/', import.meta.url);

/** A transcript's sections as they were recorded, beside their steps. */
function recorded(file: string): { section: Section; text: string }[] {
  const text = readFileSync(new URL(file, folder), 'latin1');
  const texts = text.split(/^(?=## )/m);
  return parseTranscript(text).map((section, i) => ({ section, text: `${texts[i]?.trimEnd()}\n` }));
}

const files = readdirSync(folder).filter((file) => file.endsWith('.txt'));

describe.each(files)('%s', (file) => {
  test.each(recorded(file))('our server answers as recorded: $section.name', async ({ section, text }) => {
    expect(await play(section, new OwnTarget())).toBe(text);
  });
});

/** How many redis-servers play the recordings side by side: most of the time each waits for something to expire. */
const SERVERS = 6;

describe('the recordings', () => {
  test.skipIf(!hasRedisServer)(
    'are what redis-server answers (needs redis-server)',
    async () => {
      const queue = files.flatMap(recorded);
      const playOne = async (): Promise<void> => {
        await using redis = await startRedisServer(RECORDABLE);
        const target = await RedisTarget.open(redis.path);
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          expect(await play(next.section, target)).toBe(next.text);
        }
        target.close();
      };
      await Promise.all(Array.from({ length: SERVERS }, playOne));
    },
    180_000,
  );
});
