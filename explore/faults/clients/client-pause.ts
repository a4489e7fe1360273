/** A fault: a client's process stalls. */
import { clientOf, type Fault, pauseLengths } from '../fault.ts';

export const clientPause: Fault<'entered'> = {
  sentence: 'a client stalls for less or more than a lease, as in a long garbage collection',
  strikes: 'a client',
  hows: ['entered'],
  variants: ({ clients }, scales) => clients.flatMap((on) => pauseLengths(scales).map((ms) => ({ on, ms }))),
  strike: async (context, { on, ms, how }) => {
    const client = clientOf(context, on);
    if (client === undefined || !client.alive || client.paused || client.end !== undefined) return;
    client.pause();
    const until = how === 'entered' ? ', or until another client enters' : '';
    context.tell(on, `is paused for ${ms} ms${until}`);
    await context.wait(ms);
    if (!client.alive || !client.paused) return;
    context.tell(on, 'resumes');
    client.resume();
  },
};
