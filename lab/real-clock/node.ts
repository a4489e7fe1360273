/** A node of a pair on the real clock: a server on TCP that a test can crash, restart, pause, promote and demote. */

import type { Acceptor, Connection, Host, Receiver } from '../../server/host/host.ts';
import { Listener } from '../../server/host/tcp.ts';
import { createNode } from '../../server/index.ts';
import { promote, replicateFrom } from '../../server/replication/role.ts';
import type { Caller, Server, ServerOptions } from '../../server/server.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Command } from '../../server/table/command.ts';
import {
  checkRestart,
  type DialectOptions,
  dialectFor,
  type RestartOptions,
} from '../replica-group/dialects.ts';
import { VirtualDisk } from '../replica-group/disk.ts';
import type { Journal } from '../replica-group/journal.ts';
import { type CrashOptions, checkCrash, NodeWithLog } from '../replica-group/node.ts';
import type { Write } from '../replica-group/write-log.ts';
import { RealClockConnection } from './connection.ts';
import { CLOSED } from './lane.ts';
import type { RealClockNetwork } from './network.ts';
import { type RealClock, RealClockProcess } from './process.ts';

/** The options of a node on the real clock. */
export interface RealClockNodeOptions extends DialectOptions {
  /** Parameters of the node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** @internal Additional commands, such as LAB. */
  readonly commands?: readonly Command<Caller>[];
}

/** A connection that a process has opened. It is closed when the process dies, but not when the whole machine is lost. */
function mortal(near: Connection, end: { readonly silent: boolean }): Connection {
  return {
    remote: near.remote,
    local: near.local,
    get pending() {
      return near.pending;
    },
    send: (bytes) => void (end.silent || near.send(bytes)),
    close: () => void (end.silent || near.close()),
    abort: () => void (end.silent || near.abort()),
    pause: () => near.pause(),
    resume: () => near.resume(),
  };
}

/** A server on TCP in real time. */
export class RealClockNode extends NodeWithLog {
  /** @internal */
  readonly disk = new VirtualDisk();
  /** @internal The current process; after a crash, the one that died. */
  server: Server;
  /** @internal */
  protected readonly network: RealClockNetwork;
  readonly #process = new RealClockProcess(() => this.checkOpen());
  #options: RealClockNodeOptions;
  /** Those of the current process. */
  #listeners: Listener[] = [];
  /** Whether the current process has ended, and whether it did so without closing its connections. */
  #end: { over: boolean; silent: boolean } = { over: false, silent: false };
  #journal: Journal;
  #port = 0;
  #closed = false;
  /** Listeners of processes that ended silently, whose connections still hang. */
  readonly #ghosts: Listener[] = [];
  readonly #connections = new Set<RealClockConnection>();

  /** @internal */
  constructor(network: RealClockNetwork, name: string, options: RealClockNodeOptions = {}, writeQuorum = 0) {
    super(name, writeQuorum);
    this.network = network;
    this.#options = options;
    this.clock.onSet = (text) => network.trace.note(name, 'clock', text);
    [this.server, this.#journal] = this.#make();
  }

  /** @internal */
  protected override wrote(write: Write): void {
    this.network.trace.wrote(this.name, write);
  }

  /** @internal */
  protected override recovered(kept: ReadonlyMap<string, string>): void {
    this.network.trace.restarted(this.name, kept);
  }

  #make(): [Server, Journal] {
    const { settings, commands = [] } = this.#options;
    this.#end = { over: false, silent: false };
    const server = this.create(this.#host(), {
      settings: { ...settings, port: this.#port },
      commands,
      ...dialectFor(this.#options, this.name),
    });
    return [server, this.recover(server, this.disk)];
  }

  /** @internal Creates the server of a new process. A node of a cluster creates another. */
  protected create(host: Host, options: ServerOptions): Server {
    return createNode(host, options);
  }

  #host(): Host {
    const outer = this.network.hostOf(this.name);
    const end = this.#end;
    return {
      ...outer,
      clock: this.clock,
      disk: this.disk,
      // While the process is paused, what the far end sends waits too.
      connect: (address, port, receiver, opened) => {
        const open = (near: Connection): void => this.#process.run(() => opened(mortal(near, end)));
        return outer.connect(address, port, this.#inProcess(receiver), open);
      },
    };
  }

  #inProcess(receiver: Receiver): Receiver {
    const end = this.#end;
    return {
      receive: (chunk) => this.#process.run(() => void (end.over || receiver.receive(chunk))),
      closed: () => this.#process.run(() => void (end.over || receiver.closed())),
    };
  }

