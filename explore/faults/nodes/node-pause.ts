/** A fault: a node's process stalls. */
import { type Fault, nodeOf, pauseLengths, primariesOf } from '../fault.ts';

export const nodePause: Fault<never> = {
  sentence: 'a primary stalls for less or more than a lease, as under SIGSTOP',
  strikes: 'a node',
  variants: (among, scales) =>
    primariesOf(among).flatMap((on) => pauseLengths(scales).map((ms) => ({ on, ms }))),
  strike: async (context, { on, ms }) => {
    const node = nodeOf(context, on);
    if (!node?.up || node.paused) return;
    node.pause();
    context.tell(on, `is paused for ${ms} ms`);
    await context.wait(ms);
    node.resume();
  },
};
