/** Finds out how work came to be done twice: a stream or a message gave it to two clients, or nobody noted that it was done. */
import type { SentCommand } from '../../lab/account/calls.ts';
import type { FreedBy } from './freeing.ts';
import type { GrantedVisit } from './grants.ts';
import type { UnmarkedEnd } from './reason.ts';
import { micros, type WorldAccount } from './recorded.ts';
import { errorOf, requestOf } from './request.ts';

/** The commands that give an entry of a stream to a consumer. */
const GIVES = /^x(?:readgroup|claim|autoclaim)$/;
/** Commands that only look, or that keep a connection going. */
const LOOKS =
  /^(?:[hmz]?m?get|hgetall|exists|p?ttl|watch|unwatch|ping|type|[hsxl]len|[sz]card|x?range|xpending|x(?:read|autoclaim|claim).*)$/;

/** The second holder got the entry of a stream that the first one had; undefined for work of another kind. */
export function claimBetween(
  older: GrantedVisit,
  newer: GrantedVisit,
  { account }: WorldAccount,
): FreedBy | undefined {
  // A consumer that has claimed an entry may ask for new ones before it begins.
  const given = ({ visit, call }: GrantedVisit): SentCommand[] =>
    account.calls.all.filter(
      (each) =>
        each === call ||
        (each.client === visit.client &&
          GIVES.test(each.name) &&
          each.reply?.arrived != null &&
          each.reply.arrived >= micros(visit.askedAfter) &&
          each.reply.arrived <= micros(visit.from)),
    );
  const first = given(older);
  for (const again of given(newer).reverse()) {
    const entry = entriesOf(again).find((id) =>
      first.some((each) => keyOf(each) === keyOf(again) && entriesOf(each).includes(id)),
    );
    if (entry !== undefined)
      return {
        ...{ how: 'claimed', at: (again.executed ?? 0) / 1000, role: 'second holder', by: again.client },
        ...{ node: again.node, what: entry, request: requestOf(again), tenure: undefined },
      };
  }
  return undefined;
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
