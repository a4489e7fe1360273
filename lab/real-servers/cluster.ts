/** A cluster of real servers behind the links of the lab: its nodes reach each other, and clients reach them, over links. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { slotsOf } from '../../cluster/arrange.ts';
import { nodeHost } from '../../server/host/node.ts';
import type { Settings } from '../../server/settings/settings.ts';
import type { Cluster, Redis, RedisClusterOptions, RedisOptions } from '../ioredis-types.ts';
import { RealClockClients } from '../real-clock/clients.ts';
import { ANYBODY, RealClockEndpoint } from '../real-clock/endpoint.ts';
import { CLOSED } from '../real-clock/lane.ts';
import { type ConnectionTap, type NetworkConnection, RealClockNetwork } from '../real-clock/network.ts';
import { allUp, comesTrue, pass } from '../real-clock/wait.ts';
import { CLUSTER_FILE } from '../replica-group/shards.ts';
import {
  type ClusterConstructor,
  type IoredisConstructor,
  loadClusterClient,
  loadIoredis,
} from '../virtual/client.ts';
import { RealServerNode } from './node.ts';
import { programFor } from './options.ts';
import { freePort } from './program.ts';
import { tapBetween } from './replication-tap.ts';
import { RealServerShard } from './shard.ts';

/** How long the nodes may take to agree after the start, in milliseconds. */
const AGREE_WITHIN = 60_000;
/** How often the lab asks the nodes for their roles, in milliseconds. */
const LOOKS_EVERY = 20;
/** While the processes start, no node suspects another one for so long, in milliseconds. */
const PATIENT = 60_000;

/** What a cluster of real servers consists of. */
export interface RealServerClusterOptions {
  /** The program of every node: a name on PATH or a path. It must take the arguments of redis-server 7.0 or later. */
  readonly program: string;
  /** How many primaries share the slots. */
  readonly primaries: number;
  /** How many replicas each primary has. */
  readonly replicas: number;
  /** How long a node may be silent before the others suspect it, in milliseconds. */
  readonly nodeTimeout: number;
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
}

/** One node's place in the cluster. */
interface NodePlace {
  readonly id: string;
  readonly name: string;
  /** The address from which the process dials: by it the links know who does. */
  readonly dialsFrom: string;
  /** What the cluster announces: where the others, and clients, reach the node. */
  readonly clients: RealClockEndpoint;
  readonly bus: RealClockEndpoint;
  /** Where the process itself listens for the others. */
  ownBus: number;
}

/** The cluster. */
export class RealServerCluster {
  /** The lanes between all nodes and clients, by name. */
  readonly network = new RealClockNetwork();
  /** Each primary with its replicas. */
  readonly shards: readonly RealServerShard[];
  /** All nodes, node-1 and so on, those that began as primaries first. */
  readonly nodes: readonly RealServerNode[];
  readonly #places: readonly NodePlace[];
  readonly #options: RealServerClusterOptions;
  readonly #ioredis: { readonly Redis: IoredisConstructor; readonly Cluster: ClusterConstructor };
  readonly #clients = new RealClockClients(this.network);
  #timeout = PATIENT;
  #watching: Promise<void> = Promise.resolve();

  /** @internal */
  constructor(
    options: RealServerClusterOptions,
    path: string,
    ioredis: { readonly Redis: IoredisConstructor; readonly Cluster: ClusterConstructor },
  ) {
    const { primaries, replicas, settings = {} } = options;
    this.#options = options;
    this.#ioredis = ioredis;
    const names = Array.from({ length: primaries * (replicas + 1) }, (_, i) => `node-${i + 1}`);
    this.#places = names.map((name, i) => this.#place(name, `127.0.1.${i + 1}`));
    this.network.tapFor = (connection) => this.#tap(connection);
    const around = {
      ...{ network: this.network, ioredis: ioredis.Redis, settings, isAlone: replicas === 0 },
      isNode: (name: string) => names.includes(name),
      inTurn: (work: () => Promise<unknown>) => void work().catch(() => {}),
      portBetween: async (_from: string, to: string) => this.#placeOf(to).clients.port,
      argumentsFor: (name: string, port: number) => this.#argumentsFor(this.#placeOf(name), port),
      keeps: [CLUSTER_FILE],
    };
    this.shards = Array.from({ length: primaries }, (_, shard) => {
      const own = names.filter((_name, i) => i % primaries === shard);
      return new RealServerShard(
        own,
        shard + 1,
        this.network,
        (name) => new RealServerNode(name, path, around),
      );
    });
    const all = this.shards.flatMap(({ nodes }) => nodes);
    this.nodes = names.flatMap((name) => all.find((node) => node.name === name) ?? []);
  }

