/** Ends fields of hashes: each hash has one deadline in the wheel, that of its first field to end. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { HashValue } from './collections/hash.ts';
import { Deadline, type DeadlineOwner } from './expiry/deadline.ts';
import type { ExpiryWheel } from './expiry/wheel.ts';
import type { Held } from './value.ts';

/** The database, as the expiry of fields sees it. */
interface FieldsHome extends DeadlineOwner {
  readonly world: {
    readonly now: Millis;
    readonly expiryPolicy: 'delete' | 'hide' | 'keep';
    readonly wheel: ExpiryWheel<Deadline>;
  };
  /** Reports fields that have ended; a hash without fields goes with its last one. */
  fieldsEnded(key: Bytes, fields: readonly Bytes[]): void;
}

/** Sees to it that the wheel waits for the first of a value's fields to end. */
export function timeFields(db: FieldsHome, key: Bytes, value: Held): void {
  if (typeof value === 'string' || value.type !== 'hash' || value.times === undefined) return;
  const { times } = value;
  const { wheel } = db.world;
  const { first } = times;
  if (first === undefined) {
    forgetFields(db, value);
    return;
  }
  if (times.deadline?.db !== db || times.deadline.key !== key) {
    forgetFields(db, value);
    times.deadline = new Deadline(db, key, first, true);
    wheel.arm(times.deadline, first);
  } else if (times.deadline.expiresAt !== first) wheel.arm(times.deadline, first);
}

/** The value has left its key: the wheel need no longer wait for its fields. */
export function forgetFields(db: FieldsHome, value: Held): void {
  if (typeof value === 'string' || value.type !== 'hash' || value.times?.deadline === undefined) return;
  db.world.wheel.disarm(value.times.deadline);
  value.times.deadline = undefined;
}

/** The value has come to another database with its key (SWAPDB). */
export function adoptFields(db: FieldsHome, value: Held): void {
  if (typeof value === 'string' || value.type !== 'hash') return;
  const deadline = value.times?.deadline;
  if (deadline !== undefined) deadline.db = db;
}

/** Removes the fields of a key's hash whose end has passed, and reports them; the last one takes the hash with it. */
export function endFields(db: FieldsHome, key: Bytes, hash: HashValue): void {
  const ended = hash.times?.endedBefore(db.world.now) ?? [];
  for (const field of ended) hash.delete(field);
  if (ended.length === 0) timeFields(db, key, hash);
  else db.fieldsEnded(key, ended);
}

/**
 * The hash as a command may see it: fields past their end are removed where this node may do that (and are
 * undefined when that was all there was), and left out of a copy where only the primary may.
 */
export function liveFields(
  db: FieldsHome,
  key: Bytes,
  hash: HashValue,
  reading: boolean,
): HashValue | undefined {
  const { now, expiryPolicy } = db.world;
  const first = hash.times?.first;
  if (first === undefined || first >= now || expiryPolicy === 'keep') return hash;
  if (expiryPolicy === 'delete') endFields(db, key, hash);
  else return reading ? withoutEnded(hash, now) : hash;
  return hash.size > 0 ? hash : undefined;
}

function withoutEnded(hash: HashValue, now: Millis): HashValue | undefined {
  const copy = hash.copy();
  for (const field of hash.times?.endedBefore(now) ?? []) copy.delete(field);
  return copy.size > 0 ? copy : undefined;
}
