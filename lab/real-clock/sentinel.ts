/** A Sentinel of a pair on the real clock, on TCP: a test can crash, restart and pause it, and cut its links. */

import { createSentinel } from '../../sentinel/index.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import type { Connection, Host, Receiver } from '../../server/host/host.ts';
import { Listener } from '../../server/host/tcp.ts';
import { VirtualDisk } from '../replica-group/disk.ts';
import { AnySentinel, type SentinelsPlan, spokenBy } from '../replica-group/sentinel.ts';
import { RealClockConnection } from './connection.ts';
import { CLOSED } from './lane.ts';
import type { RealClockNetwork } from './network.ts';
import { type RealClock, RealClockProcess } from './process.ts';

/** A Sentinel on TCP in real time. */
export class RealClockSentinel extends AnySentinel {
  /** @internal The current process; after a crash, the one that died. */
  server: SentinelServer;
  readonly #plan: SentinelsPlan;
  readonly #network: RealClockNetwork;
  readonly #process = new RealClockProcess(() => this.#checkOpen());
  readonly #disk = new VirtualDisk();
  #listener: Listener;
  #port = 0;

  /** @internal */
  constructor(network: RealClockNetwork, name: string, plan: SentinelsPlan) {
    super(name, plan);
    this.#network = network;
    this.#plan = plan;
    [this.server, this.#listener] = this.#make();
  }

  #make(): [SentinelServer, Listener] {
    const { password = '' } = this.#plan.options;
    const server = createSentinel(this.#host(), {
      settings: { requirepass: password },
      ...spokenBy(this.#plan),
    });
    return [server, new Listener({ accept: (near) => this.#accept(server, near) })];
  }

  #host(): Host {
    const outer = this.#network.hostOf(this.name);
    const later = (receiver: Receiver): Receiver => ({
      receive: (chunk) => this.#process.run(() => receiver.receive(chunk)),
      closed: () => this.#process.run(() => receiver.closed()),
    });
    return {
      ...outer,
      clock: this.clock,
      disk: this.#disk,
      connect: (host, port, receiver, opened) =>
        outer.connect(host, port, later(receiver), (near) => this.#process.run(() => opened(near))),
    };
  }

  #accept(server: SentinelServer, near: Connection): Receiver {
    const connection = new RealClockConnection(near, this.#process, this.#network);
    this.#process.run(() => {
      const client = server.connections.accept(connection);
      connection.attach({
        receive: (chunk) => client?.receive(chunk),
        closed: () => client?.closed(),
      });
    });
    return connection;
  }

  /** @internal Begins to listen and to monitor. The port is the same after a restart. */
  async start(): Promise<void> {
    const { port } = await this.#listener.listen({ host: '127.0.0.1', port: this.#port });
    this.#port = port;
    this.#network.name(port, this.name);
    this.server.settings.port = port;
    this.server.onShutdown = () => void this.crash();
    this.begin(this.server, ({ type, text }) => this.#network.trace.note(this.name, type, text));
  }

  /** The TCP port. */
  get port(): number {
    return this.#port;
  }

  /** The address at which clients reach the Sentinel. */
  get address(): { readonly host: string; readonly port: number } {
    return { host: '127.0.0.1', port: this.#port };
  }

  /** The Sentinel's wall clock, which can jump and drift. A jump makes it enter TILT mode. */
  get clock(): RealClock {
    return this.#process.clock;
  }

  /** True between `pause` and `resume`. */
  get paused(): boolean {
    return this.#process.paused;
  }

  #checkOpen(): void {
    if (this.#network.closed) throw new Error(CLOSED);
  }

  /** Ends the process; its state is kept. */
  async crash(): Promise<void> {
    this.#checkOpen();
    await this.close();
  }

  /** @internal Ends the process. Resolves when no handle is left. */
  async close(): Promise<void> {
    if (!this.running) return;
    this.running = false;
    this.server.stop();
    this.#process.kill();
    await this.#listener.close();
  }

  /** Starts a new process with the state that was kept. Does nothing when the Sentinel is up. */
  async restart(): Promise<void> {
    this.#checkOpen();
    if (this.running) return;
    [this.server, this.#listener] = this.#make();
    this.running = true;
    await this.start();
  }

  /** Stops the process like SIGSTOP: connections stay open, nothing is answered, and no timer fires. */
  pause(): void {
    this.#checkOpen();
    this.#process.pause();
  }

  /** Continues the process: everything that arrived during the pause is handled now. */
  resume(): void {
    this.#checkOpen();
    this.#process.resume();
  }
}
