/** Finds requests that a client repeats, such as those of a waiter that asks every 50 ms: they are drawn as one. */
import type { Timeline, TimelineMessage } from '../format.ts';

/** Repeats that are drawn as one. */
export interface Repeats {
  readonly client: string;
  readonly from: number;
  readonly to: number;
  /** How many requests are hidden. */
  readonly count: number;
}

/** The longest group of requests that is looked for: what a lock sends for one try. */
const LONGEST = 4;
/** How often a group must follow itself until it is drawn as one. The first and the last time are drawn. */
const TIMES = 4;

interface RepeatsIn {
  readonly repeats: readonly Repeats[];
  readonly messages: ReadonlySet<number>;
}

const known = new WeakMap<Timeline, RepeatsIn>();

/** The repeats of a run, in the order of time. */
export function repeatsOf(run: Timeline): readonly Repeats[] {
  return read(run).repeats;
}

/** The indices of the messages that the repeats hide. */
export function repeatedIn(run: Timeline): ReadonlySet<number> {
  return read(run).messages;
}

function read(run: Timeline): RepeatsIn {
  let found = known.get(run);
  if (found === undefined) known.set(run, (found = find(run)));
  return found;
}

function find({ messages, holds, story, lanes }: Timeline): RepeatsIn {
  const clients = new Set(lanes.flatMap(({ name, kind }) => (kind === 'client' ? [name] : [])));
  const effects = new Map<number, number[]>();
  for (const [i, { cause }] of messages.entries()) {
    if (cause === undefined) continue;
    const all = effects.get(cause);
    if (all === undefined) effects.set(cause, [i]);
    else all.push(i);
  }
  // What the story tells, or what granted a lock, is always drawn.
  const kept = new Set<number>();
  for (const { grant } of holds) if (grant !== undefined) kept.add(grant);
  for (const { about } of story) if (about !== undefined && 'message' in about) kept.add(about.message);
  const ways = new Map<string, number[]>();
  for (const [i, { kind, from, to }] of messages.entries()) {
    if (kind !== 'request' || !clients.has(from)) continue;
    const way = `${from}>${to}`;
    const all = ways.get(way);
    if (all === undefined) ways.set(way, [i]);
    else all.push(i);
  }
  const hidden = new Set<number>();
  const runs: Repeats[] = [];
  for (const requests of ways.values()) {
    const signs = requests.map((index) => signOf(messages, index, effects, kept));
    for (const [first, last] of repeatsIn(signs)) {
      const own = requests.slice(first, last);
      for (const index of own) hide(index, effects, hidden);
      const { from: client } = messages[own[0] as number] as TimelineMessage;
      runs.push({
        client,
        from: messages[own[0] as number]?.sent ?? 0,
        to: messages[own.at(-1) as number]?.sent ?? 0,
        count: own.length,
      });
    }
  }
  return { repeats: joined(runs), messages: hidden };
}

/** What a request says and is answered, without numbers and tokens; one that is kept is like no other. */
function signOf(
  messages: readonly TimelineMessage[],
  index: number,
  effects: ReadonlyMap<number, readonly number[]>,
  kept: ReadonlySet<number>,
): string {
  const own = [index, ...(effects.get(index) ?? [])];
  if (own.some((each) => kept.has(each))) return `${index}`;
  const texts = own.map(
    (each) => `${messages[each]?.kind} ${messages[each]?.arrived === null} ${plain(messages[each]?.text)}`,
  );
  return texts.join('; ');
}

/** Numbers and tokens differ from try to try. */
function plain(text = ''): string {
  return text.replace(/[\w-]*\d[\w-]*/g, '#');
}

/** Which requests are hidden: from and to, without the first and the last time of each group. */
function repeatsIn(signs: readonly string[]): [number, number][] {
  const found: [number, number][] = [];
  for (let i = 0; i < signs.length; ) {
    let best = { end: i + 1, size: 0 };
    for (let size = 1; size <= LONGEST; size++) {
      let end = i + size;
      while (end + size <= signs.length && same(signs, i, end, size)) end += size;
      if (end - i >= TIMES * size && end > best.end) best = { end, size };
    }
    if (best.size > 0) found.push([i + best.size, best.end - best.size]);
    i = best.size > 0 ? best.end : i + 1;
  }
  return found;
}

function same(signs: readonly string[], one: number, other: number, size: number): boolean {
  for (let i = 0; i < size; i++) if (signs[one + i] !== signs[other + i]) return false;
  return true;
}

function hide(index: number, effects: ReadonlyMap<number, readonly number[]>, hidden: Set<number>): void {
  if (hidden.has(index)) return;
  hidden.add(index);
  for (const each of effects.get(index) ?? []) hide(each, effects, hidden);
}

/** Repeats of a client to several nodes at the same time are one. */
function joined(runs: readonly Repeats[]): Repeats[] {
  const all: Repeats[] = [];
  for (const next of [...runs].sort((a, b) => a.from - b.from)) {
    const before = all.findLastIndex(({ client, to }) => client === next.client && to >= next.from);
    const one = all[before];
    if (one === undefined) all.push(next);
    else all[before] = { ...one, to: Math.max(one.to, next.to), count: one.count + next.count };
  }
  return all;
}
