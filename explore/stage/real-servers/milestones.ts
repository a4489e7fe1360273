/** What has to happen in the same order on real servers as in the virtual world: read from the world that was played there. */

import { asciiLower, toBuffer } from '../../../protocol/bytes.ts';
import { RequestDecoder } from '../../../protocol/decode.ts';
import { eventBefore } from '../../anchors/resolve.ts';
import { clientsOf } from '../../deployments.ts';
import type { PlannedFault } from '../../faults/index.ts';
import { type HistoryMessage, type HistoryWrite, historyOf } from '../../history.ts';
import type { PlayedWorld } from '../../played-world.ts';
import { PROBE } from '../../visit.ts';
import type { Loss, Milestone } from './order.ts';

/** A part of a primary's stream that its replica never received, because their connection ended before. */
export interface StreamLoss {
  readonly from: string;
  readonly to: string;
  /** When it was sent, and when it was lost, in milliseconds since the clients started. */
  readonly sent: number;
  readonly at: number;
}

/** The order of a virtual world. */
export interface WorldOrder {
  readonly milestones: readonly Milestone[];
  readonly losses: readonly Loss[];
  readonly streams: readonly StreamLoss[];
  /** When a fault first struck something, in milliseconds since the clients started. */
  struckAt(fault: PlannedFault): number;
}

/** Reads the order of a world that was played on the virtual clock. */
export function orderOf(virtual: PlayedWorld): WorldOrder {
  return new OrderReader(virtual).read();
}

/** A message that was lost with its connection. */
interface Stray {
  readonly from: string;
  readonly to: string;
  readonly sent: number;
  readonly at: number;
  readonly bytes: string;
}

class OrderReader {
  readonly #virtual: PlayedWorld;
  readonly #writes: readonly HistoryWrite[];
  readonly #messages: readonly HistoryMessage[];
  readonly #strays: readonly Stray[];

