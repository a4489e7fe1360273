/** A fault: every node forgets its scripts. */
import type { Fault } from '../fault.ts';

export const scriptFlush: Fault<never> = {
  sentence: 'SCRIPT FLUSH on every node',
  strikes: 'every node',
  variants: () => [{}],
  strike: async ({ sets, tell }) => {
    const up = sets.flatMap(({ nodes }) => nodes.filter((node) => node.up));
    await Promise.all(up.map((node) => node.ask('SCRIPT', 'FLUSH')));
    tell('operator', 'runs SCRIPT FLUSH on every node');
  },
};
