/** Tells a run in sentences, each about one of its events. */
import type { StoryStep, TimelineHold, TimelineMark, TimelineOverlap } from '../../page/format.ts';
import { harmless, readable } from '../../page/text.ts';
import type { ReadMessage } from './connections.ts';
import type { RecordedRun } from './record.ts';

/** What the story is told of. */
export interface Plot {
  readonly run: RecordedRun;
  readonly messages: readonly ReadMessage[];
  readonly marks: readonly TimelineMark[];
  readonly holds: readonly TimelineHold[];
  readonly overlaps: readonly TimelineOverlap[];
  readonly keys: ReadonlySet<string>;
}

/** The longest story, without the sentence that says how many others are left out. */
const MOST = 200;

/** The sentences, in the order of time. */
export function storyOf(plot: Plot): readonly StoryStep[] {
  const { run } = plot;
  const told = run.told === true ? [] : toldSteps(plot);
  // A client releases a lock after whatever else it did at that instant.
  const ends = run.told === true ? [] : releases(plot);
  const all = [...told, ...(run.steps ?? []), ...ends, ...overlapSteps(plot)];
  const order = [...all.entries()].sort(([i, a], [k, b]) => a.at - b.at || i - k);
  return cutStory(order.map(([, step]) => ({ ...step, text: harmless(step.text) })));
}

/** What is left out of a long story last. */
const RANKS = { bad: 0, hand: 1, good: 2, plain: 3 };

/**
 * A long story without its least important sentences; where the first of them was, it says how many there are. Of
 * sentences that are as important, the last ones stay: what clients do just before a crash explains the loss.
 */
function cutStory(steps: readonly StoryStep[]): readonly StoryStep[] {
  if (steps.length <= MOST) return steps;
  const rank = ({ mood, lane, about }: StoryStep): number =>
    lane === '*' || 'overlap' in (about ?? {}) ? -1 : RANKS[mood];
  const order = [...steps].reverse().sort((a, b) => rank(a) - rank(b));
  const out = new Set(order.slice(MOST));
  const first = steps.findIndex((step) => out.has(step));
  const text = `From here on, ${out.size} sentences of minor events are left out.`;
  const note: StoryStep = { at: steps[first]?.at ?? 0, lane: '', text, mood: 'plain' };
  return steps.flatMap((step, i) => (i === first ? [note] : out.has(step) ? [] : [step]));
}

/** What was told to clients comes before a crash at the same instant, and a crash before what it destroys. */
function toldSteps(plot: Plot): StoryStep[] {
  const marks = markSteps(plot);
  const isCrash = ({ about }: StoryStep): boolean =>
    about !== undefined && 'mark' in about && plot.marks[about.mark]?.kind === 'crash';
  return [
    ...acquisitions(plot),
    ...refusals(plot),
    ...marks.filter(isCrash),
    ...losses(plot),
    ...marks.filter((step) => !isCrash(step)),
  ];
}

/** A time span in words: `3.2 ms`, `29.99 s`. @param micros in microseconds */
export function spanText(micros: number): string {
  const ms = micros / 1000;
  if (ms < 1000) return `${Number(ms.toFixed(1))} ms`;
  return `${Number((ms / 1000).toFixed(2))} s`;
}

