/** Reads from the writes and replies of a run which client believes to hold which lock, and for how long. */
import type { TimelineHold } from '../../page/format.ts';
import type { ReadMessage } from './connections.ts';
import type { RecordedRun, RecordedWrite } from './record.ts';

/** A node's grant. */
interface Vote {
  readonly told: number;
  /** When the lease ends by the client's count. */
  readonly lease: number;
}

/** A lock of a client, while it is followed. */
interface FollowedLock {
  readonly client: string;
  readonly key: string;
  readonly votes: Map<string, Vote>;
  hold: { -readonly [K in keyof TimelineHold]: TimelineHold[K] } | undefined;
  renewals: number[];
}

/** The messages of a run by what is asked of them. */
interface Mail {
  /** The request that the node executed for the client at this moment. */
  requestOf(write: RecordedWrite): number | undefined;
  /** The reply to a request, when it has arrived. */
  replyTo(request: number): number | undefined;
}

/** When the command ends the key, in milliseconds since the epoch; Infinity for a lock without an end; undefined if it says neither. */
function deadlineOf(command: readonly string[], asked: readonly (readonly string[])[]): number | undefined {
  const name = (command[0] ?? '').toLowerCase();
  const pxat = command.findIndex((word) => /^pxat$/i.test(word));
  if (name === 'set' && pxat !== -1) return Number(command[pxat + 1]);
  if (name === 'pexpireat') return Number(command[2]);
  const once = asked.some(
    (words) => /^setnx$/i.test(words[0] ?? '') || words.some((word) => /^nx$/i.test(word)),
  );
  return once && /^set/.test(name) ? Infinity : undefined;
}

/** True for a command that changes when a key ends, and not what it holds. */
function isExpiryOf(command: readonly string[]): boolean {
  return /^p?expire(at)?$/i.test(command[0] ?? '');
}

/** The keys that are used as locks: a holder with a deadline, or one that is only written when there is none. */
export function lockKeys(run: RecordedRun, messages: readonly ReadMessage[]): Set<string> {
  const mail = mailOf(messages, run.clock);
  const keys = new Set<string>();
  for (const each of run.writes) {
    const { key, holder, command, client } = each.write;
    if (holder === undefined || holder === 'mode' || client === undefined) continue;
    const request = mail.requestOf(each);
    const asked = (messages[request ?? -1]?.asks ?? []).map(({ words }) => words);
    if (deadlineOf(command, asked) !== undefined) keys.add(key);
  }
  return keys;
}

