/** Finds what let clients enter a resource: the request of each visit, and the tenures that it began. */
import type { LockAccount } from '../../lab/account/account.ts';
import type { SentCommand } from '../../lab/account/calls.ts';
import type { VisitEntry } from '../../lab/account/entries.ts';
import { keyId, setsCounter } from '../../lab/account/recognition.ts';
import type { Tenure } from '../../lab/account/tenures.ts';
import type { PlayedWorld } from '../played-world.ts';
import type { Visit } from '../visit.ts';
import { dueOf } from './due.ts';
import { accountOfWorld, accountWith, micros, type WorldAccount } from './recorded.ts';
import { COUNTS } from './request.ts';

/** A visit, with what let its client enter. */
export interface GrantedVisit {
  readonly visit: Visit;
  /** The request whose reply let the client enter; undefined when there was none. */
  readonly call: SentCommand | undefined;
  /** The tenures behind the visit, one for each node; empty when the client had none. */
  readonly tenures: readonly Tenure[];
}

/** The visits with their grants, in the order of the grants, and the account in which they are told. */
export interface Granted {
  readonly known: WorldAccount;
  readonly visits: readonly GrantedVisit[];
}

/** What let the clients of these visits enter. */
export function grantedVisits(world: PlayedWorld, visits: readonly Visit[]): Granted {
  const first = accountOfWorld(world);
  const found = inAccount(first, world, visits);
  if (visits.length === 0 || found.every(({ tenures }) => tenures.length > 0))
    return { known: first, visits: found };
  // Some other command than those that tell a lock lets clients enter: its keys are locks here.
  const isPool = visits.some(({ resource }) => world.pools?.has(resource) === true);
  const keys = new Set(
    found.flatMap(({ call, tenures }) => (tenures.length > 0 ? [] : keysOf(call, first, isPool))),
  );
  if (keys.size === 0) return { known: first, visits: found };
  const second = accountWith(first.run, [...keys]);
  const better = inAccount(second, world, visits);
  return better.some(({ tenures }) => tenures.length > 0)
    ? { known: second, visits: better }
    : { known: first, visits: found };
}

/** Commands whose values are no tokens: numbers, and elements that go from hand to hand. */
const NO_TOKENS = /^(?:incr|decr|l|r|bl|br|s|z|x)(?!et)/;
/** Of these, the command that takes one of many permits by its rank. */
const RANKS = /^zadd$/;

/** The keys that a request names, or the requests of its transaction, and that clients write. @param isPool for one of many permits */
function keysOf(call: SentCommand | undefined, known: WorldAccount, isPool: boolean): string[] {
  const { run, account } = known;
  if (call === undefined || (NO_TOKENS.test(call.name) && !(isPool ? RANKS : COUNTS).test(call.name)))
    return [];
  if (call.name === 'exec') return queuedBefore(call, known).flatMap((each) => keysOf(each, known, isPool));
  const names = run.writes.filter((each) => {
    if (!call.words.includes(each.write.key) || each.write.db !== call.db) return false;
    // The count of taken permits does not name their holders.
    if (isPool && COUNTS.test(each.write.command[0] ?? '')) return false;
    const by = account.calls.causeOf(each);
    return by === undefined || !setsCounter(each.write, by);
  });
  return [...new Set(names.map(({ write }) => keyId(write)))];
}

/** The requests of a transaction. */
function queuedBefore(exec: SentCommand, { account }: WorldAccount): SentCommand[] {
  const own = account.calls.all.filter(
    ({ client, connection, sent }) =>
      client === exec.client && connection === exec.connection && sent <= exec.sent,
  );
  const end = own.lastIndexOf(exec);
  return own.slice(own.findLastIndex(({ name }, i) => i < end && name === 'multi') + 1, end);
}

function inAccount(known: WorldAccount, world: PlayedWorld, visits: readonly Visit[]): GrantedVisit[] {
  const { account } = known;
  const all = visits.map((visit) => {
    const entry = account.entries[world.visits.indexOf(visit)];
    return { visit, entry, own: tenuresBehind(account, visit, entry) };
  });
  const lock = commonLock(all);
  const found = all.map(({ visit, entry, own }): GrantedVisit => {
    // The work that a queue gave is the client's, whatever else it has of the queue's key.
    if (dueOf(entry?.grant, known).length > 0) return { visit, call: entry?.grant, tenures: [] };
    const tenures = newestOfEach(own.filter((each) => lock === undefined || each.lock === lock));
    const last = tenures.at(-1);
    // What gave the client the lock matters more than what it asked for afterwards.
    return { visit, call: last?.call ?? entry?.grant, tenures };
  });
  // A server executes requests one after the other, also when they arrive in one microsecond.
  // A visit without a tenure has no place: the order of the visits decides.
  const places = new Map(account.tenures.map((tenure, i) => [tenure, i]));
  const placeOf = ({ tenures }: GrantedVisit): number => places.get(tenures.at(-1) as Tenure) ?? Number.NaN;
  return found.sort(
    (a, b) => grantedAt(a) - grantedAt(b) || placeOf(a) - placeOf(b) || a.visit.id - b.visit.id,
  );
}

/** When the servers granted it; for a visit without a grant, when the client entered. In microseconds. */
export function grantedAt({ tenures, call, visit }: GrantedVisit): number {
  // A client that waits for an element is served long after its request.
  const served = call !== undefined && /^b[lrz]/.test(call.name) ? call.reply?.sent : call?.executed;
  return tenures.at(-1)?.from ?? served ?? micros(visit.from);
}

/** The tenures of the visit's client that it can have entered by: those since it last left, else older ones. */
function tenuresBehind(account: LockAccount, visit: Visit, entry: VisitEntry | undefined): Tenure[] {
  const [since, until] = [micros(visit.askedAfter), micros(visit.from)];
  const own = account.tenures.filter(
    ({ client, from, restored }) => client === visit.client && from <= until && !restored,
  );
  const recent = own.filter(({ from, told }) => Math.max(from, told ?? 0) >= since);
  if (recent.length > 0) return recent;
  const older = entry?.tenure ?? own.at(-1);
  return older === undefined ? [] : own.filter(({ lock }) => lock === older.lock);
}

/** The lock that all the visits were for; undefined when there is none. Of several, the one of the first visit's entry. */
function commonLock(
  all: readonly { readonly entry: VisitEntry | undefined; readonly own: readonly Tenure[] }[],
): string | undefined {
  const [first, ...others] = all;
  const locks = [...new Set((first?.own ?? []).map(({ lock }) => lock))].filter((lock) =>
    others.every(({ own }) => own.some((each) => each.lock === lock)),
  );
  return locks.find((lock) => first?.entry?.tenure?.lock === lock) ?? locks.at(-1);
}

/** The newest tenure on each node, in the order of the grants. */
function newestOfEach(tenures: readonly Tenure[]): Tenure[] {
  const found = new Map<string, Tenure>();
  for (const tenure of tenures) found.set(tenure.node, tenure);
  const all = [...found.values()].sort((a, b) => a.from - b.from);
  const last = all.at(-1);
  // The votes of one attempt belong together; what an earlier one got elsewhere does not.
  return last === undefined ? [] : all.filter(({ holder }) => holder === last.holder);
}
