/** The only doors to the outside: time, randomness, connections and disk. Node opens them in node-host.ts, the lab on a virtual world. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';

/** A task that has been scheduled. */
export interface Timer {
  cancel(): void;
}

/** Wall-clock time, and one-shot alarms on it. */
export interface Clock {
  /** Whole milliseconds since the Unix epoch. */
  now(): Millis;
  /** Whole microseconds since the Unix epoch, for TIME. */
  micros(): number;
  /** Runs the task once, as soon as `now()` has reached the deadline; any distance is allowed, 2^31 ms too. */
  at(deadline: Millis, task: () => void): Timer;
  /** Runs the task after the present event has been handled, before time moves. */
  soon(task: () => void): Timer;
}

/** The near end of an open byte pipe. */
export interface Connection {
  /** The far end's address as CLIENT LIST prints it, `127.0.0.1:50000`. */
  readonly remote: string;
  /** The near end's address. */
  readonly local: string;
  /** Bytes sent that the far end has not taken yet. */
  readonly pending: number;
  /** Queues bytes, in order. */
  send(bytes: Bytes): void;
  /** Closes once everything sent is delivered. */
  close(): void;
  /** Resets the connection at once; what was not delivered is lost. */
  abort(): void;
  /** Stops and restarts the arrival of bytes. */
  pause(): void;
  resume(): void;
}

/** What a connection's owner does with what arrives. */
export interface Receiver {
  /** Bytes have arrived; the chunk may be reused by the caller after the call returns. */
  receive(chunk: Uint8Array): void;
  /** The connection is gone, for whatever reason; called once. */
  closed(): void;
}

/** Takes new connections. It returns undefined when it refuses one, which it then closes itself. */
export interface Acceptor {
  accept(connection: Connection): Receiver | undefined;
}

/** Files that a node may write, by plain name, inside one directory. */
export interface Disk {
  read(name: string): Bytes | undefined;
  /** Replaces the file; it is durable only after `sync`. */
  write(name: string, bytes: Bytes): void;
  append(name: string, bytes: Bytes): void;
  /** Makes what was written to the file so far survive a crash. */
  sync(name: string): void;
  remove(name: string): void;
}

/** What an operating system tells of the process. */
export interface ProcessFacts {
  readonly id: number;
  readonly executable: Bytes;
  /** Its name, release and machine. */
  readonly system: Bytes;
  /** The memory of the machine, in bytes. */
  readonly memory: number;
  /** Processor time taken so far, in microseconds. */
  readonly userMicros: number;
  readonly systemMicros: number;
}

/** Everything a node knows of the world. */
export interface Host {
  readonly clock: Clock;
  readonly disk: Disk;
  /** So many keys end in one turn of the event loop, and the others in the next ones; left out: all that are due. */
  readonly expiriesPerTurn?: number;
  /** A number in [0, 1). */
  random(): number;
  /** How much of the memory that the process may have is taken, from 0 to 1; left out where that is no matter. */
  memoryTaken?(): number;
  /** The process that the node runs in; left out where that is no matter. */
  facts?(): ProcessFacts;
  /** Opens a connection outwards, as a replica does to its primary; `closed` is called when it cannot be had. */
  connect(host: string, port: number, receiver: Receiver, opened: (connection: Connection) => void): void;
}
