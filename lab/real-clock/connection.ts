/**
 * A node's end of a connection on the real clock. It waits while the process is paused, and knows how much its far end
 * has received.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection, Receiver } from '../../server/host/host.ts';
import type { NextSend, Watched } from '../replica-group/write-log.ts';
import type { NetworkConnection, RealClockNetwork } from './network.ts';
import type { RealClockProcess } from './process.ts';

/** Stands between a node and its socket; delays both directions while the node is paused. */
export class RealClockConnection implements Connection, Receiver, Watched {
  readonly #near: Connection;
  readonly #process: RealClockProcess;
  readonly #network: RealClockNetwork;
  #receiver: Receiver | undefined;
  #silent = false;
  #sent = 0;
  #received = 0;
  #read = 0;
  #replying: NextSend[] = [];

  constructor(near: Connection, process: RealClockProcess, network: RealClockNetwork) {
    this.#near = near;
    this.#process = process;
    this.#network = network;
  }

  get remote(): string {
    return this.#near.remote;
  }

  get local(): string {
    return this.#near.local;
  }

  get pending(): number {
    return this.#near.pending;
  }

  /** The connection as the network sees it. */
  get #dialled(): NetworkConnection | undefined {
    return this.#network.connectionBetween(this.remote, this.local);
  }

  get peer(): string | undefined {
    return this.#dialled?.from;
  }

  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  get othersWait(): boolean {
    return this.#receiver?.othersWait === true;
  }

  get waits(): boolean {
    return this.#receiver?.waits === true;
  }

  /** Ends the connection as a vanished machine does: the far end receives nothing more, not even an end. */
  silence(): void {
    this.#silent = true;
  }

  receive(chunk: Uint8Array): void {
    if (this.#silent) return;
    // The caller reuses the chunk's memory, so a chunk that has to wait is copied.
    const kept = this.#process.paused ? Uint8Array.from(chunk) : chunk;
    this.#received += kept.length;
    this.#process.run(() => {
      this.#read += kept.length;
      this.#receiver?.receive(kept);
      this.#dialled?.wasRead(this.#read);
    });
  }

  /**
   * Ends the connection of a process that died: by a reset if the process left data unread, else by an orderly close,
   * as the kernel does.
   */
  orphan(): void {
    if (this.#read < this.#received) this.#near.abort();
    this.#silent = true;
  }

  closed(): void {
    this.#process.run(() => this.#receiver?.closed());
  }

  afterNextSend(next: NextSend): void {
    this.#replying.push(next);
  }

  delivered(position: number): boolean {
    return this.#dialled?.tookUpTo(position) ?? true;
  }

  send(bytes: Bytes): void {
    if (this.#silent) return;
    this.#near.send(bytes);
    this.#sent += bytes.length;
    for (const reply of this.#replying.splice(0)) reply.endsAt(this.#sent);
  }

  close(): void {
    if (!this.#silent) this.#near.close();
  }

  abort(): void {
    if (!this.#silent) this.#near.abort();
  }

  pause(): void {
    this.#near.pause();
  }

  resume(): void {
    this.#near.resume();
  }
}
