/** Done by hand in the playground: the stream from the primary to a replica waits. */
import { type Fault, nodeOf, setOf } from '../fault.ts';

export const hold: Fault<never> = {
  sentence: 'what the primary sends to a replica waits at its link',
  strikes: 'a node',
  variants: () => [],
  strike: async (context, { on, ms }) => {
    const { primary } = setOf(context, on);
    if (nodeOf(context, on) === undefined || primary.name === on) return;
    const lane = context.network.lane(primary.name, on);
    lane.hold();
    context.tell(on, `receives nothing from ${primary.name}: the link is held`);
    await context.wait(ms);
    lane.release();
    context.tell(on, 'receives what was held');
  },
};
