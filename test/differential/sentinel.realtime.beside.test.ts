/** Generated requests to lostlock's Sentinel and to real ones: a sample of `npm run test:sentinel`. */
import { describe, expect, test } from 'vitest';
import type { DialectName } from '../../server/dialects/index.ts';
import { sampleOf } from '../support/long.ts';
import { oracleOf } from '../support/oracles.ts';
import { compareSentinels } from './sentinel/tester.ts';

const DIALECTS: readonly DialectName[] = ['redis-7.0', 'redis-8.2', 'valkey-8.1'];

describe.each(DIALECTS)('a Sentinel of %s', (dialect) => {
  const program = oracleOf(dialect);

  test.skipIf(program === undefined)('answers and reports as the real one (needs its server)', async () => {
    const limits = { commands: sampleOf(20_000, 400), seed: 1 };
    const { commands, differences } = await compareSentinels(program!, dialect, limits);
    expect(differences.join('\n\n')).toBe('');
    expect(commands).toBeGreaterThanOrEqual(limits.commands);
  });
});
