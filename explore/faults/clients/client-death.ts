/** A fault: a client's process is killed. */
import { clientOf, type Fault } from '../fault.ts';

/** How long a process takes to start again, in milliseconds. */
const STARTS_IN = 100;

export const clientDeath: Fault<'restart'> = {
  sentence: 'a client is killed; in half of the worlds a new process starts',
  strikes: 'a client',
  hows: ['restart'],
  variants: ({ clients }) => clients.flatMap((on) => [{ on }, { on, how: 'restart' as const }]),
  strike: async (context, { on, how }) => {
    const client = clientOf(context, on);
    if (client === undefined || !client.alive || client.end !== undefined) return;
    client.kill();
    context.tell(on, 'dies');
    if (how !== 'restart') return;
    await context.wait(STARTS_IN);
    context.restartClient(on);
    context.tell(on, 'starts again');
  },
};
