/** Finds the lock that nobody gave back, and the acknowledged write that is gone. */
import type { LockAccount } from '../../lab/account/account.ts';
import type { SentCommand } from '../../lab/account/calls.ts';
import { setsCounter } from '../../lab/account/recognition.ts';
import type { Tenure } from '../../lab/account/tenures.ts';
import type { ReadMessage } from '../../lab/timeline/connections.ts';
import type { RecordedWrite } from '../../lab/timeline/record.ts';
import { historyOf } from '../history.ts';
import type { PlayedWorld } from '../played-world.ts';
import { PROBE } from '../visit.ts';
import { firstInLine } from './lines.ts';
import type { WorldAccount } from './recorded.ts';
import { type CauseRequest, COUNTS, errorOf, kindOf, POPS, requestOf } from './request.ts';
import { repeatedBy } from './trouble.ts';

/** A lock that nobody gave back. */
export interface LeftLock {
  readonly lock: string;
  readonly client: string;
  readonly grant: CauseRequest | undefined;
  /** The last request of its client that could have given it back; undefined when there is none. */
  readonly release: CauseRequest | undefined;
  /** Why it is still there, as the rest of a sentence that begins with its client. */
  readonly why: string;
  /** True for a lock without a lease. */
  readonly endless: boolean;
  /** The request that took its lease away; undefined when none did. */
  readonly bared: CauseRequest | undefined;
  /** True when other clients have renewed its lease. */
  readonly renewedByOthers: boolean;
  /** True when its client goes on to renew it. */
  readonly isRenewed: boolean;
  /** Locks whose clients wait for each other, this one first; undefined when its client does not wait for a lock of such a client. */
  readonly cycle: readonly Tenure[] | undefined;
  /** True for a place in a line of clients. */
  readonly isPlace: boolean;
  /** The tenure; undefined for what is no lock that the account knows, such as a counter. */
  readonly tenure: Tenure | undefined;
}

/** An acknowledged write that a failover or a restart has lost. */
export interface LostWrite {
  readonly client: string | undefined;
  readonly node: string;
  readonly key: string;
  /** The command. */
  readonly command: readonly string[];
  /** What lost it: a failover or a restart. */
  readonly by: 'failover' | 'restart';
}

/** The lock that keeps clients out at a moment: the oldest that stands. @param until in microseconds */
export function leftIn(known: WorldAccount, until: number): LeftLock | undefined {
  const { account, run, messages } = known;
  const standing = account.tenures.filter(
    ({ client, from, end }) => client !== PROBE && from <= until && (end === undefined || end.at > until),
  );
  const poppedFrom = poppedIn(known, until);
  const cycle = cycleIn(standing, known, until);
  const [tenure] = poppedFrom === undefined ? (cycle ?? standing) : [];
  const line = tenure === undefined ? firstInLine(known, until) : undefined;
  const place =
    line === undefined
      ? undefined
      : { ...line, lock: line.key, client: line.call.client, told: line.call.reply?.arrived ?? null };
  const taken: Taken | undefined =
    tenure ?? poppedFrom ?? place ?? countedIn(known, until) ?? takenIn(known, until);
  if (taken === undefined) return undefined;
  const { lock, key, client, call, from, told } = taken;
  const renewals = new Set(
    tenure?.renewals.flatMap(({ at, by }) => (by === client && at <= until ? [at] : [])),
  );
  const own = account.calls.all.filter((each) => each.client === client);
  const renewing = new Set(own.flatMap((each) => (renewals.has(each.executed ?? -1) ? [kindOf(each)] : [])));
  const release = own.findLast(
    (each) =>
      each.sent > (told ?? from) &&
      each !== call &&
      each.words.includes(key) &&
      !ASKS.test(each.name) &&
      !renewing.has(kindOf(each)) &&
      each.name !== call?.name,
  );
  const lastRenewal = Math.max(...renewals);
  const isRenewed =
    release === undefined && until - lastRenewal < (tenure?.lease ?? 0) * 1000 && tenure?.restored === false;
  const endless = tenure === undefined ? taken.isLeased !== true : tenure.deadline === undefined;
  const died = run.events.some(
    ({ what, who, at }) => what === 'kill' && who === client && at >= from && at <= until,
  );
  const waits = cycle === undefined ? undefined : waitsText(cycle);
  const why =
    waits ?? taken.why ?? whyLeft(taken, release, died, messages) ?? refusedSince(taken, known, until);
  return {
    ...{ lock, client, endless, tenure, isRenewed, cycle, isPlace: taken === place },
    why:
      isRenewed && !died && waits === undefined
        ? 'renews it and never gives it back'
        : (why ?? 'never gave it back'),
    renewedByOthers: tenure?.renewals.some(({ by }) => by !== client) === true,
    bared: tenure?.bared === undefined ? undefined : requestOf(tenure.bared),
    grant: call === undefined ? undefined : requestOf(call),
    release: release === undefined ? undefined : requestOf(release),
  };
}

