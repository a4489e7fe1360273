/**
 * Small interfaces for what the mechanisms need from their node. A mechanism names the interfaces that it needs and
 * never sees the whole `Server`, which implements all of them.
 */
import type { Keyspace, KeyspaceWorld } from '../keyspace/keyspace.ts';
import { asciiLower, type Bytes, type Millis } from '../protocol/bytes.ts';
import type { ReplyError } from '../protocol/reply.ts';
import type { Client } from './clients/client.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { Host } from './host/host.ts';
import type { Settings } from './settings/settings.ts';

/** One command of the replication stream. */
export interface Effect {
  readonly db: number;
  readonly argv: readonly Bytes[];
  /** Where it goes, if a script has limited that with redis.set_repl; undefined: to replicas and to the disk. */
  readonly to?: 'replicas' | 'disk' | undefined;
  /** True for what no client has asked for: the removal of what has expired, or of a key that memory has no room for. */
  readonly own?: boolean | undefined;
}

/** Commands that are sent to replicas only. */
const NOT_STORED: ReadonlySet<Bytes> = new Set(['publish', 'spublish']);

/** Returns whether an effect belongs into the append-only file. */
export function isStored({ argv: [name = ''], to }: Effect): boolean {
  return to !== 'replicas' && !(name.length <= 8 && NOT_STORED.has(asciiLower(name)));
}

/** Observes a node's replication stream. Each method is optional. */
export interface StreamObserver {
  /** The effects of one execution unit have entered the stream. `atomic`: they are wrapped in MULTI and EXEC. */
  effects?(effects: readonly Effect[], atomic: boolean): void;
  /**
   * Bytes are about to enter the stream and to be sent to replicas. They come from the node itself or from its primary.
   */
  bytes?(bytes: Bytes): void;
  /** The node has been told to follow a primary (REPLICAOF), or to be one. */
  roleChanged?(role: 'primary' | 'replica'): void;
  /** A full resync has replaced the dataset: the stream continues under another id, from another offset. */
  replaced?(): void;
}

/** What INFO reports about the file that stores the writes. Sizes are in bytes. */
export interface DurabilityFigures {
  readonly status: 'ok' | 'err';
  readonly size: number;
  /** The size after the last rewrite. */
  readonly baseSize: number;
  /** How much has not been written yet. */
  readonly buffered: number;
  /** True while a background fsync is running. */
  readonly syncing: boolean;
}

/** Stores the writes of a node on a disk. A node without a durability refuses the setting `appendonly`. */
export interface Durability {
  /** True while writes are stored: effects must be noted. */
  readonly recording: boolean;
  /** True while `appendonly` is on and the first dataset is not written yet. */
  readonly waiting: boolean;
  /** Why writes cannot be stored, in the words of the operating system; undefined if they can. */
  readonly trouble: string | undefined;
  readonly figures: DurabilityFigures;
  /**
   * Stores the effects of one execution unit.
   * @param atomic they are wrapped in MULTI and EXEC
   * @param heard whether the replication stream has a reader; if not, what goes to replicas alone does not count
   */
  record(effects: readonly Effect[], atomic: boolean, heard: boolean): void;
  /** The dataset was replaced as a whole, without effects. */
  replaced(): void;
  /** The replication offset up to which the writes are on the disk; undefined while `appendonly` is off or waiting. */
  syncedOffset(): number | undefined;
  /** Applies changed settings. Returns why `appendonly` cannot be switched on; undefined if it can. */
  configure(): string | undefined;
  /**
   * Begins to replace what is stored by the present dataset. Returns the function that ends it, which returns false if it
   * failed; undefined if it cannot begin.
   */
  beginRewrite(): (() => boolean) | undefined;
  /** DEBUG LOADAOF: replaces the dataset by what is stored. Throws when that is damaged; the node has stopped then. */
  reload(): void;
  /** Stores what is left, and ends. */
  stop(): void;
}

/** The severity of a log line, with the names of redis.conf's `loglevel`. */
export type LogLevel = 'debug' | 'verbose' | 'notice' | 'warning';

/** Gives access to the outside: time, randomness, connections, disk. */
export interface HasHost {
  readonly host: Host;
}

/** Has the parameters of redis.conf. */
export interface HasSettings {
  readonly settings: Settings;
}

/** Answers as one of several servers. */
export interface HasDialect {
  readonly dialect: Dialect;
}

export interface HasLog {
  /** Writes one line to the log. */
  log(level: LogLevel, text: string): void;
}

/** Has the time of the current execution unit, in milliseconds since the epoch. */
export interface HasNow {
  readonly now: Millis;
}

/** Runs work outside any request. */
export interface Units {
  /** Runs work as one execution unit: time stands still during it, and its effects are propagated together. */
  unit<T>(work: () => T, client?: Client): T;
  /** Ends an event: serves blocked clients, arms the expiry timer, sends the queued output. */
  settle(): void;
}

/** Has states that require extra checks before a command runs (`gates.ts`). */
export interface Gated {
  readonly state: number;
  /** Sets or clears one of the states. */
  gate(state: number, on: boolean): void;
}

/** Has databases. */
export interface HasData {
  /** Those that something has asked for, in the order of their numbers. All others are empty. */
  readonly databases: readonly Keyspace[];
  /** How many databases there are, opened or not. */
  readonly databaseCount: number;
  readonly world: KeyspaceWorld;
  /** Returns a database by number. Throws RangeError if it does not exist. */
  db(index: number): Keyspace;
}

/** Has connected clients, by id. */
export interface HasClients {
  readonly clients: ReadonlyMap<number, Client>;
}

/** Runs requests that were postponed. */
export interface Requests {
  /** Runs a request and queues its reply. */
  execute(client: Client, argv: Bytes[]): void;
  /** Checks whether the request of a blocked client may still run. Returns why not; 'later' if it has to wait for a pause. */
  admitAgain(client: Client, argv: Bytes[]): ReplyError | 'later' | undefined;
  /** Notes that the client is no longer blocked: its remaining requests run when the current event is settled. */
  unblocked(client: Client): void;
}

/** Answers internal errors. */
export interface Mistakes {
  /** Logs and counts an internal error, and returns the error reply for the client. */
  internalError(during: { readonly fullName: Bytes } | undefined, error: unknown): ReplyError;
}

/** Adds commands to the replication stream. */
export interface Stream {
  readonly effects: {
    /** Adds a command to the stream beside the running one, such as the pop of a client that was blocked. */
    propagateAlso(db: Keyspace, argv: readonly Bytes[]): void;
    /** Adds what the node does by itself, whatever command is running, such as the DEL of an expired key. */
    propagateOwn(db: Keyspace, argv: readonly Bytes[]): void;
    /**
     * Makes the running command propagate these commands instead of itself. Without arguments it propagates nothing.
     */
    propagateAs(...commands: readonly (readonly Bytes[])[]): void;
  };
}
