/** Shared parts of the commands for hash fields with a TTL: FIELDS and its count, expiry times, effects. */
import type { HashValue } from '../../../keyspace/collections/hash.ts';
import { asciiUpper, type Bytes, type Millis, parseInteger } from '../../../protocol/bytes.ts';
import { fail, invalidExpiry } from '../../../protocol/errors.ts';
import type { Caller } from '../../server.ts';
import { int64 } from '../../table/arguments.ts';

const NO_FIELDS = 'ERR Mandatory argument FIELDS is missing or not at the right position';
const BAD_COUNT = 'ERR Number of fields must be a positive integer';
/** The latest possible expiry time of a field, in milliseconds since the epoch: the year 4199. */
const LATEST: Millis = 2 ** 46 - 1;

/**
 * Returns the fields behind `FIELDS numfields` at a position. They must end the request. Throws Redis' error otherwise.
 */
export function fieldsAt(argv: readonly Bytes[], at: number, badCount = BAD_COUNT): readonly Bytes[] {
  if (asciiUpper(argv[at] ?? '') !== 'FIELDS') fail(NO_FIELDS);
  const count = parseInteger(argv[at + 1] ?? '') ?? 0;
  if (count < 1) fail(badCount);
  if (count !== argv.length - at - 2) {
    fail('ERR The `numfields` parameter must match the number of arguments');
  }
  return argv.slice(at + 2);
}

/**
 * Returns a field's expiry time, in milliseconds since the epoch. Throws Redis' error for a bad amount.
 * @param unit the milliseconds of one unit of the amount
 * @param base the time to which the amount is added, in milliseconds since the epoch; 0 for an absolute amount
 */
export function fieldEnd(text: Bytes, unit: 1 | 1000, base: Millis, command: Bytes): Millis {
  const amount = int64(text);
  if (amount < 0) fail('ERR invalid expire time, must be >= 0');
  if (typeof amount === 'bigint' || amount * unit > LATEST - base) throw invalidExpiry(command);
  return amount * unit + base;
}

/**
 * Returns whether a field with this expiry time (milliseconds since the epoch) has expired. On a replica it has not:
 * the primary decides.
 */
export function hasEnded({ server }: Caller, at: Millis): boolean {
  return at <= server.now && server.world.expiryPolicy === 'delete';
}

/** Returns the fields among fields and values, for the events of a hash; undefined if no event names them. */
export function namesForEvents(
  { server }: Caller,
  pairs: readonly Bytes[],
  from: number,
): readonly Bytes[] | undefined {
  if (!server.notifications.namesFields) return undefined;
  return pairs.filter((_, i) => i >= from && (i - from) % 2 === 0);
}

/** The changes of a command to fields, for events and replicas. */
export class FieldEffects {
  readonly deleted: Bytes[] = [];
  readonly timed: Bytes[] = [];
  readonly persisted: Bytes[] = [];

  /** Sets a field's expiry time in milliseconds since the epoch, or deletes the field if that time has passed. */
  end(client: Caller, hash: HashValue, field: Bytes, at: Millis): void {
    if (hasEnded(client, at)) {
      hash.delete(field);
      this.deleted.push(field);
    } else {
      hash.expireAt(field, at);
      this.timed.push(field);
    }
  }

  /** Removes a field's TTL. Returns false if it had none. */
  persist(hash: HashValue, field: Bytes): boolean {
    if (!hash.persist(field)) return false;
    this.persisted.push(field);
    return true;
  }

  /**
   * Reports all changes of the key's hash. Without changes, the request is replicated if something else has changed.
   * @param effect what replicas receive. When fields have been deleted because their time has passed, they receive one
   *   HDEL for each of them instead.
   */
  report(client: Caller, name: Bytes, effect: readonly Bytes[]): void {
    const { deleted, timed, persisted } = this;
    const { db, server } = client;
    if (timed.length > 0) db.changed(name, 'hexpire', timed.length, timed);
    if (persisted.length > 0) db.changed(name, 'hpersist', persisted.length, persisted);
    if (deleted.length > 0) db.changed(name, 'hdel', deleted.length, deleted);
    server.stats.expiredFields += deleted.length;
    const changes = timed.length + persisted.length + deleted.length;
    if (!server.effects.feeding || changes === 0) return;
    if (deleted.length === 0) server.effects.propagateAs(effect);
    else server.effects.propagateAs(...deleted.map((field) => ['HDEL', name, field]));
  }
}
