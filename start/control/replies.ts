/** Adds to each request in the log the server's reply, and the commands that its script called. */
import { asciiLower, type Bytes, type Millis } from '../../protocol/bytes.ts';
import { quoted } from '../../protocol/inline.ts';
import {
  BigNumber,
  Double,
  MapReply,
  NullArray,
  PairsReply,
  PushReply,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  Verbatim,
} from '../../protocol/reply.ts';
import type { ReplyWatcher } from '../../server/figures/observer.ts';
import type { Caller } from '../../server/server.ts';
import { decodeText } from '../text.ts';
import type { InterceptedRequest, RecordedCall, RecordedRequest } from './recording.ts';

/** How many calls of a script are kept. */
const CALLS = 50;
/** How much of a reply is kept, in characters, and how many elements of each array. */
const LONGEST = 120;
const ELEMENTS = 10;

/** A request whose reply may still come. */
interface OpenRequest extends RecordedRequest {
  reply: string | undefined;
  readonly calls: RecordedCall[];
}

/** The last request of each client, until the server has replied to it. */
export class Replies implements ReplyWatcher {
  readonly #open = new WeakMap<Caller, OpenRequest>();

  /** A client has sent a request. @returns its entry in the log, which its reply will complete */
  open(client: Caller, request: InterceptedRequest, at: Millis): RecordedRequest {
    const entry: OpenRequest = { ...request, at, reply: undefined, calls: [] };
    this.#open.set(client, entry);
    return entry;
  }

  answered(client: Caller, reply: Reply): void {
    const entry = this.#open.get(client);
    if (entry === undefined || reply instanceof PushReply) return;
    this.#open.delete(client);
    if (!client.muted) entry.reply = shortText(reply);
  }

  called(client: Caller | undefined, [name = '', ...args]: readonly Bytes[], reply: Reply): void {
    const calls = client === undefined ? undefined : this.#open.get(client)?.calls;
    if (calls === undefined || calls.length >= CALLS) return;
    calls.push({ command: asciiLower(name), args: args.map(decodeText), reply: shortText(reply) });
  }
}

/** A reply as redis-cli prints it, on one line. */
function shortText(reply: Reply): string {
  const text = textOf(reply);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}...` : text;
}

function textOf(reply: Reply): string {
  if (reply === null || reply instanceof NullArray) return '(nil)';
  if (typeof reply === 'string') return bulkText(reply);
  if (typeof reply === 'number' || typeof reply === 'bigint') return `(integer) ${reply}`;
  if (typeof reply === 'boolean') return `(${reply})`;
  if (reply instanceof SimpleString) return String(decodeText(reply.text));
  if (reply instanceof ReplyError) return `(error) ${decodeText(reply.text)}`;
  if (reply instanceof Double) return `(double) ${reply.text ?? reply.value}`;
  if (reply instanceof BigNumber) return `(big number) ${reply.digits}`;
  if (reply instanceof Verbatim) return bulkText(reply.text);
  const items = isWrapped(reply) ? reply.items : (reply as readonly Reply[]);
  const shown = items.slice(0, ELEMENTS).map(textOf);
  return `[${[...shown, ...(items.length > ELEMENTS ? [`${items.length - ELEMENTS} more`] : [])].join(', ')}]`;
}

function isWrapped(reply: object): reply is MapReply | SetReply | PairsReply | PushReply {
  return [MapReply, SetReply, PairsReply, PushReply].some((each) => reply instanceof each);
}

/** Text in quotes, unchanged; bytes that are no text, or not printable, are escaped. */
function bulkText(bytes: Bytes): string {
  const text = decodeText(bytes.slice(0, LONGEST));
  return typeof text === 'string' && !/[\x00-\x1f"\\\x7f]/.test(text)
    ? `"${text}"`
    : quoted(bytes.slice(0, LONGEST));
}
