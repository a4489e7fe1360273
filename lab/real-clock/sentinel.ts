/** A Sentinel of a pair on the real clock, on TCP: a test can crash, restart and pause it, and cut its links. */

import { createSentinel } from '../../sentinel/index.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import { AnySentinel, type SentinelsPlan } from '../replica-group/sentinel.ts';
import { RealClockMachine } from './machine.ts';
import type { RealClockNetwork } from './network.ts';
import type { RealClock } from './process.ts';

/** A Sentinel on TCP in real time. */
export class RealClockSentinel extends AnySentinel<RealClock> {
  /** @internal The machine that the Sentinel runs on. */
  readonly host: RealClockMachine;
  /** @internal The current process; after a crash, the one that died. */
  server: SentinelServer;
  #port = 0;

  /** @internal */
  constructor(network: RealClockNetwork, name: string, plan: SentinelsPlan) {
    const machine = new RealClockMachine(network, name);
    super(machine, plan);
    this.host = machine;
    this.server = createSentinel(machine.boot(), this.serverOptions());
  }

  /** @internal Begins to listen and to monitor. The port is the same after a restart. */
  async start(): Promise<void> {
    this.#port = await this.host.listen(this.#port, this.server.connections);
    this.host.network.name(this.#port, this.name);
    this.server.settings.port = this.#port;
    this.begin();
  }

  /** The TCP port. */
  get port(): number {
    return this.#port;
  }

  /** Ends the process; its state is kept. */
  async crash(): Promise<void> {
    this.host.checkOpen();
    await this.#finish();
  }

  async #finish(): Promise<void> {
    if (!this.running) return;
    this.running = false;
    await this.host.crash(false, () => this.server.stop());
  }

  /** @internal Ends the process for good. Resolves when no handle is left. */
  async close(): Promise<void> {
    await this.#finish();
    await this.host.close();
  }

  /** Starts a new process with the state that was kept. Does nothing when the Sentinel is up. */
  async restart(): Promise<void> {
    this.host.checkOpen();
    if (this.running) return;
    this.host.note('restart');
    this.server = createSentinel(this.host.boot(), this.serverOptions());
    this.running = true;
    await this.start();
  }
}
