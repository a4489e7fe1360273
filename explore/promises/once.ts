/** The promise that what must be done once is not done twice, one after the other or together. */
import { PROBE, type Visit } from '../visit.ts';
import type { LockPromise } from './promise.ts';

export const once: LockPromise = {
  sentence:
    'what `resource(name, { once: true })` protects is done once: by one visit that writes, or that leaves where nobody writes. A visit that ended with an error or a death may be repeated, and one with the idempotency key of the first, `enter({ key })`, repeats nothing',
  nothing: 'if no resource has `once`',
  hasCase: ({ visits }, { once: resources }) => visits.some(({ resource }) => resources.has(resource)),
  broken: 'Something was done twice',
  *atAct({ visit, once: isOnce, visits, isDone }) {
    if (!isOnce || visit.client === PROBE || !isDone(visit)) return;
    const isSame = ({ key }: Visit): boolean => key !== undefined && key === visit.key;
    const first = visits.find(
      (other) => other !== visit && other.client !== PROBE && isDone(other) && !isSame(other),
    );
    if (first === undefined) return;
    const { client, resource } = first;
    const again = client === visit.client ? 'again' : `after ${client} had`;
    yield { what: `${visit.client} did ${resource} ${again}`, visits: [first.id, visit.id] };
  },
};
