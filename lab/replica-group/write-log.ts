/** The log of a primary's writes, each with its offset, its client, and whether the client received the reply. */
import { type Held, wordOf } from '../../keyspace/value.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Connection } from '../../server/host/host.ts';
import type { Effect } from '../../server/ports.ts';
import type { Server } from '../../server/server.ts';
import { type Touched, touchedBy } from './touched.ts';

/** One write to one key or one library of functions. */
export interface Write {
  /** What `key` names: a key of database `db`, or a library of functions, which belongs to no database. */
  readonly kind: 'key' | 'library';
  /** The number of the key's database; without meaning for a library. */
  readonly db: number;
  /** The name of the key or library. */
  readonly key: Bytes;
  /** The type of the key's value afterwards, as TYPE reports it; 'none' when the key was gone, and for a library. */
  readonly type: string;
  /**
   * The string's value, or the hash's first field. In every common layout that is the lock's holder. Undefined for a
   * string that was edited in place.
   */
  readonly holder: Bytes | undefined;
  /** The command as it entered the replication stream: with an absolute deadline, and scripts as their effects. */
  readonly command: readonly Bytes[];
  /** The replication offset in bytes right after it. */
  readonly offset: number;
  /** The client that sent it; undefined for what the node did by itself, such as expiring or evicting a key. */
  readonly client: string | undefined;
  /** The time of execution by the node's clock, in milliseconds since the epoch. */
  readonly at: Millis;
}

/** A write to whole databases (FLUSHALL, FLUSHDB, SWAPDB) or to libraries of functions. */
export interface Sweep extends Omit<Write, 'kind' | 'key' | 'type' | 'holder'> {
  readonly databases: readonly number[];
  readonly fate: Touched['fate'];
  readonly libraries: boolean;
}

/** The reply to a write. */
export interface WriteReply {
  /** True when it has reached the client. */
  readonly arrived: boolean;
}

/** The reply to a write that nobody waits for. */
export const UNANSWERED: WriteReply = { arrived: false };

/** Who caused a write, and the reply to it. */
export interface Origin {
  /** The name of the client; undefined for what the node did by itself. */
  readonly client: string | undefined;
  readonly reply: WriteReply;
}

/** What no client has caused. */
export const NOBODY: Origin = { client: undefined, reply: UNANSWERED };

/** Data that is about to be sent. */
export interface NextSend {
  /** Called once it has been sent, with the position in the byte stream at which it ends. */
  endsAt(position: number): void;
}

/** A connection of a lab node. It knows the party at its far end and how much that party has received. */
export interface Watched {
  /** The name of the party at the far end; undefined when it has none. */
  readonly peer: string | undefined;
  /** Calls `endsAt` once, after the next `send`. */
  afterNextSend(next: NextSend): void;
  /** True when the far end has received everything up to the position. */
  delivered(position: number): boolean;
}

/** The execution of a command: its database, words, offset, client and time. */
type Executed = Pick<Write, 'db' | 'command' | 'offset' | 'client' | 'at'>;

/** An execution in a log. The reply is private, so that comparisons and copies leave it out. */
abstract class LogEntry implements Executed {
  readonly db: number;
  readonly command: readonly Bytes[];
  readonly offset: number;
  readonly client: string | undefined;
  readonly at: Millis;
  readonly #reply: WriteReply;

  constructor(db: number, { command, offset, client, at }: Executed, reply: WriteReply) {
    this.db = db;
    this.command = command;
    this.offset = offset;
    this.client = client;
    this.at = at;
    this.#reply = reply;
  }

  /** The reply to a write; none if the write is not from a log. */
  static replyTo(write: Write | Sweep): WriteReply {
    return #reply in write ? write.#reply : UNANSWERED;
  }
}

class WriteEntry extends LogEntry implements Write {
  readonly kind: Write['kind'];
  readonly key: Bytes;
  readonly type: Write['type'];
  readonly holder: Bytes | undefined;

  constructor(
    kind: Write['kind'],
    db: number,
    key: Bytes,
    held: Held | undefined,
    executed: Executed,
    reply: WriteReply,
  ) {
    super(db, executed, reply);
    this.kind = kind;
    this.key = key;
    this.type = held === undefined ? 'none' : wordOf(held);
    this.holder = holderOf(held);
  }
}

