/** A fault: a node forgets the scripts that EVAL has added, because it keeps only so many, and knows those of SCRIPT LOAD still. */
import type { Fault } from '../fault.ts';

/** How many scripts of EVAL a server keeps, from Redis 7.4 on. */
const KEPT = 500;

export const scriptEviction: Fault<never> = {
  sentence:
    'other programs run 500 scripts on every node, so that from Redis 7.4 on the scripts of EVAL are forgotten. `script-flush` shows the same, and more',
  strikes: 'every node',
  onRequest: true,
  variants: () => [{}],
  strike: async ({ sets, tell }) => {
    // Replicas know the scripts that they have run themselves.
    const up = sets.map(({ primary }) => primary).filter((node) => node.up);
    for (const node of up)
      for (let i = 0; i < KEPT; i++)
        await node.ask('EVAL', `return 'another program ${i}'`, '0').catch(() => undefined);
    tell('another program', `runs ${KEPT} scripts`);
  },
};
