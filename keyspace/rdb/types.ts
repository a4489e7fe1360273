/** RDB's numbers for value types and sections. */

/** The type of a stored value. The forms of earlier versions are only read. */
export const VALUE = {
  string: 0,
  list: 1,
  set: 2,
  zsetText: 3,
  hash: 4,
  zset: 5,
  moduleDraft: 6,
  module: 7,
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
  /** In release candidates of Redis 7.4; Valkey 9 uses the number for another form. */
  hashTimedDraft: 22,
  hashTimedValkey: 22,
  hashTimedListpackDraft: 23,
  hashTimed: 24,
  hashTimedListpack: 25,
  /** Redis 8.6: with the ids of idempotent producers. */
  streamListpacks4: 26,
  /** Redis 8.8: with the entries that consumers released. */
  streamListpacks5: 27,
} as const;

/** The first byte of a section, in contrast to the type of a key's value. */
export const SECTION = {
  keyMetadata: 243,
  slot: 244,
  library: 245,
  libraryDraft: 246,
  module: 247,
  idle: 248,
  frequency: 249,
  aux: 250,
  sizes: 251,
  expiresMillis: 252,
  expiresSeconds: 253,
  database: 254,
  end: 255,
} as const;
