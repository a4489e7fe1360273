/** The expiry of a key, or of the first field of a hash, as the expiry wheel stores it. */
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { WheelNode } from './wheel.ts';

/** The database that a deadline belongs to, which removes what has expired. */
export interface DeadlineOwner {
  expire(deadline: Deadline): void;
}

/** An entry of the expiry wheel. Only keys with a TTL, and hashes with fields that have one, own a deadline. */
export class Deadline implements WheelNode {
  expiresAt: Millis;
  wheelPrev: WheelNode | undefined = undefined;
  wheelNext: WheelNode | undefined = undefined;
  wheelSlot = -1;
  db: DeadlineOwner;
  readonly key: Bytes;
  /** True for a hash with fields that expire; false for the key itself. */
  readonly ofFields: boolean;

  constructor(db: DeadlineOwner, key: Bytes, expiresAt: Millis, ofFields = false) {
    this.db = db;
    this.key = key;
    this.expiresAt = expiresAt;
    this.ofFields = ofFields;
  }
}
