/** How the servers' RDB differ: the version of files and of DUMP's payloads, and the forms of values that each server knows. */
import { type Bytes, formatGeneral } from '../../protocol/bytes.ts';
import { formatShortest } from '../../protocol/shortest.ts';
import { VALUE } from './types.ts';

/** What a server writes, and what its RESTORE accepts. */
export interface RdbFormat {
  /** The first word of a file. */
  readonly magic: 'REDIS' | 'VALKEY';
  /** The version in a file's header and in a payload's footer. */
  readonly version: number;
  /** The latest version that RESTORE accepts besides `version`. */
  readonly takes: number;
  /** Whether RESTORE tries payloads of later versions than it knows, except those of another family of servers. */
  readonly triesNewer?: boolean;
  /** Whether RESTORE takes a checksum of zeros for a missing one, as loading a file does. */
  readonly mayLackChecksum?: boolean;
  /** The numbers of the forms of values (`VALUE`) that the server knows. */
  readonly types: ReadonlySet<number>;
  /**
   * Where the expiry times of hash fields are. 'beside': the server has no field TTLs, so files have the times in an
   * auxiliary field before a plain hash, which the server ignores.
   */
  readonly fieldTimes: 'beside' | 'redis' | 'valkey';
  /** Whether a list element that is larger than a node is stored plain, without a listpack. */
  readonly plainNodes: boolean;
  /** Whether a stream is refused when it does not have as many entries as it says. Other servers believe what it says. */
  readonly countsStreams: boolean;
  /** Whether an element of a vector set is stored with its farthest link on each layer. */
  readonly farthestLinks: boolean;
  /** The text of a score in DEBUG DIGEST and, unless it is an integer, in listpacks. */
  readonly scoreText: (score: number) => Bytes;
}

const TYPES_7_0: readonly number[] = [
  VALUE.string,
  VALUE.list,
  VALUE.set,
  VALUE.zsetText,
  VALUE.hash,
  VALUE.zset,
  VALUE.hashZipmap,
  VALUE.listZiplist,
  VALUE.setIntset,
  VALUE.zsetZiplist,
  VALUE.hashZiplist,
  VALUE.listQuicklist,
  VALUE.streamListpacks,
  VALUE.hashListpack,
  VALUE.zsetListpack,
  VALUE.listQuicklist2,
  VALUE.streamListpacks2,
];
/** 7.2 added packed sets, and the time at which a consumer last got an entry. */
const TYPES_7_2: readonly number[] = [...TYPES_7_0, VALUE.setListpack, VALUE.streamListpacks3];

/** Digits of C's `%.17g`. */
const DIGITS = 17;

/** Redis 7.0. */
export const REDIS_7_0: RdbFormat = {
  magic: 'REDIS',
  version: 10,
  takes: 10,
  countsStreams: false,
  types: new Set(TYPES_7_0),
  fieldTimes: 'beside',
  plainNodes: false,
  farthestLinks: false,
  scoreText: (score) => formatGeneral(score, DIGITS),
};

/** Redis 7.2, and Valkey up to 8, which began with it. */
export const REDIS_7_2: RdbFormat = {
  ...REDIS_7_0,
  version: 11,
  takes: 11,
  types: new Set(TYPES_7_2),
  plainNodes: true,
  scoreText: formatShortest,
};

/**
 * Redis 7.4 to 8.0, whose hash fields can end; the forms of 7.4's release candidates are still read. Vector sets came with
 * 8.0, under the same version.
 */
export const REDIS_7_4: RdbFormat = {
  ...REDIS_7_2,
  version: 12,
  takes: 12,
  types: new Set([
    ...TYPES_7_2,
    VALUE.module,
    VALUE.hashTimedDraft,
    VALUE.hashTimedListpackDraft,
    VALUE.hashTimed,
    VALUE.hashTimedListpack,
  ]),
  fieldTimes: 'redis',
};

/** Redis 8.2. */
export const REDIS_8_2: RdbFormat = { ...REDIS_7_4, farthestLinks: true };

/** Redis 8.6, whose streams remember the ids of idempotent producers. */
export const REDIS_8_6: RdbFormat = {
  ...REDIS_8_2,
  version: 13,
  takes: 13,
  mayLackChecksum: true,
  types: new Set([...REDIS_8_2.types, VALUE.streamListpacks4]),
};

/**
 * Redis' newest format, with all forms of values but arrays: of Redis 8.8, known from documentation alone
 * (github.com/redis/librdb/pull/98, 2026-05-19).
 */
export const REDIS_8_8: RdbFormat = {
  ...REDIS_8_6,
  version: 14,
  takes: 14,
  types: new Set([...REDIS_8_6.types, VALUE.streamListpacks5]),
};

/** Valkey 9, compared with 9.1.2. Versions 12 to 79 are left to Redis (github.com/valkey-io/valkey, src/rdb.h). */
export const VALKEY_9: RdbFormat = {
  ...REDIS_7_2,
  magic: 'VALKEY',
  version: 80,
  types: new Set([...TYPES_7_2, VALUE.hashTimedValkey]),
  fieldTimes: 'valkey',
  countsStreams: true,
};

/** All of them. */
export const FORMATS: readonly RdbFormat[] = [
  REDIS_7_0,
  REDIS_7_2,
  REDIS_7_4,
  REDIS_8_2,
  REDIS_8_6,
  REDIS_8_8,
  VALKEY_9,
];

/** The first version after those that Valkey leaves to Redis. */
const AFTER_FOREIGN = 80;

/** True if a server with this format accepts a payload of this version. */
export function takesVersion(format: RdbFormat, version: number): boolean {
  if (version === 0 && format.magic === VALKEY_9.magic) return false;
  if (version <= format.takes || version === format.version) return true;
  return format.triesNewer === true && version >= AFTER_FOREIGN;
}

/**
 * The greatest form that files with this magic and version can have; undefined for a version that is not known.
 * @param triesNewer later versions are read as if they were the latest one
 */
export function formatOfFile(magic: string, version: number, triesNewer = false): RdbFormat | undefined {
  const latest = magic === VALKEY_9.magic ? VALKEY_9 : REDIS_8_8;
  if (version > latest.version) return triesNewer ? latest : undefined;
  if (latest === VALKEY_9) return version === VALKEY_9.version ? VALKEY_9 : undefined;
  return version >= 1 ? REDIS_8_8 : undefined;
}
