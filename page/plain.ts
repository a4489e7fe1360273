/** What the top of a timeline says: the verdict in words, and how two clients came to hold one lock, told from its tenures. */
import type { Timeline, TimelineOverlap, TimelineTenure, TimelineVerdict } from './format.ts';
import { readable } from './text.ts';

/**
 * How the first double hold of the run came about: the verdict's own sentence, or one made of the grants. Undefined when no lock
 * was held twice, or when nothing is known of its grants.
 */
export function plainSentence(run: Timeline): string | undefined {
  const { sentence } = run.verdict ?? {};
  if (sentence !== undefined) return sentence;
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
  if (run.primaries !== undefined) return votesText(run, overlap, own, lost);
  if (lost === undefined) return `${first} and ${second} were both granted ${readable(overlap.key)}.`;
  return sentenceOf(overlap, lost, later);
}

/** Of independent servers, a lock needs the majority: which of them told each client yes, and what happened in between. */
function votesText(
  { primaries = 1, lanes }: Timeline,
  { clients: [first, second], key }: TimelineOverlap,
  own: readonly TimelineTenure[],
  lost: TimelineTenure | undefined,
): string {
  const nodesOf = (name: string): string[] => {
    const nodes = new Set(own.filter(({ client }) => client === name).map(({ node }) => node));
    return lanes.flatMap((lane) => (nodes.has(lane.name) ? [lane.name] : []));
  };
  const [earlier, later] = [nodesOf(first), nodesOf(second)];
  const head = `${listed(earlier)} told ${first} yes.`;
  const tail = `${listed(later)} told ${second} yes: each has a majority of ${primaries}.`;
  if (lost === undefined) return `${head} Then ${tail}`;
  const { node, cause, ended } = lost;
  const why =
    cause?.how === 'restart'
      ? `${node} started again without its data.`
      : cause?.how === 'clock'
        ? `The clock of ${node} jumped ahead, so ${node} ended ${first}'s lease too early.`
        : ended === 'expired'
          ? `${first}'s lease ended on ${node} while ${first} still relied on it.`
          : ended === 'lost'
            ? `${node} lost ${readable(key)}.`
            : `${lost.by ?? first} gave ${readable(key)} free on ${node} (${lost.end ?? ''}).`;
  return `${head} ${why} Then ${tail}`;
}

/** `a`, `a and b`, `a, b and c`. */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
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
  if (ended === 'expired' && lost.cause !== undefined)
    return `The clock of ${node} jumped ahead, so ${node} ended ${first}'s lease of ${lock} too early. Then ${next}.`;
  if (ended === 'expired')
    return `${first}'s lease of ${lock} ended on ${node} while ${first} still relied on it. Then ${next}.`;
  if (ended === 'evicted') return `${node} evicted ${lock}, which ${first} held. Then ${next}.`;
  const who = by === undefined || by === first ? `${first} itself` : by;
  const act = ended === 'overwritten' ? 'overwrote' : ended === 'flushed' ? 'flushed' : 'deleted';
  const own = by === undefined || by === first ? 'its own lock' : `${first}'s lock`;
  return `${who} ${act} ${own} on ${node} with ${end}. Then ${next}.`;
}

/** A grant that a failover, a restart, or a node that began to follow another has lost. */
function lostText({ end = '', cause, node, client }: TimelineTenure, later: TimelineTenure): string {
  const told = `${later.node} told ${later.client} yes`;
  if (cause?.how === 'failover' && cause.node === later.node)
    return `${node} told ${client} yes. The copy of that never reached ${later.node}, which took over, knew nothing of ${client}, and told ${later.client} yes.`;
  if (cause?.how === 'restart' && cause.node === later.node)
    return `${node} told ${client} yes, started again without its data, and then told ${later.client} yes.`;
  if (cause?.how === 'demotion')
    return `${node} told ${client} yes. Then ${node} became a replica of ${cause.node}, which never had that, and ${told}.`;
  return `${node} told ${client} yes. The lock was lost by ${end}, and then ${told}.`;
}

/** True if two clients were inside of a resource, and not merely believed that they held a lock. */
export function isInside({ holds }: Pick<Timeline, 'holds'>, { key, from }: TimelineOverlap): boolean {
  return holds.some((hold) => hold.kind === 'visit' && hold.key === key && hold.from === from);
}

/** What an overlap is, as a title: `A and B both hold my:lock`. */
export function overlapTitle(run: Pick<Timeline, 'holds'>, overlap: TimelineOverlap): string {
  const what = isInside(run, overlap) ? 'are both inside' : 'both hold';
  return `${overlap.clients.join(' and ')} ${what} ${readable(overlap.key)}`;
}

/** The verdict of a run in a few words. */
export function verdictWord(
  { safe, holders, why }: TimelineVerdict,
  run: Pick<Timeline, 'holds' | 'overlaps'>,
): string {
  // The harm is the write, wherever its sender was when it came.
  const [, late] = (!safe && /\ba write of (.+?) arrived at .* after /.exec(why)) || [];
  if (late !== undefined) return `Broken: a write of ${late} came too late.`;
  const names = holders.join(' and ');
  if (holders.length > 1) {
    if (safe) return `Two holders, but harmless: ${names}.`;
    // A client that is inside may no longer hold the lock.
    const inside = run.overlaps.length > 0 && run.overlaps.every((overlap) => isInside(run, overlap));
    return `Broken: ${names} ${inside ? 'are both inside' : 'both have it'}.`;
  }
  if (!safe) return 'A promise is broken.';
  return holders.length === 1 ? `Held by ${names} alone.` : 'No promise is broken.';
}

/** How the run ended, in words: the verdict, and the sentence that says why. The word is empty where nobody has judged the run. */
export function answerOf(run: Timeline): { readonly word: string; readonly why: string } {
  const { verdict } = run;
  const plain = plainSentence(run);
  if (verdict === undefined) return { word: '', why: plain ?? '' };
  // Why two holders do no harm matters more than how there came to be two.
  return { word: verdictWord(verdict, run), why: (verdict.safe ? undefined : plain) ?? verdict.why };
}
