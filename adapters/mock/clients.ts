/** The mock's two clients: ioredis' own, whose connections lead to servers in memory. */
import type { Duplex } from 'node:stream';
import { connectorFor } from '../../start/running/connector.ts';
import { entriesOf, type MockData } from './data.ts';
import {
  type IoredisParts,
  loadParts,
  type MockedClient,
  type MockedCluster,
  type NodeAddress,
} from './load.ts';
import { clusterAt, dial, memberAt, serverAt, store, type Target } from './servers.ts';

const parts: IoredisParts = loadParts();

/** The options that ioredis does not have. */
interface MockOptions {
  readonly data?: MockData;
  readonly notifyKeyspaceEvents?: string;
  /** How the connections of a cluster's node are opened. */
  readonly Connector?: unknown;
}

/** The functions that wait until a client is ready. */
const waiting = new WeakMap<object, (() => void)[]>();

const Connector = connectorFor((target) => dial(serverAt(target as Target)) as Duplex);

/** The arguments with one more option: ioredis takes up to three, in any order. */
function withOptions(args: readonly unknown[], more: object): unknown[] {
  const given = args.slice(0, 3);
  const at = given.findIndex((each) => typeof each === 'object' && each !== null);
  if (at >= 0) return given.with(at, { ...(given[at] as object), ...more });
  return [...given.filter((each) => each !== undefined && each !== null), more];
}

function mockOptions(args: readonly unknown[]): MockOptions {
  return (args.find((each) => typeof each === 'object' && each !== null) ?? {}) as MockOptions;
}

/** True from the beginning of a connection to its end, or to a call that ends it. */
function isConnected({
  status,
  manuallyClosing,
}: {
  readonly status: string;
  readonly manuallyClosing?: boolean;
}): boolean {
  return manuallyClosing !== true && ['connecting', 'connect', 'ready'].includes(status);
}

/** ioredis' client without a network. Clients with one host and port have one server. */
export class MockRedis extends parts.Redis {
  constructor(...args: readonly unknown[]) {
    super(...withOptions(args, { Connector: mockOptions(args).Connector ?? Connector }));
    const { data, notifyKeyspaceEvents } = mockOptions(args);
    const { keyPrefix = '', db = 0 } = this.options;
    const server = serverAt(this.options);
    if (data !== undefined) store([server], entriesOf(data, keyPrefix, db));
    if (notifyKeyspaceEvents) {
      server.settings['notify-keyspace-events'] = notifyKeyspaceEvents;
      server.applySettings();
    }
  }

  /** True from the beginning of a connection to its end. */
  get connected(): boolean {
    return isConnected(this);
  }

  /** Connects. Unlike ioredis' own method it needs no timer, so it also ends under fake timers. */
  override connect(callback?: unknown): Promise<void> {
    const connected = super.connect(callback);
    const ready = new Promise<void>((resolve) => {
      const all = waiting.get(this) ?? [];
      all.push(resolve);
      waiting.set(this, all);
    });
    return Promise.race([connected, ready]);
  }

  override setStatus(status: string, argument?: unknown): void {
    super.setStatus(status, argument);
    if (status !== 'ready') return;
    for (const resolve of waiting.get(this) ?? []) resolve();
    waiting.delete(this);
  }

  /** Another client of the same server, with the same options but for those that are given. */
  duplicate(override: object = {}): MockRedis {
    const { data: _, ...options } = this.options as { readonly data?: unknown };
    return new MockRedis({ ...options, ...override });
  }

  /** What ioredis-mock called `duplicate` before version 7. */
  createConnectedClient(override: object = {}): MockRedis {
    return this.duplicate(override);
  }
}

interface MockClusterOptions extends MockOptions {
  readonly keyPrefix?: string;
  readonly redisOptions?: MockOptions & { readonly keyPrefix?: string };
}

const MemberConnector = connectorFor((target) => dial(memberAt(target as Target)) as Duplex);

const EVENTS = ['message', 'messageBuffer', 'pmessage', 'pmessageBuffer', 'smessage', 'smessageBuffer'];

/** The client that subscribes for a cluster. ioredis' own takes no connector, and would open a socket. */
class MockSubscriber {
  readonly #open: () => MockRedis;
  #client: MockRedis | undefined;

  constructor(cluster: MockedCluster, address: NodeAddress) {
    this.#open = () => {
      const client = new MockRedis({ ...address, enableReadyCheck: false, Connector: MemberConnector });
      for (const event of EVENTS) client.on(event, (...words: unknown[]) => cluster.emit(event, ...words));
      return client;
    };
  }

  start(): void {
    this.#client ??= this.#open();
  }

  stop(): void {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  getInstance(): MockRedis | undefined {
    return this.#client;
  }
}

/** ioredis' client of clusters without a network. The startup nodes are the primaries of the cluster, which share the slots. */
export class MockCluster extends parts.Cluster {
  readonly #startup: readonly MockRedis[];

  constructor(startupNodes: readonly unknown[], options: MockClusterOptions = {}) {
    const addresses = parts.addressesOf(startupNodes);
    const nodes = clusterAt(addresses);
    const { redisOptions = {} } = options;
    const data = options.data ?? redisOptions.data;
    const prefix = options.keyPrefix ?? redisOptions.keyPrefix ?? '';
    if (data !== undefined) store(nodes, entriesOf(data, prefix, 0));
    super(startupNodes, {
      dnsLookup: (host: string, done: (error: null, address: string) => void) => done(null, host),
      ...options,
      redisOptions: { ...redisOptions, Connector: MemberConnector },
    });
    this.subscriber = new MockSubscriber(this, addresses[0] as NodeAddress);
    this.#startup = addresses.map(
      ({ host, port }) => new MockRedis({ host, port, lazyConnect: true, Connector: MemberConnector }),
    );
  }

  get connected(): boolean {
    return isConnected(this);
  }

  /** The clients of the nodes. Until the cluster has answered, those of the startup nodes. */
  override nodes(role?: string): MockedClient[] {
    const known = super.nodes(role);
    if (known.length > 0 || role === 'slave' || !this.connected) return known;
    return [...this.#startup];
  }

  /** Another client of the same cluster. */
  duplicate(startupNodes: readonly unknown[] = [], override: object = {}): MockCluster {
    const { startupNodes: own, options } = this as unknown as {
      startupNodes: readonly unknown[];
      options: MockClusterOptions;
    };
    const { data: _, ...rest } = options;
    const { data: __, ...redisOptions } = rest.redisOptions ?? {};
    return new MockCluster(startupNodes.length > 0 ? startupNodes : own, {
      ...rest,
      redisOptions,
      ...override,
    });
  }
}

/** Everything else that ioredis exports. */
export const others: IoredisParts['others'] = parts.others;