class SweepEntry extends LogEntry implements Sweep {
  readonly databases: readonly number[];
  readonly fate: Touched['fate'];
  readonly libraries: boolean;

  constructor({ databases, fate, libraries }: Touched, executed: Executed, reply: WriteReply) {
    super(executed.db, executed, reply);
    this.databases = databases;
    this.fate = fate;
    this.libraries = libraries;
  }
}

function isWatched(connection: Connection | undefined): connection is Connection & Watched {
  return connection !== undefined && 'afterNextSend' in connection;
}

/** How many writes a log keeps. */
export interface LogLimits {
  /** Above this number, only the last write and the last answered write of each key are kept. */
  readonly writes: number;
  /** Above this number, the oldest of those are dropped as well. */
  readonly kept: number;
}

const LIMITS: LogLimits = { writes: 100_000, kept: 1_000_000 };

/** The writes of a primary's term, and those that it inherited from earlier terms. */
export class WriteLog {
  readonly #limits: LogLimits;
  #writes: Write[] = [];
  #sweeps: Sweep[] = [];
  #compactAt: number;
  #thinnedUpTo = 0;
  #forgottenUpTo = 0;
  /** Called for each write on a single key, right after the server has executed it. */
  onWrite: (write: Write) => void = () => {};

  constructor(limits: LogLimits = LIMITS) {
    this.#limits = limits;
    this.#compactAt = limits.writes;
  }

  /** The writes on single keys, oldest first. */
  get writes(): readonly Write[] {
    return this.#writes;
  }

  /** The writes on whole databases and on libraries of functions, oldest first. */
  get sweeps(): readonly Sweep[] {
    return this.#sweeps;
  }

  /** True when the reply to a write of a log has reached the client. */
  isAnswered(write: Write | Sweep): boolean {
    return LogEntry.replyTo(write).arrived;
  }

  /** The part of a sweep that concerns one key, with the key's current value, or one library. */
  partOf(sweep: Sweep, server: Server, kind: Write['kind'], db: number, key: Bytes): Write {
    const held = kind === 'key' ? heldBy(server, db, key) : undefined;
    return new WriteEntry(kind, db, key, held, sweep, LogEntry.replyTo(sweep));
  }

  /** Up to this offset, the log lacks writes that a later write to the same key superseded. */
  get thinnedUpTo(): number {
    return this.#thinnedUpTo;
  }

  /** Up to this offset, the log may lack even the last write to a key. */
  get forgottenUpTo(): number {
    return this.#forgottenUpTo;
  }

  /** Logs every write that enters the server's replication stream from now on. */
  watch(server: Server): void {
    server.replication.observe({
      effects: (effects) => this.#record(server, effects),
      // A full resync replaces the dataset, so the node's own writes are gone.
      replaced: () => {
        this.#writes = [];
        this.#sweeps = [];
      },
    });
  }

  /** Starts a term: keeps the former primary's writes up to the shared offset, and this node's writes after it. */
  inherit(former: WriteLog, shared: number): void {
    const join = <T extends Write | Sweep>(theirs: readonly T[], own: readonly T[]): T[] => [
      ...theirs.filter(({ offset }) => offset <= shared),
      ...own.filter(({ offset }) => offset > shared),
    ];
    this.#writes = join(former.#writes, this.#writes);
    this.#sweeps = join(former.#sweeps, this.#sweeps);
    this.#thinnedUpTo = Math.max(this.#thinnedUpTo, Math.min(former.#thinnedUpTo, shared));
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo, Math.min(former.#forgottenUpTo, shared));
  }

  #record(server: Server, effects: readonly Effect[]): void {
    this.note(server, effects, effects.every(({ own }) => own) ? NOBODY : originOf(server));
  }

