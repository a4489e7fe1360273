/** ioredis' types if it is installed; otherwise the part of a client that every version has. */
import type {
  Cluster as InstalledCluster,
  ClusterOptions as InstalledClusterOptions,
  RedisOptions as InstalledOptions,
  Redis as InstalledRedis,
} from 'ioredis';
import type { IoredisLike } from '../locks/clients/ioredis.ts';

/** A client of the lab without ioredis' types. */
export interface PlainRedis extends IoredisLike {
  /** Another client with the same options, except those that are given. */
  duplicate(override?: object): PlainRedis;
}

/**
 * True for a type whose import failed because the package is missing. The build suppresses the import's error in this
 * file.
 */
type IsMissing<T> = 0 extends 1 & T ? true : false;

/** ioredis' client. */
export type Redis = IsMissing<InstalledRedis> extends true ? PlainRedis : InstalledRedis;

/** The options of ioredis' client. */
export type RedisOptions = IsMissing<InstalledOptions> extends true ? object : InstalledOptions;

/** The options of ioredis' client of a cluster. */
export type RedisClusterOptions =
  IsMissing<InstalledClusterOptions> extends true ? object : InstalledClusterOptions;

/** ioredis' client of a cluster. */
export type Cluster = IsMissing<InstalledCluster> extends true ? PlainRedis : InstalledCluster;
