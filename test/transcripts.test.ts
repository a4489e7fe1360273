/** Plays the transcripts on our server, and again on redis-server, so that they cannot drift from the truth. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { hasRedisServer, type RealRedis, startRedisServer } from './support/redis-server.ts';
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

describe('the recordings', () => {
  let redis: RealRedis | undefined;
  afterAll(() => redis?.stop());

  test.skipIf(!hasRedisServer)(
    'are what redis-server answers (needs redis-server)',
    async () => {
      redis = await startRedisServer(RECORDABLE);
      const target = await RedisTarget.open(redis.path);
      for (const file of files) {
        for (const { section, text } of recorded(file)) expect(await play(section, target)).toBe(text);
      }
      target.close();
    },
    180_000,
  );
});
