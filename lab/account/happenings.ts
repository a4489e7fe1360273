/** What happened to the data of the nodes, in order: writes, and everything that replaces a node's data by other data. */
import type { ReadMessage } from '../timeline/connections.ts';
import type { RecordedRun, RecordedWrite } from '../timeline/record.ts';
import type { Calls, SentCommand } from './calls.ts';

/** Something that changes what a node knows. Times are in microseconds since the run began. */
export type Happening = { readonly at: number; readonly node: string } & (
  | { readonly kind: 'write'; readonly write: RecordedWrite }
  | { readonly kind: 'flush'; readonly call: SentCommand }
  | { readonly kind: 'crash' }
  /** It has the data of another node, and follows it. */
  | { readonly kind: 'synchronized'; readonly primary: string }
  /** A new process. @property kept the holders by their keys; undefined when it is not known what it still has */
  | { readonly kind: 'restart'; readonly kept: ReadonlyMap<string, string> | undefined }
  /** It becomes the primary. @property offset the replication offset that it has reached; undefined when unknown */
  | { readonly kind: 'promote'; readonly offset: number | undefined }
  /** It follows another node from now on; undefined when it is not known which. */
  | { readonly kind: 'follow'; readonly primary: string | undefined }
  | { readonly kind: 'clock'; readonly text: string }
);

const FLUSH = /^flush(?:all|db)$/;
const OF_EVENTS = ['crash', 'restart', 'promote', 'promoted', 'follow', 'clock'];

/** Everything that happened to the data, in the order of time. Of what happened at the same instant, writes come first. */
export function happeningsOf(
  run: RecordedRun,
  messages: readonly ReadMessage[],
  calls: Calls,
): readonly Happening[] {
  const all: Happening[] = [
    ...run.writes.map((write): Happening => ({ at: write.at, node: write.node, kind: 'write', write })),
    ...calls.all.flatMap((call): Happening[] => {
      const isDone = call.executed !== null && call.reply !== undefined && /^ok/i.test(call.reply.text);
      return FLUSH.test(call.name) && isDone && call.executed !== null
        ? [{ at: call.executed, node: call.node, kind: 'flush', call }]
        : [];
    }),
    ...eventsIn(run, messages),
    ...ordersIn(run, messages),
  ];
  const order = [...all.entries()].sort(([i, a], [k, b]) => a.at - b.at || i - k);
  return order.map(([, each]) => each);
}

function eventsIn({ events, restarts = [] }: RecordedRun, messages: readonly ReadMessage[]): Happening[] {
  const kept = [...restarts];
  return events.flatMap(({ at, who, what, detail }): Happening[] => {
    if (who.includes('>') || !OF_EVENTS.includes(what)) return [];
    if (what === 'crash') return [{ at, node: who, kind: 'crash' }];
    if (what === 'follow') return [{ at, node: who, kind: 'follow', primary: detail || undefined }];
    if (what === 'clock') return [{ at, node: who, kind: 'clock', text: detail }];
    // A cluster's nodes elect one of them, and say no offset.
    if (what === 'promoted')
      return [{ at, node: who, kind: 'promote', offset: reachedBy(who, at, messages) }];
    if (what === 'promote') {
      const [, offset] = /offset (\d+)/.exec(detail) ?? [];
      return [{ at, node: who, kind: 'promote', offset: offset === undefined ? undefined : Number(offset) }];
    }
    const found = kept.findIndex((each) => each.node === who && each.at >= at);
    const [own] = found === -1 ? [] : kept.splice(found, 1);
    return [{ at, node: who, kind: 'restart', kept: own?.kept }];
  });
}

/** How far a node had got in its primary's stream; undefined when it received none. */
function reachedBy(node: string, at: number, messages: readonly ReadMessage[]): number | undefined {
  let reached: number | undefined;
  for (const { kind, to, arrived, offsets, text } of messages) {
    if (to !== node || arrived === null || arrived > at) continue;
    const [, copied] = /^full copy, offset (\d+)/.exec(text) ?? [];
    if (copied !== undefined) reached = Number(copied);
    else if (kind === 'stream' && offsets !== undefined) reached = Math.max(reached ?? 0, offsets[1]);
  }
  return reached;
}

/** What Sentinels and operators told nodes, and when replicas were in step. */
function ordersIn({ lanes }: RecordedRun, messages: readonly ReadMessage[]): Happening[] {
  const nodes = new Set(lanes.filter(({ kind }) => kind === 'node').map(({ name }) => name));
  /** How far each node has got in the stream. */
  const offsets = new Map<string, number>();
  const arrivals = [...messages].filter(({ arrived }) => arrived !== null);
  arrivals.sort((a, b) => (a.arrived ?? 0) - (b.arrived ?? 0));
  return arrivals.flatMap(({ kind, from, to, arrived, text, asks = [], offsets: range }): Happening[] => {
    const at = arrived as number;
    if (!nodes.has(to)) return [];
    const copied = /^(?:full copy, offset (\d+)|CONTINUE)/.exec(text);
    if ((kind === 'service' || kind === 'stream') && copied !== null && nodes.has(from)) {
      if (copied[1] !== undefined) offsets.set(to, Number(copied[1]));
      return [{ at, node: to, kind: 'synchronized', primary: from }];
    }
    if (kind === 'stream' && range !== undefined) offsets.set(to, range[1]);
    return asks.flatMap(({ words: [name = '', host = '', port = ''] }): Happening[] => {
      if (kind === 'stream' || !/^(?:slaveof|replicaof)$/i.test(name)) return [];
      const isPromotion = /^no$/i.test(host) && /^one$/i.test(port);
      if (isPromotion) return [{ at, node: to, kind: 'promote', offset: offsets.get(to) }];
      return [{ at, node: to, kind: 'follow', primary: undefined }];
    });
  });
}
