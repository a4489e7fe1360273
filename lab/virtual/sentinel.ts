/** A Sentinel of the lab, in a world: a test can crash, restart and pause it, and cut its links. */
import { createSentinel } from '../../sentinel/index.ts';
import type { SentinelServer } from '../../sentinel/server.ts';
import { AnySentinel, type SentinelsPlan } from '../replica-group/sentinel.ts';
import type { Actor } from '../time/actor.ts';
import type { VirtualClock } from '../time/clock.ts';
import { VirtualHost } from './host.ts';
import type { World } from './world.ts';

/** A Sentinel in a world. */
export class LabSentinel extends AnySentinel<VirtualClock> {
  /** The port, in the world. */
  readonly port: number;
  /** @internal The machine that the Sentinel runs on. */
  readonly host: VirtualHost;
  /** @internal The current process; after a crash, the one that died. */
  server: SentinelServer;

  /** @internal */
  constructor(world: World, name: string, port: number, plan: SentinelsPlan) {
    const host = new VirtualHost(world, name);
    super(host, plan);
    this.port = port;
    this.host = host;
    this.server = createSentinel(host, this.serverOptions(port));
  }

  /** @internal Begins to listen and to monitor. */
  start(): void {
    const { server } = this;
    this.host.listen(this.port, (connection) => server.connections.accept(connection));
    this.begin();
  }

  /** The Sentinel's process. */
  get actor(): Actor {
    return this.host.actor;
  }

  /** Ends the process; its state is on the disk. @param options `silent`: the machine is gone, and nobody is notified */
  crash({ silent = false }: { readonly silent?: boolean } = {}): void {
    this.host.checkOpen();
    if (!this.running) return;
    this.running = false;
    this.host.crash('synced', silent);
  }

  /** Starts a new process with the state that the disk has kept. Does nothing when the Sentinel is up. */
  restart(): void {
    this.host.checkOpen();
    if (this.running) return;
    this.host.revive();
    this.server = createSentinel(this.host, this.serverOptions(this.port));
    this.running = true;
    this.start();
  }
}
