/** Finds a permit that was given back although its client had none of those that are counted. */
import { keptBy, type RecordedWrite } from '../../lab/timeline/record.ts';
import type { CauseRole, FreedBy } from './freeing.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import type { WorldAccount } from './recorded.ts';
import { kindOf, requestOf } from './request.ts';

/**
 * The last request that gave back a permit which its client did not have: it gave back one twice, or the count had begun anew. Undefined
 * for permits that are not counted by a number, and where nobody did so.
 */
export function surplusBefore(
  older: GrantedVisit,
  newer: GrantedVisit,
  { run, account }: WorldAccount,
  roleOf: (by: string | undefined) => CauseRole,
): FreedBy | undefined {
  const [key] = [...(older.call?.wrote ?? [])].filter((each) => newer.call?.wrote.has(each) === true);
  const own = run.writes.filter(({ at, write }) => write.key === key && at <= grantedAt(newer));
  const grant = own.find((each) => account.calls.causeOf(each) === older.call && stepOf(each) !== 0);
  if (grant === undefined) return undefined;
  let surplus: RecordedWrite | undefined;
  let taken = new Map<string | undefined, number>();
  // The first count sets how many permits there are.
  let isBegun = false;
  let last = 0;
  for (const each of own) {
    const { at, write } = each;
    const step = stepOf(each) * stepOf(grant);
    const isNew = write.type === 'none' || /^set/i.test(write.command[0] ?? '') || isLost(key, last, at, run);
    if (isNew) taken = new Map();
    const had = taken.get(write.client) ?? 0;
    if (step > 0 || (step < 0 && had > 0)) taken.set(write.client, had + step);
    else if (step < 0 && isBegun) surplus = each;
    isBegun = write.type !== 'none';
    last = at;
  }
  const call = surplus === undefined ? undefined : account.calls.causeOf(surplus);
  if (surplus === undefined || call === undefined) return undefined;
  const { client: by } = call;
  return {
    ...{ how: 'changed', at: surplus.at / 1000, role: roleOf(by), by, node: surplus.node },
    ...{ what: kindOf(call), request: requestOf(call), tenure: undefined },
  };
}

/** True if a node came back without the key between two moments. */
function isLost(key: string | undefined, from: number, to: number, run: WorldAccount['run']): boolean {
  return run.events.some(
    ({ what, who, at }) =>
      what === 'restart' && at > from && at <= to && keptBy(run, who, at)?.has(key ?? '') === false,
  );
}

/** How a request counts: up or down; 0 for what counts nothing. */
function stepOf({ write: { command } }: RecordedWrite): number {
  const [name = '', , by = '1'] = command;
  const step = /^incr(?:by)?$/i.test(name) ? 1 : /^decr(?:by)?$/i.test(name) ? -1 : 0;
  return step * Math.sign(Number(by));
}
