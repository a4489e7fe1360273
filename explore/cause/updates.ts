/** Finds out how an update came to be lost: another came between its reading and its writing, or what guarded or held it was lost. */
import type { SentCommand } from '../../lab/account/calls.ts';
import { takerOf } from '../../lab/account/tenures.ts';
import { keptBy } from '../../lab/timeline/record.ts';
import { historyOf } from '../history.ts';
import type { RecordedOperation } from '../operations/operation.ts';
import { secondUpdateIn, updateOf } from '../operations/updates.ts';
import type { PlayedWorld } from '../played-world.ts';
import { isHindered } from './hindrance.ts';
import type { LostUpdate } from './reason.ts';
import { accountOfWorld, micros, type WorldAccount } from './recorded.ts';
import { requestOf } from './request.ts';

/** An update with its requests. Times are in microseconds. */
interface UpdateCalls {
  readonly client: string;
  readonly calls: readonly SentCommand[];
  /** The request that wrote. */
  readonly write: SentCommand;
  readonly readAt: number;
  readonly wroteAt: number;
}

/** How the first lost update of a world was lost; undefined where its requests are not known. */
export function lostUpdateIn(world: PlayedWorld): LostUpdate | undefined {
  const pair = secondUpdateIn(world.operations);
  if (pair === undefined) return undefined;
  const known = accountOfWorld(world);
  const sent = [pair.operation, pair.other].map((each) => sentDuring(each, known));
  const [newer, older] = [pair.operation, pair.other].map((each, i) => callsOf(each, sent[i] ?? []));
  const gone = older === undefined || newer === undefined ? undefined : goneOf(older, newer, known, world);
  if (gone !== undefined) return gone;
  const unread = sent
    .flat()
    .find(({ name, reply }) => name === 'exec' && reply?.text === 'nil' && reply.arrived !== null);
  if (unread !== undefined)
    return { how: 'unread', client: unread.client, request: requestOf(unread), what: 'EXEC' };
  if (older === undefined || newer === undefined) return undefined;
  const watch = newer.calls.find(({ name }) => name === 'watch');
  const isApart = watch !== undefined && watch.connection !== newer.write.connection;
  return {
    ...{ how: isApart ? 'apart' : 'between', client: newer.client, request: requestOf(newer.write) },
    what: `${older.client}'s ${requestOf(older.write).kind}`,
  };
}

/** Commands that may read the value. */
const READS = /get|range|members|score|index/;

function sentDuring({ client, from, to }: RecordedOperation, { account }: WorldAccount): SentCommand[] {
  return account.calls.all.filter(
    (call) => call.client === client && call.sent >= micros(from) && call.sent <= micros(to),
  );
}

/** @returns undefined for an update that wrote nothing */
function callsOf(operation: RecordedOperation, calls: readonly SentCommand[]): UpdateCalls | undefined {
  const [update] = updateOf(operation);
  const writes = calls.filter(({ wrote }) => wrote.size > 0);
  // A release may come after the write.
  const write = writes.findLast(({ words }) => words.includes(update?.wrote ?? '')) ?? writes.at(-1);
  if (write === undefined) return undefined;
  const looks = calls.filter(
    ({ wrote, name, sent }) => wrote.size === 0 && READS.test(name) && sent < write.sent,
  );
  const wroteAt = write.executed ?? write.sent;
  return { client: operation.client, calls, write, wroteAt, readAt: looks.at(-1)?.executed ?? wroteAt };
}

/**
 * What was gone that should have kept the other update out, or that it should have read: a lock that a client had taken before it read,
 * and lost before it wrote; or what the older update had written, before the newer one read.
 */
function goneOf(
  older: UpdateCalls,
  newer: UpdateCalls,
  known: WorldAccount,
  world: PlayedWorld,
): LostUpdate | undefined {
  for (const each of older.readAt <= newer.readAt ? [older, newer] : [newer, older]) {
    const end = endOfLock(each, known);
    if (end !== undefined && !hasHeard(each, end)) return lossOf(end, each.client, world, each.readAt);
  }
  const data = lossBetween(older.write.wrote, older.wroteAt, newer.readAt, known, world);
  return data === undefined ? undefined : lossOf(data, older.client, world);
}

/** How the lock that the client had taken last before it read ended before it wrote, if no client ended it. */
function endOfLock({ client, readAt, wroteAt }: UpdateCalls, { account }: WorldAccount): Gone | undefined {
  const own = account.tenures.filter((each) => each.client === client && each.from <= readAt);
  const [tenure] = own.sort((a, b) => b.from - a.from);
  if (tenure?.end === undefined || tenure.end.at > wroteAt || takerOf(tenure) !== undefined) return undefined;
  const { how, at, cause } = tenure.end;
  if (how === 'expired') return { how, what: tenure.key, at };
  if (how !== 'lost' || (cause?.how !== 'restart' && cause?.how !== 'failover')) return undefined;
  return { how: cause.how, what: cause.node, at };
}

/** What became of a key. */
interface Gone {
  readonly how: 'expired' | 'restart' | 'failover';
  /** The key whose lease ended, or the node that lost it. */
  readonly what: string;
  /** In microseconds. */
  readonly at: number;
}

/** The first of the keys that servers lost or ended between two moments. */
function lossBetween(
  keys: ReadonlySet<string>,
  from: number,
  to: number,
  { run }: WorldAccount,
  world: PlayedWorld,
): Gone | undefined {
  const isWithin = ({ at }: { readonly at: number }): boolean => at >= from && at <= to;
  const ended = run.writes.find(
    (each) =>
      isWithin(each) &&
      each.write.client === undefined &&
      each.write.type === 'none' &&
      keys.has(each.write.key),
  );
  if (ended !== undefined) return { how: 'expired', what: ended.write.key, at: ended.at };
  const isLost = historyOf(world).lost.some(({ command }) => keys.has(command[1] ?? ''));
  const event = run.events.find(
    (each) =>
      isWithin(each) &&
      ((each.what === 'promote' && isLost) ||
        (each.what === 'restart' &&
          [...keys].some((key) => keptBy(run, each.who, each.at)?.has(key) === false))),
  );
  if (event === undefined) return undefined;
  return { how: event.what === 'promote' ? 'failover' : 'restart', what: event.who, at: event.at };
}

/** True when the holder was told that its lock was gone, before it wrote. */
function hasHeard({ calls, wroteAt }: UpdateCalls, { how, what, at }: Gone): boolean {
  return calls.some(
    ({ words, wrote, reply, executed }) =>
      how === 'expired' &&
      words.includes(what) &&
      wrote.size === 0 &&
      (executed ?? 0) > at &&
      (reply?.arrived ?? Infinity) <= wroteAt &&
      /^(?:0|nil)$/.test(reply?.text ?? ''),
  );
}

/** @param readAt when the client read, where what is gone is its lock */
function lossOf({ how, what, at }: Gone, client: string, { plan }: PlayedWorld, readAt = 0): LostUpdate {
  const base = { how, what, client, request: undefined, at: at / 1000 };
  if (how !== 'expired') return base;
  if (at < readAt) return { ...base, avoidable: 'late' };
  return isHindered(plan, client) ? base : { ...base, avoidable: 'short' };
}
