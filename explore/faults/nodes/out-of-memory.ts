/** A fault: a primary refuses writes, because it has no memory left. */
import { type Fault, primariesOf, setOf } from '../fault.ts';

/** `maxmemory` of a primary that has no memory left. */
const NO_MEMORY = '1';

export const outOfMemory: Fault<never> = {
  sentence: 'a primary refuses writes with OOM',
  strikes: 'a node',
  variants: (among, { leaseMs }) => primariesOf(among).map((on) => ({ on, ms: Math.round(0.5 * leaseMs) })),
  strike: async (context, { on, ms }) => {
    const node = setOf(context, on).primary;
    if (!node.up) return;
    const [, before = '0'] = (await node.ask('CONFIG', 'GET', 'maxmemory')) as string[];
    // Another fault of this kind lasts, and ends it.
    if (before === NO_MEMORY) return;
    await node.ask('CONFIG', 'SET', 'maxmemory', NO_MEMORY);
    context.tell(node.name, `is out of memory for ${ms} ms`);
    await context.wait(ms);
    // A node that is down comes back with the memory that it had.
    if (node.up) await node.ask('CONFIG', 'SET', 'maxmemory', before);
  },
};
