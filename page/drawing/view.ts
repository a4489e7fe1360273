/** A timeline prepared for drawing: where its lanes are, what is shown, and what is selected. */
import type { MessageKind, StoryStep, Timeline, TimelineLane } from '../format.ts';
import { type AnswerRow, answersOf, holdEnd, ROW } from './answers.ts';
import { Axis } from './axis.ts';
import { type InView, MessagePlaces } from './places.ts';
import { type Repeats, repeatedIn, repeatsOf } from './repeats.ts';
import { type Absence, absencesOf, rolesOf, type WrongClock, wrongClocksOf } from './states.ts';

/** What is selected: an event of the run. */
export interface Selection {
  readonly type: 'message' | 'mark' | 'overlap';
  readonly index: number;
}

/** The event that a sentence of the story is about. */
export function toldBy({ about }: StoryStep): Selection | undefined {
  const [type, index] = Object.entries(about ?? {})[0] ?? [];
  return type === undefined ? undefined : ({ type, index } as Selection);
}

/** True when both are the same event. */
export function isSame(one: Selection | undefined, other: Selection | undefined): boolean {
  return one !== undefined && one.type === other?.type && one.index === other.index;
}

/** What is shown. */
export interface Shown {
  readonly kinds: ReadonlySet<MessageKind>;
  /** Only messages and holds with this key; empty for all. */
  readonly key: string;
  /** Only messages from or to this party; empty for all. */
  readonly party: string;
  /** True when repeated requests are drawn one by one. */
  readonly repeats: boolean;
}

/** The filter at first: everything but what connections do by themselves. */
export const FIRST_FILTER: Shown = {
  kinds: new Set(['request', 'reply', 'stream', 'ack']),
  key: '',
  party: '',
  repeats: false,
};

/** Left of the drawing, the names of the lanes: how wide, in a drawing of this width. */
export function gutterOf(width: number): number {
  return width < 600 ? 84 : 118;
}
/** Above the lanes, the axis. */
export const HEAD = 34;
/** The height of a lane, where the page does not choose another one. */
export const LANE = 74;

/** The moments of a run at which something happens. What is hidden at first does not count: service messages and repeats. */
export function momentsOf(run: Timeline): number[] {
  const moments: number[] = [];
  const repeated = repeatedIn(run);
  const beats = heartbeatsOf(run);
  for (const [i, { kind, sent, due, arrived, died }] of run.messages.entries()) {
    if (kind === 'service' || repeated.has(i) || beats.has(i)) continue;
    moments.push(sent, arrived ?? due);
    if (died !== undefined) moments.push(died);
  }
  for (const { at, kind } of run.marks) if (kind !== 'follow' && kind !== 'event') moments.push(at);
  for (const hold of run.holds) moments.push(hold.from, holdEnd(hold, run.end));
  for (const { from } of run.keys) moments.push(from);
  for (const { at } of run.story) moments.push(at);
  if (moments.length === 0) for (const { sent, due } of run.messages) moments.push(sent, due);
  return moments;
}

/** One run with its drawing's geometry. */
export class RunView {
  readonly run: Timeline;
  axis: Axis;
  selection: Selection | undefined;
  /** The messages on the way of the selected one. */
  way: ReadonlySet<number> = new Set();
  /** The messages that a search has found. */
  found: ReadonlySet<number> = new Set();
  /** The visible places: from and to. */
  window: [number, number];
  /** Where this run parts from the one that it is compared with, in microseconds. */
  parting: number | undefined;
  /** Up to where the run is drawn, in microseconds; undefined for all of it. */
  playhead: number | undefined;
  /** From where on the run is drawn faintly, in microseconds; undefined when nothing is. */
  now: number | undefined;
  /** The sentence of the story that is shown, from 0; undefined for none. */
  step: number | undefined;
  /** How many sentences of the story have their numbers in the drawing. */
  numbers = 0;
  /** The rows above the lanes: the holders of each lock, and the clients inside each resource. */
  readonly answers: readonly AnswerRow[];
  /** When parties were dead or stood still. */
  readonly absences: readonly Absence[];
  /** The roles of the nodes, one after the other. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
  /** When clocks were wrong. */
  readonly clocks: readonly WrongClock[];
  /** Requests that were repeated, and are drawn as one at first. */
  readonly repeats: readonly Repeats[];
  readonly #lanes = new Map<string, number>();
  readonly #idle: ReadonlySet<string>;
  readonly #repeated: ReadonlySet<number>;
  #filter: Shown = FIRST_FILTER;
  #lane = LANE;
  readonly #latest: number[];
  readonly #sent: number[];
  readonly #effects = new Map<number, number[]>();
  /** The acknowledgements that confirm nothing new. */
  readonly #heartbeats: ReadonlySet<number>;
  /** The marks of lost writes whose copies have crosses. */
  readonly #crossed: ReadonlySet<number>;
  #places: MessagePlaces | undefined;
  #shown: { readonly filter: Shown; readonly flags: Uint8Array } | undefined;

