/** How commands reach a hash: without the fields whose end has passed. */

import { HashValue } from '../../../keyspace/collections/hash.ts';
import { liveFields } from '../../../keyspace/field-expiry.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import type { Caller } from '../../server.ts';

/** The hash of a key for a command that reads fields; throws WRONGTYPE. */
export function readHash(client: Caller, name: Bytes): HashValue | undefined {
  const hash = client.db.read(name, 'hash');
  return hash?.times !== undefined ? liveFields(client.db, name, hash, true) : hash;
}

/** The hash of a key for a command that changes fields; throws WRONGTYPE. */
export function writeHash(client: Caller, name: Bytes): HashValue | undefined {
  const hash = client.db.get(name, 'hash');
  return hash?.times !== undefined ? liveFields(client.db, name, hash, false) : hash;
}

/** Makes a hash where there is no key. */
export function createHash(client: Caller, name: Bytes): HashValue {
  const hash = new HashValue(client.server.encoding);
  client.db.put(name, hash);
  return hash;
}
