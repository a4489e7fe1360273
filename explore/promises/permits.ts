/** The promise that no more permits are in use than a resource has. */
import type { LockPromise } from './promise.ts';

export const permits: LockPromise = {
  sentence: 'no more permits are in use than the resource has',
  nothing: 'on resources with one permit',
  hasCase: ({ visits }, { pools }) => visits.some(({ resource }) => pools.has(resource)),
  broken: 'The limit on permits is broken',
  *atAct({ visit, permits: available, visits, isActive }) {
    if (available === 1) return;
    const active = visits.filter((each) => each === visit || (!each.refused && isActive(each)));
    const used = active.reduce((sum, each) => sum + each.permits, 0);
    if (used <= available) return;
    const what = `${used} permits of ${visit.resource} are in use, but there are only ${available}`;
    yield { what, visits: active.map(({ id }) => id) };
  },
};
