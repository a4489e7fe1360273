/** Tells a run in sentences, each about one of its events, from the account of its locks. */
import type { StoryStep, TimelineHold, TimelineMark, TimelineOverlap } from '../../page/format.ts';
import { beginning, harmless, readable } from '../../page/text.ts';
import type { LockAccount } from '../account/account.ts';
import { isScript } from '../account/calls.ts';
import { cutStory, type ToldStep } from './cut.ts';
import { type LockSteps, lockSteps } from './lock-steps.ts';
import { LostWrites } from './lost-writes.ts';
import { listText, type Plot, spanText } from './plot.ts';
import { keptBy } from './record.ts';

/** The sentences, in the order of time. */
export function storyOf(plot: Plot): readonly StoryStep[] {
  const { run, account } = plot;
  const all: ToldStep[] = [...horizon(account)];
  const losses = new LostWrites(plot);
  const locks = run.told === true ? { begins: [], ends: [] } : lockSteps(plot, losses);
  if (run.told !== true) all.push(...toldSteps(plot, locks, losses));
  all.push(...(run.steps ?? []).filter((step) => !isToldPromotion(plot.marks, step)));
  // A client releases a lock after whatever else it did at that instant.
  all.push(...locks.ends);
  all.push(...overlapSteps(account));
  if (all.length === 0 && run.told !== true) all.push(...requests(plot));
  const order = [...all.entries()].sort(([i, a], [k, b]) => a.at - b.at || i - k);
  const steps = order.map(([, step]) => ({ ...step, text: harmless(step.text) }));
  return cutStory(steps, account);
}

/** So many requests are told of a run in which nothing happened to a lock. */
const REQUESTS = 20;

/** The last requests of clients, for a run that has nothing else to tell. */
function requests({ account: { calls }, messages }: Plot): ToldStep[] {
  const answered = calls.all
    .filter(({ reply, message }) => reply?.arrived != null && messages[message]?.kind !== 'service')
    .slice(-REQUESTS);
  return answered.flatMap(({ client, node, name, words, reply }): ToldStep[] => {
    if (reply === undefined || reply.arrived === null) return [];
    const what = isScript({ name }) ? 'a script' : `${name.toUpperCase()} ${readable(words[1] ?? '')}`.trim();
    const text = `${client} asks ${node}: ${beginning(what, 60)}; the answer is ${beginning(reply.text, 100)}.`;
    return [{ at: reply.arrived, lane: client, text, mood: 'plain', about: { message: reply.message } }];
  });
}

/** What is no longer known. Nobody should take silence for an answer. */
function horizon({ knownFrom }: LockAccount): ToldStep[] {
  if (knownFrom === 0) return [];
  const text = `Events before ${spanText(knownFrom)} are no longer known.`;
  return [{ at: knownFrom, lane: '*', text, mood: 'plain' }];
}

/** What was told to clients comes before a note or a crash at the same instant, and a crash before what it destroys. */
function toldSteps(plot: Plot, { begins }: LockSteps, losses: LostWrites): ToldStep[] {
  const marks = markSteps(plot, losses.acknowledged());
  const isFirst = ({ about }: StoryStep): boolean =>
    about !== undefined && 'mark' in about && ['note', 'crash'].includes(plot.marks[about.mark]?.kind ?? '');
  const others = marks.filter((step) => !isFirst(step));
  return [...begins, ...marks.filter(isFirst), ...losses.copies(), ...others];
}

/** @param lost the sentences about acknowledged writes that were lost, by their marks */
function markSteps(plot: Plot, lost: ReadonlyMap<number, StoryStep>): StoryStep[] {
  const { marks, run } = plot;
  const names = new Set(run.lanes.map(({ name }) => name));
  const steps: StoryStep[] = [];
  const cut = new Set<number>();
  const early: StoryStep[] = [];
  for (const [mark, { at, lane, to, kind, text }] of marks.entries()) {
    if (!names.has(lane) && to === undefined) continue;
    const about = { mark };
    if (kind === 'partition' || kind === 'heal') {
      if (cut.has(at)) continue;
      cut.add(at);
      const pairs = marks.filter((each) => each.at === at && each.kind === kind);
      const lanes = [...new Set(pairs.map((each) => each.lane))];
      const others = [
        ...new Set(pairs.filter((each) => each.lane === lanes[0]).map((each) => each.to ?? '')),
      ];
      const what = kind === 'partition' ? 'is cut off from' : 'can again reach';
      steps.push({ at, lane, text: `${lane} ${what} ${listText(others)}.`, mood: 'hand', about });
    } else if (to !== undefined) {
      const sentence = linkSentence(lane, to, kind, text);
      if (sentence !== undefined) steps.push({ at, lane, text: sentence, mood: 'hand', about });
    } else if (kind === 'lost') {
      const step = lost.get(mark);
      // A cluster notes what is lost before the election that loses it.
      const isEarly = marks.some((each, i) => i > mark && each.at === at && each.kind === 'promote');
      if (step !== undefined) (isEarly ? early : steps).push(step);
    } else if (kind === 'note') {
      const end = /[.!?]$/.test(text) ? '' : '.';
      steps.push({ at, lane, text: `${lane} ${text}${end}`, mood: 'plain', about });
    } else if (kind !== 'event' && kind !== 'refused' && !(kind === 'follow' && at === 0)) {
      steps.push({ at, lane, text: partySentence(plot, marks[mark] as TimelineMark), mood: 'hand', about });
      if (kind === 'promote') steps.push(...early.splice(0));
    }
  }
  return steps;
}

