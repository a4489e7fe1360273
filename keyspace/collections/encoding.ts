/** Redis' rules for OBJECT ENCODING, and the thresholds that CONFIG SET can change. */
import { type Bytes, parseInteger } from '../../protocol/bytes.ts';

/**
 * The thresholds above which a value loses its compact encoding. All values of a server refer to the same object, so
 * that CONFIG SET takes effect at the next write, as in Redis.
 */
export interface EncodingLimits {
  /** hash-max-listpack-entries: fields. */
  hashMaxEntries: number;
  /** hash-max-listpack-value: bytes of a field or of a value. */
  hashMaxValue: number;
  /** True where a packed hash stays packed when a field gets a TTL, as in Redis. */
  packsTimes: boolean;
  /** set-max-intset-entries: members. */
  setMaxIntset: number;
  /** set-max-listpack-entries: members of a set of any strings; 0: such sets are hash tables from the beginning. */
  setMaxEntries: number;
  /** set-max-listpack-value: bytes of a member. */
  setMaxValue: number;
  /** True where the arguments of SADD, ZADD and HSET decide about an encoding, as from Redis 7.2 on. */
  sizesValues: boolean;
  /** Whether a stored stream must have as many entries as it says. */
  countsStreams: boolean;
  /** zset-max-listpack-entries: members. */
  zsetMaxEntries: number;
  /** zset-max-listpack-value: bytes of a member. */
  zsetMaxValue: number;
  /** True where short lists are a listpack of their own, as from Redis 7.2 on. */
  packsLists: boolean;
  /** list-max-listpack-size: elements of a quicklist node, or -1 to -5 for 4 to 64 KiB. */
  listMaxListpackSize: number;
  /** stream-node-max-bytes: bytes of a stream's macro node. */
  streamNodeMaxBytes: number;
  /** stream-node-max-entries: entries of a stream's macro node. */
  streamNodeMaxEntries: number;
  /** stream-idmp-duration: how long a new stream remembers a producer's ids, in seconds. */
  streamIdmpDuration: number;
  /** stream-idmp-maxsize: how many ids of one producer a new stream remembers. */
  streamIdmpMaxSize: number;
}

/** The thresholds of a redis-server 7.0 started without a configuration file. */
export function defaultLimits(): EncodingLimits {
  return {
    hashMaxEntries: 512,
    hashMaxValue: 64,
    packsTimes: true,
    setMaxIntset: 512,
    setMaxEntries: 0,
    setMaxValue: 64,
    sizesValues: false,
    countsStreams: false,
    packsLists: false,
    zsetMaxEntries: 128,
    zsetMaxValue: 64,
    listMaxListpackSize: -2,
    streamNodeMaxBytes: 4096,
    streamNodeMaxEntries: 100,
    streamIdmpDuration: 100,
    streamIdmpMaxSize: 100,
  };
}

/** The limits of a value that is created without a server, as in tests. */
export const DEFAULT_LIMITS: Readonly<EncodingLimits> = Object.freeze(defaultLimits());

/** The longest string that shares one allocation with its object header, in bytes. */
export const EMBSTR_MAX = 44;

/** How Redis stores a string. */
export type StringEncoding = 'int' | 'embstr' | 'raw';

/** The encoding of a string that was set as a whole. After APPEND or SETRANGE, Redis reports 'raw' for any length. */
export function stringEncoding(value: Bytes): StringEncoding {
  if (value.length <= 20 && parseInteger(value) !== undefined) return 'int';
  return value.length <= EMBSTR_MAX ? 'embstr' : 'raw';
}
