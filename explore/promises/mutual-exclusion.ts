/** The promise that two clients are never inside at the same time. */
import type { Visit, VisitAct } from '../visit.ts';
import type { LockPromise } from './promise.ts';

export const mutualExclusion: LockPromise = {
  sentence:
    'two clients, or two owners of one client, are never inside at the same time, unless both entered as `shared`, and no write arrives after another client has entered. With fences, the resource decides',
  nothing: 'if all clients enter as `shared`, or the resource has several permits',
  hasCase: ({ visits }, { pools }) =>
    visits.some(({ resource, client, shared }) =>
      visits.some(
        (other) =>
          other.client !== client &&
          other.resource === resource &&
          !pools.has(resource) &&
          !(shared && other.shared),
      ),
    ),
  broken: 'Mutual exclusion is broken',
  *atAct({ visit, act, permits, visits, isActive, areOneOwner }) {
    if (permits > 1) return;
    for (const other of visits) {
      if (other === visit || other.refused || areOneOwner(visit, other) || !conflict(visit, other)) continue;
      if (other.id < visit.id && !isActive(other)) continue;
      const [first, second] = other.id < visit.id ? [other, visit] : [visit, other];
      yield { what: meetingText(first, second, visit, act), visits: [first.id, second.id] };
    }
  },
};

/** Two clients that were inside together, in words. @param acting the visit whose client acts now, which shows it */
function meetingText(first: Visit, second: Visit, acting: Visit, act: VisitAct): string {
  const differ = first.shared !== second.shared;
  const nameOf = (visit: Visit, which: string): string => {
    const who = first.client === second.client ? ownerText(visit, which) : visit.client;
    return differ ? `the ${visit.shared ? 'reader' : 'writer'} ${who}` : who;
  };
  const [one, other] = [nameOf(first, 'one task'), nameOf(second, 'another task')];
  const { resource } = first;
  if (act === 'arrives')
    return acting === first
      ? `a write of ${one} arrived at ${resource} after ${other} had entered ${second.ended === 'left' ? 'and left it' : 'it'}`
      : `a write of ${other} arrived at ${resource} while ${one} was still inside`;
  if (act === 'writes' && acting === second)
    return `${other} wrote to ${resource} while ${one} was still inside`;
  const entered = `${other} entered ${resource} while ${one} was still inside`;
  return act === 'writes' ? `${entered}, and then ${first.client} wrote to it` : entered;
}

/** One of two visits by the same client. */
function ownerText({ client, owner }: Visit, which: string): string {
  return owner === undefined ? `${which} of ${client}` : `${owner} of ${client}`;
}

/** True when the two may not be inside together. With different fences, the resource itself keeps them apart. */
function conflict(one: Visit, other: Visit): boolean {
  if (one.shared && other.shared) return false;
  return one.fence === undefined || other.fence === undefined || one.fence === other.fence;
}
