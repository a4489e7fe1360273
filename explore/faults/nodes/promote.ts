/** Done by hand in the playground: a replica is promoted, whether or not the primary has failed. */
import { type Fault, nodeOf, setOf } from '../fault.ts';
import { resetClients } from './roles.ts';

export const promote: Fault<never> = {
  sentence: 'a replica is promoted, as Sentinels would do it',
  strikes: 'a node',
  variants: () => [],
  strike: async (context, { on }) => {
    const set = setOf(context, on);
    const old = set.primary;
    if (nodeOf(context, on)?.up !== true || old.name === on) return;
    context.tell(on, 'is promoted by hand');
    await set.failover(on);
    resetClients(context, old.name);
  },
};
