/** The scheduler's choice, and no fault: what is sent on one lane at one moment arrives later, behind messages of others. */
import { clientOf, type Fault, farFromClient } from '../fault.ts';

/** How long the lanes are slow, in milliseconds: for what is sent at this moment, and nothing after it. */
const AT_ONCE = 0.001;

export const lateMessage: Fault<'request' | 'reply'> = {
  sentence: 'one message arrives later, behind a message or an act of another client',
  strikes: 'connections',
  hows: ['request', 'reply'],
  variants: () => [],
  strike: async (context, { on, by, how }) => {
    if (clientOf(context, on) === undefined) return;
    const { network, tell, wait } = context;
    const lanes = farFromClient(context).map((name) =>
      how === 'reply' ? network.lane(name, on) : network.lane(on, name),
    );
    for (const lane of lanes) lane.delay(by);
    tell(on, `a ${how} is ${by} ms late`);
    await wait(AT_ONCE);
    for (const lane of lanes) lane.delay(0);
  },
};
