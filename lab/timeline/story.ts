/** Tells a run in sentences, each about one of its events, from the account of its locks. */
import type { StoryStep, TimelineMark } from '../../page/format.ts';
import { harmless, readable } from '../../page/text.ts';
import type { LockAccount } from '../account/account.ts';
import { cutStory, type ToldStep } from './cut.ts';
import { type LockSteps, lockSteps } from './lock-steps.ts';
import { listText, type Plot, spanText } from './plot.ts';

/** The sentences, in the order of time. */
export function storyOf(plot: Plot): readonly StoryStep[] {
  const { run, account } = plot;
  const all: ToldStep[] = [...horizon(account)];
  const locks = run.told === true ? { begins: [], ends: [] } : lockSteps(plot);
  if (run.told !== true) all.push(...toldSteps(plot, locks));
  all.push(...(run.steps ?? []));
  // A client releases a lock after whatever else it did at that instant.
  all.push(...locks.ends);
  all.push(...overlapSteps(account));
  const order = [...all.entries()].sort(([i, a], [k, b]) => a.at - b.at || i - k);
  const steps = order.map(([, step]) => ({ ...step, text: harmless(step.text) }));
  return cutStory(steps, account);
}

/** What is no longer known. Nobody should take silence for an answer. */
function horizon({ knownFrom }: LockAccount): ToldStep[] {
  if (knownFrom === 0) return [];
  const text = `Events before ${spanText(knownFrom)} are no longer known.`;
  return [{ at: knownFrom, lane: '*', text, mood: 'plain' }];
}

/** What was told to clients comes before a note or a crash at the same instant, and a crash before what it destroys. */
function toldSteps(plot: Plot, { begins }: LockSteps): ToldStep[] {
  const marks = markSteps(plot);
  const isFirst = ({ about }: StoryStep): boolean =>
    about !== undefined && 'mark' in about && ['note', 'crash'].includes(plot.marks[about.mark]?.kind ?? '');
  return [...begins, ...marks.filter(isFirst), ...losses(plot), ...marks.filter((step) => !isFirst(step))];
}

function markSteps({ marks, run }: Plot): StoryStep[] {
  const names = new Set(run.lanes.map(({ name }) => name));
  const steps: StoryStep[] = [];
  const cut = new Set<number>();
  const lost = new Map<string, number>();
  for (const { at, lane, kind, text } of marks) {
    if (kind !== 'lost') continue;
    const name = lossOf(at, lane, text);
    lost.set(name, (lost.get(name) ?? 0) + 1);
  }
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
      // A hundred writes that are lost at once are told once.
      const name = lossOf(at, lane, text);
      const count = lost.get(name) ?? 0;
      if (count === 0) continue;
      if (count > MANY) lost.set(name, 0);
      const loser = loserOf(marks, at, lane);
      const sentence = count > MANY ? lostTogether(text, loser, count) : lostSentence(text, loser);
      steps.push({ at, lane, text: sentence, mood: 'bad', about });
    } else if (kind === 'note') {
      const end = /[.!?]$/.test(text) ? '' : '.';
      steps.push({ at, lane, text: `${lane} ${text}${end}`, mood: 'plain', about });
    } else if (kind !== 'event' && kind !== 'refused' && !(kind === 'follow' && at === 0)) {
      steps.push({
        at,
        lane,
        text:
          kind === 'clock' ? `${text.replace(/^its clock/, `The clock of ${lane}`)}.` : `${lane} ${text}.`,
        mood: 'hand',
        about,
      });
    }
  }
  return steps;
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

/** What lost a write: the node that started again at that moment, or a new primary. */
function loserOf(marks: readonly TimelineMark[], at: number, lane: string): string {
  const restart = marks.findLast((each) => each.kind === 'restart' && each.lane === lane && each.at <= at);
  const promote = marks.findLast((each) => each.kind === 'promote' && each.at <= at);
  return restart !== undefined && restart.at >= (promote?.at ?? -Infinity)
    ? `${lane} started again without`
    : 'the new primary never received';
}

/** More writes than this that are lost at once are told in one sentence. */
const MANY = 3;

/** What the losses of a client's writes at one moment have in common. */
function lossOf(at: number, lane: string, text: string): string {
  const [, client = ''] = /lost: (\S+) /.exec(text) ?? [];
  return `${at} ${lane} ${client}`;
}

function lostTogether(text: string, loser: string, count: number): string {
  const [, client = '', command = ''] = /lost: (\S+) (.*)$/.exec(text) ?? [];
  const whose = client === '' || client === '-' ? '' : ` of ${client}`;
  return `${count} acknowledged writes${whose} are lost: ${loser} them. The first is ${command}.`;
}

function lostSentence(text: string, loser: string): string {
  const [, client = '', command = ''] = /lost: (\S+) (.*)$/.exec(text) ?? [];
  if (client === '' || client === '-') return `A write is lost: ${command}.`;
  return `An acknowledged write of ${client} is lost: ${loser} ${command}.`;
}

/** Writes on lock keys that never reached a replica. */
function losses({ messages, account }: Plot): StoryStep[] {
  const keys = new Set(account.tenures.flatMap(({ lock, key }) => [lock, key]));
  return messages.flatMap(({ kind, fate, died, from, to, asks = [], offsets }, message): StoryStep[] => {
    if (kind !== 'stream' || fate !== 'lost' || died === undefined) return [];
    if (!asks.some(({ words }) => words.some((word) => keys.has(word)))) return [];
    const where = offsets === undefined ? '' : ` (replication offset ${offsets[1]})`;
    const text = `The copy of the write${where} is lost on its way from ${from}: ${to} never receives it.`;
    return [{ at: died, lane: to, text, mood: 'bad', about: { message } }];
  });
}

/** The last ones are nearest to what made somebody look. */
function overlapSteps({ overlaps, holds, crowds }: LockAccount): ToldStep[] {
  const first = Math.max(0, overlaps.length - 20);
  const doubles = overlaps.slice(first).map(({ clients, key, from, to }, i): ToldStep => {
    const visit = holds.some((hold) => hold.kind === 'visit' && hold.key === key && hold.from === from);
    const what = readable(key);
    const both = visit ? `are both inside ${what}` : `both believe that they hold ${what}`;
    const text = `From here on, ${clients.join(' and ')} ${both}, for ${spanText(to - from)}.`;
    return { at: from, lane: clients[1], text, mood: 'bad', about: { overlap: first + i }, lock: key };
  });
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
