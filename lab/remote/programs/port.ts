/** The ports at which programs call: each process has one of its own, so that the desk knows which process it is. */
import { nodeHost } from '../../../server/host/node.ts';
import { Listener } from '../../../server/host/tcp.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { refuseData } from '../refuse-data.ts';
import { programCommands } from './commands.ts';
import type { ProgramDesk } from './desk.ts';

/** A port for one process. */
export interface ProgramPort {
  readonly port: number;
  /** Ends its connections. */
  close(): Promise<void>;
}

/** Opens ports. */
export class ProgramPorts {
  readonly #control: Server;

  constructor(desk: ProgramDesk) {
    this.#control = createNode(nodeHost(), { commands: [programCommands(() => desk)] });
    refuseData(this.#control, 'the URLs of the nodes are in the answer to LAB NEXT');
  }

  /** Opens a port. Rejects with Node's error when there is none. */
  async open(): Promise<ProgramPort> {
    const listener = new Listener(this.#control.connections);
    const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
    return { port, close: () => listener.close() };
  }

  /** Ends all connections. */
  close(): void {
    this.#control.stop();
  }
}