  constructor(run: Timeline, axis = new Axis(momentsOf(run))) {
    this.run = run;
    this.axis = axis;
    this.window = this.whole();
    this.#heartbeats = heartbeatsOf(run);
    this.#crossed = crossedLosses(run);
    this.answers = answersOf(run);
    this.absences = absencesOf(run);
    this.roles = rolesOf(run);
    this.clocks = wrongClocksOf(run);
    this.repeats = repeatsOf(run);
    this.#repeated = repeatedIn(run);
    this.#idle = idleLanes(run, this.#heartbeats);
    this.#arrange();
    // For each message, the latest time at which it or an earlier one is still on its way: bounds what can be in view.
    this.#sent = run.messages.map(({ sent }) => sent);
    let latest = -Infinity;
    this.#latest = run.messages.map(({ arrived, died, due, fate }) => {
      latest = Math.max(latest, arrived ?? died ?? (fate === 'waiting' ? run.end : due));
      return latest;
    });
    for (const [i, { cause }] of run.messages.entries()) {
      if (cause !== undefined) this.#effects.set(cause, [...(this.#effects.get(cause) ?? []), i]);
    }
  }

  /** What is shown. */
  get filter(): Shown {
    return this.#filter;
  }

  set filter(filter: Shown) {
    this.#filter = filter;
    this.#arrange();
  }

  /** The height of a lane, in CSS pixels. */
  get lane(): number {
    return this.#lane;
  }

  set lane(height: number) {
    if (height === this.#lane) return;
    this.#lane = height;
    this.#arrange();
  }

  /** The lanes that are drawn: without those at which nothing happens, such as most shards of a cluster, and clients that only connect. */
  get lanes(): readonly TimelineLane[] {
    if (this.#filter.kinds.has('service') || this.#filter.party !== '') return this.run.lanes;
    return this.run.lanes.filter(({ name }) => !this.#idle.has(name));
  }

  #arrange(): void {
    this.#lanes.clear();
    for (const [i, { name }] of this.lanes.entries())
      this.#lanes.set(name, this.top + this.#lane * (i + 0.5));
    this.#places = undefined;
  }

  /** True when two clients held a lock and nothing was broken by it. */
  get isHarmless(): boolean {
    return this.run.verdict?.safe === true;
  }

  /** The window that shows everything. */
  whole(): [number, number] {
    const margin = this.axis.end * 0.03;
    return [-margin, this.axis.end + margin];
  }

  /** Where the lanes end. */
  get foot(): number {
    return this.top + this.#lane * this.lanes.length + 4;
  }

  /** Where the lanes begin: below the axis and the answers. */
  get top(): number {
    return HEAD + ROW * this.answers.length;
  }

  /** The height of a lane's line; undefined for a party without a lane. */
  laneY(name: string): number | undefined {
    return this.#lanes.get(name);
  }

  /** The name of the lane at a height. */
  laneAt(y: number): string | undefined {
    return this.lanes[Math.floor((y - this.top) / this.#lane)]?.name;
  }

  /** The messages as numbers, for crowds. */
  get places(): MessagePlaces {
    return (this.#places ??= new MessagePlaces(this.run, this.axis, (name) => this.laneY(name)));
  }

  /** For each message, 1 when the filter shows it. */
  get shown(): Uint8Array {
    if (this.#shown?.filter === this.filter) return this.#shown.flags;
    const flags = Uint8Array.from(this.run.messages, (_, index) => (this.shows(index) ? 1 : 0));
    return this.#keepShown(flags);
  }

  #keepShown(flags: Uint8Array): Uint8Array {
    this.#shown = { filter: this.filter, flags };
    return flags;
  }

  /** True for a mark that is drawn. A lost write has no mark beside the cross of its copy. */
  showsMark(index: number): boolean {
    const { kind } = this.run.marks[index] ?? {};
    if (kind === 'event' || kind === 'follow') return false;
    return !this.#crossed.has(index) || !this.#filter.kinds.has('stream');
  }

  /** Which messages may be in view between two times. */
  inView(from: number, to: number): InView {
    const first = firstAtLeast(this.#latest, from);
    return { first, last: Math.max(first, firstAtLeast(this.#sent, to + 1)) };
  }

  /** The messages that may be in view between two times. */
  *messagesIn(from: number, to: number): Generator<number> {
    const { first, last } = this.inView(from, to);
    for (let i = first; i < last; i++) yield i;
  }

  /** True when the filter shows the message. */
  shows(index: number): boolean {
    const message = this.run.messages[index];
    if (message === undefined || !this.filter.kinds.has(message.kind)) return false;
    if (this.#heartbeats.has(index) && !this.filter.kinds.has('service')) return false;
    const { key, party, repeats } = this.filter;
    if (!repeats && this.#repeated.has(index)) return false;
    if (party !== '' && message.from !== party && message.to !== party) return false;
    // The text of a message is shortened, and some of its bytes are escaped.
    if (key === '' || message.bytes.includes(key)) return true;
    return message.cause !== undefined && this.run.messages[message.cause]?.bytes.includes(key) === true;
  }

  /** True when the filter shows the holds, overlaps and nodes' knowledge of the key. */
  showsKey(key: string): boolean {
    return this.filter.key === '' || this.filter.key === key;
  }

  /** Selects an event, and finds its whole way: what caused it, and what it caused. */
  select(selection: Selection | undefined): void {
    this.selection = selection;
    const way = new Set<number>();
    if (selection?.type === 'message') {
      let root = selection.index;
      for (
        let cause = this.run.messages[root]?.cause;
        cause !== undefined;
        cause = this.run.messages[root]?.cause
      )
        root = cause;
      const next = [root];
      for (let index = next.pop(); index !== undefined; index = next.pop()) {
        if (way.has(index)) continue;
        way.add(index);
        next.push(...(this.#effects.get(index) ?? []));
      }
    }
    this.way = way;
  }

  /** When the selected event happens, from and to. */
  timesOf({ type, index }: Selection): [number, number] {
    if (type === 'mark') return [this.run.marks[index]?.at ?? 0, this.run.marks[index]?.at ?? 0];
    if (type === 'overlap') return [this.run.overlaps[index]?.from ?? 0, this.run.overlaps[index]?.to ?? 0];
    const message = this.run.messages[index];
    return [message?.sent ?? 0, message?.arrived ?? message?.died ?? message?.due ?? 0];
  }
}

/** Acknowledgements that confirm no write of the run: a replica sends one every second, whether there is something new or not. */
function heartbeatsOf({ messages }: Timeline): Set<number> {
  const sent = new Map<string, number[]>();
  const beats = new Set<number>();
  for (const [index, { kind, from, to, offsets }] of messages.entries()) {
    if (offsets === undefined) continue;
    const [, offset] = offsets;
    if (kind === 'stream') {
      const ends = sent.get(`${to}>${from}`);
      if (ends === undefined) sent.set(`${to}>${from}`, [offset]);
      else ends.push(offset);
    }
    if (kind !== 'ack') continue;
    const ends = sent.get(`${from}>${to}`) ?? [];
    const confirmed = ends.filter((end) => end <= offset).length;
    if (confirmed === 0) beats.add(index);
    else ends.splice(0, confirmed);
  }
  return beats;
}

/** The marks of writes whose copies were lost on their way. A sentence about a mark tells of a write that had no such copy. */
function crossedLosses({ marks, messages, story }: Timeline): Set<number> {
  const senders = new Set(
    messages.flatMap(({ kind, fate, from }) => (kind === 'stream' && fate === 'lost' ? [from] : [])),
  );
  const told = new Set(story.flatMap(({ about = {} }) => ('mark' in about ? [about.mark] : [])));
  return new Set(
    marks.flatMap(({ kind, lane }, i) => (kind === 'lost' && senders.has(lane) && !told.has(i) ? [i] : [])),
  );
}

/** The clients, nodes and Sentinels at which nothing happens but upkeep. */
function idleLanes(run: Timeline, beats: ReadonlySet<number>): Set<string> {
  const idle = new Set(run.lanes.flatMap(({ name, kind }) => (kind === 'resource' ? [] : [name])));
  for (const [i, { kind, from, to }] of run.messages.entries()) {
    if (kind === 'service' || beats.has(i)) continue;
    idle.delete(from);
    idle.delete(to);
  }
  for (const { kind, lane } of run.marks) if (kind !== 'follow' && kind !== 'event') idle.delete(lane);
  for (const { node } of run.keys) idle.delete(node);
  for (const { client } of run.holds) idle.delete(client);
  for (const { lane } of run.story) idle.delete(lane);
  return idle;
}

function firstAtLeast(sorted: readonly number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the first message in which two runs differ, and its times; undefined when they are the same. */
export function partingOf(one: Timeline, other: Timeline): [number, number] | undefined {
  const length = Math.max(one.messages.length, other.messages.length);
  for (let i = 0; i < length; i++) {
    const [a, b] = [one.messages[i], other.messages[i]];
    const same =
      a !== undefined &&
      b !== undefined &&
      a.sent === b.sent &&
      a.arrived === b.arrived &&
      a.bytes === b.bytes &&
      a.from === b.from &&
      a.to === b.to;
    if (!same) return [a?.sent ?? one.end, b?.sent ?? other.end];
  }
  return undefined;
}
