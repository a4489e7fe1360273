/** The clients of nodes on the real clock, or of real servers: those of this process, and the ports at which others connect. */
import { connectorFor } from '../../start/running/connector.ts';
import { checkClientOptions } from '../checks.ts';
import type { Cluster, Redis, RedisClusterOptions, RedisOptions } from '../ioredis-types.ts';
import type { ClusterConstructor, IoredisConstructor } from '../virtual/client.ts';
import type { Address } from '../virtual/connector.ts';
import { RealClockEndpoint } from './endpoint.ts';
import type { Entrance } from './entrance.ts';
import type { RealClockNetwork } from './network.ts';
import { RealClockSocket } from './socket.ts';

/** The entrance for one client: one port, which speaks TLS only if no port is plain. */
function besideMain({ unixSocket: _, tls, ...entrance }: Entrance): Entrance {
  return { ...entrance, ...(tls?.plain === false && { tls: { ...tls, port: 0 } }) };
}

/** The clients of one network. Each passes the links under its name. */
export class RealClockClients {
  readonly #network: RealClockNetwork;
  readonly #entrance: Entrance | undefined;
  readonly #opened: (Redis | Cluster)[] = [];
  readonly #endpoints = new Map<string, Promise<RealClockEndpoint>>();

  /** @param entrance where the ports of parties listen; default on 127.0.0.1 */
  constructor(network: RealClockNetwork, entrance?: Entrance) {
    this.#network = network;
    this.#entrance = entrance;
  }

  /** Opens an ioredis client. @param port returns the port of the node to dial; with `sentinels` ioredis finds it by itself */
  open(Ioredis: IoredisConstructor, name: string, options: RedisOptions, port: () => number): Redis {
    checkClientOptions(options);
    const Connector = connectorFor(() => new RealClockSocket(this.#network, name, port()));
    const dials = options.sentinels === undefined ? { Connector } : {};
    return this.#keep(new Ioredis({ ...options, connectionName: name, ...dials }));
  }

  /** Opens ioredis' client of a cluster. Throws Error when ioredis is not installed. */
  openCluster(
    Ioredis: ClusterConstructor | undefined,
    name: string,
    options: RedisClusterOptions,
    addresses: readonly Address[],
  ): Cluster {
    if (Ioredis === undefined) throw new Error("client() needs the package 'ioredis'");
    const { redisOptions = {} } = options as { redisOptions?: object };
    const Connector = connectorFor(({ port }) => new RealClockSocket(this.#network, name, port as number));
    const own = { ...redisOptions, connectionName: name, Connector };
    return this.#keep(new Ioredis(addresses, { ...options, redisOptions: own } as RedisClusterOptions));
  }

  #keep<C extends Redis | Cluster>(client: C): C {
    // Without a listener, ioredis prints each error.
    client.on('error', () => {});
    this.#opened.push(client);
    return client;
  }

  /**
   * A port of a party's own that leads to a node; opened when first asked for. Rejects with Node's error when the port is taken.
   * @param key tells the ports of one party apart
   * @param isMain true for the port that everybody uses: it has the entrance's port for TLS and its unix socket
   */
  endpoint(
    key: string,
    party: string,
    leadsTo: () => number,
    port = 0,
    isMain = false,
  ): Promise<RealClockEndpoint> {
    let opened = this.#endpoints.get(key);
    if (opened === undefined) {
      const entrance = isMain || this.#entrance === undefined ? this.#entrance : besideMain(this.#entrance);
      const endpoint = new RealClockEndpoint(this.#network, party, leadsTo, undefined, entrance);
      opened = endpoint.listen(port).then(() => endpoint);
      this.#endpoints.set(key, opened);
    }
    return opened;
  }

  /** Disconnects the clients of this process. */
  disconnect(): void {
    for (const client of this.#opened) client.disconnect();
  }

  /** Closes the ports. Resolves when no handle is left. */
  async close(): Promise<void> {
    // One that could not be opened has failed the start.
    const closed = [...this.#endpoints.values()].map((opened) =>
      opened.then(
        (it) => it.close(),
        () => {},
      ),
    );
    await Promise.all(closed);
  }
}