/** Tenures whose clients wait for each other, each for the lock of the next one, and the last for that of the first. */
function cycleIn(
  standing: readonly Tenure[],
  { account, run }: WorldAccount,
  until: number,
): Tenure[] | undefined {
  const nextOf = ({ client, from }: Tenure): Tenure | undefined => {
    if (
      run.events.some(({ what, who, at }) => what === 'kill' && who === client && at >= from && at <= until)
    )
      return undefined;
    // A client waits for the lock that it asked for last.
    const last = account.calls.all.findLast(
      (call) => call.client === client && call.sent <= until && !RENEWS.test(call.name),
    );
    const refused = account.refusals.findLast(({ call }) => call === last);
    return refused === undefined || refused.at < from
      ? undefined
      : standing.find((each) => each.lock === refused.lock && each.client !== client);
  };
  for (const first of standing) {
    const path = [first];
    for (
      let next = nextOf(first);
      next !== undefined && path.length <= standing.length;
      next = nextOf(next)
    ) {
      if (next === first) return rotated(path);
      path.push(next);
    }
  }
  return undefined;
}

/** The same cycle with the same beginning, whichever lock it was found by. */
function rotated(path: readonly Tenure[]): Tenure[] {
  const [least] = path.map(({ lock }) => lock).sort();
  const at = path.findIndex(({ lock }) => lock === least);
  return [...path.slice(at), ...path.slice(0, at)];
}

/** Commands that a client sends for the locks that it has, while it waits for another. */
const RENEWS = /^(?:eval|evalsha|fcall|p?expire)$/;

function waitsText(cycle: readonly Tenure[]): string {
  const all = cycle.map(({ client }, i) => {
    const next = cycle[(i + 1) % cycle.length];
    return `${i === 0 ? '' : `${client} `}waits for ${next?.lock}, which ${next?.client} has`;
  });
  return all.join(', and ');
}

/** Of a request that only looked: the last one of its client before it that changed something, by which the client stood in line. */
function takingBefore(grant: SentCommand, all: readonly SentCommand[]): SentCommand | undefined {
  if (grant.wrote.size > 0 || !ASKS.test(grant.name)) return undefined;
  return all.findLast(
    ({ client, sent, wrote }) => client === grant.client && sent < grant.sent && wrote.size > 0,
  );
}

type Taken = Pick<Tenure, 'lock' | 'key' | 'client' | 'call' | 'from' | 'told'> &
  Partial<Tenure> & { readonly isLeased?: boolean; readonly isTwice?: boolean; readonly why?: string };

function whyLeft(
  { told, restored }: Taken,
  release: SentCommand | undefined,
  died: boolean,
  messages: readonly ReadMessage[],
): string | undefined {
  if (restored === true) return 'gave it back, but a failover brought it back';
  if (died) return 'died while it had it';
  if (told === null) return 'never learned that it has it';
  if (release === undefined) return undefined;
  const error = errorOf(release, messages);
  if (error !== undefined) return `was answered ${error} when it gave it back`;
  return release.executed === null
    ? 'sent a release that never arrived'
    : 'sent a release that did not free it';
}

/** The error that answered the client's last request: it may have been a release under another key. Undefined without an error. */
function refusedSince(
  { client, told, from }: Taken,
  { account, messages }: WorldAccount,
  until: number,
): string | undefined {
  const since = account.calls.all.filter(
    (each) =>
      each.client === client && each.sent > (told ?? from) && each.sent <= until && !ASKS.test(each.name),
  );
  const last = since.at(-1);
  const error = last === undefined ? undefined : errorOf(last, messages);
  return last === undefined || error === undefined
    ? undefined
    : `was answered ${error} to its ${kindOf(last)}`;
}

/** The grant of the client that took the last element out of the list or set on which the newcomer waits. */
function poppedIn({ account, run }: WorldAccount, until: number): Taken | undefined {
  const asked = account.calls.all.findLast(({ client, sent }) => client === PROBE && sent <= until);
  if (asked === undefined || !POPS.test(asked.name) || asked.wrote.size > 0) return undefined;
  const last = run.writes.findLast(
    ({ at, write }) => at <= until && write.client !== PROBE && asked.words.includes(write.key),
  );
  if (last === undefined || !POPS.test(last.write.command[0] ?? '')) return undefined;
  return takenBy(last, account);
}

/** For a lock that is taken by counting up: the grant of the client that counted it to 1, if nobody has set a lease since. */
function countedIn({ account, run }: WorldAccount, until: number): Taken | undefined {
  const asked = account.calls.all.filter(
    ({ client, name, sent }) => client === PROBE && sent <= until && COUNTS.test(name),
  );
  const [key] = asked.map(({ words }) => words[1] ?? '');
  const own = run.writes.filter(({ at, write }) => at <= until && write.key === key);
  const begun = own.findLastIndex(({ write }) => COUNTS.test(write.command[0] ?? '') && write.holder === '1');
  const first = own[begun];
  if (first === undefined || first.write.client === PROBE) return undefined;
  const leak = leakedIn(own, account);
  if (leak !== undefined) return leak;
  const isOver = own
    .slice(begun)
    .some(({ write: { type, command } }) => type === 'none' || /^pexpireat$/i.test(command[0] ?? ''));
  return isOver ? undefined : takenBy(first, account);
}

