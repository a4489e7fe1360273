/** The doors of one node in a world: its clock, its randomness, its disk and its place in the network. */
import type { Connection, Host, Receiver } from '../../server/host/host.ts';
import { type Keep, VirtualDisk } from '../failover/disk.ts';
import type { Actor } from '../time/actor.ts';
import type { VirtualClock } from '../time/clock.ts';
import type { Random } from '../time/random.ts';
import { VirtualConnection } from './connection.ts';
import type { Accept } from './network.ts';
import type { World } from './world.ts';

/** A machine: it outlives the servers that run on it one after the other, with its clock and disk. */
export class VirtualHost implements Host {
  readonly name: string;
  readonly world: World;
  readonly actor: Actor;
  readonly disk = new VirtualDisk();
  readonly #random: Random;

  /** @param name the node's name: of its actor, its lanes, its random stream, and an address at which it is found */
  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.actor = world.actor(name);
    this.#random = world.stream(`node ${name}`);
  }

  get clock(): VirtualClock {
    return this.actor.clock;
  }

  random(): number {
    return this.#random.next();
  }

  connect(host: string, port: number, receiver: Receiver, opened: (connection: Connection) => void): void {
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
  }

  /** Takes connections to a port, under 127.0.0.1 and under the node's name. */
  listen(port: number, accept: Accept): void {
    this.world.network.listen(this.actor, '127.0.0.1', port, accept);
    this.world.network.listen(this.actor, this.name, port, accept);
  }

  /** Takes no new connections to the port. */
  unlisten(port: number): void {
    this.world.network.unlisten('127.0.0.1', port);
    this.world.network.unlisten(this.name, port);
  }

  /**
   * The node's process dies: its timers with it, its connections end, its port refuses, and the disk keeps what
   * `keep` says. With `silent` the machine is gone, too: nobody is told, and its connections just hang.
   */
  crash(keep: Keep = 'synced', silent = false): void {
    this.world.trace.note(this.name, 'crash', silent ? 'silently' : '');
    this.actor.kill(silent);
    this.disk.crash(keep);
  }

  /** The machine is back; a new server may be started on it. */
  revive(): void {
    this.world.trace.note(this.name, 'restart');
    this.actor.revive();
  }
}
