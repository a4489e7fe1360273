/** Finds the requests for a lock that were not granted, by SET NX and its relatives and by scripts. */
import { type Calls, isScript, type SentCommand, scriptKeys, scriptOf } from './calls.ts';
import type { LockWrite } from './lock-write.ts';
import { lockName } from './pools.ts';
import type { Recognition } from './recognition.ts';
import type { Tenure } from './tenures.ts';

/** A request that was not granted. Times are in microseconds since the run began. */
export interface LockRefusal {
  readonly lock: string;
  readonly client: string;
  readonly node: string;
  /** When the node executed the request. */
  readonly at: number;
  /** When the client learned of it; null when it did not. */
  readonly told: number | null;
  readonly call: SentCommand;
  /** The tenure that was in the way, where it is known. */
  readonly because: Tenure | undefined;
}

/** The refusals, in the order of time. */
export function refusalsOf(
  calls: Calls,
  recognition: Recognition,
  writes: readonly LockWrite[],
  tenures: readonly Tenure[],
): LockRefusal[] {
  const byLock = new Map<string, Tenure[]>();
  for (const tenure of tenures) {
    const list = byLock.get(tenure.lock);
    if (list === undefined) byLock.set(tenure.lock, [tenure]);
    else list.push(tenure);
  }
  const refusal = (lock: string, call: SentCommand): LockRefusal => {
    const at = call.executed as number;
    const because = byLock
      .get(lock)
      ?.findLast(
        ({ from, end, call: own }) => from <= at && own !== call && (end === undefined || end.at >= at),
      );
    return {
      lock,
      client: call.client,
      node: call.node,
      at,
      told: call.reply?.arrived ?? null,
      call,
      because,
    };
  };
  const found = new Map<SentCommand, LockRefusal>();
  for (const lock of byLock.keys())
    for (const { call, granted } of recognition.attemptsOn(lock))
      if (!granted && call.executed !== null && !isScript(call)) found.set(call, refusal(lock, call));
  for (const [call, lock] of scriptRefusals(calls, writes, tenures)) found.set(call, refusal(lock, call));
  return [...found.values()].sort((a, b) => a.at - b.at);
}

/** The runs of scripts that grant locks in which they granted nothing. */
function scriptRefusals(
  calls: Calls,
  writes: readonly LockWrite[],
  tenures: readonly Tenure[],
): Map<SentCommand, string> {
  /** What each script that grants a lock answers when it does. */
  const grants = new Map<string, Set<string>>();
  const locks = new Map<string, string>();
  for (const { call, key, lock } of tenures) {
    if (call === undefined || !isScript(call)) continue;
    const script = scriptOf(call) ?? '';
    const replies = grants.get(script) ?? new Set();
    grants.set(script, replies);
    if (call.reply !== undefined) replies.add(call.reply.text);
    locks.set(key, lock);
    locks.set(lock, lock);
    for (const each of scriptKeys(call).keys) if (lockName(each) === lock) locks.set(each, lock);
  }
  const wrote = new Set(writes.map(({ call }) => call));
  const found = new Map<SentCommand, string>();
  for (const call of calls.all) {
    const replies = isScript(call) ? grants.get(scriptOf(call) ?? '') : undefined;
    if (replies === undefined || wrote.has(call) || call.executed === null) continue;
    if (/^(?:NOSCRIPT|ERR|READONLY|BUSY|OOM|MOVED)\b/.test(call.reply?.text ?? '')) continue;
    const key = scriptKeys(call).keys.find((each) => locks.has(each));
    const lock = locks.get(key ?? '');
    // The reply of a grant to a request that wrote nothing says that the client has the lock already.
    const hasIt = replies.size > 0 ? replies.has(call.reply?.text ?? '') : call.reply?.text === 'nil';
    if (lock !== undefined && !hasIt) found.set(call, lock);
  }
  return found;
}
