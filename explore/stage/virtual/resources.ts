/** Resources at a distance in a virtual world: each listens at an address of its own, and every write is a connection to it. */
import type { Actor } from '../../../lab/time/actor.ts';
import type { VirtualConnection } from '../../../lab/virtual/connection.ts';
import type { World } from '../../../lab/virtual/world.ts';
import { type Bytes, toBuffer } from '../../../protocol/bytes.ts';

/** The port at which every resource listens. */
const PORT = 1;
/** What a resource answers. */
const [TAKEN, REFUSED] = ['+OK\r\n', '-REFUSED\r\n'];

/** The resources of one world to which clients send. */
export class DistantResources {
  readonly #world: World;
  /** The names of their processes, by resource. A colon in a name would look like a port. */
  readonly #hosts = new Map<string, string>();
  /** What happens when the write of a connection arrives, by the address of the end that dialled. */
  readonly #arrivals = new Map<string, () => boolean>();
  /** The clients whose links to resources have a pace. */
  readonly #paced = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The names of their processes, as links know them. */
  get hosts(): string[] {
    return [...this.#hosts.values()];
  }

  /** The resource can be reached from now on. Returns the name of its process. */
  add(resource: string): string {
    const known = this.#hosts.get(resource);
    if (known !== undefined) return known;
    const host = resource.replace(/[^\w.-]+/g, '-');
    const isNew = !this.hosts.includes(host);
    this.#hosts.set(resource, host);
    if (isNew) {
      const actor = this.#world.actor(`${host} (resource)`);
      this.#world.network.listen(actor, host, PORT, (connection) => this.#accept(actor, connection), host);
    }
    return host;
  }

  /**
   * Sends a write from a client's process. Resolves to what `arrive` says, when the answer is back. Rejects when the
   * connection breaks.
   */
  write(client: Actor, resource: string, arrive: () => boolean): Promise<boolean> {
    const host = this.add(resource);
    const { network } = this.#world;
    this.#pace(client.name, host);
    return new Promise((resolve, reject) => {
      const request: Bytes = `*2\r\n$5\r\nWRITE\r\n$${Buffer.byteLength(resource)}\r\n${resource}\r\n`;
      const ends = network.open(client, host, PORT, false, (message) => {
        if (message === 'accepted') ends.out.send(toBuffer(request), request);
        else if (typeof message !== 'string') {
          resolve(message[0] === TAKEN.charCodeAt(0));
          ends.out.send('end');
          ends.in.close();
        } else
          reject(
            new Error(`the connection to ${resource} broke, and nobody knows whether the write arrived`),
          );
      });
      this.#arrivals.set(ends.local, arrive);
    });
  }

  /** Each client has its own latency, so that few events happen at the same instant. */
  #pace(client: string, host: string): void {
    if (this.#paced.has(`${client} ${host}`)) return;
    this.#paced.add(`${client} ${host}`);
    const latency = 1 + 0.013 * this.#paced.size;
    this.#world.network.link(client, host).pace({ latency });
  }

  #accept(actor: Actor, connection: VirtualConnection) {
    const arrive = (): void => {
      const arrival = this.#arrivals.get(connection.remote);
      this.#arrivals.delete(connection.remote);
      if (arrival !== undefined) connection.send(arrival() ? TAKEN : REFUSED);
    };
    return {
      // A task, since what arrives may end the world: its promises run before anything else happens.
      receive: () => actor.schedule.enqueue(actor.task(arrive)),
      closed: () => {},
    };
  }
}
