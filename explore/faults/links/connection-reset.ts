/** A fault: a client's connections break. */
import { clientOf, type Fault } from '../fault.ts';
import { clientsByServers, farEnds } from './connections.ts';

export const connectionReset: Fault = {
  sentence: "a client's connections break",
  strikes: 'connections',
  variants: clientsByServers,
  strike: async (context, { on, how }) => {
    if (clientOf(context, on)?.alive !== true) return;
    const nodes = farEnds(context, how);
    for (const node of nodes) context.network.reset(on, node);
    context.tell(on, `its connections to ${nodes.join(', ')} break`);
  },
};
