/** A server on a virtual host, for tests of the world itself. */
import { VirtualHost } from '../../lab/virtual-host.ts';
import type { World } from '../../lab/world.ts';
import { Server } from '../../server/server.ts';
import { standInScripts } from './stand-in-scripts.ts';

/** A node that can be crashed and restarted empty. */
export class LabNode {
  readonly host: VirtualHost;
  readonly port: number;
  server: Server;

  constructor(world: World, name: string, port: number) {
    this.host = new VirtualHost(world, name);
    this.port = port;
    this.server = this.#start();
  }

  #start(): Server {
    const server = new Server(this.host, { commands: standInScripts() });
    this.host.listen(this.port, (connection) => server.accept(connection));
    return server;
  }

  crash(silent = false): void {
    this.host.crash('nothing', silent);
  }

  restart(): void {
    this.host.revive();
    this.server = this.#start();
  }
}
