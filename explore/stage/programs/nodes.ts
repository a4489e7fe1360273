/** The nodes of a world that programs play: lostlock's own on the real clock, recorded. */

import type { Redis, RedisOptions } from '../../../lab/ioredis-types.ts';
import type { RealClockNetwork } from '../../../lab/real-clock/network.ts';
import type { RealClockNode } from '../../../lab/real-clock/node.ts';
import { type RealClockPair, startOnRealClock } from '../../../lab/real-clock/pair.ts';
import { NoIoredis } from '../../../lab/remote/no-ioredis.ts';
import type { TraceEvent } from '../../../lab/time/event.ts';
import type { RecordedMessage } from '../../../lab/timeline/connections.ts';
import type { TimelineWorld } from '../../../lab/timeline/world.ts';
import { sizeOf, type Topology } from '../../topology.ts';
import type { CrashKeeps, StageSet, Wait } from '../controls.ts';
import { RoleSet } from '../role-set.ts';
import type { KeyLeft } from '../stage.ts';
import { keysIn } from '../virtual/left.ts';

/** A primary with its replicas, as a stage of programs needs it: lostlock's own nodes, or real servers. */
export interface ProgramNodes extends StageSet {
  readonly network: RealClockNetwork;
  /** The URL at which a client reaches the primary through the lab's links. */
  urlFor(client: string): Promise<string>;
  /** What is left in the databases of the primary. */
  keysLeft(): KeyLeft[] | Promise<KeyLeft[]>;
  /** Writes that the network has not recorded, with their times in microseconds since it began to record. */
  readonly unrecorded: TimelineWorld['writes'];
  /** Learns of the writes that nobody has seen yet. */
  finish(): Promise<void>;
  /** Ends the nodes. */
  close(): Promise<void>;
}

/** A primary with its replicas, which are lostlock's own nodes. */
export class ProgramSet extends RoleSet<RealClockNode, RealClockPair> implements ProgramNodes {
  readonly unrecorded = [];

  get network(): RealClockNetwork {
    return this.inner.network;
  }

  protected client(name: string, options: RedisOptions): Redis {
    return this.inner.client(name, options);
  }

  crash(name: string, keep: CrashKeeps): Promise<void> {
    return this.inner.node(name).crash({ keep });
  }

  restart(name: string): Promise<void> {
    return this.inner.restart(name);
  }

  failover(to?: string): Promise<unknown> {
    return this.inner.failover(to === undefined ? {} : { to });
  }

  async decision(_before: number, _wait: Wait, promoted: () => void): Promise<void> {
    promoted();
  }

  async swap(): Promise<StageSet['primary'] & RealClockNode> {
    const next = this.replicas.find(({ up, paused }) => up && !paused);
    if (next === undefined) throw new Error('no replica can take over');
    this.inner.promote(next.name);
    for (const node of this.replicas) if (node.up) this.inner.demote(node.name);
    return next;
  }

  spareSteps(): () => void {
    return () => {};
  }

  async urlFor(client: string): Promise<string> {
    return (await this.inner.actor(client)).url;
  }

  async finish(): Promise<void> {}

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Numbers are as good as any other: a counter grows with every grant. */
  keysLeft(): KeyLeft[] {
    const { primary } = this.inner;
    if (!primary.up) return [];
    return keysIn(primary.server.databases).map(({ key, text }) => ({
      key,
      text: text.replace(/\d+/g, '#'),
    }));
  }
}

/** Starts the nodes. Rejects with TypeError for a wrong option. */
export async function startProgramNodes(topology: Topology): Promise<readonly ProgramNodes[]> {
  const { settings, dialect } = topology;
  const { primaries, replicas } = sizeOf(topology);
  const { sets } = await startOnRealClock(
    {
      ...{ clock: 'real', primaries, replicas, trace: true },
      ...(settings !== undefined && { settings }),
      ...(dialect !== undefined && { dialect }),
    },
    'startServers',
    async () => NoIoredis as never,
  );
  return sets.map((set) => new ProgramSet(set));
}

/** A message as an event of a trace. */
function eventOf({ who, detail, sent, due, at }: RecordedMessage, later: number, what: string): TraceEvent {
  return { at: at + later, who, what, detail, sent: sent + later, due: due + later };
}

/** What was recorded of the nodes, in order of time. Times are in microseconds since the first of them began to record. */
export function recordOfNodes(sets: readonly ProgramNodes[], seed: number): TimelineWorld {
  const traces = sets.map(({ network }) => network.trace);
  const begun = Math.min(...traces.map((trace) => trace.begun));
  const parts = sets.map(({ network: { trace }, unrecorded }) => {
    const writes = [...trace.writes, ...unrecorded];
    return { trace, later: trace.begun - begun, messages: trace.messages, writes };
  });
  const ofMessages = (outcome: RecordedMessage['outcome'], what: string): TraceEvent[] =>
    parts
      .flatMap(({ messages, later }) =>
        messages.filter((each) => each.outcome === outcome).map((each) => eventOf(each, later, what)),
      )
      .sort((a, b) => a.at - b.at);
  const others = parts.flatMap(({ trace, later }) =>
    trace.events.map((each) => ({ ...each, at: each.at + later }) as TraceEvent),
  );
  const byTime = <T extends { readonly at: number }>(all: T[]): T[] => all.sort((a, b) => a.at - b.at);
  const end = Math.max(...parts.map(({ trace, later }) => trace.elapsed() + later));
  return {
    seed,
    trace: {
      events: byTime([...ofMessages('arrived', 'data'), ...others]),
      strays: ofMessages('lost', 'lost'),
    },
    network: { underWay: () => ofMessages('waiting', 'waits') },
    writes: byTime(
      parts.flatMap(({ writes, later }) => writes.map((each) => ({ ...each, at: each.at + later }))),
    ),
    restarts: byTime(
      parts.flatMap(({ trace, later }) => trace.restarts.map((each) => ({ ...each, at: each.at + later }))),
    ),
    locks: [],
    forgottenUpTo: Math.max(0, ...traces.map(({ forgottenUpTo }) => forgottenUpTo)),
    elapsed: () => end,
  };
}
