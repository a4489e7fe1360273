/** Expires fields of hashes. Each hash has one deadline in the wheel, that of its first field to expire. */
import type { Bytes, Millis } from '../protocol/bytes.ts';
import type { HashValue } from './collections/hash.ts';
import { type DeadlineTable, NONE } from './expiry/deadlines.ts';
import type { ExpiryWheel } from './expiry/wheel.ts';
import type { Held } from './value.ts';

/** The database, as far as the expiry of fields needs it. */
interface FieldsHome {
  /** The database's number as an owner of deadlines. */
  readonly owner: number;
  readonly world: {
    readonly now: Millis;
    readonly expiryPolicy: 'delete' | 'hide' | 'keep';
    readonly deadlines: DeadlineTable;
    readonly wheel: ExpiryWheel;
  };
  /** Reports fields that have expired. A hash without fields is removed. */
  fieldsEnded(key: Bytes, fields: readonly Bytes[]): void;
}

/** Sets the wheel's deadline for the first of the value's fields to expire. */
export function timeFields(db: FieldsHome, key: Bytes, value: Held): void {
  if (typeof value === 'string' || value.type !== 'hash' || value.times === undefined) return;
  const { times } = value;
  const { deadlines, wheel } = db.world;
  const { first } = times;
  if (first === undefined) {
    forgetFields(db, value);
    return;
  }
  if (times.deadline !== NONE && !deadlines.isOf(times.deadline, db.owner, key)) forgetFields(db, value);
  if (times.deadline === NONE) times.deadline = deadlines.add(db.owner, key, true);
  if (deadlines.expiresAt(times.deadline) !== first) wheel.arm(times.deadline, first);
}

/** Removes the deadline of a value that was removed from its key. */
export function forgetFields(db: FieldsHome, value: Held): void {
  if (typeof value === 'string' || value.type !== 'hash' || value.times === undefined) return;
  const { times } = value;
  if (times.deadline === NONE) return;
  db.world.wheel.discard(times.deadline);
  times.deadline = NONE;
}

/**
 * Removes the expired fields of a key's hash and reports them. When no field is left, the hash is removed too.
 * @param named the only fields to consider; by default all
 */
export function endFields(db: FieldsHome, key: Bytes, hash: HashValue, named?: readonly Bytes[]): void {
  const all = hash.times?.endedBefore(db.world.now) ?? [];
  const ended = named === undefined ? all : all.filter((field) => named.includes(field));
  for (const field of ended) hash.delete(field);
  if (ended.length === 0) timeFields(db, key, hash);
  else db.fieldsEnded(key, ended);
}

/**
 * The hash as a command may see it. Where this node may expire fields, expired ones are removed, and the result is
 * undefined when none is left. Where only the primary may do that, they are left out of a copy.
 * @param named the fields of the request, where a command may remove no others
 */
export function liveFields(
  db: FieldsHome,
  key: Bytes,
  hash: HashValue,
  reading: boolean,
  named?: readonly Bytes[],
): HashValue | undefined {
  const { now, expiryPolicy } = db.world;
  const first = hash.times?.first;
  if (first === undefined || first >= now || expiryPolicy === 'keep') return hash;
  if (expiryPolicy === 'delete') {
    endFields(db, key, hash, named);
    if (hash.size === 0) return undefined;
    if (named === undefined) return hash;
  }
  return reading ? withoutEnded(hash, now) : hash;
}

function withoutEnded(hash: HashValue, now: Millis): HashValue | undefined {
  const copy = hash.copy();
  for (const field of hash.times?.endedBefore(now) ?? []) copy.delete(field);
  return copy.size > 0 ? copy : undefined;
}