/** True for what a fault says about a promotion, and about what that lost, if the promotion has a mark: then both are told. */
function isToldPromotion(marks: readonly TimelineMark[], { lane, at, text }: StoryStep): boolean {
  return (
    text.startsWith(`${lane} is promoted`) &&
    marks.some((each) => each.kind === 'promote' && each.lane === lane && each.at <= at)
  );
}

/** What happened to a node or a client. */
function partySentence({ account, run }: Plot, { at, lane, kind, text }: TimelineMark): string {
  if (kind === 'promote') return `${lane} ${text.replace(/ at offset \d+$/, '')}.`;
  if (kind === 'restart') {
    return `${lane} ${text}${keptBy(run, lane, at)?.size === 0 ? ', without any data' : ''}.`;
  }
  if (kind !== 'clock') return `${lane} ${text}.`;
  const said = text
    .replace(/^its clock/, `The clock of ${lane}`)
    .replace(/(-?[\d.]+) ms$/, (_, ms: string) => spanText(Number(ms) * 1000));
  const ended = account.tenures.filter(
    ({ node, end }) => node === lane && end?.how === 'expired' && end.cause?.how === 'clock' && end.at === at,
  );
  if (ended.length === 0 || ended.length > 3) return `${said}.`;
  const leases = ended.map(({ client, lock, lease }) => {
    const length = lease === undefined ? '' : ` of ${spanText(lease * 1000)}`;
    return `${client}'s lease${length} on ${readable(lock)}`;
  });
  return `${said}, which ends ${listText(leases)} there.`;
}

function linkSentence(
  from: string,
  to: string,
  kind: TimelineMark['kind'],
  text: string,
): string | undefined {
  if (kind === 'hold')
    return `The link from ${from} to ${to} is held: what ${from} sends waits, and does not arrive.`;
  if (kind === 'release') return `The link from ${from} to ${to} delivers again what it held.`;
  if (kind === 'drop') return `The link from ${from} to ${to} loses messages (${text}).`;
  if (kind === 'reset') return `The connections between ${from} and ${to} break.`;
  if (kind !== 'delay') return undefined;
  return text === 'delay 0 ms'
    ? `What ${from} sends to ${to} is no longer delayed.`
    : `What ${from} sends to ${to} arrives late (${text}).`;
}

/** A double hold, with its index. */
interface IndexedOverlap {
  readonly overlap: TimelineOverlap;
  readonly index: number;
}

/** The sentence about a double hold; undefined when that of the lock says that both are inside of the resource as well. */
function doubleStep(
  { overlap, index }: IndexedOverlap,
  all: readonly IndexedOverlap[],
  holds: readonly TimelineHold[],
): ToldStep | undefined {
  const { clients, key, from, to } = overlap;
  const isVisit = (other: TimelineOverlap): boolean =>
    holds.some((hold) => hold.kind === 'visit' && hold.key === other.key && hold.from === other.from);
  const same = all.filter(
    (other) => other.overlap.from === from && other.overlap.clients.join() === clients.join(),
  );
  const [visit, ...visits] = same.filter((other) => isVisit(other.overlap));
  const [lock, ...locks] = same.filter((other) => !isVisit(other.overlap));
  const inside = (name: string): string => `are both inside ${readable(name)}`;
  const believe = `both believe that they hold ${readable(key)}`;
  const step = { at: from, lane: clients[1], mood: 'bad', about: { overlap: index }, lock: key } as const;
  const who = `From here on, ${clients.join(' and ')}`;
  const length = spanText(to - from);
  if (visit === undefined || lock === undefined || visits.length > 0 || locks.length > 0) {
    const what = isVisit(overlap) ? inside(key) : believe;
    return { ...step, text: `${who} ${what}, for ${length}.` };
  }
  // The lock and the resource that it protects are told in one sentence.
  if (overlap !== lock.overlap) return undefined;
  const { to: end, key: resource } = visit.overlap;
  const until = end === to ? '' : `, for ${length}`;
  return {
    ...step,
    text: `${who} ${believe}${until}, and ${inside(resource)}, for ${spanText(end - from)}.`,
  };
}

/** The last ones are nearest to what made somebody look. */
function overlapSteps({ overlaps, holds, crowds }: LockAccount): ToldStep[] {
  const first = Math.max(0, overlaps.length - 20);
  const told = overlaps.slice(first).map((overlap, i) => ({ overlap, index: first + i }));
  const doubles = told.flatMap((each) => doubleStep(each, told, holds) ?? []);
  const more: ToldStep[] =
    first === 0
      ? []
      : [
          {
            at: overlaps[first]?.from ?? 0,
            lane: '*',
            text: `${first} earlier times in which two clients held one lock are left out.`,
            mood: 'bad',
          },
        ];
  const crowded = crowds.map(({ lock, at, holders, permits }): ToldStep => {
    const who = listText([...new Set(holders)]);
    const text = `From here on, ${holders.length} holders have the ${permits} permits of ${readable(lock)}: ${who}.`;
    return { at, lane: holders.at(-1) ?? '', text, mood: 'bad', lock };
  });
  return [...more, ...doubles, ...crowded];
}
