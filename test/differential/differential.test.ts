/** Generated programs on lostlock and redis-server: a sample of the tester, and proof that it finds what is broken on purpose. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differencesPage } from '../../docs/differences-page.ts';
import { sampleOf } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { added, excluded, loose } from './known.ts';
import { mutants } from './mutants.ts';
import { generated, withoutGenerator } from './requests.ts';
import { RealSide } from './sides.ts';
import { test as run } from './tester.ts';

describe.skipIf(!hasRedisServer)('generated programs (needs redis-server)', () => {
  let real: RealSide;
  beforeAll(async () => {
    real = await RealSide.start();
  });
  afterAll(() => real.stop());

  test.each([1, 2])('seed %i shows no difference from redis-server', async (seed) => {
    const result = await run(real, { seed, commands: sampleOf(1_000_000, 5000) });
    expect(result.transcripts.join('\n\n')).toBe('');
    expect(result.commands).toBeGreaterThanOrEqual(5000);
    expect(result.inconclusive + result.vanished).toBeLessThan(result.programs / 20);
  });

  test.each(Object.entries(mutants))('%s is found and shrunk', async (_name, commands) => {
    const command = commands[0]!.name;
    // A seed may meet a difference of another kind first: then the next one is tried.
    for (const seed of [3, 12, 99, 4, 1]) {
      const result = await run(real, { seed, commands: 20_000, mutants: commands });
      const [shrunk] = result.shrunk;
      const words = shrunk?.program.steps.flatMap(({ argv }) => argv.map((word) => word.toLowerCase())) ?? [];
      if (!words.includes(command)) continue;
      expect(shrunk?.program.steps.length).toBeLessThanOrEqual(6);
      return;
    }
    expect.fail(`${command} is broken, and no seed found it`);
  });
});

test('every command has a generator or a reason to have none', () => {
  expect(withoutGenerator(), 'give it a template in test/differential/grammar/').toEqual([]);
});

test('no command is both generated and left out', () => {
  expect(generated.filter((name) => excluded[name] !== undefined || added[name] !== undefined)).toEqual([]);
});

test('every exception has its reason, in docs/differences.md too', () => {
  for (const reason of [...Object.values(excluded), ...Object.values(loose).map(([, why]) => why)]) {
    expect(reason.length).toBeGreaterThan(5);
  }
  const page = existsSync('docs/differences.md') ? readFileSync('docs/differences.md', 'utf8') : '';
  expect(page === differencesPage(), 'docs/differences.md is out of step: npm run docs').toBe(true);
});
