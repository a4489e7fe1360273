/** The one sentence on top of a timeline: how two clients came to hold one lock, told from the tenures of the lock. */
import type { Timeline, TimelineOverlap, TimelineTenure } from './format.ts';
import { readable } from './text.ts';

/** How the first double hold of the run came about; undefined when there is none, or when nothing is known of its grants. */
export function plainSentence(run: Timeline): string | undefined {
  const [overlap] = run.overlaps;
  if (overlap === undefined) return undefined;
  const [first, second] = overlap.clients;
  const own = (run.tenures ?? []).filter(({ key, from }) => key === overlap.key && from <= overlap.from);
  const later = own.findLast(({ client }) => client === second);
  const earlier = own.filter(({ client }) => client === first);
  // Of several servers, the one that matters is where the first client's grant ended before the second got it.
  const ended = earlier.filter(({ to }) => to !== null && to <= (later?.from ?? overlap.from));
  const lost =
    ended.find(({ node }) => own.some((each) => each.client === second && each.node === node)) ?? ended[0];
  if (later === undefined || earlier.length === 0) return undefined;
  if (lost === undefined) return `${first} and ${second} were both granted ${readable(overlap.key)}.`;
  return sentenceOf(overlap, lost, later);
}

function sentenceOf(
  { clients: [first, second], key }: TimelineOverlap,
  lost: TimelineTenure,
  later: TimelineTenure,
): string {
  const { node, ended, end = '', by } = lost;
  const lock = readable(key);
  const next = `${later.node} told ${second} yes`;
  if (ended === 'lost') return lostText(lost, later);
  if (ended === 'expired')
    return `${first}'s lease of ${lock} ended on ${node} while ${first} still relied on it. Then ${next}.`;
  if (ended === 'evicted') return `${node} evicted ${lock}, which ${first} held. Then ${next}.`;
  const who = by === undefined || by === first ? `${first} itself` : by;
  const act = ended === 'overwritten' ? 'overwrote' : ended === 'flushed' ? 'flushed' : 'deleted';
  const own = by === undefined || by === first ? 'its own lock' : `${first}'s lock`;
  return `${who} ${act} ${own} on ${node} with ${end}. Then ${next}.`;
}

/** A grant that a failover, a restart, or a node that began to follow another has lost. */
function lostText({ end = '', node, client }: TimelineTenure, later: TimelineTenure): string {
  const second = later.client;
  const [, target] = /^the failover to (\S+), which never received it$/.exec(end) ?? [];
  if (target !== undefined && target === later.node)
    return `${node} told ${client} yes. The copy of that never reached ${target}, which took over, knew nothing of ${client}, and told ${second} yes.`;
  const [, restarted] = /^the restart of (\S+), which did not keep it$/.exec(end) ?? [];
  if (restarted !== undefined && restarted === later.node)
    return `${node} told ${client} yes, started again without its data, and then told ${second} yes.`;
  return `${node} told ${client} yes. The lock was lost by ${end}, and then ${later.node} told ${second} yes.`;
}