/** Every time in which a client believed that it held a lock, in the order in which they began. */
export function holdsOf(
  run: RecordedRun,
  messages: readonly ReadMessage[],
  keys: ReadonlySet<string>,
): TimelineHold[] {
  const mail = mailOf(messages, run.clock);
  const majority = (run.primaries >> 1) + 1;
  const claims = new Map<string, FollowedLock>();
  /** The client that wrote each holder. */
  const setters = new Map<string, string>();
  const holds: TimelineHold[] = [];
  const finish = (claim: FollowedLock, to: number, ended: NonNullable<TimelineHold['ended']>): void => {
    if (claim.hold === undefined) return;
    const lease = claim.hold.lease ?? Infinity;
    const expired = lease <= to;
    const end = expired ? lease : to;
    if (end > claim.hold.from)
      holds.push({ ...claim.hold, renewals: claim.renewals, to: end, ended: expired ? 'expired' : ended });
    claim.hold = undefined;
    claim.renewals = [];
  };
  const deaths = run.events.filter(({ what }) => what === 'kill');
  const bury = (upTo: number): void => {
    for (let death = deaths[0]; death !== undefined && death.at <= upTo; death = deaths[0]) {
      deaths.shift();
      for (const claim of claims.values()) if (claim.client === death.who) finish(claim, death.at, 'died');
    }
  };
  for (const each of run.writes) {
    bury(each.at);
    const { key, client, type, command, holder } = each.write;
    if (client === undefined || !keys.has(key)) continue;
    if (isExpiryOf(command)) {
      // Locks that wait for replicas write another's deadline again before they refuse.
      if ((setters.get(`${key} ${holder}`) ?? client) !== client) continue;
    } else if (holder !== undefined) setters.set(`${key} ${holder}`, client);
    const name = `${client} ${key}`;
    let claim = claims.get(name);
    if (claim === undefined)
      claims.set(name, (claim = { client, key, votes: new Map(), hold: undefined, renewals: [] }));
    const node = run.primaries > 1 ? each.node : '';
    const request = mail.requestOf(each);
    const sent = messages[request ?? -1]?.sent ?? each.at;
    if (type === 'none') {
      claim.votes.delete(node);
      if (claim.votes.size < majority) finish(claim, sent, 'released');
      continue;
    }
    const asked = (messages[request ?? -1]?.asks ?? []).map(({ words }) => words);
    const deadline = holder === undefined || type === 'none' ? undefined : deadlineOf(command, asked);
    const reply = mail.replyTo(request ?? -1);
    if (deadline === undefined || reply === undefined) continue;
    const told = messages[reply]?.arrived ?? each.at;
    claim.votes.set(node, { told, lease: sent + (deadline - each.write.at) * 1000 });
    extend(claim, majority, told, reply, finish);
  }
  bury(Infinity);
  for (const claim of claims.values()) {
    const { hold } = claim;
    if (hold === undefined) continue;
    if (hold.lease !== null && hold.lease <= run.end) finish(claim, hold.lease, 'expired');
    else holds.push({ ...hold, renewals: claim.renewals });
  }
  return holds.sort((a, b) => a.from - b.from);
}

/** A vote has come in: the lock begins with the majority, and lasts while a majority of the leases does. */
function extend(
  claim: FollowedLock,
  majority: number,
  told: number,
  grant: number,
  finish: (claim: FollowedLock, to: number, ended: 'expired') => void,
): void {
  const { votes, client, key } = claim;
  if (votes.size < majority) return;
  const leases = [...votes.values()].map(({ lease }) => lease).sort((a, b) => b - a);
  const end = leases[majority - 1] as number;
  const lease = Number.isFinite(end) ? end : null;
  if (claim.hold !== undefined && (claim.hold.lease ?? Infinity) < told) finish(claim, told, 'expired');
  if (claim.hold !== undefined) {
    if (votes.size === 1 || lease !== claim.hold.lease) claim.renewals.push(told);
    claim.hold.lease = lease;
    return;
  }
  claim.hold = { client, key, kind: 'lock', from: told, to: null, lease, renewals: [], grant };
}

/** Indexes the messages of a run. */
function mailOf(messages: readonly ReadMessage[], clock: RecordedRun['clock']): Mail {
  const requests = new Map<string, number[]>();
  /** All requests from one party to another, in the order in which they were sent. */
  const between = new Map<string, number[]>();
  const replies = new Map<number, number>();
  for (const [i, { kind, from, to, arrived, cause }] of messages.entries()) {
    if (arrived === null) continue;
    if (kind === 'request') {
      const name = `${from} ${to} ${arrived}`;
      requests.set(name, [...(requests.get(name) ?? []), i]);
      const way = between.get(`${from} ${to}`);
      if (way === undefined) between.set(`${from} ${to}`, [i]);
      else way.push(i);
    }
    if (kind === 'reply' && cause !== undefined) replies.set(cause, i);
  }
  return {
    requestOf: ({ at, node, write }) => {
      const names = (i: number): boolean =>
        messages[i]?.asks?.some(({ words }) => words.includes(write.key)) === true;
      const found = requests.get(`${write.client} ${node} ${at}`) ?? [];
      if (found.length > 0 || clock === 'virtual') return found.find(names) ?? found.at(-1);
      // In real time, a node executes a request a little after it has arrived.
      return between
        .get(`${write.client} ${node}`)
        ?.findLast((i) => (messages[i]?.arrived ?? Infinity) <= at && names(i));
    },
    replyTo: (request) => replies.get(request),
  };
}