  #place(name: string, dialsFrom: string): NodePlace {
    const partyOf = (address: string): string =>
      this.#places.find((place) => place.dialsFrom === address)?.name ?? ANYBODY;
    const place: NodePlace = {
      id: Array.from({ length: 40 }, () => Math.floor(nodeHost().random() * 16).toString(16)).join(''),
      ...{ name, dialsFrom, ownBus: 0 },
      clients: new RealClockEndpoint(this.network, ANYBODY, () => this.node(name).port, partyOf),
      bus: new RealClockEndpoint(this.network, ANYBODY, () => place.ownBus, partyOf),
    };
    return place;
  }

  #placeOf(name: string): NodePlace {
    return this.#places.find((place) => place.name === name) as NodePlace;
  }

  #tap(connection: NetworkConnection): ConnectionTap | undefined {
    const isBus = this.#places.some(({ ownBus }) => ownBus === connection.port);
    return isBus ? undefined : tapBetween(this.nodes, connection);
  }

  async #argumentsFor(place: NodePlace, port: number): Promise<readonly string[]> {
    place.ownBus = await freePort();
    this.network.name(place.clients.port, place.name, port);
    this.network.name(port, place.name);
    this.network.name(place.ownBus, place.name);
    return [
      ...['--cluster-enabled', 'yes', '--cluster-config-file', CLUSTER_FILE],
      ...['--cluster-node-timeout', String(this.#timeout)],
      ...['--cluster-port', String(place.ownBus), '--bind-source-addr', place.dialsFrom],
      ...['--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', String(place.clients.port)],
      ...['--cluster-announce-bus-port', String(place.bus.port)],
    ];
  }

  /** @internal Starts every process. Resolves when they are a cluster, and the replicas are in sync. */
  async start(): Promise<void> {
    await checkAddresses(this.#places.map(({ dialsFrom }) => dialsFrom));
    await Promise.all(this.#places.flatMap(({ clients, bus }) => [clients.listen(), bus.listen()]));
    for (const [i, { folder }] of this.nodes.entries()) {
      writeFileSync(join(folder, CLUSTER_FILE), this.#configurationOf(i));
    }
    await allUp(this.nodes.map((node) => node.start()));
    if (!(await comesTrue(() => this.agrees(), AGREE_WITHIN, 20)))
      throw new Error(`the nodes do not become a cluster within ${AGREE_WITHIN} ms`);
    this.#timeout = this.#options.nodeTimeout;
    await Promise.all(
      this.nodes.map((node) => node.ask('CONFIG', 'SET', 'cluster-node-timeout', String(this.#timeout))),
    );
    this.#watching = this.#watch();
  }

  /** The nodes.conf of a node that already knows all others. */
  #configurationOf(own: number): string {
    const { primaries } = this.#options;
    const lines = this.#places.map(({ id, clients, bus }, i) => {
      const address = `127.0.0.1:${clients.port}@${bus.port}`;
      const flags = `${i === own ? 'myself,' : ''}${i < primaries ? 'master' : 'slave'}`;
      const primary = i < primaries ? '-' : this.#places[i % primaries]?.id;
      const slots = i < primaries ? ` ${slotsOf(i, primaries).join('-')}` : '';
      return `${id} ${address} ${flags} ${primary} 0 0 ${(i % primaries) + 1} connected${slots}\n`;
    });
    return `${lines.join('')}vars currentEpoch ${primaries} lastVoteEpoch 0\n`;
  }

  /** True when every node is up, is connected to all others and reports cluster_state:ok, and every replica has a link to its primary. */
  async agrees(): Promise<boolean> {
    const isWell = await Promise.all(
      this.nodes.map(async (node) => {
        if (!node.up || node.paused) return false;
        const info = String(await node.ask('CLUSTER', 'INFO'));
        const lines = String(await node.ask('CLUSTER', 'NODES'))
          .trim()
          .split('\n');
        const { isReplica, linkUp } = await node.standing();
        const isConnected = lines.every((line) => line.split(' ')[7] === 'connected');
        return info.includes('cluster_state:ok') && isConnected && (!isReplica || linkUp);
      }),
    );
    return isWell.every(Boolean);
  }

  /** Keeps the roles of the shards up to date until the cluster is closed. */
  async #watch(): Promise<void> {
    while (!this.network.closed) {
      // A node may crash while it is asked.
      await Promise.all(this.shards.map((shard) => shard.look().catch(() => {})));
      await pass(LOOKS_EVERY);
    }
  }

  /** The node with this name. Throws RangeError when there is none. */
  node(name: string): RealServerNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found !== undefined) return found;
    throw new RangeError(
      `no node is called '${name}'; there are ${this.#places.map((each) => each.name).join(', ')}`,
    );
  }

  /** Where clients begin, as the cluster announces its nodes. */
  get addresses(): readonly { readonly host: string; readonly port: number }[] {
    return this.#places.map(({ clients }) => ({ host: '127.0.0.1', port: clients.port }));
  }

  /**
   * ioredis' client of the cluster, with this name on the links. Its extra connection for subscriptions, which ioredis opens by
   * itself, counts as one of `client`. `close` disconnects it.
   */
  client(name: string, options: RedisClusterOptions = {}): Cluster {
    if (this.network.closed) throw new Error(CLOSED);
    return this.#clients.openCluster(this.#ioredis.Cluster, name, options, this.addresses);
  }

  /** An ioredis client with this name that connects to whichever node `of` returns then. `close` disconnects it. */
  nodeClient(name: string, options: RedisOptions, of: () => RealServerNode): Redis {
    if (this.network.closed) throw new Error(CLOSED);
    return this.#clients.open(this.#ioredis.Redis, name, options, () => of().port);
  }

  /** Disconnects the clients, kills every process and removes its files. */
  async close(): Promise<void> {
    this.#clients.disconnect();
    this.network.close();
    await this.#watching;
    await Promise.all(this.#places.flatMap(({ clients, bus }) => [clients.close(), bus.close()]));
    await Promise.all(this.nodes.map((node) => node.close()));
  }
}

/** Rejects unless processes can dial from these addresses. Linux has them all; other systems need an alias for each. */
async function checkAddresses(addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    await freePort(address).catch(() => {
      throw new Error(`a cluster of real servers needs the address ${address}, which this machine lacks`);
    });
  }
}

/** Starts real servers as a cluster. Rejects with a TypeError for a program that is not there. */
export async function startRealServerCluster(options: RealServerClusterOptions): Promise<RealServerCluster> {
  const ioredis = { Redis: await loadIoredis(), Cluster: await loadClusterClient() };
  const cluster = new RealServerCluster(options, programFor(options.program), ioredis);
  try {
    await cluster.start();
  } catch (error) {
    await cluster.close();
    throw error;
  }
  return cluster;
}
