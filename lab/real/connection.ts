/** A node's end of a connection on the real clock: it waits while the process is paused, and knows what its far end has taken. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Connection, Receiver } from '../../server/host/host.ts';
import type { Watched } from '../failover/write-log.ts';
import type { RealNetwork } from './network.ts';
import type { RealProcess } from './process.ts';

export class RealConnection implements Connection, Receiver, Watched {
  readonly #near: Connection;
  readonly #process: RealProcess;
  readonly #network: RealNetwork;
  #receiver: Receiver | undefined;
  #silent = false;
  #sent = 0;
  #received = 0;
  #read = 0;
  #replying: ((position: number) => void)[] = [];

  constructor(near: Connection, process: RealProcess, network: RealNetwork) {
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

  get peer(): string | undefined {
    return this.#network.wireFrom(this.remote)?.from;
  }

  attach(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  /** The machine is gone: the far end hears nothing more, not even that. */
  silence(): void {
    this.#silent = true;
  }

  receive(chunk: Uint8Array): void {
    if (this.#silent) return;
    // The chunk is on loan; it is copied only when it must wait.
    const kept = this.#process.paused ? Uint8Array.from(chunk) : chunk;
    this.#received += kept.length;
    this.#process.run(() => {
      this.#read += kept.length;
      this.#receiver?.receive(kept);
      this.#network.wireFrom(this.remote)?.wasRead(this.#read);
    });
  }

  /** The process dies: one that has not read everything leaves its client a reset. The kernel closes the others. */
  orphan(): void {
    if (this.#read < this.#received) this.#near.abort();
    this.#silent = true;
  }

  closed(): void {
    this.#process.run(() => this.#receiver?.closed());
  }

  afterNextSend(told: (position: number) => void): void {
    this.#replying.push(told);
  }

  delivered(position: number): boolean {
    return this.#network.wireFrom(this.remote)?.tookUpTo(position) ?? true;
  }

  send(bytes: Bytes): void {
    if (this.#silent) return;
    this.#near.send(bytes);
    this.#sent += bytes.length;
    if (this.#replying.length > 0) for (const told of this.#replying.splice(0)) told(this.#sent);
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
