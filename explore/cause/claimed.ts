/** Finds out how work came to be done twice: an entry of a stream that was claimed, and an end of work that nobody noted. */
import type { SentCommand } from '../../lab/account/calls.ts';
import type { RecordedWrite } from '../../lab/timeline/record.ts';
import { dueOf } from './due.ts';
import { type FreedBy, jumpOf } from './freed.ts';
import { type GrantedVisit, grantedAt } from './grants.ts';
import type { UnmarkedEnd } from './reason.ts';
import { micros, type WorldAccount } from './recorded.ts';
import { errorOf, POPS, requestOf } from './request.ts';

/** The commands that give an entry of a stream to a consumer. */
const GIVES = /^x(?:readgroup|claim|autoclaim)$/;
/** Commands that only look, or that keep a connection going. */
const LOOKS =
  /^(?:[hmz]?m?get|hgetall|exists|p?ttl|watch|unwatch|ping|type|[hsxl]len|[sz]card|x?range|xpending|x(?:read|autoclaim|claim).*)$/;

/** The second holder got the entry of a stream that the first one had; undefined for work of another kind. */
export function claimBetween(older: GrantedVisit, newer: GrantedVisit): FreedBy | undefined {
  const [given, again] = [older.call, newer.call];
  if (given === undefined || again === undefined) return undefined;
  const entry = entriesOf(again).find((id) => entriesOf(given).includes(id));
  if (entry === undefined || keyOf(given) !== keyOf(again)) return undefined;
  return {
    ...{ how: 'claimed', at: grantedAt(newer) / 1000, role: 'second holder', by: again.client },
    ...{ node: again.node, what: entry, request: requestOf(again), tenure: undefined },
  };
}

/** The end of the first holder's time for the work that both took; undefined if they took other work, or took it otherwise. */
export function dueBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
): FreedBy | undefined {
  for (const { element, write, deadline } of dueOf(older.call, known)) {
    const again = dueOf(newer.call, known).find(
      (each) =>
        each.element === element &&
        each.write.write.key === write.write.key &&
        each.write.node === write.node,
    );
    if (again === undefined || again.write.write.at < deadline) continue;
    const { node } = write;
    const jump = jumpOf(node, write.at, again.write.at, known.run);
    const end = write.at / 1000 + deadline - write.write.at;
    return {
      ...{ role: 'server', by: undefined, node, request: undefined, tenure: undefined },
      ...{
        how: jump === undefined ? 'expired' : 'clock',
        at: jump === undefined ? end : grantedAt(newer) / 1000,
      },
      what: jump === undefined ? 'its lease was over' : `the clock of ${node} ${jump}`,
    };
  }
  return undefined;
}

/** The commands of the replication stream that put an element in. */
const PUTS = /^(?:[lr]pushx?|linsert|zadd|sadd)$/i;

/**
 * The request that put work into the queue again after the first holder had taken it, so that the second holder took it too. Undefined
 * if the two took different work, or if it was put there only once.
 */
export function putAgain(older: GrantedVisit, newer: GrantedVisit, known: WorldAccount): FreedBy | undefined {
  const { run, account } = known;
  const taken = [older, newer].flatMap((each) => takenBefore(each, account.calls.all) ?? []);
  // A client that waits for an element is answered long after its request.
  const [first, second] = taken.sort((a, b) => (a.reply?.sent ?? 0) - (b.reply?.sent ?? 0));
  if (first === undefined || second === undefined || first === second) return undefined;
  const element = elementOf(first);
  const [, key = ''] = second.words;
  if (element === undefined || element !== elementOf(second) || first.words[1] !== key) return undefined;
  const puts = run.writes.filter(
    ({ at, write }) =>
      at <= (second.reply?.sent ?? 0) &&
      write.command[1] === key &&
      write.command.includes(element) &&
      PUTS.test(write.command[0] ?? ''),
  );
  const last = puts.at(-1);
  if (last === undefined || puts.length < 2) return undefined;
  return putBy(last, element, older, newer, known);
}

/** The request behind a write that put an element in once more. */
function putBy(
  write: RecordedWrite,
  element: string,
  older: GrantedVisit,
  newer: GrantedVisit,
  { account }: WorldAccount,
): FreedBy | undefined {
  const call = account.calls.causeOf(write);
  const by = write.write.client;
  if (call === undefined || by === undefined) return undefined;
  const role =
    by === older.visit.client ? 'first holder' : by === newer.visit.client ? 'second holder' : 'third party';
  return {
    ...{ how: 'put again', at: write.at / 1000, role, by, node: write.node, what: element },
    ...{ request: requestOf(call), tenure: undefined },
  };
}

/**
 * The request that put a second token into a list or a set with one, from which both holders took one: its client had none to give back.
 * Undefined where the elements are work, or where nobody did so.
 */
