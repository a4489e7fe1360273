/** A key's state as one string, equal where a client could see no difference. */
import { dumpValue } from '../keyspace/rdb/dump.ts';
import type { Value } from '../keyspace/value.ts';
import type { Bytes } from '../protocol/bytes.ts';
import type { Server } from '../server/server.ts';

/** The key's value and deadline; '' for a key that is absent or past its deadline on the node's clock. */
export function fingerprint(server: Server, db: number, key: Bytes): string {
  const entry = server.db(db).entries.get(key);
  const expiresAt = entry?.deadline?.expiresAt;
  if (entry === undefined || (expiresAt !== undefined && expiresAt < server.host.clock.now())) return '';
  return `${expiresAt ?? '-'} ${canonical(entry.value)}`;
}

/** The order of a set's members and a hash's fields is nobody's promise, nor is their encoding. */
function canonical(value: Value): string {
  if (typeof value === 'string') return `string ${value}`;
  if (value.type === 'set') return `set ${JSON.stringify([...value.values()].sort())}`;
  if (value.type === 'hash') {
    const ends = [...(value.times?.entries() ?? [])].map(({ member, score }) => `${member} ends at ${score}`);
    return `hash ${JSON.stringify([...value.entries()].sort(byField))}${ends.sort().join()}`;
  }
  return dumpValue(value);
}

function byField([a]: [Bytes, Bytes], [b]: [Bytes, Bytes]): number {
  return a < b ? -1 : 1;
}