  #accept(acceptor: Acceptor, near: Connection): Receiver {
    const connection = new RealClockConnection(near, this.#process, this.network);
    this.#connections.add(connection);
    this.#process.run(() => {
      const client = acceptor.accept(connection);
      connection.attach({
        get othersWait() {
          return client?.othersWait === true;
        },
        get waits() {
          return client?.waits === true;
        },
        receive: (chunk) => client?.receive(chunk),
        closed: () => {
          this.#connections.delete(connection);
          client?.closed();
        },
      });
    });
    return connection;
  }

  /**
   * @internal
   * Listens on a free port of 127.0.0.1 the first time, and on the same port after that. Rejects when the port is
   * taken.
   */
  async listen(): Promise<void> {
    this.#port = await this.listenOn(this.#port, this.server.connections);
    this.network.name(this.#port, this.name);
    this.server.settings.port = this.#port;
  }

  /** @internal Listens until the process ends; 0 picks a free port. Resolves to the port. */
  protected async listenOn(port: number, acceptor: Acceptor): Promise<number> {
    const listener = new Listener({ accept: (near) => this.#accept(acceptor, near) });
    this.#listeners.push(listener);
    return (await listener.listen({ host: '127.0.0.1', port })).port;
  }

  /** The TCP port. It stays the same over restarts. */
  get port(): number {
    return this.#port;
  }

  /** The node's URL, for any client. It does not follow the primary. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** The node's wall clock, which can jump and drift. The node's timers follow it. */
  get clock(): RealClock {
    return this.#process.clock;
  }

  /** True between `pause` and `resume`. */
  get paused(): boolean {
    return this.#process.paused;
  }

  /**
   * Ends the process. Its connections end like those of a killed process, and its port refuses new ones. With `silent`
   * the whole machine is gone: open connections hang until the node is closed. New ones are still refused, because the
   * real machine is there. Throws TypeError for a wrong option.
   */
  async crash(options: CrashOptions = {}): Promise<void> {
    this.checkOpen();
    checkCrash('crash', options);
    await this.#finish(options);
  }

  async #finish(options: CrashOptions): Promise<void> {
    const { keep = 'nothing', silent = false } = options;
    if (!this.running) return;
    this.running = false;
    Object.assign(this.#end, { over: true, silent });
    this.network.trace.note(this.name, 'crash', silent ? 'silently' : '');
    for (const connection of this.#connections) {
      if (silent) connection.silence();
      else connection.orphan();
    }
    this.#connections.clear();
    this.#journal.crash(keep);
    this.server.stop();
    this.#process.kill();
    const listeners = this.#listeners.splice(0);
    if (silent) {
      for (const listener of listeners) listener.unlisten();
      this.#ghosts.push(...listeners);
    } else {
      await Promise.all(listeners.map((listener) => listener.close()));
    }
  }

  /** @internal */
  protected checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  /**
   * Starts a new process with the data that was kept, as a primary. Does nothing when the node is up.
   * Rejects with TypeError for a wrong option.
   */
  async restart(options: RestartOptions = {}): Promise<void> {
    this.checkOpen();
    checkRestart(options);
    if (this.running) return;
    const dead = { server: this.server, log: this.log };
    this.network.trace.note(this.name, 'restart');
    this.#options = { ...this.#options, ...options };
    [this.server, this.#journal] = this.#make();
    this.onRestart(dead);
    await this.listen();
    this.running = true;
  }

  /** Ends the node for good. Resolves when no handle is left. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#finish({});
    await Promise.all(this.#ghosts.map((listener) => listener.close()));
  }

  /** Stops the process like SIGSTOP: connections stay open, nothing is answered, and no timer fires. */
  pause(): void {
    this.checkOpen();
    this.network.trace.note(this.name, 'pause');
    this.#process.pause();
  }

  /** Continues the process: everything that arrived during the pause is handled now. */
  resume(): void {
    this.checkOpen();
    this.network.trace.note(this.name, 'resume');
    this.#process.resume();
  }

  /** REPLICAOF NO ONE: the node accepts writes from now on. */
  promote(): void {
    this.checkOpen();
    this.network.trace.note(this.name, 'promote', `at offset ${this.offset}`);
    promote(this.server);
    this.server.settle();
  }

  /** REPLICAOF: the node follows another one. Its data is replaced unless the two histories agree. */
  follow(primary: RealClockNode): void {
    this.checkOpen();
    this.network.trace.note(this.name, 'follow', primary.name);
    this.server.unit(() => replicateFrom(this.server, '127.0.0.1', primary.port));
    this.server.settle();
  }
}
