/** Finds what went wrong with requests: those that were executed twice, messages that were late, and errors of servers. */
import type { LockAccount } from '../../lab/account/account.ts';
import { type SentCommand, scriptOf } from '../../lab/account/calls.ts';
import type { ReadMessage } from '../../lab/timeline/connections.ts';
import type { WorldAccount } from './recorded.ts';
import { type CauseRequest, errorOf, kindOf, requestOf } from './request.ts';

/** A request that was executed twice, because the first reply never came. */
export interface SentTwice {
  readonly first: CauseRequest;
  readonly again: CauseRequest;
  /** When the reply to the first was lost, in milliseconds since the clients started. */
  readonly lostAt: number;
}

/** A message that took longer than others. Times are in milliseconds since the clients started. */
export interface LateMessage {
  readonly from: string;
  readonly to: string;
  /** The kind of the request that it was, or answered. */
  readonly what: string;
  readonly sent: number;
  readonly arrived: number;
  /** How much longer than usual it took, in milliseconds. */
  readonly by: number;
  /** True for a reply. */
  readonly isReply: boolean;
}

/** An error that a server answered. */
export interface ServerErrors {
  readonly node: string;
  readonly client: string;
  /** The code, such as NOSCRIPT. */
  readonly code: string;
  /** The first of them, whole. */
  readonly text: string;
  readonly count: number;
  /** When the first and the last one were sent, in milliseconds since the clients started. */
  readonly at: number;
  readonly last: number;
  /** The kind of the request that was answered so first. */
  readonly kind: string;
}

/** How much longer than usual a message takes that is late, in microseconds. */
const LATE = 10_000;

/** The request that this one repeats; undefined if it is no repetition. */
export function repeatedBy(again: SentCommand, { calls }: LockAccount): SentTwice | undefined {
  if (again.executed === null) return undefined;
  // Only the next request with the same words is a repetition. A client that polls for a lock sends the same words many times.
  const first = calls.all.findLast(
    (call) => call.client === again.client && call.sent < again.sent && isSame(call, again),
  );
  if (first === undefined || first.executed === null || (first.reply?.arrived ?? null) !== null)
    return undefined;
  if (first.executed > again.executed || first.wrote.size === 0 || first.node !== again.node)
    return undefined;
  return {
    first: requestOf(first),
    again: requestOf(again),
    lostAt: (first.reply?.sent ?? first.sent) / 1000,
  };
}

/** True for the same request, also where a script is named once by its text and once by its digest. */
function isSame(one: SentCommand, other: SentCommand): boolean {
  const script = scriptOf(one);
  if (script !== scriptOf(other) || (script === undefined && one.name !== other.name)) return false;
  const skip = script === undefined ? 1 : 2;
  return (
    one.words.length === other.words.length &&
    one.words.every((word, i) => i < skip || word === other.words[i])
  );
}

/** Which of these requests, or their replies, came late. */
export function lateOf(calls: readonly SentCommand[], { messages }: WorldAccount): LateMessage[] {
  return calls.flatMap((call): LateMessage[] => {
    const request = messages[call.message];
    const reply = messages[call.reply?.message ?? -1];
    return [
      ...lateMessage(request, kindOf(call), messages, false),
      ...lateMessage(reply, kindOf(call), messages, true),
    ];
  });
}

function lateMessage(
  message: ReadMessage | undefined,
  what: string,
  messages: readonly ReadMessage[],
  isReply: boolean,
): LateMessage[] {
  if (message === undefined || message.arrived === null) return [];
  const { from, to, sent, arrived } = message;
  const by = arrived - sent - usualTravel(messages, from, to);
  if (by < LATE) return [];
  return [{ from, to, what, sent: sent / 1000, arrived: arrived / 1000, by: by / 1000, isReply }];
}

/** How long the quickest message from one party to another travelled, in microseconds. */
function usualTravel(messages: readonly ReadMessage[], from: string, to: string): number {
  let least = Infinity;
  for (const message of messages)
    if (message.from === from && message.to === to && message.arrived !== null)
      least = Math.min(least, message.arrived - message.sent);
  return least;
}

/** What clients say when they connect. Old servers do not know all of it, and clients go on without. */
export const INTRODUCES: ReadonlySet<string> = new Set(['client', 'hello', 'auth', 'info', 'select']);

/** The errors that servers answered up to a moment, each code of each client on each node once. @param until in microseconds */
export function errorsUntil({ account, messages }: WorldAccount, until: number): ServerErrors[] {
  const found = new Map<string, ServerErrors>();
  for (const call of account.calls.all) {
    const { reply, client, node } = call;
    const code = errorOf(call, messages);
    if (code === undefined || reply === undefined || reply.sent > until) continue;
    // Clients of a cluster go where they are sent.
    if (
      INTRODUCES.has(call.name) ||
      code === 'MOVED' ||
      code === 'ASK' ||
      (code === 'NOSCRIPT' && isRunAfterwards(call, account))
    )
      continue;
    const id = `${client} ${node} ${code}`;
    const known = found.get(id);
    const at = reply.sent / 1000;
    const first = known ?? { node, client, code, text: reply.text, at, kind: kindOf(call) };
    found.set(id, { ...first, count: (known?.count ?? 0) + 1, last: at });
  }
  return [...found.values()].sort((a, b) => a.at - b.at);
}

/** True for a script that was not known, and that the client ran afterwards, as clients do: with its text, or after it had loaded it. */
export function isRunAfterwards(call: SentCommand, { calls }: LockAccount): boolean {
  const script = scriptOf(call);
  const later = calls.all.filter(({ client, sent }) => client === call.client && sent > call.sent);
  const loaded = later.find(({ name, words }) => name === 'script' && /^load$/i.test(words[1] ?? ''));
  return later.some(
    (each) =>
      scriptOf(each) === script &&
      (each.name === 'eval' || (loaded !== undefined && each.sent > loaded.sent)),
  );
}
