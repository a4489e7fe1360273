/** Finds a write that a server refused and that its client did not repeat, where something stays closed and nothing else explains it. */
import { PROBE } from '../visit.ts';
import { ASKS } from './left.ts';
import type { UnmarkedEnd } from './reason.ts';
import type { WorldAccount } from './recorded.ts';
import { errorOf, requestOf } from './request.ts';

/** The last write that a server refused with a passing error and that its client did not send again; undefined without one. */
export function neglectedIn({ account, messages }: WorldAccount, until: number): UnmarkedEnd | undefined {
  const { all } = account.calls;
  const refused = all.findLast((call) => {
    const error = errorOf(call, messages);
    if (error === undefined || !PASSING.test(error) || call.client === PROBE || call.sent > until)
      return false;
    if (ASKS.test(call.name) && !WRITES.test(call.name)) return false;
    const text = call.words.join(' ');
    // A client that asks again and again neglects nothing.
    return !all.some(
      (each) =>
        each.client === call.client &&
        each.sent > call.sent &&
        each.words.join(' ') === text &&
        !PASSING.test(errorOf(each, messages) ?? ''),
    );
  });
  return refused === undefined
    ? undefined
    : { request: requestOf(refused), error: errorOf(refused, messages) };
}

/** Of the commands that ask for a lock, those that write. */
const WRITES = /^(?:set|setnx|hsetnx|p?expire)$/;

/** The codes of errors that pass. */
const PASSING =
  /^(?:OOM|MISCONF|READONLY|BUSY|EXECABORT|NOREPLICAS|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN)$/;
