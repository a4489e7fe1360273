/** Generated requests to lostlock's cluster and to real ones: a sample of `npm run test:cluster`. */
import { expect, test } from 'vitest';
import { compareClusters } from '../differential/cluster/tester.ts';
import { sampleOf } from '../support/long.ts';
import { INSTALLED, oracleOf } from '../support/oracles.ts';

const program = oracleOf(INSTALLED);

test.skipIf(program === undefined)(
  'the nodes of a cluster answer and redirect as real ones (needs redis-server)',
  async () => {
    const limits = { commands: sampleOf(20_000, 300), seed: 1 };
    const { commands, differences } = await compareClusters(program!, INSTALLED, limits);
    expect(differences.join('\n\n')).toBe('');
    expect(commands).toBeGreaterThanOrEqual(limits.commands);
  },
  300_000,
);
