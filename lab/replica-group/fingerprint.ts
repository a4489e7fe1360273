/** A key's state as one string. Two states that no client can tell apart have equal strings. */
import type { HashValue } from '../../keyspace/collections/hash.ts';
import { dumpValue } from '../../keyspace/rdb/dump.ts';
import { MAX_ID, MIN_ID } from '../../keyspace/stream/id.ts';
import type { StreamValue } from '../../keyspace/stream/stream.ts';
import type { Value } from '../../keyspace/value.ts';
import type { VectorSet } from '../../keyspace/vector/vector-set.ts';
import type { Bytes, Millis } from '../../protocol/bytes.ts';
import type { Server } from '../../server/server.ts';

/**
 * The key's value and deadline; '' for a key that does not exist, has expired by the node's clock, or has only expired
 * fields.
 */
export function fingerprint(server: Server, db: number, key: Bytes): string {
  const now = server.host.clock.now();
  const entry = server.db(db).entries.get(key);
  const expiresAt = entry === undefined ? undefined : server.db(db).expiresAt(entry);
  if (entry === undefined || (expiresAt !== undefined && expiresAt < now)) return '';
  const text = canonical(entry.read(), now);
  return text === '' ? '' : `${expiresAt ?? '-'} ${text}`;
}

/**
 * Sorts a set's members and a hash's fields, and ignores encodings, because Redis promises neither their order nor
 * their encoding.
 */
function canonical(value: Value, now: Millis): string {
  if (typeof value === 'string') return `string ${value}`;
  if (value.type === 'set') return `set ${JSON.stringify([...value.values()].sort())}`;
  if (value.type === 'hash') return fieldsOf(value, now);
  if (value.type === 'stream') return streamText(value);
  if (value.type === 'vectorset') return vectorText(value);
  return dumpValue(value);
}

/** Leaves out when a consumer was last seen, because each node records that by its own clock. */
function streamText(stream: StreamValue): string {
  const { lastId, firstId, maxDeletedId, entriesAdded } = stream;
  const groups = stream
    .sortedGroups()
    .map((group) => [
      group.name,
      group.lastId,
      group.entriesRead,
      group.sortedConsumers().map(({ name }) => name),
      [...group.pending.values()].map(({ id, consumer, deliveredAt, deliveries }) => [
        id,
        consumer.name,
        deliveredAt,
        deliveries,
      ]),
    ]);
  const content = [lastId, firstId, maxDeletedId, entriesAdded, stream.range(MIN_ID, MAX_ID), groups];
  return `stream ${JSON.stringify(content, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`;
}

/** Leaves out ids and links, which each node makes for itself. */
function vectorText(set: VectorSet): string {
  const elements = [...set.nodes()].map(
    ({ element, attributes, data, length, range }): [Bytes, ...unknown[]] => [
      element,
      attributes,
      [...data],
      length,
      range,
    ],
  );
  const { dimension, quantization, links, projection } = set;
  return `vectorset ${JSON.stringify([dimension, quantization, links, projection?.from, elements.sort(byField)])}`;
}

function fieldsOf(hash: HashValue, now: Millis): string {
  const fields: [Bytes, Bytes, Millis | undefined][] = [];
  for (const [field, value] of hash.entries()) {
    const at = hash.times?.endOf(field);
    if (at === undefined || at >= now) fields.push([field, value, at]);
  }
  return fields.length === 0 ? '' : `hash ${JSON.stringify(fields.sort(byField))}`;
}

function byField([a]: readonly [Bytes, ...unknown[]], [b]: readonly [Bytes, ...unknown[]]): number {
  return a < b ? -1 : 1;
}
