/** Tells the shortest story of a broken promise: the faults, the grants and the visits that lead to it. */

import { type HistoryWrite, historyOf } from './history.ts';
import type { PlayedWorld, StoryLine } from './played-world.ts';
import type { Breach } from './visit.ts';

/** One event of a story. */
export interface FindingEvent {
  /** Milliseconds since the clients started. */
  readonly at: number;
  /** The client or node. */
  readonly who: string;
  /** What happened. */
  readonly text: string;
}

/** The longest story. */
const MOST = 12;
/** Writes of one client within this many milliseconds are one event: it asks several servers at once. */
const TOGETHER = 30;

/** A write, as far as it can have granted a lock. */
type Granting = Pick<HistoryWrite, 'at' | 'node' | 'client' | 'command'>;

/** The events that matter for the breach, in order; 12 at most. */
export function eventsOf(world: PlayedWorld, breach: Breach): FindingEvent[] {
  const visits = breach.visits.flatMap((id) => world.visits[id] ?? []);
  const actors = new Set(visits.map(({ client }) => client));
  const first = Math.min(...visits.map(({ askedAfter }) => askedAfter), Infinity);
  const chosen: (FindingEvent & { readonly weight: number })[] = [];
  for (const grant of grantsOf(world, visits)) chosen.push({ ...grant, weight: 3 });
  for (const { at, who, what, kind } of world.lines) {
    if (at > breach.at) continue;
    const weight = weightOf(kind, actors.size === 0 || actors.has(who), at >= first);
    if (weight > 0) chosen.push({ at, who, text: what, weight });
  }
  chosen.push({
    at: Math.min(breach.at, world.endedAt),
    who: '*',
    text: `${breach.promise} is broken: ${breach.what}`,
    weight: 9,
  });
  const kept = [...chosen.entries()]
    .sort(([i, a], [k, b]) => b.weight - a.weight || i - k)
    .slice(0, MOST)
    .sort(([i, a], [k, b]) => a.at - b.at || i - k);
  return kept.map(([, { at, who, text }]) => ({ at, who, text }));
}

/** How much a line matters; 0 for not at all. */
function weightOf(kind: StoryLine['kind'], actor: boolean, recent: boolean): number {
  if (kind === 'end') return 0;
  if (kind === 'fault') return 5;
  if (!actor) return 0;
  if (kind === 'trouble') return 1;
  return recent ? 4 : 2;
}

/** The last write of each visitor before it entered: what gave it the lock. */
function grantsOf(
  world: PlayedWorld,
  visits: readonly { client: string; from: number; askedAfter: number }[],
): FindingEvent[] {
  const writes = clientWrites(world);
  return visits.flatMap(({ client, from, askedAfter }): FindingEvent[] => {
    const own = writes.filter(
      (write) => write.client === client && write.at >= Math.floor(askedAfter) && write.at <= from,
    );
    const last = own.at(-1);
    if (last === undefined) return [];
    const together = own.filter(({ at }) => last.at - at <= TOGETHER && at <= last.at);
    const main = together.find(({ command }) => !/^(PEXPIREAT|DEL|PUBLISH)$/i.test(command[0] ?? '')) ?? last;
    const nodes = [...new Set(together.filter((each) => sameCommand(each, main)).map(({ node }) => node))];
    return [{ at: Math.min(main.at, from), who: client, text: `${textOf(main)} on ${nodes.join(', ')}` }];
  });
}

/** The writes of clients. A virtual world knows their true times, and those that a node has lost with its data. */
function clientWrites({ world, begunAt, ...rest }: PlayedWorld): Granting[] {
  if (world === undefined) return [...historyOf({ begunAt, ...rest }).writes];
  return world.writes.map(({ at, node, write: { client, command } }) => ({
    ...{ at: (at - begunAt) / 1000, node, client, command },
  }));
}

function sameCommand(one: Granting, other: Granting): boolean {
  return one.command[0] === other.command[0] && one.command[1] === other.command[1];
}

function textOf({ command }: Granting): string {
  const words = command.map((word) => (word.length > 24 ? `${word.slice(0, 10)}...` : word)).join(' ');
  return words.length > 80 ? `${words.slice(0, 77)}...` : words;
}

/** The story as lines of aligned text. */
export function storyText(title: string, events: readonly FindingEvent[]): string {
  const width = Math.max(...events.map(({ who }) => who.length), 4);
  const lines = events.map(
    ({ at, who, text }) => `${at.toFixed(1).padStart(10)} ms  ${who.padEnd(width)}  ${text}`,
  );
  return [title, ...lines].join('\n');
}
