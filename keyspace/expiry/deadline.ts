/** When a key, or the first of a hash's fields, ends: what the expiry wheel holds. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { HashValue } from '../collections/hash.ts';
import type { Keyspace } from '../keyspace.ts';
import type { WheelNode } from './wheel.ts';

/** Only keys with a TTL, and hashes whose fields have one, own a deadline; it sits in the expiry wheel. */
export class Deadline implements WheelNode {
  expiresAt: Millis;
  wheelPrev: WheelNode | undefined = undefined;
  wheelNext: WheelNode | undefined = undefined;
  wheelSlot = -1;
  db: Keyspace;
  readonly key: Bytes;
  /** The hash whose fields end; undefined for the key itself. */
  readonly hash: HashValue | undefined;
  constructor(db: Keyspace, key: Bytes, expiresAt: Millis, hash?: HashValue) {
    this.db = db;
    this.key = key;
    this.expiresAt = expiresAt;
    this.hash = hash;
  }
}
