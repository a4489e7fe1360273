/** A node of a pair on the real clock: a server on TCP that a test can crash, restart, promote and demote. */
import { nodeHost } from '../server/node-host.ts';
import { promote, replicateFrom } from '../server/role.ts';
import { Server } from '../server/server.ts';
import type { Settings } from '../server/settings.ts';
import { loadSnapshot, snapshot } from '../server/snapshot.ts';
import { Listener } from '../server/tcp.ts';
import { RealLink } from './real-link.ts';
import { WriteLog } from './write-log.ts';

/** How a node on the real clock ends. */
export interface RealCrashOptions {
  /** What it still has at the restart; default nothing. */
  readonly keep?: 'nothing' | 'everything';
}

export class RealNode {
  readonly name: string;
  /** What comes to it from its primary. */
  readonly link = new RealLink();
  /** The present process; after a crash, what it was. */
  server: Server;
  #listener: Listener;
  #log = new WriteLog();
  #up = true;
  #port = 0;
  #kept: string | undefined;
  readonly #settings: Partial<Settings>;

  constructor(name: string, settings: Partial<Settings> = {}) {
    this.name = name;
    this.#settings = settings;
    [this.server, this.#listener] = this.#make();
  }

  #make(): [Server, Listener] {
    const server = new Server(this.link.around(nodeHost()), {
      settings: { ...this.#settings, port: this.#port },
    });
    const kept = this.#kept;
    if (kept !== undefined) server.unit(() => loadSnapshot(server, kept));
    this.#log = new WriteLog();
    this.#log.watch(server);
    // A backlog from the beginning makes the stream flow, whether anybody follows or not.
    server.replication.becomeReplica();
    return [server, new Listener(server)];
  }

  /** Listens: at first on a free port of 127.0.0.1, later on the same. Rejects when it is taken. */
  async listen(): Promise<void> {
    const { port } = await this.#listener.listen({ host: '127.0.0.1', port: this.#port });
    this.#port = port;
    this.server.settings.port = port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** False between a crash and the restart. */
  get up(): boolean {
    return this.#up;
  }

  /** The replication offset. */
  get offset(): number {
    return this.server.replication.offset;
  }

  /** What was written while it was a primary, with what it inherited. */
  get log(): WriteLog {
    return this.#log;
  }

  /** The process dies: connections are reset, the port refuses. Resolves when no handle is left. */
  async crash({ keep = 'nothing' }: RealCrashOptions = {}): Promise<void> {
    if (!this.#up) return;
    this.#up = false;
    this.#kept = keep === 'everything' ? snapshot(this.server) : undefined;
    this.server.stop();
    await this.#listener.close();
  }

  /** Starts a new process on what was kept, as a primary. Nothing happens when it is up. */
  async restart(): Promise<void> {
    if (this.#up) return;
    [this.server, this.#listener] = this.#make();
    await this.listen();
    this.#up = true;
  }

  /** REPLICAOF NO ONE: takes writes from now on. */
  promote(): void {
    promote(this.server);
    this.server.settle();
  }

  /** REPLICAOF: follows the other from now on, which replaces the data unless the histories agree. */
  follow(primary: RealNode): void {
    this.server.unit(() => replicateFrom(this.server, '127.0.0.1', primary.port));
    this.server.settle();
  }

  /** Resets the connections of ordinary clients, as CLIENT KILL TYPE normal and TYPE pubsub. */
  disconnectClients(): void {
    for (const client of [...this.server.clients.values()]) {
      if (!this.server.replication.followers.has(client)) client.abort();
    }
  }
}
