/** A fault: a request is lost together with its connection. */
import type { Fault } from '../fault.ts';
import { clientsByServers, lose } from './connections.ts';

export const lostRequest: Fault = {
  sentence: "a client's connection breaks, and a request that was under way is lost with it",
  strikes: 'connections',
  variants: clientsByServers,
  strike: (context, fault) => lose(context, fault, 'request'),
};
