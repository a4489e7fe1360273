/** What a node or a Sentinel on the real clock runs on: a process that can be paused and killed, a disk, and TCP listeners. */
import type { Acceptor, Connection, Host, Receiver } from '../../server/host/host.ts';
import { Listener } from '../../server/host/tcp.ts';
import { VirtualDisk } from '../replica-group/disk.ts';
import type { Machine } from '../replica-group/machine.ts';
import type { Write } from '../replica-group/write-log.ts';
import { RealClockConnection } from './connection.ts';
import { CLOSED } from './lane.ts';
import type { NetworkConnection, RealClockNetwork } from './network.ts';
import { type RealClock, RealClockProcess } from './process.ts';

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

/** A machine on the real clock. */
export class RealClockMachine implements Machine<RealClock> {
  readonly name: string;
  readonly disk: VirtualDisk;
  readonly network: RealClockNetwork;
  readonly #process: RealClockProcess;
  /** Whether the current process has ended, and whether it did so without closing its connections. */
  #end = { over: false, silent: false };
  /** Those of the current process. */
  #listeners: Listener[] = [];
  readonly #connections = new Set<RealClockConnection>();
  /** The connections that hang since the machine vanished. */
  #hanging: readonly NetworkConnection[] = [];
  /** Listeners of processes that ended silently, whose connections still hang. */
  readonly #ghosts: Listener[] = [];
  #closed = false;

  constructor(network: RealClockNetwork, name: string, disk = new VirtualDisk()) {
    this.name = name;
    this.disk = disk;
    this.network = network;
    this.#process = new RealClockProcess(network.time, () => this.checkOpen());
    this.clock.onSet = (text) => this.note('clock', text);
  }

  get clock(): RealClock {
    return this.#process.clock;
  }

  get paused(): boolean {
    return this.#process.paused;
  }

  pause(): void {
    this.checkOpen();
    this.note('pause');
    this.#process.pause();
  }

  resume(): void {
    this.checkOpen();
    this.note('resume');
    this.#process.resume();
  }

  checkOpen(): void {
    if (this.#closed) throw new Error(CLOSED);
  }

  note(what: string, detail = ''): void {
    this.network.trace.note(this.name, what, detail);
  }

  wrote(write: Write): void {
    this.network.trace.wrote(this.name, write);
  }

  restarted(kept: ReadonlyMap<string, string>): void {
    this.network.trace.restarted(this.name, kept);
  }

  /** The host of a new process. */
  boot(): Host {
    const outer = this.network.hostOf(this.name);
    const end = { over: false, silent: false };
    this.#end = end;
    const run = (work: () => void): void => this.#process.run(work);
    // While the process is paused, what the far end sends waits too.
    const inProcess = (receiver: Receiver): Receiver => ({
      receive: (chunk) => run(() => void (end.over || receiver.receive(chunk))),
      closed: () => run(() => void (end.over || receiver.closed())),
    });
    return {
      ...outer,
      clock: this.clock,
      disk: this.disk,
      connect: (address, port, receiver, opened) =>
        outer.connect(address, port, inProcess(receiver), (near) => run(() => opened(mortal(near, end)))),
    };
  }

  /** Listens on 127.0.0.1 until the process ends; 0 picks a free port. Resolves to the port. Rejects when it is taken. */
  async listen(port: number, acceptor: Acceptor): Promise<number> {
    const listener = new Listener({ accept: (near) => this.#accept(acceptor, near) });
    this.#listeners.push(listener);
    const listening = await listener.listen({ host: '127.0.0.1', port });
    // The system of a machine that has started again knows no earlier connections, and answers what arrives on them with a reset.
    for (const connection of this.#hanging) connection.reset();
    this.#hanging = [];
    return listening.port;
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
   * Kills the process. Its connections end like those of a killed process, and its ports refuse new ones. With `silent` the
   * whole machine is gone: open connections hang until `close`.
   * @param stop ends the server that the process has run
   */
  async crash(silent: boolean, stop: () => void): Promise<void> {
    Object.assign(this.#end, { over: true, silent });
    if (silent) this.#hanging = this.network.connectionsOf(this.name);
    this.note('crash', silent ? 'silently' : '');
    for (const connection of this.#connections) {
      if (silent) connection.silence();
      else connection.orphan();
    }
    this.#connections.clear();
    stop();
    this.#process.kill();
    const listeners = this.#listeners.splice(0);
    if (silent) {
      for (const listener of listeners) listener.unlisten();
      this.#ghosts.push(...listeners);
    } else {
      await Promise.all(listeners.map((listener) => listener.close()));
    }
  }

  /** From now on nothing happens on the machine. Resolves when the connections of lost machines are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#ghosts.map((listener) => listener.close()));
  }
}
