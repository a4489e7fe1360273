/** The promise that every client that lives and waits gets in, when the faults are over. */
import type { LockPromise } from './promise.ts';

export const everyoneServed: LockPromise = {
  sentence:
    'when the faults are over, every living client that waits gets in: within ten seconds, four leases, or as long as all clients need without faults, whichever is longest. A client that gave up with an error does not wait',
  nothing:
    'if some client is idle even without faults: it waits for no lock, until its `signal` tells it to end',
  hasCase: (_, { calm }) => calm?.idle !== 'for no lock',
  broken: 'A client waits in vain',
  instead: ['no-orphan', 'progress'],
  *ofHistory({ lives, visits, toldAt }) {
    for (const { client, waitedSince } of lives) {
      if (waitedSince === undefined) continue;
      const holder = visits.find(({ from, to }) => from <= toldAt && to > toldAt);
      const held =
        holder === undefined ? 'nobody is inside' : `${holder.client} is inside ${holder.resource}`;
      const what = `${client} still waits ${Math.round(toldAt - waitedSince)} ms after the faults ended, and ${held}`;
      const last = visits.findLast(({ to }) => to <= toldAt);
      yield { at: toldAt, what, visits: [holder ?? last].flatMap((visit) => visit?.id ?? []) };
      return;
    }
  },
};
