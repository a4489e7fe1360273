/** Turns the recorded bytes of a run's connections into messages: what they are, their offsets, and what caused them. */
import type { MessageKind, TimelineMessage } from '../../page/format.ts';
import { busMessagesIn, isOfBus } from './bus.ts';
import { commandsIn, type Part, repliesIn, textOf } from './bytes-as-text.ts';

/** The bytes of one write to a connection, as the lab records them. Times are in microseconds since the run began. */
export interface RecordedMessage {
  /**
   * The sender and the receiver, the one that dialled with its port, or on the real clock the number of the connection:
   * `A:50000>redis-1`.
   */
  readonly who: string;
  readonly detail: string;
  readonly sent: number;
  readonly due: number;
  /** When it arrived or was lost. */
  readonly at: number;
  readonly outcome: 'arrived' | 'lost' | 'waiting';
  readonly why?: string;
}

/** Commands by which clients and nodes introduce themselves and look after their connections. */
const SERVICE =
  /^(hello|auth|client|info|ping|select|command|replconf|psync|sync|readonly|role|quit|sentinel|publish|subscribe|psubscribe|lab|readwrite|asking)$/i;
/** CLUSTER SLOTS and its like, by which clients look for the node of a key. */
const CLUSTER_MAP = /^(slots|nodes|shards|info|myid)$/i;

function isService([name = '', sub = '']: readonly string[]): boolean {
  return SERVICE.test(name) || (/^cluster$/i.test(name) && CLUSTER_MAP.test(sub));
}

/** One reply, with the command that it answers. */
export interface ReplyPart {
  /** The index of the message that has the command. */
  readonly request: number;
  /** Which of its commands. */
  readonly part: number;
  readonly text: string;
}

/** A message while it is put together. */
interface Draft extends Omit<TimelineMessage, 'cause'> {
  cause?: number;
  readonly asks?: readonly Part[];
  readonly answers?: readonly ReplyPart[];
}

/** Both directions of one connection, from the end that dialled. */
class ReadConnection {
  /** Commands that have no reply yet: the index of the message, which of its commands, and whether they are service. */
  readonly open: { readonly index: number; readonly part: number; readonly service: boolean }[] = [];
  #asked = '';
  #told = '';
  /** 'psync' once the far end was asked for its replication stream; 'stream' once it flows. */
  #mode: 'requests' | 'psync' | 'stream' = 'requests';
  #offset = 0;
  #requested = 0;

