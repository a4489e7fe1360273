/** How commands access a hash: expired fields are left out. */

import { HashValue } from '../../../keyspace/collections/hash.ts';
import { liveFields } from '../../../keyspace/field-expiry.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import type { Caller } from '../../server.ts';

/**
 * The fields that a command may remove because they have expired; undefined: all. After DEBUG SET-ACTIVE-EXPIRE 0 these
 * are the fields that it names. Its other words may be names of fields too, but only by chance.
 */
function removable({ server }: Caller, argv: readonly Bytes[]): readonly Bytes[] | undefined {
  return server.expiry.active ? undefined : argv.slice(2);
}

/** Returns a key's hash for a request that reads fields; undefined if the key does not exist. Throws WRONGTYPE. */
export function readHash(client: Caller, name: Bytes, argv: readonly Bytes[]): HashValue | undefined {
  const hash = client.db.read(name, 'hash');
  return hash?.times !== undefined ? liveFields(client.db, name, hash, true, removable(client, argv)) : hash;
}

/** Returns a key's hash for a request that changes fields; undefined if the key does not exist. Throws WRONGTYPE. */
export function writeHash(client: Caller, name: Bytes, argv: readonly Bytes[]): HashValue | undefined {
  const hash = client.db.get(name, 'hash');
  return hash?.times !== undefined ? liveFields(client.db, name, hash, false, removable(client, argv)) : hash;
}

/** Creates an empty hash at a key that does not exist. */
export function createHash(client: Caller, name: Bytes): HashValue {
  const hash = new HashValue(client.server.encoding);
  client.db.put(name, hash);
  return hash;
}
