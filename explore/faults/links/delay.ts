/** A fault: what a client sends or receives within 20 ms is late. */
import { type Fault, farFromClient } from '../fault.ts';

export const delay: Fault<'requests' | 'replies'> = {
  sentence: "a client's requests or replies are late by more than a lease",
  strikes: 'a client',
  hows: ['requests', 'replies'],
  variants: ({ clients }, { leaseMs }) =>
    clients.flatMap((on) =>
      (['requests', 'replies'] as const).map((how) => ({ on, how, ms: 20, by: Math.round(1.2 * leaseMs) })),
    ),
  strike: async (context, { on, ms, by, how }) => {
    const { network, tell, wait } = context;
    const lanes = farFromClient(context).map((name) =>
      how === 'requests' ? network.lane(on, name) : network.lane(name, on),
    );
    for (const lane of lanes) lane.delay(by);
    tell(on, `its ${how} arrive ${by} ms late`);
    await wait(ms);
    for (const lane of lanes) lane.delay(0);
    await wait(by);
  },
};
