/** A fault: what the primary sends to one replica waits, so that reads there are old. */
import { type Fault, setOf } from '../fault.ts';
import { replicaOf, replicasAsked } from './replicas.ts';

export const replicaLag: Fault<never> = {
  sentence:
    'one replica receives nothing for more than a lease, where the code asks replicas: what it answers is old',
  strikes: 'a node',
  variants: (among, { leaseMs }) => replicasAsked(among).map((on) => ({ on, ms: Math.round(1.5 * leaseMs) })),
  strike: async (context, { on, ms }) => {
    if (replicaOf(context, on)?.up !== true) return;
    const lane = context.network.lane(setOf(context, on).primary.name, on);
    lane.hold();
    context.tell(on, `receives nothing for ${ms} ms`);
    await context.wait(ms);
    lane.release();
    context.tell(on, 'receives what was held');
  },
};
