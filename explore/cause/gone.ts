/** Finds the end of a grant that is no tenure, such as a field or a count, where a server ended its lease. */
import type { RecordedWrite } from '../../lab/timeline/record.ts';
import { type CauseRole, type FreedBy, jumpOf } from './freeing.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import type { WorldAccount } from './recorded.ts';
import { kindOf, requestOf } from './request.ts';

/** The end of what the first holder's request wrote, if no client removed it before; undefined where its key stood. */
export function goneBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
  roleOf: (by: string | undefined) => CauseRole,
): FreedBy | undefined {
  const { run } = known;
  const [from, to] = [grantedAt(older), grantedAt(newer)];
  const [own, next] = [older.call, newer.call];
  const keys = [...(own?.wrote ?? [])].filter((key) => next?.words.includes(key));
  if (own === undefined || keys.length === 0) return undefined;
  const isOwn = ({ write }: RecordedWrite): boolean =>
    write.type === 'none' ||
    (isOfField(write) && write.command.slice(2).some((field) => own.words.includes(field)));
  const removed = run.writes.find(
    (each) => each.at >= from && each.at <= to && keys.includes(each.write.key) && isOwn(each),
  );
  return removed === undefined || removed.write.client !== undefined
    ? undefined
    : endOfLease(removed, from, own.client, known, roleOf);
}

/** What ended a lease that a server ended by itself. @param from when the holder got it */
export function endOfLease(
  { node, at, write: { key } }: RecordedWrite,
  from: number,
  holder: string | undefined,
  { run, account }: WorldAccount,
  roleOf: (by: string | undefined) => CauseRole,
): FreedBy {
  const jump = jumpOf(node, from, at, run);
  const base = {
    at: at / 1000,
    role: 'server',
    by: undefined,
    node,
    request: undefined,
    tenure: undefined,
  } as const;
  if (jump !== undefined) return { ...base, how: 'clock', what: `the clock of ${node} ${jump}` };
  const set = run.writes.filter(
    (each) =>
      each.node === node &&
      each.write.key === key &&
      each.at <= at &&
      each.at >= from &&
      SETS_END.test(each.write.command[0] ?? ''),
  );
  const last = set.at(-1);
  const call = last === undefined ? undefined : account.calls.causeOf(last);
  const isShorter = set.some(({ write }) => Number(write.command[2]) > Number(last?.write.command[2]));
  if (call === undefined || call.client === holder || !isShorter)
    return { ...base, how: 'expired', what: 'its lease was over' };
  const { client: by } = call;
  return { ...base, how: 'shortened', role: roleOf(by), by, what: kindOf(call), request: requestOf(call) };
}

/** How a change of a key's end enters the replication stream. */
const SETS_END = /^pexpireat$/i;

/** True for the end of a field of a hash that has a lease of its own: the server removes it. */
export function isOfField({ client, command: [name = ''] }: RecordedWrite['write']): boolean {
  return client === undefined && /^hdel$/i.test(name);
}
