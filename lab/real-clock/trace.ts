/** Records what happens in a pair on the real clock: the messages of its links, faults, roles and writes. */
import { fromBuffer } from '../../protocol/bytes.ts';
import { realMicros } from '../../server/host/real-time.ts';
import type { Write } from '../replica-group/write-log.ts';
import type { RecordedMessage } from '../timeline/connections.ts';
import type { RecordedEvent, RecordedRestart } from '../timeline/record.ts';
import { Visits } from './visits.ts';

/** How much is kept. Above it, the oldest entries are dropped. */
export interface TraceLimits {
  /** Messages, events and writes, of each so many. */
  readonly entries: number;
  /** The bytes of messages: of the first ones of connections, and of the others, each so many. */
  readonly bytes: number;
}

const LIMITS: TraceLimits = { entries: 20_000, bytes: 16 * 1024 ** 2 };
/** The first messages of a direction of a connection are kept longer: PSYNC among them tells that the rest is a stream. */
const FIRST = 12;

/** A message that has been sent. Its lane tells what becomes of it. */
export class SentMessage {
  readonly #trace: RealClockTrace;
  readonly #who: string;
  readonly #sent: number;
  #left: string;

  constructor(trace: RealClockTrace, who: string, bytes: string) {
    this.#trace = trace;
    this.#who = who;
    this.#left = bytes;
    this.#sent = trace.elapsed();
  }

  /** So many of its bytes have arrived: all, unless the lane has split it. */
  arrived(bytes: number): void {
    this.#end(bytes, 'arrived');
  }

  /** What is left of it will never arrive. @param why one sentence */
  lost(why: string): void {
    if (this.#left !== '') this.#end(this.#left.length, 'lost', why);
  }

  /** What is left of it, as a message that waits. */
  get underWay(): RecordedMessage {
    const at = this.#trace.elapsed();
    return { who: this.#who, detail: this.#left, sent: this.#sent, due: this.#sent, at, outcome: 'waiting' };
  }

  #end(bytes: number, outcome: 'arrived' | 'lost', why?: string): void {
    const detail = this.#left.slice(0, bytes);
    this.#left = this.#left.slice(bytes);
    const { underWay } = this;
    this.#trace.ended(this, this.#left === '', {
      ...underWay,
      detail,
      outcome,
      ...(why !== undefined && { why }),
    });
  }
}

/** The record of a pair. It records nothing until `begin` is called. */
export class RealClockTrace {
  readonly #limits: TraceLimits;
  readonly #micros: () => number;
  /** In microseconds since the epoch; undefined: nothing is recorded. */
  #begun: number | undefined;
  #connections = 0;
  #bytes = 0;
  #firstBytes = 0;
  #forgottenUpTo = 0;
  readonly #messages: RecordedMessage[] = [];
  /** The first messages of each direction of a connection. */
  readonly #first: RecordedMessage[] = [];
  /** How many messages each direction of a connection has had. */
  readonly #counts = new Map<string, number>();
  readonly #events: RecordedEvent[] = [];
  readonly #writes: { readonly at: number; readonly node: string; readonly write: Write }[] = [];
  readonly #restarts: RecordedRestart[] = [];
  readonly #open = new Set<SentMessage>();

  /** @param micros the time, in microseconds since the epoch */
  constructor(limits: TraceLimits = LIMITS, micros: () => number = realMicros) {
    this.#limits = limits;
    this.#micros = micros;
  }

  /** Who was inside which resource, as tests have said, and their remarks. */
  readonly visits = new Visits(() => this.elapsed());

  /** Patterns of keys that are locks, and with ! of keys that are none. */
  locks: readonly string[] = [];

  /** True once `begin` was called. */
  get isOn(): boolean {
    return this.#begun !== undefined;
  }

  /** Begins to record. Do so before the nodes connect: a stream whose beginning is missing is not understood. */
  begin(): void {
    this.#begun = this.#micros();
  }

  /** When the recording began, in microseconds since the epoch; 0 when it has not. */
  get begun(): number {
    return this.#begun ?? 0;
  }

  /** Microseconds since the recording began. */
  elapsed(): number {
    return this.#micros() - (this.#begun ?? 0);
  }

  /** The number of a new connection. */
  number(): number {
    return ++this.#connections;
  }

  /** What happened to a party, or to a direction between two. */
  note(who: string, what: string, detail = ''): void {
    if (this.#begun !== undefined) this.#keep(this.#events, { at: this.elapsed(), who, what, detail });
  }

  /** A node has executed a write as a primary. */
  wrote(node: string, write: Write): void {
    if (this.#begun !== undefined) this.#keep(this.#writes, { at: this.elapsed(), node, write });
  }

  /** A process has begun. @param kept what it has, the holders by their keys */
  restarted(node: string, kept: ReadonlyMap<string, string>): void {
    if (this.#begun !== undefined) this.#keep(this.#restarts, { at: this.elapsed(), node, kept });
  }

  /** A message is sent. Returns undefined while nothing is recorded. */
  sent(who: string, bytes: Uint8Array): SentMessage | undefined {
    if (this.#begun === undefined) return undefined;
    const message = new SentMessage(this, who, fromBuffer(bytes));
    this.#open.add(message);
    return message;
  }

  /** Records what became of a message, or of a part of it. Called by the message. @param isOver nothing of it is left */
  ended(message: SentMessage, isOver: boolean, record: RecordedMessage): void {
    if (isOver) this.#open.delete(message);
    const count = this.#counts.get(record.who) ?? 0;
    this.#counts.set(record.who, count + 1);
    const { entries, bytes } = this.#limits;
    const size = record.detail.length;
    if (count < FIRST && this.#first.length < entries && this.#firstBytes + size <= bytes) {
      this.#firstBytes += size;
      this.#first.push(record);
      return;
    }
    this.#messages.push(record);
    this.#bytes += size;
    // In steps, because removing from the front of a long list takes time.
    const least = this.#messages.length > entries * 1.25 ? this.#messages.length - entries : 0;
    let dropped = 0;
    while (dropped < least || this.#bytes > bytes)
      this.#bytes -= this.#messages[dropped++]?.detail.length ?? 0;
    this.#forget(this.#messages.splice(0, dropped));
  }

  #keep<T extends { readonly at: number }>(list: T[], entry: T): void {
    list.push(entry);
    if (list.length > this.#limits.entries * 1.25)
      this.#forget(list.splice(0, list.length - this.#limits.entries));
  }

  #forget(dropped: readonly { readonly at: number }[]): void {
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo, dropped.at(-1)?.at ?? 0);
  }

  /** The time of the last entry that is no longer kept; 0 when all are. */
  get forgottenUpTo(): number {
    return this.#forgottenUpTo;
  }

  /** The messages in the order in which they ended, and those that are under way. */
  get messages(): readonly RecordedMessage[] {
    return [...this.#first, ...this.#messages, ...[...this.#open].map(({ underWay }) => underWay)];
  }

  /** What happened to parties and links. */
  get events(): readonly RecordedEvent[] {
    return this.#events;
  }

  /** What nodes have executed as primaries. */
  get writes(): readonly { readonly at: number; readonly node: string; readonly write: Write }[] {
    return this.#writes;
  }

  /** What the nodes that started again still had. */
  get restarts(): readonly RecordedRestart[] {
    return this.#restarts;
  }
}