  /** What the end that dialled sends. */
  ask(bytes: string, index: number): Pick<Draft, 'kind' | 'text' | 'offsets' | 'asks'> {
    this.#asked += bytes;
    if (isOfBus(this.#asked)) {
      const { text, end } = busMessagesIn(this.#asked);
      this.#asked = this.#asked.slice(end);
      return { kind: 'service', text };
    }
    const parts = commandsIn(this.#asked);
    this.#asked = this.#asked.slice(parts.at(-1)?.end ?? 0);
    const last = parts.at(-1)?.words ?? [];
    if (/^replconf$/i.test(last[0] ?? '') && /^ack$/i.test(last[1] ?? '')) {
      const offset = Number(last[2]);
      return { kind: 'ack', text: textOf(parts), offsets: [offset, offset] };
    }
    for (const [part, { words }] of parts.entries()) {
      if (/^psync$/i.test(words[0] ?? '')) {
        this.#mode = 'psync';
        this.#requested = Number(words[2]);
      } else this.open.push({ index, part, service: isService(words) });
    }
    const service = parts.length > 0 && parts.every(({ words }) => isService(words));
    return {
      kind: service ? 'service' : 'request',
      text: textOf(parts) || '(part of a request)',
      asks: parts,
    };
  }

  /** What comes back. */
  tell(
    bytes: string,
    /** Whether the node had the message of this index when it sent these bytes. */
    hadBy: (index: number) => boolean,
  ): Pick<Draft, 'kind' | 'text' | 'offsets' | 'cause' | 'asks' | 'answers'> {
    this.#told += bytes;
    if (this.#mode === 'psync') return this.#synchronize();
    if (this.#mode === 'stream') return this.#stream(bytes.length);
    if (isOfBus(this.#told)) {
      const { text, end } = busMessagesIn(this.#told);
      this.#told = this.#told.slice(end);
      return { kind: 'service', text };
    }
    const parts = repliesIn(this.#told);
    this.#told = this.#told.slice(parts.at(-1)?.end ?? 0);
    let kind: MessageKind = 'service';
    let cause: number | undefined;
    const answers: ReplyPart[] = [];
    for (const { words } of parts) {
      if (words[0] === 'push') continue;
      const [head] = this.open;
      // The request of a reply may be older than the record.
      if (head === undefined || !hadBy(head.index)) continue;
      const request = this.open.shift() ?? head;
      answers.push({ request: request.index, part: request.part, text: words[0] ?? '' });
      if (!request.service || cause === undefined) cause = request.index;
      if (!request.service) kind = 'reply';
    }
    const text = textOf(parts) || '(part of a reply)';
    return { kind, text, ...(cause !== undefined && { cause }), ...(answers.length > 0 && { answers }) };
  }

  #synchronize(): Pick<Draft, 'kind' | 'text' | 'offsets'> {
    const full = /\+FULLRESYNC \S+ (\d+)\r\n/.exec(this.#told);
    const partial = /\+CONTINUE[^\r\n]*\r\n/.exec(this.#told);
    if (partial !== null && full === null) return this.#begin(this.#requested - 1, partial, 'CONTINUE');
    if (full === null) return { kind: 'service', text: textOf(repliesIn(this.#told)) || '(replication)' };
    const size = /^\n*\$(\d+)\r\n/.exec(this.#told.slice(full.index + full[0].length));
    const end = size === null ? Infinity : full.index + full[0].length + size[0].length + Number(size[1]);
    if (this.#told.length < end) return { kind: 'service', text: `full copy from offset ${full[1]}` };
    return this.#begin(
      Number(full[1]),
      { index: 0, 0: this.#told.slice(0, end) },
      `full copy, offset ${full[1]}`,
    );
  }

  #begin(
    offset: number,
    head: { readonly index: number; readonly 0: string },
    text: string,
  ): Pick<Draft, 'kind' | 'text' | 'offsets'> {
    this.#mode = 'stream';
    this.#offset = offset;
    this.#told = this.#told.slice(head.index + head[0].length);
    if (this.#told === '') return { kind: 'service', text };
    const rest = this.#stream(this.#told.length);
    return { ...rest, text: `${text}; ${rest.text}` };
  }

  #stream(length: number): Pick<Draft, 'kind' | 'text' | 'offsets' | 'asks'> {
    const parts = commandsIn(this.#told);
    this.#told = this.#told.slice(parts.at(-1)?.end ?? 0);
    const offsets = [this.#offset, this.#offset + length] as const;
    this.#offset += length;
    const service = parts.length > 0 && parts.every(({ words }) => isService(words));
    return {
      kind: service ? 'service' : 'stream',
      text: textOf(parts) || '(part of the stream)',
      offsets,
      asks: parts,
    };
  }
}

/** A message with the commands in it. */
export interface ReadMessage extends TimelineMessage {
  /** The commands of a request or of a part of the stream. */
  readonly asks?: readonly Part[];
  /** The replies in it. */
  readonly answers?: readonly ReplyPart[];
}

/** The messages in the order in which they were sent. */
export function readMessages(recorded: readonly RecordedMessage[]): ReadMessage[] {
  const order = [...recorded.entries()].sort(([i, a], [k, b]) => a.sent - b.sent || i - k);
  const connections = new Map<string, ReadConnection>();
  const arrivals = new Map<string, number[]>();
  const drafts: Draft[] = [];
  for (const [, { who, detail, sent, due, at, outcome, why }] of order) {
    const [from = '', to = ''] = who.split('>');
    const forward = from.includes(':');
    const [dialler, port = ''] = splitName(forward ? from : to);
    const name = forward ? `${from}>${to}` : `${to}>${from}`;
    let connection = connections.get(name);
    if (connection === undefined) connections.set(name, (connection = new ReadConnection()));
    const index = drafts.length;
    const read = forward
      ? connection.ask(detail, index)
      : connection.tell(detail, (i) => (drafts[i]?.arrived ?? Infinity) <= sent);
    const draft: Draft = {
      from: forward ? dialler : from,
      to: forward ? to : dialler,
      port,
      sent,
      due,
      arrived: outcome === 'arrived' ? at : null,
      ...(outcome !== 'arrived' && { fate: outcome }),
      ...(outcome === 'lost' && { died: at }),
      ...(why !== undefined && { why }),
      bytes: detail,
      ...read,
    };
    drafts.push(draft);
    if (draft.kind === 'request' && outcome === 'arrived') listOf(arrivals, `${draft.to} ${at}`).push(index);
  }
  for (const draft of drafts) if (draft.kind === 'stream') findCause(draft, drafts, arrivals);
  return drafts;
}

/** A node's code takes no virtual time: what it sends into the stream was asked for at the same instant. */
function findCause(draft: Draft, drafts: readonly Draft[], arrivals: ReadonlyMap<string, number[]>): void {
  const candidates = arrivals.get(`${draft.from} ${draft.sent}`) ?? [];
  const keys = new Set((draft.asks ?? []).flatMap(({ words }) => words.slice(1, 2)));
  const shares = (index: number): boolean =>
    (drafts[index]?.asks ?? []).some(({ words }) => words.some((word) => keys.has(word)));
  const cause = candidates.find(shares) ?? candidates.at(-1);
  if (cause !== undefined) draft.cause = cause;
}

function splitName(end: string): [name: string, port: string] {
  const at = end.lastIndexOf(':');
  return [end.slice(0, at), end.slice(at + 1)];
}

function listOf<K, V>(map: Map<K, V[]>, key: K): V[] {
  let list = map.get(key);
  if (list === undefined) map.set(key, (list = []));
  return list;
}