/** The last count of a client that has counted a counter up again and again, and has hardly counted it down: its refusals count. */
function leakedIn(own: readonly RecordedWrite[], account: LockAccount): Taken | undefined {
  const counts = new Map<string, number>();
  for (const each of own) {
    const { client = PROBE, name = '' } = account.calls.causeOf(each) ?? {};
    const step = COUNTS.test(name) ? 1 : /^decr/.test(name) ? -1 : 0;
    counts.set(client, (counts.get(client) ?? 0) + step);
  }
  counts.delete(PROBE);
  const [most, surplus = 0] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? [];
  const last = own.findLast(({ write }) => write.client === most && COUNTS.test(write.command[0] ?? ''));
  const taken = last === undefined || surplus < MANY ? undefined : takenBy(last, account);
  return taken === undefined ? undefined : { ...taken, why: REFUSED };
}

/** How often a client must have counted up more than down, so that it was not a request that was sent again. */
const MANY = 4;

/** What a client does whose refusals count. */
export const REFUSED = 'counts itself when it is refused, and does not take that back';

function takenBy(write: RecordedWrite, { calls }: LockAccount): Taken | undefined {
  const call = calls.causeOf(write);
  const { key } = write.write;
  return call === undefined
    ? undefined
    : { lock: key, key, client: call.client, call, from: write.at, told: call.reply?.arrived ?? null };
}

/** Of keys that are no locks, such as counters: the last request that took, and was followed by no other write of its client. */
function takenIn({ account, run }: WorldAccount, until: number): Taken | undefined {
  const unanswered = account.calls.all.filter(
    ({ wrote, reply }) => wrote.size > 0 && (reply?.arrived ?? null) === null,
  );
  const grants = account.entries.flatMap(({ grant }) =>
    grant === undefined ? [] : (takingBefore(grant, account.calls.all) ?? grant),
  );
  const ofDead = run.events.flatMap(({ what, who, at }) =>
    what === 'kill'
      ? (account.calls.all.findLast(
          ({ client, sent, wrote }) => client === who && sent < at && wrote.size > 0,
        ) ?? [])
      : [],
  );
  const takings = [grants, unanswered, ofDead].find((calls) => calls.length > 0) ?? [];
  const kinds = new Set(takings.map(kindOf));
  // Of these it is known when they ended, also by what servers have lost.
  const locks = new Set(account.tenures.map(({ key }) => key));
  const open = new Map<string, Taken>();
  // A lock or place that a restart has lost keeps nobody out.
  const forgetLost = (now: number): void => {
    for (const { at, kept } of run.restarts ?? [])
      for (const [name, { key, from }] of open)
        if (from < at && at <= now && !kept.has(key)) open.delete(name);
  };
  for (const each of run.writes) {
    const { write, at } = each;
    forgetLost(Math.min(at, until));
    const call = account.calls.causeOf(each);
    if (at > until || call?.client === PROBE || locks.has(write.key)) continue;
    if (call !== undefined && setsCounter(write, call)) continue;
    if (call === undefined) {
      // A lease that has ended keeps nobody out.
      if (write.client === undefined && write.type === 'none')
        for (const [name, { key }] of open) if (key === write.key) open.delete(name);
      continue;
    }
    const { client, reply } = call;
    const name = `${client} ${write.key}`;
    const told = reply?.arrived ?? null;
    if (kinds.has(kindOf(call)))
      open.set(name, {
        ...{ lock: write.key, key: write.key, client, call, from: at, told },
        isLeased: write.command.some((word) => /^pxat$/i.test(word)),
        isTwice: repeatedBy(call, account) !== undefined,
      });
    else if (open.get(name)?.isTwice === true && write.type !== 'none')
      // What was taken twice, and given back once.
      open.set(name, { ...(open.get(name) as Taken), isTwice: false });
    else open.delete(name);
  }
  forgetLost(until);
  return [...open.values()].sort((a, b) => a.from - b.from)[0];
}

/** Commands that ask for a lock or only look. */
export const ASKS =
  /^(?:set|setnx|hsetnx|m?get|hget(?:all)?|exists|p?ttl|type|watch|p?expire|l(?:index|range|len|pos)|z(?:score|rank|range\w*|card|count)|s(?:card|ismember|members)|h(?:len|keys|exists)|xlen)$/;

/** The first acknowledged write that was lost. */
export function lostIn(world: PlayedWorld, { run }: WorldAccount): LostWrite | undefined {
  const [write] = historyOf(world).lost;
  if (write === undefined) return undefined;
  const { client, node, command } = write;
  const isFailover = run.events.some(({ what }) => what === 'promote');
  return { client, node, command, key: command[1] ?? '', by: isFailover ? 'failover' : 'restart' };
}