/** Names as a list: `A, B and C`. */
function listText(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function markSteps({ marks, run }: Plot): StoryStep[] {
  const names = new Set(run.lanes.map(({ name }) => name));
  const steps: StoryStep[] = [];
  const cut = new Set<number>();
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
      steps.push({ at, lane, text: lostSentence(text), mood: 'bad', about });
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
  return kind === 'delay' ? `What ${from} sends to ${to} arrives late (${text}).` : undefined;
}

function lostSentence(text: string): string {
  const [, client = '', command = ''] = /lost: (\S+) (.*)$/.exec(text) ?? [];
  if (client === '' || client === '-') return `A write is lost: ${command}.`;
  return `An acknowledged write of ${client} is lost: the new primary never received ${command}.`;
}

function acquisitions({ holds, messages, run }: Plot): StoryStep[] {
  return holds.flatMap((hold): StoryStep[] => {
    const { client, key, kind, from, grant, shared, permit, renewals } = hold;
    if (kind === 'visit') return [];
    const reply = messages[grant ?? -1];
    const { primaries } = run;
    const granted =
      primaries > 1
        ? `${(primaries >> 1) + 1} of ${primaries} nodes granted it`
        : answerText(reply, messages[reply?.cause ?? -1]);
    const lease = hold.firstLease === undefined ? hold.lease : hold.firstLease;
    const length = lease === null ? 'until it gives it back' : `for ${spanText(lease - from)}`;
    // Of several primaries, each vote of the minority may move the end, too.
    const times = renewals.length === 1 ? 'once' : `${renewals.length} times`;
    const renewed = renewals.length === 0 || primaries > 1 ? '' : ` It renews the lease ${times}.`;
    const lock = readable(key);
    const what = permit === true ? `a permit of ${lock}` : `${lock}${shared === true ? ' for reading' : ''}`;
    const it = permit === true ? 'it' : 'the lock';
    const text = `${client} acquires ${what}: ${granted}, so ${client} believes that it holds ${it} ${length}.${renewed}`;
    const about = grant === undefined ? {} : { about: { message: grant } };
    return [{ at: from, lane: client, text, mood: 'good', ...about }];
  });
}

/** The answer to an acquisition. What a script returns means something to its caller only. */
function answerText(reply: ReadMessage | undefined, request: ReadMessage | undefined): string {
  const node = reply?.from ?? 'the primary';
  const isScript = request?.asks?.some(({ words }) => /^(eval|fcall)/i.test(words[0] ?? '')) === true;
  return isScript ? `the script on ${node} set it` : `${node} answered ${reply?.text ?? 'OK'}`;
}

function releases({ holds }: Plot): StoryStep[] {
  return holds.flatMap(({ client, key, kind, to, ended, permit }): StoryStep[] => {
    if (kind === 'visit' || to === null) return [];
    const lock = readable(key);
    const text = {
      released: `${client} releases ${permit === true ? 'its permit of ' : ''}${lock}.`,
      expired: `The lease of ${client} on ${lock} ends.`,
      denied: `${client} learns that it no longer holds ${lock}.`,
      died: undefined,
    }[ended ?? 'died'];
    return text === undefined ? [] : [{ at: to, lane: client, text, mood: 'plain' }];
  });
}

/** The first refusal of each client while another one holds the lock, and what it is told by WAIT. */
function refusals({ messages, keys }: Plot): StoryStep[] {
  const steps: StoryStep[] = [];
  const refused = new Set<string>();
  for (const [message, { kind, from, to, text, cause, arrived }] of messages.entries()) {
    const asks = messages[cause ?? -1]?.asks ?? [];
    if (kind !== 'reply' || arrived === null) continue;
    const [words = []] = asks.map((part) => part.words);
    const name = (words[0] ?? '').toLowerCase();
    if (name === 'wait') {
      const text_ = `${to} asks how many replicas have its writes (${words.join(' ').toUpperCase()}); the answer is ${text}.`;
      steps.push({
        at: arrived,
        lane: to,
        text: text_,
        mood: text === '0' ? 'bad' : 'plain',
        about: { message },
      });
    }
    const key = words.find((word) => keys.has(word));
    if (key === undefined || text !== 'nil' || !/^set/.test(name) || refused.has(`${to} ${key}`)) continue;
    refused.add(`${to} ${key}`);
    steps.push({
      at: arrived,
      lane: to,
      text: `${to} asks ${from} for ${readable(key)} and does not get it.`,
      mood: 'plain',
      about: { message },
    });
  }
  return steps;
}

/** Writes on lock keys that never reached a replica. */
function losses({ messages, keys }: Plot): StoryStep[] {
  return messages.flatMap(({ kind, fate, died, from, to, asks = [], offsets }, message): StoryStep[] => {
    if (kind !== 'stream' || fate !== 'lost' || died === undefined) return [];
    if (!asks.some(({ words }) => words.some((word) => keys.has(word)))) return [];
    const where = offsets === undefined ? '' : ` (replication offset ${offsets[1]})`;
    const text = `The copy of the write${where} is lost on its way from ${from}: ${to} never receives it.`;
    return [{ at: died, lane: to, text, mood: 'bad', about: { message } }];
  });
}

function overlapSteps({ overlaps, holds }: Plot): StoryStep[] {
  return overlaps.slice(0, 20).map(({ clients, key, from, to }, overlap) => {
    const visit = holds.some((hold) => hold.kind === 'visit' && hold.key === key && hold.from === from);
    const what = readable(key);
    const both = visit ? `are both inside ${what}` : `both believe that they hold ${what}`;
    const text = `From here on, ${clients.join(' and ')} ${both}, for ${spanText(to - from)}.`;
    return { at: from, lane: clients[1], text, mood: 'bad' as const, about: { overlap } };
  });
}
