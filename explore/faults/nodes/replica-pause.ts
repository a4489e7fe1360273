/** A fault: the process of one replica stalls. */
import { type Fault, pauseLengths } from '../fault.ts';
import { replicaOf, replicasAsked } from './replicas.ts';

export const replicaPause: Fault<never> = {
  sentence: 'one replica stalls for less or more than a lease, where the code asks replicas (WAIT, or reads)',
  strikes: 'a node',
  variants: (among, scales) =>
    replicasAsked(among).flatMap((on) => pauseLengths(scales).map((ms) => ({ on, ms }))),
  strike: async (context, { on, ms }) => {
    const node = replicaOf(context, on);
    if (node?.up !== true || node.paused) return;
    node.pause();
    context.tell(on, `is paused for ${ms} ms`);
    await context.wait(ms);
    node.resume();
  },
};
