/** Generated requests to lostlock's cluster and to real ones: a sample of `npm run test:cluster`. */
import { expect } from 'vitest';
import { compareClusters } from '../differential/cluster/tester.ts';
import { testBeside } from '../support/beside/each.ts';
import { sampleOf } from '../support/long.ts';
import { INSTALLED } from '../support/oracles.ts';

testBeside(
  [INSTALLED, 'redis-8.6', 'valkey-9'],
  'the nodes of a cluster answer and redirect as those of %s',
  async (dialect, program) => {
    const limits = { commands: sampleOf(20_000, 300), seed: 1 };
    const { commands, differences } = await compareClusters(program, dialect, limits);
    expect(differences.join('\n\n')).toBe('');
    expect(commands).toBeGreaterThanOrEqual(limits.commands);
  },
  300_000,
);
