/** What commands on hash fields with a TTL share: FIELDS and its count, times within Redis' bounds, their effects. */
import type { HashValue } from '../../../keyspace/collections/hash.ts';
import { asciiUpper, type Bytes, type Millis, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail, invalidExpiry } from '../../../protocol/errors.ts';
import type { Caller } from '../../server.ts';
import { int64 } from '../../table/arguments.ts';

const NO_FIELDS = 'ERR Mandatory argument FIELDS is missing or not at the right position';
const BAD_COUNT = 'ERR Number of fields must be a positive integer';
/** The latest end that a field can have, in milliseconds: the year 4199. */
const LATEST: Millis = 2 ** 46 - 1;

/** The fields behind `FIELDS numfields` at a position, which must end the request. */
export function fieldsAt(argv: readonly Bytes[], at: number, badCount = BAD_COUNT): readonly Bytes[] {
  if (asciiUpper(argv[at] ?? '') !== 'FIELDS') fail(NO_FIELDS);
  const count = parseSafeInteger(argv[at + 1] ?? '') ?? 0;
  if (count < 1) fail(badCount);
  if (count !== argv.length - at - 2) {
    fail('ERR The `numfields` parameter must match the number of arguments');
  }
  return argv.slice(at + 2);
}

/**
 * When a field is to end, in milliseconds since the epoch. `unit`: milliseconds of one of the amount; `base`: what it
 * counts from. Throws what Redis answers.
 */
export function fieldEnd(text: Bytes, unit: 1 | 1000, base: Millis, command: Bytes): Millis {
  const amount = int64(text);
  if (amount < 0) fail('ERR invalid expire time, must be >= 0');
  if (typeof amount === 'bigint' || amount * unit > LATEST - base) throw invalidExpiry(command);
  return amount * unit + base;
}

/** Whether a field would have ended already; on a replica the primary decides that. */
export function hasEnded({ server }: Caller, at: Millis): boolean {
  return at <= server.now && server.world.expiryPolicy === 'delete';
}

/** What a command did to fields, for events and replicas: they are told of absolute times and of deletions. */
export class FieldEffects {
  readonly deleted: Bytes[] = [];
  readonly timed: Bytes[] = [];
  readonly persisted: Bytes[] = [];

  get count(): number {
    return this.deleted.length + this.timed.length + this.persisted.length;
  }

  /** Gives a field its end, or ends it at once. */
  end(client: Caller, hash: HashValue, field: Bytes, at: Millis): void {
    if (hasEnded(client, at)) {
      hash.delete(field);
      this.deleted.push(field);
    } else {
      hash.expireAt(field, at);
      this.timed.push(field);
    }
  }

  /** Takes a field's TTL away; false when it had none. */
  persist(hash: HashValue, field: Bytes): boolean {
    if (hash.times?.delete(field) !== true) return false;
    this.persisted.push(field);
    return true;
  }

  /** Reports all that was done to the key's hash, and replicates it behind the given commands. */
  report(client: Caller, name: Bytes, at: Millis, before: readonly (readonly Bytes[])[] = []): void {
    const { deleted, timed, persisted } = this;
    const { db, server } = client;
    const commands = [...before];
    if (timed.length > 0) {
      db.changed(name, 'hexpire', timed.length);
      commands.push(['HPEXPIREAT', name, String(at), 'FIELDS', String(timed.length), ...timed]);
    }
    if (persisted.length > 0) {
      db.changed(name, 'hpersist', persisted.length);
      commands.push(['HPERSIST', name, 'FIELDS', String(persisted.length), ...persisted]);
    }
    if (deleted.length > 0) {
      db.changed(name, 'hdel', deleted.length);
      commands.push(['HDEL', name, ...deleted]);
    }
    if (server.effects.feeding && commands.length > 0) server.effects.propagateAs(...commands);
  }
}
