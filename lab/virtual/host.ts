/** The Host of a node in a world: its clock, randomness, disk and network. */
import { processHeap } from '../../server/host/heap.ts';
import type { Connection, Host, Receiver } from '../../server/host/host.ts';
import { type Keep, VirtualDisk } from '../replica-group/disk.ts';
import type { Machine } from '../replica-group/machine.ts';
import type { Write } from '../replica-group/write-log.ts';
import type { Actor } from '../time/actor.ts';
import type { VirtualClock } from '../time/clock.ts';
import type { Random } from '../time/random.ts';
import { VirtualConnection } from './connection.ts';
import type { Accept } from './network.ts';
import type { World } from './world.ts';

/** A machine. Its clock and disk outlive the servers that run on it one after another. */
export class VirtualHost implements Host, Machine<VirtualClock> {
  readonly name: string;
  readonly world: World;
  readonly actor: Actor;
  readonly disk = new VirtualDisk();
  readonly heap = processHeap;
  readonly #random: Random;

  /**
   * @param name the name of the node's actor, its lanes and its random stream, and an address at which it can be
   * reached
   */
  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.actor = world.actor(name);
    this.#random = world.stream(`node ${name}`);
  }

  get clock(): VirtualClock {
    return this.actor.clock;
  }

  get paused(): boolean {
    return this.actor.paused;
  }

  pause(): void {
    this.actor.pause();
  }

  resume(): void {
    this.actor.resume();
  }

  checkOpen(): void {
    this.world.assertUsable();
  }

  note(what: string, detail = ''): void {
    this.world.trace.note(this.name, what, detail);
  }

  wrote(write: Write): void {
    this.world.wrote(this.name, write);
  }

  restarted(kept: ReadonlyMap<string, string>): void {
    this.world.restarted(this.name, kept);
  }

  random(): number {
    return this.#random.next();
  }

  connect(
    host: string,
    port: number,
    receiver: Receiver,
    opened: (connection: Connection) => void,
  ): undefined {
    let connection: VirtualConnection | undefined;
    const dialled = this.world.network.open(this.actor, host, port, true, (message) => {
      if (connection !== undefined) connection.take(message);
      else if (message === 'accepted') {
        connection = new VirtualConnection(dialled);
        connection.attach(receiver);
        opened(connection);
      } else {
        dialled.in.close();
        receiver.closed();
      }
    });
    return undefined;
  }

  /** Accepts connections to a port, under 127.0.0.1 and under the node's name. */
  listen(port: number, accept: Accept): void {
    this.world.network.listen(this.actor, '127.0.0.1', port, accept);
    this.world.network.listen(this.actor, this.name, port, accept);
  }

  /** Refuses new connections to the port. */
  unlisten(port: number): void {
    this.world.network.unlisten('127.0.0.1', port);
    this.world.network.unlisten(this.name, port);
  }

  /**
   * The node's process dies with its timers. Its connections end, its port refuses new ones, and the disk keeps what
   * `keep` says. With `silent` the whole machine is gone: nobody is notified, and connections just hang.
   */
  crash(keep: Keep = 'synced', silent = false): void {
    this.note('crash', silent ? 'silently' : '');
    this.actor.kill(silent);
    this.disk.crash(keep);
  }

  /** Makes the machine available again. A new server can be started on it. */
  revive(): void {
    this.note('restart');
    this.actor.revive();
  }
}
