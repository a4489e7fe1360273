/** A fault: a primary has no memory left, and evicts keys in place of refusing writes. */
import { type Fault, primariesOf, setOf } from '../fault.ts';

/** How soon a server evicts keys beyond a new limit by itself, in milliseconds. */
const EVICTS_IN = 5;
/** How a primary evicts: keys that have a lease, or any. */
const POLICIES = { leased: 'volatile-lru', any: 'allkeys-lru' };
/** `maxmemory` of a primary that has no memory left. */
const NO_MEMORY = '1';

export const eviction: Fault<'leased' | 'any'> = {
  sentence:
    'a primary has no memory left, and evicts the keys that have a lease, or all keys. No lock survives it',
  strikes: 'a node',
  onRequest: true,
  hows: ['leased', 'any'],
  variants: (among) =>
    primariesOf(among).flatMap((on) => (['leased', 'any'] as const).map((how) => ({ on, how }))),
  strike: async (context, { on, how }) => {
    const node = setOf(context, on).primary;
    if (!node.up) return;
    const [, memory = '0'] = (await node.ask('CONFIG', 'GET', 'maxmemory')) as string[];
    const [, policy = ''] = (await node.ask('CONFIG', 'GET', 'maxmemory-policy')) as string[];
    // Another fault of memory lasts, and ends it.
    if (memory === NO_MEMORY) return;
    await node.ask('CONFIG', 'SET', 'maxmemory-policy', POLICIES[how || 'any']);
    await node.ask('CONFIG', 'SET', 'maxmemory', NO_MEMORY);
    context.tell(node.name, `evicts ${how === 'leased' ? 'the keys that have a lease' : 'all keys'}`);
    await context.wait(EVICTS_IN);
    // A node that is down comes back with the memory that it had.
    if (!node.up) return;
    await node.ask('CONFIG', 'SET', 'maxmemory', memory);
    await node.ask('CONFIG', 'SET', 'maxmemory-policy', policy);
  },
};
