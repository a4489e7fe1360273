/** A fault: one direction between a client and all nodes is cut, and the other works. */
import { type Fault, farFromClient } from '../fault.ts';

export const oneWayCut: Fault<'requests' | 'replies'> = {
  sentence:
    "for more than a lease, a client's requests do not arrive, or the replies to them; the other direction works",
  strikes: 'a client',
  onRequest: true,
  hows: ['requests', 'replies'],
  variants: ({ clients }, { leaseMs }) =>
    clients.flatMap((on) =>
      (['requests', 'replies'] as const).map((how) => ({ on, how, ms: Math.round(1.5 * leaseMs) })),
    ),
  strike: async (context, { on, ms, how }) => {
    const { network, tell, wait } = context;
    const lanes = farFromClient(context).map((far) =>
      how === 'requests' ? network.lane(on, far) : network.lane(far, on),
    );
    for (const lane of lanes) lane.partition();
    tell(on, `its ${how || 'replies'} do not arrive for ${ms} ms`);
    await wait(ms);
    for (const lane of lanes) lane.heal();
    tell(on, `its ${how || 'replies'} arrive again`);
  },
};
