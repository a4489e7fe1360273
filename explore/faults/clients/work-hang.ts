/** A fault: the work of a client hangs while it is inside, as on a database that does not answer. Its timers and watchdogs go on. */
import { clientOf, type Fault } from '../fault.ts';

/** How long it hangs, in leases. */
const LEASES = 100;

export const workHang: Fault<never> = {
  sentence:
    "a client's next `sleep` inside a resource lasts a hundred leases longer, as work that hangs does, while its timers go on. A lock that renews for ever does not survive it",
  strikes: 'a client',
  onRequest: true,
  variants: ({ clients }, { leaseMs }) =>
    clients.map((on) => ({ on, ms: Math.round(leaseMs), by: Math.round(LEASES * leaseMs) })),
  strike: async (context, { on, ms, by }) => {
    const client = clientOf(context, on);
    if (client === undefined || !client.alive || client.end !== undefined) return;
    let hangs = false;
    client.hang(by, () => {
      hangs = true;
      context.tell(on, `its work hangs for ${by} ms`);
    });
    for (let waited = 0; waited < ms && !hangs; waited += LOOKS_EVERY) await context.wait(LOOKS_EVERY);
    client.hang(0);
  },
};

/** How often it looks whether the work has begun to hang, in milliseconds. */
const LOOKS_EVERY = 10;
