/** When a key, or the first of a hash's fields, ends: what the expiry wheel holds. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { WheelNode } from './wheel.ts';

/** Ends what a deadline stands for: a database. */
export interface DeadlineOwner {
  expire(deadline: Deadline): void;
}

/** Only keys with a TTL, and hashes whose fields have one, own a deadline. It sits in the expiry wheel. */
export class Deadline implements WheelNode {
  expiresAt: Millis;
  wheelPrev: WheelNode | undefined = undefined;
  wheelNext: WheelNode | undefined = undefined;
  wheelSlot = -1;
  db: DeadlineOwner;
  readonly key: Bytes;
  /** True for a hash whose fields end; false for the key itself. */
  readonly ofFields: boolean;

  constructor(db: DeadlineOwner, key: Bytes, expiresAt: Millis, ofFields = false) {
    this.db = db;
    this.key = key;
    this.expiresAt = expiresAt;
    this.ofFields = ofFields;
  }
}
