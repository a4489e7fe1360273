/** Shared parts of the stream commands: reading ids and intervals, entries as replies, effects of consumer groups. */

import type { Pending, StreamConsumer, StreamGroup } from '../../../keyspace/stream/group.ts';
import {
  formatId,
  MAX_ID,
  MIN_ID,
  nextId,
  parseId,
  previousId,
  type StreamId,
} from '../../../keyspace/stream/id.ts';
import type { StreamEntry, StreamValue } from '../../../keyspace/stream/stream.ts';
import { type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';

export const INVALID_ID = 'ERR Invalid stream ID specified as stream command argument';

/** Reads a complete id; a missing sequence number is 0. Throws Redis' error for a bad id. */
export function strictId(text: Bytes): StreamId {
  return parseId(text) ?? fail(INVALID_ID);
}

/** Reads one end of an interval: an id, an exclusive id behind '(', or '-' and '+' for the smallest and the largest. */
function bound(
  text: Bytes,
  missing: bigint,
  step: (id: StreamId) => StreamId | undefined,
  what: string,
): StreamId {
  if (text === '-') return MIN_ID;
  if (text === '+') return MAX_ID;
  if (!text.startsWith('(')) return parseId(text, missing) ?? fail(INVALID_ID);
  const id = parseId(text.slice(1), missing) ?? fail(INVALID_ID);
  return step(id) ?? fail(`ERR invalid ${what} ID for the interval`);
}

/** Reads the first id of an interval. Throws Redis' error for a bad id. */
export function intervalStart(text: Bytes): StreamId {
  return bound(text, 0n, nextId, 'start');
}

/** Reads the last id of an interval. Throws Redis' error for a bad id. */
export function intervalEnd(text: Bytes): StreamId {
  return bound(text, 0xffffffffffffffffn, previousId, 'end');
}

/** Returns an entry as XRANGE answers it. */
export function entryReply({ id, fields }: StreamEntry): Reply {
  return [formatId(id), fields];
}

/** Throws the NOGROUP error for a missing group. */
export function noGroup(name: Bytes, group: Bytes, where = ''): never {
  fail(`NOGROUP No such key '${cString(name)}' or consumer group '${cString(group)}'${where}`);
}

/** Returns a command's stream and group. Throws NOGROUP if one of them is missing. */
export function groupOf(
  client: Caller,
  name: Bytes,
  groupName: Bytes,
  where = '',
): { stream: StreamValue; group: StreamGroup } {
  return groupIn(client.db.read(name, 'stream'), name, groupName, where);
}

/** Returns a stream that has been looked up, with its group. Throws NOGROUP if one of them is missing. */
export function groupIn(
  stream: StreamValue | undefined,
  name: Bytes,
  groupName: Bytes,
  where = '',
): { stream: StreamValue; group: StreamGroup } {
  const group = stream?.groups.get(groupName);
  if (stream === undefined || group === undefined) noGroup(name, groupName, where);
  return { stream, group };
}

/** Returns the consumer of this name and updates its last-seen time. A new one is created with `created` set. */
export function seeConsumer(
  client: Caller,
  key: Bytes,
  group: StreamGroup,
  name: Bytes,
): { consumer: StreamConsumer; created: boolean } {
  const { server } = client;
  const known = group.consumers.get(name);
  const consumer = known ?? group.createConsumer(name, server.now)!;
  consumer.seenAt = server.now;
  if (known === undefined) report(client, key, 'xgroup-createconsumer');
  return { consumer, created: known === undefined };
}

/** Counts and reports a change of a group. It does not abort transactions that watch the key. */
export function report({ db }: Caller, key: Bytes, event: string): void {
  db.world.dirty++;
  if (db.world.listening) db.world.onChanged(db, key, event);
}

/** Returns the replica's command for an entry that became pending for a consumer. */
export function claimEffect(
  key: Bytes,
  group: StreamGroup,
  pending: Pending,
  id = formatId(pending.id),
  position = group.lastId,
): Bytes[] {
  const { consumer, deliveredAt, deliveries } = pending;
  return [
    'XCLAIM',
    key,
    group.name,
    consumer.name,
    '0',
    id,
    'TIME',
    String(deliveredAt),
    'RETRYCOUNT',
    String(BigInt.asIntN(64, deliveries)),
    'FORCE',
    'JUSTID',
    'LASTID',
    formatId(position),
  ];
}

/** Returns the replica's command for a group's new position. */
export function positionEffect(key: Bytes, { name, lastId, entriesRead }: StreamGroup): Bytes[] {
  return ['XGROUP', 'SETID', key, name, formatId(lastId), 'ENTRIESREAD', String(entriesRead ?? -1)];
}
