/**
 * `lostlock/ioredis-mock`: the client of the package ioredis-mock, on a server in memory that answers as Redis does. A project
 * moves by changing the import (https://github.com/stipsan/ioredis-mock).
 */
import type {
  Cluster as IoredisCluster,
  Redis as IoredisRedis,
  RedisClusterOptions,
  RedisOptions,
} from '../lab/ioredis-types.ts';
import { MockCluster, MockRedis, others } from './mock/clients.ts';
import type { MockData } from './mock/data.ts';

/** ioredis' options, and those of ioredis-mock. */
export type RedisMockOptions = RedisOptions & {
  /** Keys to store on the server before the first command, with the client's `keyPrefix`. */
  readonly data?: MockData;
  /** The parameter `notify-keyspace-events` of the server. */
  readonly notifyKeyspaceEvents?: string;
};

/** The options of a cluster's client, and `data`. */
export type ClusterMockOptions = RedisClusterOptions & {
  /** Keys to store on the nodes before the first command. */
  readonly data?: MockData;
  /** ioredis' options of the connections; `data` may be here as well. */
  readonly redisOptions?: { readonly data?: MockData };
};

/** ioredis' client, connected in memory. */
export type RedisMock = IoredisRedis & {
  /** True from the beginning of a connection to its end. */
  readonly connected: boolean;
  /** Another client of the same server, with the same options but for those that are given. */
  duplicate(override?: RedisMockOptions): RedisMock;
  /** The name that `duplicate` had in early versions of ioredis-mock. */
  createConnectedClient(override?: RedisMockOptions): RedisMock;
};

/** ioredis' client of clusters, connected in memory. */
export type ClusterMock = IoredisCluster & { readonly connected: boolean };

/** Creates clients. All with one host and port have one server, which keeps its keys until the process or the test file ends. */
export interface RedisMockConstructor {
  /** Takes what ioredis takes, and the options of ioredis-mock. */
  new (port: number, host: string, options: RedisMockOptions): RedisMock;
  new (path: string, options: RedisMockOptions): RedisMock;
  new (port: number, options: RedisMockOptions): RedisMock;
  new (port: number, host: string): RedisMock;
  new (options: RedisMockOptions): RedisMock;
  new (port: number): RedisMock;
  new (path: string): RedisMock;
  new (): RedisMock;
  readonly prototype: RedisMock;
  /** The client of clusters. */
  readonly Cluster: ClusterMockConstructor;
}

/** Creates clients of a cluster, whose primaries are the startup nodes. */
export interface ClusterMockConstructor {
  /** Takes what ioredis takes: the nodes to begin with, and options. */
  new (
    startupNodes: readonly (string | number | { readonly host?: string; readonly port?: number })[],
    options?: ClusterMockOptions,
  ): ClusterMock;
  readonly prototype: ClusterMock;
}

/** ioredis' client of clusters, connected in memory. */
export const Cluster: ClusterMockConstructor = MockCluster as unknown as ClusterMockConstructor;

const members = { ...others, Cluster, Redis: MockRedis, default: MockRedis };
// Defined, not assigned: ioredis' entry gives its class getters of these names, which a subclass inherits.
for (const [name, value] of Object.entries(members))
  Object.defineProperty(MockRedis, name, { value, writable: true, enumerable: true, configurable: true });

/** ioredis' client, connected in memory. */
export const Redis: RedisMockConstructor = MockRedis as unknown as RedisMockConstructor;

export default Redis;

/** What else ioredis exports, as the installed version has it. */
export const {
  Command,
  Pipeline,
  ScanStream,
  AbstractConnector,
  SentinelConnector,
  SentinelIterator,
  ReplyError,
  print,
} = others as Readonly<Record<string, never>>;
