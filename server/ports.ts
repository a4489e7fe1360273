/**
 * What the mechanisms of a node ask of the node, in small interfaces. A mechanism names those it needs and never sees the
 * whole `Server`; `server/server.ts` is all of them at once.
 */
import type { Keyspace, KeyspaceWorld } from '../keyspace/keyspace.ts';
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { ReplyError } from '../protocol/reply.ts';
import type { Client } from './clients/client.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { Host } from './host/host.ts';
import type { Settings } from './settings/settings.ts';

/** One command of the replication stream. */
export interface Effect {
  readonly db: number;
  readonly argv: readonly Bytes[];
}

/** Hears of what enters a node's replication stream. What it does not want to hear of it leaves out. */
export interface StreamObserver {
  /** The effects of one execution unit have entered the stream. `atomic`: as MULTI and EXEC. */
  effects?(effects: readonly Effect[], atomic: boolean): void;
  /** Bytes are about to enter the stream and to be sent to replicas: the node's own, or its primary's. */
  bytes?(bytes: Bytes): void;
  /** A full resync has replaced the dataset: the stream goes on under another id, from another offset. */
  replaced?(): void;
}

/** Keeps the replication stream on a disk. A node that has none cannot be asked for `appendonly`. */
export interface Durability {
  /** The offset up to which the disk has the stream; undefined while `appendonly` is off. */
  syncedOffset(): number | undefined;
}

/** How urgent a log line is; the names are redis.conf's. */
export type LogLevel = 'debug' | 'verbose' | 'notice' | 'warning';

/** Reaches the outside: time, randomness, connections, disk. */
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

/** Writes to the log. */
export interface HasLog {
  log(level: LogLevel, text: string): void;
}

/** Knows the instant of the present execution unit, in milliseconds since the epoch. */
export interface HasNow {
  readonly now: Millis;
}

/** Runs work of its own, outside any request. */
export interface Units {
  /** Runs work as one execution unit: one instant, one propagation. */
  unit<T>(work: () => T, client?: Client): T;
  /** Ends an event: serves blocked clients, arms the expiry timer, sends what is queued. */
  settle(): void;
}

/** Has states that make it look closer before a command runs (`gates.ts`). */
export interface Gated {
  readonly state: number;
  gate(state: number, on: boolean): void;
}

/** Has databases. */
export interface HasData {
  readonly databases: readonly Keyspace[];
  readonly world: KeyspaceWorld;
  db(index: number): Keyspace;
}

/** Has connected clients, by id. */
export interface HasClients {
  readonly clients: ReadonlyMap<number, Client>;
}

/** Runs requests that were kept for later. */
export interface Requests {
  execute(client: Client, argv: Bytes[]): void;
  /** The client's wait has ended: its remaining requests follow when the present event is settled. */
  unblocked(client: Client): void;
}

/** Answers mistakes of ours. */
export interface Mistakes {
  /** Logs the mistake, counts it, and returns the error to answer with. */
  internalError(during: { readonly fullName: Bytes } | undefined, error: unknown): ReplyError;
}

/** Adds commands to the replication stream. */
export interface Stream {
  readonly effects: {
    /** Adds a command beside the running one (an expired key's DEL, a popped element). */
    propagateAlso(db: Keyspace, argv: readonly Bytes[]): void;
    /** The running command propagates these commands instead of itself; none: nothing. */
    propagateAs(...commands: readonly (readonly Bytes[])[]): void;
  };
}
