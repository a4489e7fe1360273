/** The numbers by which RDB names value types and sections. */

/** How a value is stored. Those of earlier versions are only read. */
export const VALUE = {
  string: 0,
  list: 1,
  set: 2,
  zsetText: 3,
  hash: 4,
  zset: 5,
  hashZipmap: 9,
  listZiplist: 10,
  setIntset: 11,
  zsetZiplist: 12,
  hashZiplist: 13,
  listQuicklist: 14,
  streamListpacks: 15,
  hashListpack: 16,
  zsetListpack: 17,
  listQuicklist2: 18,
  streamListpacks2: 19,
  setListpack: 20,
  streamListpacks3: 21,
  hashTimed: 24,
  hashTimedListpack: 25,
} as const;

/** What a section of a file begins with, where it is not a key's value type. */
export const SECTION = {
  slot: 244,
  library: 245,
  idle: 248,
  frequency: 249,
  aux: 250,
  sizes: 251,
  expiresMillis: 252,
  expiresSeconds: 253,
  database: 254,
  end: 255,
} as const;

/** The version that redis-server 7.0 writes, and so do we. */
export const RDB_VERSION = 10;
/** The latest version whose forms of our types we know: Redis 7.4's, the first in which fields of hashes end. */
export const RDB_VERSION_MAX = 12;
