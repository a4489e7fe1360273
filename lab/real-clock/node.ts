/** A node of a pair on the real clock: a server on TCP that a test can crash, restart, pause, promote and demote. */

import type { Host } from '../../server/host/host.ts';
import { createNode } from '../../server/index.ts';
import { replicateFrom } from '../../server/replication/role.ts';
import type { Caller, Server, ServerOptions } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Command } from '../../server/table/command.ts';
import { ownCommands } from '../../start/own/declare.ts';
import type { OwnCommands } from '../../start/own/own-command.ts';
import {
  checkRestart,
  type DialectOptions,
  dialectFor,
  type RestartOptions,
} from '../replica-group/dialects.ts';
import type { VirtualDisk } from '../replica-group/disk.ts';
import type { Journal } from '../replica-group/journal.ts';
import { type CrashOptions, checkCrash, NodeWithLog } from '../replica-group/node.ts';
import { RealClockMachine } from './machine.ts';
import type { RealClockNetwork } from './network.ts';
import type { RealClock } from './process.ts';

/** The options of a node on the real clock. */
export interface RealClockNodeOptions extends DialectOptions {
  /** Parameters of the node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** @internal The disk of each node; by default one in memory. */
  readonly diskOf?: (node: string) => VirtualDisk;
  /** Commands of your own, which every node has: docs/commands-of-your-own.md. */
  readonly commands?: OwnCommands;
  /** @internal Additional commands, such as LAB. */
  readonly labCommands?: readonly Command<Caller>[];
}

/** A server on TCP in real time. */
export class RealClockNode extends NodeWithLog<RealClock> {
  /** @internal The machine that the node runs on. */
  readonly host: RealClockMachine;
  /** @internal The current process; after a crash, the one that died. */
  server: Server;
  #options: RealClockNodeOptions;
  #journal: Journal;
  #port = 0;

  /** @internal */
  constructor(
    network: RealClockNetwork,
    name: string,
    options: RealClockNodeOptions = {},
    writeQuorum = 0,
    port = 0,
  ) {
    const machine = new RealClockMachine(network, name, options.diskOf?.(name));
    super(machine, writeQuorum);
    this.host = machine;
    this.#options = options;
    this.#port = port;
    [this.server, this.#journal] = this.#make();
  }

  #make(): [Server, Journal] {
    const { settings, commands, labCommands = [] } = this.#options;
    const server = this.create(this.host.boot(), {
      settings: { ...settings, port: this.#port },
      commands: [...labCommands, ...ownCommands(commands)],
      ...dialectFor(this.#options, this.name),
    });
    const journal = this.recover(server);
    if (this.#options.diskOf !== undefined) server.dumpFile.name();
    return [server, journal];
  }

  /** @internal Creates the server of a new process. A node of a cluster creates another. */
  protected create(host: Host, options: ServerOptions): Server {
    return createNode(host, options);
  }

  /**
   * @internal
   * Listens on a free port of 127.0.0.1 the first time, and on the same port after that. Rejects when the port is
   * taken.
   */
  async listen(): Promise<void> {
    this.#port = await this.host.listen(this.#port, this.server.connections);
    this.host.network.name(this.#port, this.name);
    this.server.settings.port = this.#port;
  }

  /** The TCP port. It stays the same over restarts. */
  get port(): number {
    return this.#port;
  }

  /** The node's URL, for any client. It does not follow the primary. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /**
   * Ends the process. Its connections end like those of a killed process, and its port refuses new ones. With `silent`
   * the whole machine is gone: open connections hang until the node is closed. New ones are still refused, because the
   * real machine is there. Throws TypeError for a wrong option.
   */
  async crash(options: CrashOptions = {}): Promise<void> {
    this.host.checkOpen();
    checkCrash('crash', options);
    await this.#finish(options);
  }

  async #finish({ keep = 'nothing', silent = false }: CrashOptions): Promise<void> {
    if (!this.running) return;
    this.running = false;
    await this.host.crash(silent, () => {
      this.#journal.crash(keep);
      this.server.stop();
    });
  }

  /**
   * Starts a new process with the data that was kept, as a primary. Does nothing when the node is up.
   * Rejects with TypeError for a wrong option.
   */
  async restart(options: RestartOptions = {}): Promise<void> {
    this.host.checkOpen();
    checkRestart(options);
    if (this.running) return;
    const dead = { server: this.server, log: this.log };
    this.host.note('restart');
    this.#options = { ...this.#options, ...options };
    [this.server, this.#journal] = this.#make();
    this.onRestart(dead);
    await this.listen();
    this.running = true;
  }

  /** Ends the node for good. Resolves when no handle is left. */
  async close(): Promise<void> {
    // Its files stay, where they are kept in a folder.
    await this.#finish({ keep: 'everything' });
    await this.host.close();
  }

  /** @internal */
  protected trail(primary: NodeWithLog<RealClock>): void {
    this.server.unit(() => replicateFrom(this.server, '127.0.0.1', primary.port));
    this.server.settle();
  }
}