export function secondToken(
  older: GrantedVisit,
  newer: GrantedVisit,
  known: WorldAccount,
): FreedBy | undefined {
  const { run, account } = known;
  const [first, second] = [older, newer].map((each) => takenBefore(each, account.calls.all));
  const key = second?.words[1] ?? '';
  const element = second === undefined ? undefined : elementOf(second);
  if (first?.words[1] !== key || element === undefined) return undefined;
  const own = run.writes.filter(({ at, write }) => write.key === key && at <= grantedAt(newer));
  const isPut = ({ write }: RecordedWrite): boolean => PUTS.test(write.command[0] ?? '');
  if (own.some((each) => isPut(each) && each.write.command[2] !== element)) return undefined;
  const having = new Set<string | undefined>();
  let last: RecordedWrite | undefined;
  for (const each of own) {
    const { client } = each.write;
    if (!isPut(each)) having.add(client);
    else if (!having.delete(client) && each !== own[0]) last = each;
  }
  return last === undefined ? undefined : putBy(last, element, older, newer, known);
}

/** The channel on which a message told both to do the work; undefined if a request gave the work to one of them. */
export function toldToAll(
  older: GrantedVisit,
  newer: GrantedVisit,
  { account }: WorldAccount,
): FreedBy | undefined {
  const isGiven = ({ call }: GrantedVisit): boolean => call !== undefined && !/publish$/.test(call.name);
  if (older.visit.client === newer.visit.client || isGiven(older) || isGiven(newer)) return undefined;
  const [first, second] = [older, newer].map(({ visit }) =>
    account.calls.all.filter(
      ({ client, name, sent }) =>
        client === visit.client && /^[ps]?subscribe$/.test(name) && sent < micros(visit.from),
    ),
  );
  const channel = first
    ?.flatMap(({ words }) => words.slice(1))
    .find((each) => second?.some(({ words }) => words.slice(1).includes(each)));
  if (channel === undefined) return undefined;
  return {
    ...{ how: 'told to all', at: newer.visit.from, role: 'server', what: channel, by: undefined },
    ...{ node: undefined, request: undefined, tenure: undefined },
  };
}

/** The request by which the visitor took its work from a queue. */
function takenBefore({ visit }: GrantedVisit, all: readonly SentCommand[]): SentCommand | undefined {
  const [since, until] = [micros(visit.askedAfter), micros(visit.from)];
  return all.findLast(
    ({ client, name, reply }) =>
      client === visit.client &&
      POPS.test(name) &&
      reply?.arrived != null &&
      reply.arrived >= since &&
      reply.arrived <= until,
  );
}

/** The element that a request took. BLPOP answers with the key before it, ZPOPMIN with the score behind it. */
function elementOf({ name, reply }: SentCommand): string | undefined {
  const text = reply?.text ?? 'nil';
  if (text === 'nil' || text === '[]') return undefined;
  const parts = text.replace(/^\[|\]$/g, '').split(', ');
  return /^b(?:z|[lr]pop)/.test(name) ? parts[1] : parts[0];
}

/** The ids of the entries that a reply gives to a consumer. */
function entriesOf({ name, reply }: SentCommand): string[] {
  if (!GIVES.test(name)) return [];
  // XAUTOCLAIM begins with where its next scan begins.
  const text = (reply?.text ?? '').replace(name === 'xautoclaim' ? /^\[\d+-\d+, / : /^$/, '');
  return [...text.matchAll(/(?<=^|\[)(\d+-\d+)\b/g)].map(([, id = '']) => id);
}

/** The stream that a request is about. */
function keyOf({ name, words }: SentCommand): string | undefined {
  return name === 'xreadgroup' ? words[words.findIndex((word) => /^streams$/i.test(word)) + 1] : words[1];
}

/**
 * The first request of the first holder after its last act that a server refused or never had, unless it was repeated with success before
 * the lock was given back or another got the work: it would have said that the work is done.
 */
export function unmarkedEnd(
  first: GrantedVisit | undefined,
  { how, at, request }: FreedBy,
  { account, messages }: WorldAccount,
): UnmarkedEnd | undefined {
  if (first === undefined) return undefined;
  const { client, from, to, writes } = first.visit;
  const keys = new Set(first.tenures.map(({ key }) => key));
  const until = micros(how === 'released' && request !== undefined ? request.sent : at);
  const acted = micros(writes.at(-1)?.at ?? Math.max(from, Number.isFinite(to) ? to : from));
  const own = account.calls.all.filter(
    (call) =>
      call.client === client &&
      call.sent >= acted &&
      call.sent <= until &&
      !LOOKS.test(call.name) &&
      !call.words.some((word) => keys.has(word)),
  );
  const [end] = own;
  if (end === undefined || end.wrote.size > 0) return undefined;
  const error = errorOf(end, messages);
  if (error === undefined && end.executed !== null) return undefined;
  const text = end.words.join(' ');
  if (own.some(({ wrote, words }) => wrote.size > 0 && words.join(' ') === text)) return undefined;
  return { request: requestOf(end), error };
}
