/** How commands access a hash: expired fields are left out. */

import { HashValue } from '../../../keyspace/collections/hash.ts';
import { liveFields } from '../../../keyspace/field-expiry.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import type { Caller } from '../../server.ts';

/** Returns a key's hash for a command that reads fields; undefined if the key does not exist. Throws WRONGTYPE. */
export function readHash(client: Caller, name: Bytes): HashValue | undefined {
  const hash = client.db.read(name, 'hash');
  return hash?.times !== undefined ? liveFields(client.db, name, hash, true) : hash;
}

/** Returns a key's hash for a command that changes fields; undefined if the key does not exist. Throws WRONGTYPE. */
export function writeHash(client: Caller, name: Bytes): HashValue | undefined {
  const hash = client.db.get(name, 'hash');
  return hash?.times !== undefined ? liveFields(client.db, name, hash, false) : hash;
}

/** Creates an empty hash at a key that does not exist. */
export function createHash(client: Caller, name: Bytes): HashValue {
  const hash = new HashValue(client.server.encoding);
  client.db.put(name, hash);
  return hash;
}
