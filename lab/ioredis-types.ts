/** ioredis' types where it is installed; where it is not, the part of a client that every version has. */
import type { RedisOptions as InstalledOptions, Redis as InstalledRedis } from 'ioredis';
import type { IoredisLike } from '../locks/clients/ioredis.ts';

/** A client of the lab as far as it is known without ioredis' types. */
export interface PlainRedis extends IoredisLike {
  duplicate(override?: object): PlainRedis;
}

/** True for the type that an import has whose package is missing; the build excuses this file's import. */
type IsMissing<T> = 0 extends 1 & T ? true : false;

/** ioredis' client. */
export type Redis = IsMissing<InstalledRedis> extends true ? PlainRedis : InstalledRedis;

/** The options of ioredis' client. */
export type RedisOptions = IsMissing<InstalledOptions> extends true ? object : InstalledOptions;
