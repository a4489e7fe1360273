/** A fault: one replica crashes, and comes back. */
import { type Fault, setOf } from '../fault.ts';
import { replicaOf, replicasAsked } from './replicas.ts';
import { alone } from './roles.ts';

export const replicaCrash: Fault<'empty'> = {
  sentence:
    'one replica crashes and comes back, with its data or without, where the code asks replicas (WAIT, or reads)',
  strikes: 'a node',
  hows: ['empty'],
  variants: (among, { leaseMs }) =>
    replicasAsked(among).flatMap((on) => [
      { on, ms: 20, how: 'empty' as const },
      { on, ms: Math.round(1.5 * leaseMs) },
    ]),
  strike: (context, { on, ms, how }) => {
    const set = setOf(context, on);
    return alone(context, set, async () => {
      const node = replicaOf(context, on);
      if (node?.up !== true) return;
      await set.crash(on, how === 'empty' ? 'nothing' : 'everything');
      context.tell(on, 'crashes');
      await context.wait(ms);
      if (!node.up) await set.restart(on);
      context.tell(on, how === 'empty' ? 'is back without its data' : 'is back with its data');
    });
  },
};