  /**
   * Logs the writes of one unit, which the server has just executed.
   * @param origin who caused those of them that the server has not made by itself
   */
  note(server: Server, effects: readonly Effect[], origin: Origin): void {
    for (const effect of effects) {
      const { client, reply } = effect.own ? NOBODY : origin;
      const { argv } = effect;
      const { offset } = server.replication;
      const executed: Executed = { db: effect.db, command: argv, offset, client, at: server.now };
      const touched = touchedBy(server, effect);
      if (touched.databases.length > 0 || touched.libraries)
        this.#sweeps.push(new SweepEntry(touched, executed, reply));
      for (const { db, key } of touched.keys) {
        const write = new WriteEntry('key', db, key, heldBy(server, db, key), executed, reply);
        this.#writes.push(write);
        this.onWrite(write);
      }
    }
    if (this.#writes.length + this.#sweeps.length > this.#compactAt) this.#compact();
  }

  /** Keeps the last write and the last answered write of each key, and drops the rest. */
  #compact(): void {
    const [writes, dropped] = this.#thin(this.#writes, ({ db, key }) => `${db} ${key}`);
    const [sweeps, also] = this.#thin(this.#sweeps, ({ db, command }) => `${db} ${command.join(' ')}`);
    this.#thinnedUpTo = Math.max(this.#thinnedUpTo, dropped, also);
    const forgotten = writes.splice(0, Math.max(0, writes.length - this.#limits.kept));
    this.#forgottenUpTo = Math.max(this.#forgottenUpTo, forgotten.at(-1)?.offset ?? 0);
    this.#writes = writes;
    this.#sweeps = sweeps;
    // Sets the next threshold well above the current size, so that a log with little to drop is not compacted at every
    // write.
    this.#compactAt = Math.max(this.#limits.writes, 2 * (writes.length + sweeps.length));
  }

  /**
   * The last write and the last answered write of each name, in order, and the offset of the newest write that was
   * dropped.
   */
  #thin<T extends Write | Sweep>(all: readonly T[], nameOf: (write: T) => string): [T[], number] {
    const last = new Set<string>();
    const lastAnswered = new Set<string>();
    const kept: T[] = [];
    let dropped = 0;
    for (const write of all.toReversed()) {
      const name = nameOf(write);
      const answered = this.isAnswered(write);
      if (!last.has(name) || (answered && !lastAnswered.has(name))) kept.push(write);
      else dropped = Math.max(dropped, write.offset);
      last.add(name);
      if (answered) lastAnswered.add(name);
    }
    return [kept.reverse(), dropped];
  }
}

/** The reply that a connection of the lab will send, or has sent. */
class FollowedReply implements WriteReply, NextSend {
  readonly #connection: Watched;
  /** Negative until it is sent. Infinity would be an object of its own for V8. */
  #end = -1;

  constructor(connection: Watched) {
    this.#connection = connection;
  }

  endsAt(position: number): void {
    this.#end = position;
  }

  get arrived(): boolean {
    return this.#end >= 0 && this.#connection.delivered(this.#end);
  }
}

/** The name of the party at the far end of a connection; undefined when it has none. */
export function peerOf(connection: Connection | undefined): string | undefined {
  return isWatched(connection) ? connection.peer : undefined;
}

/** The client whose request is running, and the reply to it. */
function originOf(server: Server): Origin {
  const reply = followReply(server);
  const connection = server.running?.connection;
  const client = peerOf(connection) ?? (server.running?.name || undefined);
  return { client, reply };
}

/** The reply to the current request. */
function followReply(server: Server): WriteReply {
  const connection = server.running?.connection;
  if (!isWatched(connection)) return UNANSWERED;
  const reply = new FollowedReply(connection);
  connection.afterNextSend(reply);
  return reply;
}

/** The holders of all keys, as far as they name one, by the keys; '' for the others. */
export function holdersIn(server: Server): Map<Bytes, Bytes> {
  const found = new Map<Bytes, Bytes>();
  for (const { entries } of server.databases)
    for (const [key, { held }] of entries) found.set(key, holderOf(held) ?? '');
  return found;
}

/** The key's current value. */
function heldBy(server: Server, db: number, key: Bytes): Held | undefined {
  return server.db(db).entries.get(key)?.held;
}

/** The holder in a value, in case it is a lock. */
function holderOf(value: Held | undefined): Bytes | undefined {
  if (value === undefined || typeof value === 'string') return value;
  if (value.type !== 'hash') return undefined;
  for (const [field] of value.entries()) return field;
  return undefined;
}
