/** A fault: replication stands still for a while; then the primary crashes, and a replica is promoted. */
import { type Fault, primariesWithReplicas, setOf } from '../fault.ts';
import type { FaultVariant } from '../planned.ts';
import { alone, type FailoverForm, failOver } from './roles.ts';

export const failoverBehind: Fault<FailoverForm> = {
  sentence: 'replication stalls for a while, then the primary crashes: what was written last is lost',
  strikes: 'a node',
  hows: ['crash', 'empty', 'demote', 'forced'],
  variants: (among, { leaseMs }) =>
    primariesWithReplicas(among).flatMap((on) => {
      const forms: FaultVariant<FailoverForm>[] = [
        { on, ms: 5, by: 8, how: 'crash' },
        { on, ms: 20, by: Math.min(100, Math.round(leaseMs / 4)), how: 'crash' },
      ];
      return among.cluster
        ? [...forms, ...forms.map((form) => ({ ...form, how: 'forced' as const }))]
        : forms;
    }),
  strike: (context, { on, ms, by, how }) => {
    const set = setOf(context, on);
    return alone(context, set, async () => {
      if (!set.primary.up) return;
      const { name } = set.primary;
      const lanes = set.replicas.map((replica) => context.network.lane(name, replica.name));
      for (const lane of lanes) lane.hold();
      context.tell(name, 'its replication stalls');
      await context.wait(by);
      await failOver(context, set, how, ms);
      for (const lane of lanes) lane.release();
    });
  },
};
