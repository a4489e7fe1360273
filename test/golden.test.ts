/** Replays the transcripts of test/golden against us, and against redis-server to see that they are still true. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRedisServer } from './support/redis-server.ts';
import { LocalTarget, RealTarget } from './support/targets.ts';
import { type GoldenTarget, goldenParts, playGolden } from './transcripts/golden.ts';

const folder = join(import.meta.dirname, 'golden');
const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));

function replay(name: string, target: () => GoldenTarget): void {
  for (const part of goldenParts(readFileSync(join(folder, name), 'utf8'))) {
    test(`${name}: ${part.title}`, async () => {
      const wanted = part.lines.join('\n').trimEnd();
      expect((await playGolden(part, target())).join('\n').trimEnd()).toBe(wanted);
    });
  }
}

describe('lostlock answers as redis-server did', () => {
  const local = new LocalTarget();
  afterAll(() => local.server.stop());
  for (const name of files) replay(name, () => local);
});

describe.skipIf(!hasRedisServer)('redis-server still answers as recorded (needs redis-server)', () => {
  let real: RealTarget;
  beforeAll(async () => {
    real = await RealTarget.start();
  });
  afterAll(() => real.stop());
  for (const name of files) replay(name, () => real);
});
