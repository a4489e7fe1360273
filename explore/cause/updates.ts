/** Finds out how an update came to be lost: another came between its reading and its writing, or the servers lost it. */
import type { SentCommand } from '../../lab/account/calls.ts';
import { keptBy } from '../../lab/timeline/record.ts';
import { historyOf } from '../history.ts';
import type { RecordedOperation } from '../operations/operation.ts';
import { secondUpdateIn } from '../operations/updates.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { LostUpdate } from './reason.ts';
import { accountOfWorld, micros } from './recorded.ts';
import { requestOf } from './request.ts';

/** How the first lost update of a world was lost; undefined where its requests are not known. */
export function lostUpdateIn(world: PlayedWorld): LostUpdate | undefined {
  const pair = secondUpdateIn(world.operations);
  if (pair === undefined) return undefined;
  const { operation, other } = pair;
  const { account, run } = accountOfWorld(world);
  const callsOf = ({ client, from, to }: RecordedOperation): SentCommand[] =>
    account.calls.all.filter(
      (call) => call.client === client && call.sent >= micros(from) && call.sent <= micros(to),
    );
  const [older, newer] = [callsOf(other), callsOf(operation)];
  const readAt = newer.find(({ wrote, reply }) => wrote.size === 0 && reply !== undefined)?.executed ?? 0;
  const loss = run.events.find(
    ({ what, who, at }) =>
      at >= micros(other.from) &&
      at <= readAt &&
      ((what === 'promote' && historyOf(world).lost.length > 0) ||
        (what === 'restart' && keptBy(run, who, at)?.size === 0)),
  );
  const wrote = new Set(older.flatMap((call) => [...call.wrote]));
  const ended = run.writes.find(
    ({ at, write }) =>
      at >= micros(other.from) &&
      at <= readAt &&
      write.client === undefined &&
      write.type === 'none' &&
      wrote.has(write.key),
  );
  if (ended !== undefined)
    return {
      ...{ how: 'lost', client: other.client, request: undefined },
      what: `the end of ${ended.write.key}, whose lease was over,`,
    };
  if (loss !== undefined)
    return {
      ...{ how: 'lost', client: other.client, request: undefined },
      what: `the ${loss.what === 'promote' ? 'failover to' : 'restart of'} ${loss.who}`,
    };
  const unread = [...newer, ...older].find(
    ({ name, reply }) => name === 'exec' && reply?.text === 'nil' && reply.arrived !== null,
  );
  if (unread !== undefined)
    return { how: 'unread', client: unread.client, request: requestOf(unread), what: 'EXEC' };
  const [first, last] = [older, newer].map((calls) => calls.findLast(({ wrote }) => wrote.size > 0));
  if (first === undefined || last === undefined) return undefined;
  const request = requestOf(last);
  const watch = newer.find(({ name }) => name === 'watch');
  if (watch !== undefined && watch.connection !== last.connection)
    return { how: 'apart', client: last.client, request, what: request.kind };
  return { how: 'between', client: last.client, request, what: `${first.client}'s ${requestOf(first).kind}` };
}
