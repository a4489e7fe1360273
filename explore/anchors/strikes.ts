/** What a fault found when it struck: who was inside, and which requests and replies it took away. */
import type { PlannedFault } from '../faults/index.ts';
import type { PlayedWorld } from '../played-world.ts';
import { PROBE } from '../visit.ts';
import { requestsOf } from './landmarks.ts';

/** How long a fault of connections may wait for a message, in microseconds, and a little more. */
const WITHIN = 61_000;

/** The faults that break the connections of a client. */
const BREAKS: ReadonlySet<string> = new Set(['lost-request', 'lost-reply', 'connection-reset']);

/**
 * What the fault found, as a text: the clients that were inside, and behind a tilde each what was lost, such as `A~DEL`. It is the same
 * when other code of the clients has changed, and another one when the fault strikes something else.
 */
export function foundBy(world: PlayedWorld, fault: PlannedFault): string {
  const inside = world.visits
    .filter(({ client, from, to }) => client !== PROBE && from < fault.at && to >= fault.at)
    .map(({ client }) => client);
  const lost = BREAKS.has(fault.kind) ? lostBy(world, fault) : [];
  return [[...new Set(inside)].sort().join('+'), ...lost.map(encodeURIComponent)].join('~');
}

/** The requests that a fault of connections took away, or whose replies it did. */
function lostBy(world: PlayedWorld, { on, at }: PlannedFault): string[] {
  const from = world.begunAt + at * 1000;
  const requests = requestsOf(world).filter(({ client }) => client === on);
  const isTaken = (when: number): boolean => when >= from - 0.5 && when <= from + WITHIN;
  const strays = (world.world?.trace.strays ?? []).filter((stray) => isTaken(stray.at));
  const lost = strays.flatMap(({ who, sent = 0 }) => {
    const [sender = '', receiver = ''] = who.split('>');
    const own = requests.filter((each) => each.who === who || each.who === `${receiver}>${sender}`);
    const request = own.findLast(({ who: each, sent: asked, executed = Infinity }) =>
      each === who ? asked <= sent : executed <= sent,
    );
    return request === undefined ? [] : [request.what];
  });
  return [...new Set(lost)];
}

/** What `foundBy` returned, in words. */
export function foundWords(found: string): string {
  const [inside = '', ...lost] = found.split('~').map(decodeURIComponent);
  const clients = inside.split('+');
  const who =
    inside === ''
      ? 'nobody was inside'
      : `${clients.join(' and ')} ${clients.length > 1 ? 'were' : 'was'} inside`;
  return lost.length === 0 ? who : `${who}, and ${lost.join(' and ')} was lost`;
}
