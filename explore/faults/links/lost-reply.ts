/** A fault: a reply is lost together with its connection. */
import type { Fault } from '../fault.ts';
import { clientsByServers, lose } from './connections.ts';

export const lostReply: Fault = {
  sentence: "a client's connection breaks, and a reply that was under way is lost with it",
  strikes: 'connections',
  variants: clientsByServers,
  strike: (context, fault) => lose(context, fault, 'reply'),
};
