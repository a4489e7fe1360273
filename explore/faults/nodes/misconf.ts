/** A fault: the background saves of a primary fail, so that it refuses writes with MISCONF. */
import { type Fault, primariesOf, setOf } from '../fault.ts';

export const misconf: Fault<never, 'failSaves'> = {
  sentence: 'a primary cannot save its data, and refuses writes with MISCONF, also releases',
  strikes: 'a node',
  needs: ['failSaves'],
  variants: (among, { leaseMs }) => primariesOf(among).map((on) => ({ on, ms: Math.round(0.5 * leaseMs) })),
  strike: async (context, { on, ms }) => {
    const node = setOf(context, on).primary;
    if (!node.up) return;
    context.failSaves(node.name, true);
    context.tell(node.name, `cannot save its data for ${ms} ms`);
    await context.wait(ms);
    context.failSaves(node.name, false);
  },
};
