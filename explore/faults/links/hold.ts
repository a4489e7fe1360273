/** Done by hand in the playground: the stream from a primary to its replicas, or to one of them, waits. */
import { type Fault, nodeOf, setOf } from '../fault.ts';

export const hold: Fault<never> = {
  sentence:
    'what the primary sends to a replica waits at its link; on the primary, what it sends to all of them',
  strikes: 'a node',
  variants: () => [],
  strike: async (context, { on, ms }) => {
    if (nodeOf(context, on) === undefined) return;
    const { primary, replicas } = setOf(context, on);
    const isPrimary = primary.name === on;
    const held = isPrimary ? replicas.map(({ name }) => name) : [on];
    if (held.length === 0) return;
    const lanes = held.map((name) => context.network.lane(primary.name, name));
    for (const lane of lanes) lane.hold();
    const links = isPrimary
      ? `what it sends to ${held.join(' and ')} waits`
      : `receives nothing from ${primary.name}`;
    context.tell(on, `${links}: the link is held`);
    await context.wait(ms);
    for (const lane of lanes) lane.release();
    context.tell(on, isPrimary ? 'delivers what was held' : 'receives what was held');
  },
};
