/** A node of a pair on the real clock: a server on TCP that a test can crash, restart, pause, promote and demote. */

import type { Connection, Host, Receiver } from '../../server/host/host.ts';
import { Listener } from '../../server/host/tcp.ts';
import { createNode } from '../../server/index.ts';
import { promote, replicateFrom } from '../../server/replication/role.ts';
import type { Caller, Server } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Command } from '../../server/table/command.ts';
import { checkRestart, type DialectOptions, dialectFor, type RestartOptions } from '../failover/dialects.ts';
import { VirtualDisk } from '../failover/disk.ts';
import type { Journal } from '../failover/journal.ts';
import { AnyNode, type CrashOptions, checkCrash } from '../failover/node.ts';
import { RealConnection } from './connection.ts';
import { CLOSED } from './lane.ts';
import type { RealNetwork } from './network.ts';
import { type RealClock, RealProcess } from './process.ts';

/** How a node on the real clock is run. */
export interface RealNodeOptions extends DialectOptions {
  /** Parameters of the node, by redis.conf's names. */
  readonly settings?: Partial<Settings>;
  /** Extra table entries, such as the LAB command. */
  readonly commands?: readonly Command<Caller>[];
}

export class RealNode extends AnyNode {
  readonly disk = new VirtualDisk();
  /** The present process; after a crash, what it was. */
  server: Server;
  readonly #process = new RealProcess();
  readonly #network: RealNetwork;
  #options: RealNodeOptions;
  #listener: Listener;
  #journal: Journal;
  #port = 0;
  #closed = false;
  /** Listeners of processes that ended silently: their connections still hang. */
  readonly #ghosts: Listener[] = [];
  readonly #connections = new Set<RealConnection>();

  constructor(network: RealNetwork, name: string, options: RealNodeOptions = {}, writeQuorum = 0) {
    super(name, writeQuorum);
    this.#network = network;
    this.#options = options;
    [this.server, this.#journal, this.#listener] = this.#make();
  }

  #make(): [Server, Journal, Listener] {
    const { settings, commands = [] } = this.#options;
    const server = createNode(this.#host(), {
      settings: { ...settings, port: this.#port },
      commands,
      ...dialectFor(this.#options, this.name),
    });
    const journal = this.recover(server, this.disk);
    return [server, journal, new Listener({ accept: (connection) => this.#accept(server, connection) })];
  }

  #host(): Host {
    const outer = this.#network.hostOf(this.name);
    return {
      ...outer,
      clock: this.clock,
      disk: this.disk,
      // What the primary sends waits, too, while the process is paused.
      connect: (address, port, receiver, opened) => {
        const open = (near: Connection): void => this.#process.run(() => opened(near));
        outer.connect(address, port, this.#inProcess(receiver), open);
      },
    };
  }

  #inProcess(receiver: Receiver): Receiver {
    return {
      receive: (chunk) => this.#process.run(() => receiver.receive(chunk)),
      closed: () => this.#process.run(() => receiver.closed()),
    };
  }

  #accept(server: Server, near: Connection): Receiver {
    const connection = new RealConnection(near, this.#process, this.#network);
    this.#connections.add(connection);
    this.#process.run(() => {
      const client = server.accept(connection);
      connection.attach({
        receive: (chunk) => client?.receive(chunk),
        closed: () => {
          this.#connections.delete(connection);
          client?.closed();
        },
      });
    });
    return connection;
  }

  /** Listens: at first on a free port of 127.0.0.1, later on the same. Rejects when it is taken. */
  async listen(): Promise<void> {
    const { port } = await this.#listener.listen({ host: '127.0.0.1', port: this.#port });
    this.#port = port;
    this.#network.name(port, this.name);
    this.server.settings.port = port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.#port}`;
  }

  /** Its wall clock, which can jump and drift; its timers follow. */
  get clock(): RealClock {
    return this.#process.clock;
  }

  get paused(): boolean {
    return this.#process.paused;
  }

  /**
   * The process dies: connections end as those of a killed process do, and the port refuses. With `silent` the machine is
   * gone: open connections hang until the node is closed (new ones are refused, since this machine is still there).
   */
  async crash(options: CrashOptions = {}): Promise<void> {
    this.#checkOpen();
    checkCrash('crash', options);
    await this.#end(options);
  }

  async #end(options: CrashOptions): Promise<void> {
    const { keep = 'nothing', silent = false } = options;
    if (!this.running) return;
    this.running = false;
    for (const connection of this.#connections) {
      if (silent) connection.silence();
      else connection.orphan();
    }
    this.#connections.clear();
    this.#journal.crash(keep);
    this.server.stop();
    this.#process.kill();
    if (silent) {
      this.#listener.unlisten();
      this.#ghosts.push(this.#listener);
    } else {
      await this.#listener.close();
    }
  }

  #checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /**
   * Starts a new process on what was kept, as a primary. Nothing happens when it is up.
   * Rejects with TypeError for a wrong option.
   */
  async restart(options: RestartOptions = {}): Promise<void> {
    this.#checkOpen();
    checkRestart(options);
    if (this.running) return;
    this.#options = { ...this.#options, ...options };
    [this.server, this.#journal, this.#listener] = this.#make();
    await this.listen();
    this.running = true;
  }

  /** Ends the node for good; resolves when no handle is left. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#end({});
    await Promise.all(this.#ghosts.map((listener) => listener.close()));
  }

  /** Stops the process like SIGSTOP: connections stay, nothing is answered, no timer fires. */
  pause(): void {
    this.#checkOpen();
    this.#process.pause();
  }

  /** Lets everything that came during the pause happen now. */
  resume(): void {
    this.#checkOpen();
    this.#process.resume();
  }

  /** REPLICAOF NO ONE: takes writes from now on. */
  promote(): void {
    this.#checkOpen();
    promote(this.server);
    this.server.settle();
  }

  /** REPLICAOF: follows the other from now on, which replaces the data unless the histories agree. */
  follow(primary: RealNode): void {
    this.#checkOpen();
    this.server.unit(() => replicateFrom(this.server, '127.0.0.1', primary.port));
    this.server.settle();
  }
}
