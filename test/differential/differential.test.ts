/** Generated programs on lostlock and redis-server: a sample of the tester, and proof that it finds what is broken on purpose. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differencesPage } from '../../docs/differences-page.ts';
import { isLongRun, sampleOf } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { added, excluded, loose } from './known.ts';
import { findMutant, mutants } from './mutants.ts';
import { generated, withoutGenerator } from './requests.ts';
import { RealSide } from './sides.ts';
import { test as run } from './tester.ts';

/** Mutants that show soon. */
const SAMPLE = [
  'a reply that is one too much',
  'a write that does not happen',
  'an acknowledgement that is forgotten',
];

describe.skipIf(!hasRedisServer)('generated programs (needs redis-server)', () => {
  let real: RealSide;
  beforeAll(async () => {
    real = await RealSide.start();
  });
  afterAll(() => real.stop());

  // .ci/run plays 50,000 requests, and looks for every mutant.
  test.each(isLongRun ? [1, 2, 3] : [1])('seed %i shows no difference from redis-server', async (seed) => {
    const result = await run(real, { seed, commands: sampleOf(1_000_000, 4000) });
    expect(result.transcripts.join('\n\n')).toBe('');
    expect(result.commands).toBeGreaterThanOrEqual(4000);
    expect(result.inconclusive + result.vanished).toBeLessThan(result.programs / 20);
  });

  test.each(isLongRun ? Object.keys(mutants) : SAMPLE)('%s is found and shrunk', async (name) => {
    expect(await findMutant(real, mutants[name] ?? [])).toBeDefined();
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
