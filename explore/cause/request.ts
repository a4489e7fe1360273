/** A request of a client as causes and stories tell it. */
import { isScript, type SentCommand, scriptKeys, scriptOf } from '../../lab/account/calls.ts';
import type { ReadMessage } from '../../lab/timeline/connections.ts';
import { beginning, readable } from '../../page/text.ts';

/** A request. Times are in milliseconds since the clients started. */
export interface CauseRequest {
  readonly client: string;
  /** The nodes that it was sent to; several where a lock needs the majority of independent primaries. */
  readonly nodes: readonly string[];
  /** What kind of request it is: a command, such as `SET NX`, or a script with the beginning of its digest. */
  readonly kind: string;
  /** The request itself, shortened. */
  readonly text: string;
  readonly sent: number;
  /** When the server executed it; null when it never did. */
  readonly executed: number | null;
  /** When the client had the reply; null when it never did. */
  readonly answered: number | null;
  /** The reply, shortened; undefined when there is none. */
  readonly reply: string | undefined;
  /** What the account knows of it. */
  readonly call: SentCommand;
}

/** How many digits of a script's digest tell it from others. */
const DIGITS = 8;
/** The longest key, the longest other word, and the longest request that are shown. */
const [KEY, WORD, LONGEST] = [48, 24, 100];

/** Words of commands that say what they do, where others are keys and values. */
const FLAGS = /^(?:nx|xx|get|ifeq|ifne|ifdeq|ifdne|lt|gt)$/i;

/** The kind of a request, without keys, values and times. */
export function kindOf(call: Pick<SentCommand, 'name' | 'words'>): string {
  const script = scriptOf(call);
  if (script !== undefined)
    return script.startsWith('function ') ? script : `script ${script.slice(0, DIGITS)}`;
  const { name, words } = call;
  const flags = name === 'set' ? words.slice(3).filter((word) => FLAGS.test(word)) : [];
  return [name, ...flags].join(' ').toUpperCase();
}

/** The request as text, on one line. */
export function textOf(call: Pick<SentCommand, 'name' | 'words'>): string {
  const { name, words } = call;
  const { keys, args } = isScript(call) ? scriptKeys(call) : { keys: [], args: words.slice(1) };
  const script = isScript(call) ? (scriptOf(call)?.slice(0, DIGITS) ?? '') : undefined;
  // The first word is the key, by which a reader knows what it is about.
  const shown = [...keys, ...args].map((word, i) => {
    const text = readable(word);
    return text.length > (i === 0 ? KEY : WORD) ? `${beginning(text, i === 0 ? KEY - 3 : 10)}...` : text;
  });
  const head = script === undefined ? name.toUpperCase() : `${name.toUpperCase()} ${script}`;
  const line = [head, ...shown].join(' ');
  return line.length > LONGEST ? `${beginning(line, LONGEST - 3)}...` : line;
}

/** A request as the account knows it. @param nodes by default the one that it was sent to */
export function requestOf(call: SentCommand, nodes: readonly string[] = [call.node]): CauseRequest {
  const { client, sent, executed, reply } = call;
  const text = reply === undefined ? undefined : readable(reply.text);
  return {
    ...{ client, nodes, kind: kindOf(call), text: textOf(call), sent: sent / 1000, call },
    executed: executed === null ? null : executed / 1000,
    answered: reply?.arrived == null ? null : reply.arrived / 1000,
    reply: text !== undefined && text.length > LONGEST ? `${beginning(text, LONGEST - 3)}...` : text,
  };
}

/** The code of an error reply, such as OOM; undefined for another reply, and without one. */
export function errorOf({ reply }: SentCommand, messages: readonly ReadMessage[]): string | undefined {
  const code = /^[A-Z][A-Z0-9]+(?= \S)/.exec(reply?.text ?? '')?.[0];
  const isError = code !== undefined && messages[reply?.message ?? -1]?.bytes.includes(`-${code} `) === true;
  return isError ? code : undefined;
}

/** The elements of a reply, which may be one or a list of them. */
export function elementsIn(text: string): string[] {
  return text.replace(/^\[|\]$/g, '').split(', ');
}

/** Commands that take a lock by counting a number from nothing to 1. */
export const COUNTS = /^incr(?:by)?$/i;
/** Commands that take an element out of a list or a set. */
export const POPS = /^(?:b?lmove|b?rpoplpush|b?[lr]pop|b?zpopm(?:in|ax)|spop)$/i;
