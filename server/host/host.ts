/**
 * The only access to the outside: time, randomness, connections and disk. Node implements it in node.ts, the lab in a
 * virtual world.
 */
import type { HeapMeter } from '../../protocol/allowance.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';

/** A scheduled task. */
export interface Timer {
  /** Cancels the task if it has not run yet. */
  cancel(): void;
}

/** Wall-clock time, and one-shot timers. */
export interface Clock {
  /** Returns whole milliseconds since the Unix epoch. */
  now(): Millis;
  /** Returns whole microseconds since the Unix epoch, for TIME. */
  micros(): number;
  /**
   * Runs the task once, when `now()` reaches the deadline in milliseconds. A deadline may be more than 2^31 ms away.
   * @param isAwaited a client waits for the task: where nothing else keeps the process alive, the timer does
   */
  at(deadline: Millis, task: () => void, isAwaited?: boolean): Timer;
  /**
   * Runs the task once, after so many milliseconds, even if the wall clock is set in between. The delay may be up to
   * 2^31 - 1 ms.
   */
  after(delay: number, task: () => void): Timer;
  /** Runs the task after the current event has been handled, before time advances. */
  soon(task: () => void): Timer;
}

/** The local end of an open connection. */
export interface Connection {
  /** The address of the other end as CLIENT LIST prints it, such as `127.0.0.1:50000`. */
  readonly remote: string;
  /** The address of the local end. */
  readonly local: string;
  /** True if the connection speaks TLS. */
  readonly isSecure?: boolean;
  /** The number of bytes sent that the other end has not taken yet. */
  readonly pending: number;
  /** Queues bytes, in order. */
  send(bytes: Bytes): void;
  /** Queues pieces, in order. Only a transport that need not join them to one string has this. */
  sendPieces?(pieces: readonly Bytes[]): void;
  /** Closes the connection when everything sent is delivered. */
  close(): void;
  /** Resets the connection at once. Undelivered bytes are lost. */
  abort(): void;
  /** Stops reading; `resume` continues. */
  pause(): void;
  /** Resumes reading. */
  resume(): void;
}

/** Receives what arrives on a connection. */
export interface Receiver {
  /**
   * True while other clients wait for what this one may bring. A transport that knows late that a client has left looks for
   * that first.
   */
  readonly othersWait?: boolean;
  /** True while this client waits for what others may bring. */
  readonly waits?: boolean;
  /** True for what others must not overtake: a primary's stream. */
  readonly comesFirst?: boolean;
  /** True for one that hears of a turn's writes before the clients of the turn have their replies: a replica. */
  readonly hearsFirst?: boolean;
  /** Bytes have arrived. The caller may reuse the chunk after the call. */
  receive(chunk: Uint8Array): void;
  /** The connection is closed, for any reason. Called once. */
  closed(): void;
}

/** A connection that is being established. */
export interface PendingConnection {
  /** Gives it up. Neither `opened` nor the receiver is called any more. Has no effect on a connection that is open. */
  cancel(): void;
}

/** Accepts new connections. Returns undefined for a connection that it refuses and closes. */
export interface Acceptor {
  /** Returns the receiver of the connection's bytes; undefined if the connection is refused. */
  accept(connection: Connection): Receiver | undefined;
}

/** Files that a node may read and write, by their paths in one directory. Each method throws the system's error. */
export interface Disk {
  /** Returns the file's content; undefined if it does not exist. */
  read(name: string): Bytes | undefined;
  /** Replaces the file. The content is durable only after `sync`. */
  write(name: string, bytes: Bytes): void;
  /** Appends to the file, and creates it if it does not exist. The content is durable only after `sync`. */
  append(name: string, bytes: Bytes): void;
  /** Makes what was written to the file so far survive a crash. */
  sync(name: string): void;
  /** Does the same in the background, then calls `done` with the error if it failed. */
  syncLater(name: string, done: (error?: unknown) => void): void;
  /** Returns the length of the file in bytes; undefined if it does not exist. */
  size(name: string): number | undefined;
  /** Shortens the file, durably. */
  truncate(name: string, length: number): void;
  /** Renames the file, durably. It replaces a file of the new name. */
  rename(from: string, to: string): void;
  /** Removes the file, if it exists. */
  remove(name: string): void;
  /** Closes the file, which `append` keeps open. The next `append` opens it again. */
  release(name: string): void;
  /**
   * Takes relative names from another directory from now on, as chdir does. A file that is open stays open. Returns the directory's
   * absolute path. Throws an Error in the system's words if it cannot be entered. Absent where there is one directory only.
   */
  enter?(directory: Bytes): Bytes;
  /** Creates the directory for files whose paths begin with its name, if it does not exist. */
  makeFolder(name: string): void;
}

/** What an operating system reports about the process. Nothing of it changes. */
export interface ProcessFacts {
  readonly id: number;
  readonly executable: Bytes;
  /** The operating system's name, release and machine. */
  readonly system: Bytes;
  /** The machine's memory, in bytes. */
  readonly memory: number;
}

/** The processor time that the process has used so far, in microseconds. */
export interface ProcessorTime {
  readonly user: number;
  readonly system: number;
}

/** Everything that a node can access outside itself. */
export interface Host {
  readonly clock: Clock;
  readonly disk: Disk;
  /**
   * How long expired keys may be removed in one turn of the event loop, in microseconds; the others follow in later
   * turns. Absent: no limit.
   */
  readonly expiryMicros?: number;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** Like `random`, for passwords, which nobody may guess. Absent: `random` gives them. */
  secret?(): number;
  /**
   * Returns for how many of the last `age` milliseconds the process stood still and read nothing. Absent if it never does, as on
   * a virtual clock.
   * @param limit from how many milliseconds on a silence matters to the caller
   */
  stalledWithin?(age: Millis, limit: Millis): Millis;
  /** The heap of the process. Absent where nothing measures it. */
  readonly heap?: HeapMeter | undefined;
  /** The process that the node runs in. Absent if it does not matter. */
  facts?(): ProcessFacts;
  /** The processor time of that process. Absent if it does not matter. */
  processorTime?(): ProcessorTime;
  /**
   * Connects to a server, as a replica does to its primary. Calls `opened` on success; if it fails, the receiver's
   * `closed`. Returns undefined if the attempt cannot be given up: the caller then closes a connection that it no longer
   * wants when it opens.
   */
  connect(
    host: string,
    port: number,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): PendingConnection | undefined;
  /** The same with TLS. Absent if the host has no certificates. */
  connectWithTls?: Host['connect'];
}