  constructor(virtual: PlayedWorld) {
    this.#virtual = virtual;
    this.#messages = historyOf(virtual).messages;
    const since = (micros: number): number => (micros - virtual.begunAt) / 1000;
    this.#strays = (virtual.world?.trace.strays ?? []).flatMap(({ who, at, sent, detail }) => {
      const [from = '', to = ''] = who.split('>').map(partyOf);
      const isEarly = sent === undefined || since(at) < 0;
      return isEarly ? [] : [{ from, to, sent: since(sent), at: since(at), bytes: detail }];
    });
    this.#writes = this.#allWrites();
  }

  /**
   * The writes of all nodes. The log of a node that lost its data, or got that of another, is gone; the stream to its
   * replicas tells what was in it. It has the exact time as well.
   */
  #allWrites(): HistoryWrite[] {
    const logged = historyOf(this.#virtual).writes;
    const streamed = [...this.#messages, ...this.#strays].flatMap(
      ({ from, to, sent, bytes }): HistoryWrite[] => {
        const node = partyOf(from);
        if (!this.#areMates(node, partyOf(to))) return [];
        const asked = this.#messages.find((each) => partyOf(each.to) === node && each.arrived === sent);
        return commandsIn(bytes).map((command) => {
          const own = logged.find((each) => each.node === node && isSame(each, { at: sent, command }));
          const client = own?.client ?? (asked && partyOf(asked.from));
          return { node, client, command, offset: own?.offset ?? 0, at: sent };
        });
      },
    );
    const isStreamed = (write: HistoryWrite): boolean =>
      streamed.some((each) => each.node === write.node && isSame(write, each));
    return [...streamed, ...logged.filter((write) => !isStreamed(write))].sort((a, b) => a.at - b.at);
  }

  #areMates(one: string, other: string): boolean {
    return this.#virtual.sets.some(({ nodes }) =>
      [one, other].every((each) => nodes.some(({ name }) => name === each)),
    );
  }

  read(): WorldOrder {
    const acts = this.#virtual.lines
      .filter(({ kind, who }) => kind === 'visit' && who !== PROBE)
      .map(({ at, who }): Milestone => ({ at, client: who, kind: 'act' }));
    const streams = this.#streams();
    const writes = [...this.#anchors(), ...this.#grants(), ...this.#unread(), ...this.#unsent(streams)];
    const milestones = [...writes.filter(isFirst), ...this.#asks(), ...acts].sort((a, b) => a.at - b.at);
    return {
      ...{ milestones, streams, losses: this.#losses(milestones) },
      struckAt: ({ on, at }) =>
        this.#virtual.lines.find((line) => line.kind === 'fault' && line.who === on && line.at >= at)?.at ??
        at,
    };
  }

  /**
   * The grants of visits. One counts where something else happened between it and the client's next act: the request must
   * reach the server before that, and the reply must not reach the client before.
   */
  #grants(): Milestone[] {
    const { visits, lines } = this.#virtual;
    return visits.flatMap(({ client, from, askedAfter }): Milestone[] => {
      if (client === PROBE) return [];
      const isEarlier = (at: number): boolean => at >= Math.floor(askedAfter) && at <= from;
      const write = this.#writes.findLast((each) => each.client === client && isEarlier(each.at));
      // The log of a node that lost its data is gone, so that the last request has to do.
      const request = this.#messages.findLast(
        (each) => partyOf(each.from) === client && isEarlier(each.arrived),
      );
      const at = write?.at ?? request?.arrived;
      if (at === undefined) return [];
      // Of what happened at the same moment, the lines tell the order.
      const entry = lines.findIndex(
        (line) => line.kind === 'visit' && line.who === client && line.at === from,
      );
      const between = lines.some(
        (line, i) =>
          i < entry &&
          ((line.kind === 'fault' && line.at >= at) ||
            (line.kind === 'visit' && line.who !== client && line.who !== PROBE && line.at > at)),
      );
      return between ? [{ at, client, kind: 'write', command: write?.command }] : [];
    });
  }

  /** The writes that faults follow. Entries and other acts at resources, which faults can follow too, are milestones anyway. */
  #anchors(): Milestone[] {
    return this.#virtual.struck.flatMap(({ at, after }): Milestone[] => {
      if (after?.side !== 'executed') return [];
      const executed = eventBefore(at, after);
      const write = this.#writes.findLast((each) => each.client === after.client && isAt(each.at, executed));
      return write === undefined ? [] : [milestoneOf(write, true)];
    });
  }

  /** The requests that wait at a node which stands still. It executes them in the order in which they came. */
  #asks(): Milestone[] {
    const { events, begunAt, struck } = this.#virtual;
    const stoodStill = new Set(struck.filter(({ kind }) => kind === 'node-pause').map(({ on }) => on));
    if (stoodStill.size === 0) return [];
    return events.flatMap(({ who, what, at, due = at }): Milestone[] => {
      const [client = '', node = ''] = who.split('>').map(partyOf);
      const [came, read] = [due, at].map((micros) => (micros - begunAt) / 1000) as [number, number];
      const waited = what === 'data' && came < read && this.#isClient(client) && stoodStill.has(node);
      return waited && this.#writeOf(node, read, client) !== undefined
        ? [{ at: came, client, kind: 'ask' }]
        : [];
    });
  }

  /** The writes whose replies were lost. */
  #unread(): Milestone[] {
    return this.#strays.flatMap(({ from, to, sent }): Milestone[] => {
      const write = this.#isClient(to) ? this.#writeOf(from, sent, to) : undefined;
      return write === undefined ? [] : [milestoneOf(write, true)];
    });
  }

  /** The writes that a replica never received, and the last one that it did receive: both must be told apart. */
  #unsent(streams: readonly StreamLoss[]): Milestone[] {
    return streams.flatMap(({ from, sent }): Milestone[] => {
      const first = this.#writes.findIndex(({ node, at }) => node === from && isAt(at, sent));
      const before = this.#writes.slice(0, first).findLast(({ node }) => node === from);
      return [before, this.#writes[first]].flatMap((write) =>
        write?.client !== undefined && this.#isClient(write.client) ? [milestoneOf(write, true)] : [],
      );
    });
  }

  #streams(): StreamLoss[] {
    return this.#strays.filter(
      ({ from, to, sent }) => this.#areMates(from, to) && this.#writeOf(from, sent) !== undefined,
    );
  }

  /** The write that a node answered or sent on at this time. */
  #writeOf(on: string, sent: number, by?: string): HistoryWrite | undefined {
    return this.#writes.findLast(
      ({ node, client, at }) => node === on && isAt(at, sent) && (by === undefined || client === by),
    );
  }

  #isClient(name: string): boolean {
    return clientsOf(this.#virtual.plan).includes(name);
  }

  /** What a fault takes away must not arrive before the fault has struck. */
  #losses(milestones: readonly Milestone[]): Loss[] {
    return this.#strays.flatMap(({ from, to, sent, at }): Loss[] => {
      const of = this.#isClient(from) ? 'request' : 'reply';
      const client = of === 'request' ? from : to;
      if (!this.#isClient(client)) return [];
      const write = of === 'reply' ? this.#writeOf(from, sent, client) : undefined;
      const own = milestones.filter((each) => each.client === client && each.at < (write?.at ?? sent));
      const after = own.at(-1)?.at ?? -1;
      // Without a write to know it by, it has to be the first message.
      const isFirst = !this.#messages.some(
        (each) =>
          partyOf(of === 'request' ? each.from : each.to) === client &&
          each.arrived > after &&
          each.arrived <= at,
      );
      return write !== undefined || isFirst ? [{ client, of, after, at }] : [];
    });
  }
}

/** The name of a party without the port that it dialled from. */
function partyOf(label: string): string {
  return label.split(':', 1)[0] as string;
}

/** What no client asked for in this form. */
const FRAMES: ReadonlySet<string> = new Set(['select', 'multi', 'exec', 'ping', 'replconf']);

/** The commands in a part of a replication stream; none in anything else. */
function commandsIn(bytes: string): string[][] {
  if (!bytes.startsWith('*')) return [];
  const decoder = new RequestDecoder({ maxBulk: Number.MAX_SAFE_INTEGER, authenticated: true });
  decoder.write(toBuffer(bytes));
  const found: string[][] = [];
  for (let argv = decoder.next(); argv !== undefined; argv = decoder.next())
    if (!FRAMES.has(asciiLower(argv[0] ?? ''))) found.push(argv);
  return found;
}

/** True when a logged write is the one that was sent on at this time. */
function isSame(logged: HistoryWrite, { at, command }: Pick<HistoryWrite, 'at' | 'command'>): boolean {
  return isAt(logged.at, at) && logged.command.join(' ') === command.join(' ');
}

/** True when a write is of this time. Logs count in whole milliseconds. */
function isAt(at: number, sent: number): boolean {
  return at <= sent && at > sent - 1;
}

function milestoneOf({ at, client = '', command }: HistoryWrite, held: boolean): Milestone {
  return { at, client, kind: 'write', command, held };
}

function isFirst({ at, client, command }: Milestone, index: number, all: readonly Milestone[]): boolean {
  const isSame = (each: Milestone): boolean =>
    each.client === client && each.at === at && each.command === command;
  return all.findIndex(isSame) === index;
}
