/** A fault: the primary crashes or hands over, and a replica is promoted. */
import { type Fault, primariesWithReplicas, setOf } from '../fault.ts';
import type { FaultVariant } from '../planned.ts';
import { alone, type FailoverForm, failOver } from './roles.ts';

export const failover: Fault<FailoverForm> = {
  sentence: 'the primary crashes or hands over, and a replica is promoted',
  strikes: 'a node',
  hows: ['crash', 'empty', 'demote', 'forced'],
  variants: (among) =>
    primariesWithReplicas(among).flatMap((on): FaultVariant<FailoverForm>[] => [
      { on, ms: 20, how: 'crash' },
      { on, how: 'demote' },
      ...(among.cluster ? [{ on, ms: 20, how: 'forced' } as const] : []),
    ]),
  strike: (context, { on, how, ms }) => {
    const set = setOf(context, on);
    return alone(context, set, () => failOver(context, set, how, ms));
  },
};
