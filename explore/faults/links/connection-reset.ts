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
    // Without the name of a node, its connections to resources break as well.
    const resources = how === '' ? context.resources : [];
    for (const far of [...nodes, ...resources]) context.network.reset(on, far);
    context.tell(on, `its connections to ${nodes.join(', ')} break`);
  },
};
