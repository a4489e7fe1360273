/** The history of one world, as promises of the user judge it and as files hold it. */

import type { TraceEvent } from '../lab/time/event.ts';
import { clientsOf } from './deployments.ts';
import type { PlannedFault } from './faults/index.ts';
import type { ClientLife } from './lives.ts';
import type { RecordedOperation } from './operations/operation.ts';
import type { PlayedWorld, StoryLine } from './played-world.ts';
import { PROBE, type Visit } from './visit.ts';

/** A message that arrived. Times are in milliseconds since the clients started. */
export interface HistoryMessage {
  /** The sender's name, and its port if it dialled. */
  readonly from: string;
  /** The receiver's name, and its port if it dialled. */
  readonly to: string;
  /** When it was sent. */
  readonly sent: number;
  /** When it arrived. */
  readonly arrived: number;
  /** Its bytes as latin1. */
  readonly bytes: string;
}

/** A write that a node accepted as a primary. */
export interface HistoryWrite {
  /** The name of the node. */
  readonly node: string;
  /** The client that sent it; undefined for what the node did by itself. */
  readonly client: string | undefined;
  /** The command as it entered the replication stream. */
  readonly command: readonly string[];
  /** The replication offset after it. */
  readonly offset: number;
  /** When, by the node's own clock, in milliseconds since the clients started. */
  readonly at: number;
}

/** What happened in one world. Times are in milliseconds since the clients started. */
export interface History {
  /** The clients and nodes. */
  readonly lanes: readonly string[];
  /** Which client was inside which resource, and when; without the probe, which is none of the clients. */
  readonly visits: readonly Visit[];
  /**
   * The visits of the probe: a new client, called `probe`, that runs the code once the others are done, to see whether it
   * still gets the lock.
   */
  readonly probe: readonly Visit[];
  /** How the code of each client ran: when it began, how it ended, whether it waited in vain; without the probe. */
  readonly lives: readonly ClientLife[];
  /** The operations that clients and the probe recorded, in the order in which they began. */
  readonly operations: readonly RecordedOperation[];
  /** When the clients were told to end by their `signal`; Infinity when the world ended before. */
  readonly toldAt: number;
  /** When the world ended. */
  readonly endedAt: number;
  /** The faults that struck. */
  readonly faults: readonly PlannedFault[];
  /** What the clients and faults did, in order. */
  readonly lines: readonly StoryLine[];
  /** The writes of all nodes, in order of time. */
  readonly writes: readonly HistoryWrite[];
  /** The acknowledged writes that failovers and restarts have lost. */
  readonly lost: readonly HistoryWrite[];
  /** The messages that arrived, in order. */
  readonly messages: readonly HistoryMessage[];
}

/** The history of a played world. Its larger parts are put together when they are first read. */
export function historyOf(world: PlayedWorld): History {
  const { plan, visits, struck, lines, sets } = world;
  const nodes = sets.flatMap((set) => set.nodes.map(({ name }) => name));
  let writes: HistoryWrite[] | undefined;
  let messages: HistoryMessage[] | undefined;
  return {
    lanes: [...clientsOf(plan), ...nodes],
    visits: visits.filter(({ client }) => client !== PROBE),
    probe: visits.filter(({ client }) => client === PROBE),
    lives: world.lives,
    operations: world.operations,
    toldAt: world.toldAt,
    endedAt: world.endedAt,
    faults: struck,
    lines,
    get writes() {
      return (writes ??= writesOf(world));
    },
    get lost() {
      return sets.flatMap(({ lost, primary }) =>
        lost.map((write) => written(world, acceptedBy(world, write) ?? primary.name, write)),
      );
    },
    get messages() {
      return (messages ??= world.events.flatMap((event) => messageOf(event, world.begunAt)));
    },
  };
}

interface LoggedWrite {
  readonly client: string | undefined;
  readonly command: readonly string[];
  readonly offset: number;
  readonly at: number;
}

function written(
  world: PlayedWorld,
  node: string,
  { client, command, offset, at }: LoggedWrite,
): HistoryWrite {
  return { node, client, command, offset, at: at - world.startedAt };
}

/** The node that executed a write. */
function acceptedBy(
  { world }: PlayedWorld,
  { client, command, offset, at }: LoggedWrite,
): string | undefined {
  const text = command.join(' ');
  return world?.writes.find(
    ({ write }) =>
      write.offset === offset &&
      write.at === at &&
      write.client === client &&
      write.command.join(' ') === text,
  )?.node;
}

/** The writes of clients, with their true times in milliseconds since the clients started, as far as they are known. */
export function timedWrites(world: PlayedWorld): readonly HistoryWrite[] {
  if (world.world === undefined) return historyOf(world).writes;
  return world.world.writes.map(({ at, node, write }) => ({
    ...written(world, node, write),
    at: (at - world.begunAt) / 1000,
  }));
}

function writesOf(world: PlayedWorld): HistoryWrite[] {
  // A virtual world knows each write once, and those that a node has lost with its data.
  if (world.world !== undefined)
    return world.world.writes
      .filter(({ at }) => at >= world.begunAt)
      .map(({ node, write }) => written(world, node, write));
  const found = world.sets.flatMap(({ nodes }) =>
    nodes.flatMap(({ name, log }) => log.writes.map((write) => written(world, name, write))),
  );
  return found.filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at);
}

function messageOf({ at, who, what, detail, sent }: TraceEvent, begunAt: number): HistoryMessage[] {
  if (what !== 'data') return [];
  const [from = '', to = ''] = who.split('>');
  return [{ from, to, sent: ((sent ?? at) - begunAt) / 1000, arrived: (at - begunAt) / 1000, bytes: detail }];
}
