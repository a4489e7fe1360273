/** Records transcripts anew: `npx tsx test/transcripts/record.ts test/transcripts/string.txt …`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { startRedisServer } from '../support/redis-server.ts';
import { RECORDABLE, RedisTarget } from './redis.ts';
import { parseTranscript, play } from './transcript.ts';

const redis = await startRedisServer(RECORDABLE);
try {
  const target = await RedisTarget.open(redis.path);
  for (const file of process.argv.slice(2)) {
    const parts: string[] = [];
    for (const section of parseTranscript(readFileSync(file, 'latin1'))) {
      parts.push(await play(section, target));
    }
    writeFileSync(file, parts.join('\n'), 'latin1');
  }
  target.close();
} finally {
  await redis.stop();
}
