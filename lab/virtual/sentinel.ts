/** A Sentinel of the lab, in a world: a test can crash, restart and pause it, and cut its links. */
import { createSentinel } from '../../sentinel/index.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import { AnySentinel, type SentinelsPlan, spokenBy } from '../replica-group/sentinel.ts';
import type { Actor } from '../time/actor.ts';
import type { VirtualClock } from '../time/clock.ts';
import type { Address } from './connector.ts';
import { VirtualHost } from './host.ts';
import type { World } from './world.ts';

/** A Sentinel in a world. */
export class LabSentinel extends AnySentinel {
  /** The port, in the world. */
  readonly port: number;
  /** @internal The machine that the Sentinel runs on. */
  readonly host: VirtualHost;
  /** @internal The current process; after a crash, the one that died. */
  server: SentinelServer;
  readonly #plan: SentinelsPlan;

  /** @internal */
  constructor(world: World, name: string, port: number, plan: SentinelsPlan) {
    super(name, plan);
    this.port = port;
    this.#plan = plan;
    this.host = new VirtualHost(world, name);
    this.server = this.#make();
  }

  #make(): SentinelServer {
    const { password = '' } = this.#plan.options;
    const settings = { port: this.port, requirepass: password };
    return createSentinel(this.host, { settings, ...spokenBy(this.#plan) });
  }

  /** @internal Begins to listen and to monitor. */
  start(): void {
    const { server, host } = this;
    host.listen(this.port, (connection) => server.connections.accept(connection));
    const crash = (): void => this.crash();
    server.onShutdown = crash;
    this.begin(server, ({ type, text }) => host.world.trace.note(this.name, type, text));
  }

  /** The Sentinel's process. */
  get actor(): Actor {
    return this.host.actor;
  }

  /** The Sentinel's wall clock, which can jump and drift. A jump makes it enter TILT mode. */
  get clock(): VirtualClock {
    return this.host.clock;
  }

  /** The address at which clients in the world reach the Sentinel. */
  get address(): Address {
    return { host: '127.0.0.1', port: this.port };
  }

  /** True between `pause` and `resume`. */
  get paused(): boolean {
    return this.actor.paused;
  }

  /** Ends the process; its state is on the disk. @param options `silent`: the machine is gone, and nobody is notified */
  crash({ silent = false }: { readonly silent?: boolean } = {}): void {
    this.host.world.assertUsable();
    if (!this.running) return;
    this.running = false;
    this.host.crash('synced', silent);
  }

  /** Starts a new process with the state that the disk has kept. Does nothing when the Sentinel is up. */
  restart(): void {
    this.host.world.assertUsable();
    if (this.running) return;
    this.host.revive();
    this.server = this.#make();
    this.running = true;
    this.start();
  }

  /** Stops the process like SIGSTOP. */
  pause(): void {
    this.host.world.assertUsable();
    this.actor.pause();
  }

  /** Continues the process: everything that came due during the pause happens now, in order. */
  resume(): void {
    this.host.world.assertUsable();
    this.actor.resume();
  }
}
