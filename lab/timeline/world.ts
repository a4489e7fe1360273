/** Reads from a world of the virtual clock what a timeline of it needs. */

import { checkNames } from '../../base/options.ts';
import type { StoryStep, Timeline, TimelineLane, TimelineVerdict } from '../../page/format.ts';
import { accountOf, type LockAccount } from '../account/account.ts';
import type { TraceEvent } from '../time/event.ts';
import type { NodeWrite } from '../virtual/world.ts';
import { type RecordedMessage, readMessages } from './connections.ts';
import type { RecordedEvent, RecordedRestart, RecordedRun } from './record.ts';
import { timelineOf } from './timeline.ts';

/** What a timeline may say in addition to what the lab has recorded. */
export interface TimelineNotes {
  /** What was played; by default the seed names it. */
  readonly title?: string;
  /** Resources that locks protect, each with a lane. */
  readonly resources?: readonly string[];
  /** Sentences to add to the story. Times are in microseconds since the world began. */
  readonly steps?: readonly StoryStep[];
  /** How the run ended, to be shown with it. */
  readonly verdict?: TimelineVerdict;
  /** The moment from which to show the world, in microseconds since it began; default 0. */
  readonly from?: number;
}

/** A world, as far as its timeline needs it. */
export interface TimelineWorld {
  readonly seed: number | string;
  readonly trace: { readonly events: readonly TraceEvent[]; readonly strays: readonly TraceEvent[] };
  readonly network: { underWay(): readonly TraceEvent[] };
  readonly writes: readonly NodeWrite[];
  readonly restarts: readonly RecordedRestart[];
  readonly locks: readonly string[];
  /** What happened up to this moment is not recorded any more. */
  readonly forgottenUpTo: number;
  /** Microseconds since the world began. */
  elapsed(): number;
}

/** A primary with its replicas and its Sentinels: the nodes that began as primaries come first. */
export interface TimelineSet {
  readonly nodes: readonly { readonly name: string }[];
  readonly sentinels?: readonly { readonly name: string }[];
  /** The slots of a cluster's shard; undefined for a set that is no shard, which has all keys. */
  readonly slots?: string;
}

/** The timeline of a world. Throws TypeError for a wrong note. */
export function worldTimeline(
  world: TimelineWorld,
  sets: readonly TimelineSet[],
  notes: TimelineNotes = {},
): Timeline {
  checkNames(notes, ['title', 'resources', 'steps', 'verdict', 'from'], 'timelineData');
  return timelineOf(recordedWorld(world, sets, notes));
}

/** The account of the locks of a world. */
export function worldAccount(world: TimelineWorld, sets: readonly TimelineSet[]): LockAccount {
  const run = recordedWorld(world, sets, {});
  return accountOf(run, readMessages(run.messages));
}

/** What the world has recorded, from `notes.from` on. */
export function recordedWorld(
  world: TimelineWorld,
  sets: readonly TimelineSet[],
  { title = `A run with seed ${world.seed}`, resources = [], steps = [], verdict, from = 0 }: TimelineNotes,
): RecordedRun {
  const { trace } = world;
  const messages = [
    ...trace.events.filter(({ what }) => what === 'data').map(messageOf('arrived')),
    ...trace.events
      .filter(({ what }) => what === 'dropped')
      .map(messageOf('lost', 'the link lost it (drop)')),
    ...trace.strays.map(messageOf('lost')),
    ...world.network.underWay().map(messageOf('waiting')),
  ].map((message) => moved(message, from));
  const names = sets.flatMap(({ nodes }) => nodes.map(({ name }) => name));
  const sentinels = sets.flatMap((set) => (set.sentinels ?? []).map(({ name }) => name));
  const events = trace.events.filter(({ what }) => what !== 'data' && what !== 'dropped');
  return {
    title,
    clock: 'virtual',
    replay: String(world.seed),
    end: world.elapsed() - from,
    lanes: lanesOf(
      clientsIn(messages, [...names, ...sentinels], events),
      nodeLanes(sets),
      sentinels,
      resources,
    ),
    messages,
    events: events.map(({ at, who, what, detail }) => ({ at: Math.max(0, at - from), who, what, detail })),
    writes: world.writes.map((each) => ({ ...each, at: each.at - from })),
    restarts: world.restarts.map((each) => ({ ...each, at: each.at - from })),
    knownFrom: Math.max(0, world.forgottenUpTo - from),
    locks: world.locks,
    // The shards of a cluster share the keys: a lock is in one of them.
    primaries: isCluster(sets) ? 1 : sets.length,
    steps: steps.map((step) => ({ ...step, at: step.at - from })),
    ...(verdict !== undefined && { verdict }),
  };
}

function isCluster(sets: readonly TimelineSet[]): boolean {
  return sets.some(({ slots }) => slots !== undefined);
}

/** The lanes of nodes. Those of a cluster say their shard, and what they are when the run begins. */
export function nodeLanes(sets: readonly TimelineSet[]): TimelineLane[] {
  return sets.flatMap(({ nodes, slots }, i) =>
    nodes.map(({ name }, k): TimelineLane => {
      const part = { role: k === 0 ? 'primary' : 'replica', shard: i + 1, slots } as const;
      return { name, kind: 'node', ...(slots !== undefined && { ...part, slots }) };
    }),
  );
}

/** Clients first, then the nodes, the Sentinels and the resources. */
export function lanesOf(
  clients: readonly string[],
  nodes: readonly TimelineLane[],
  sentinels: readonly string[],
  resources: readonly string[],
): TimelineLane[] {
  const lane =
    (kind: TimelineLane['kind']) =>
    (name: string): TimelineLane => ({ name, kind });
  return [
    ...clients.map(lane('client')),
    ...nodes,
    ...sentinels.map(lane('sentinel')),
    ...resources.map(lane('resource')),
  ];
}

/** The parties that dialled, or that a test noted something of, and are neither nodes nor Sentinels, by name. */
export function clientsIn(
  messages: readonly RecordedMessage[],
  others: readonly string[],
  events: readonly Pick<RecordedEvent, 'who' | 'what'>[],
): string[] {
  const names = new Set(events.filter(({ what }) => what === 'note').map(({ who }) => who));
  for (const { who } of messages) {
    for (const end of who.split('>')) {
      const colon = end.lastIndexOf(':');
      if (colon !== -1) names.add(end.slice(0, colon));
    }
  }
  return [...names].filter((name) => !others.includes(name)).sort();
}

function messageOf(
  outcome: RecordedMessage['outcome'],
  why?: string,
): (event: TraceEvent) => RecordedMessage {
  return ({ who, detail, at, sent = at, due = at }) => ({
    who,
    detail,
    sent,
    due,
    at,
    outcome,
    ...(why !== undefined && { why }),
  });
}

function moved(message: RecordedMessage, from: number): RecordedMessage {
  return { ...message, sent: message.sent - from, due: message.due - from, at: message.at - from };
}
