/** Commands on keys of any type (https://redis.io/docs/latest/commands/?group=generic). */

import type { Entry } from '../../../keyspace/entry.ts';
import { copyBytes } from '../../../keyspace/footprint.ts';
import { copyValue, wordOf } from '../../../keyspace/value.ts';
import { allocate } from '../../../protocol/allowance.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, NO_SUCH_KEY, SYNTAX } from '../../../protocol/errors.ts';
import { globTest } from '../../../protocol/glob.ts';
import { OK, type Reply, SimpleString } from '../../../protocol/reply.ts';
import { isFreedLazily } from '../../data/lazy-free.ts';
import { reportReplaced, typeBefore } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { carryEncoding } from '../../settings/encodings.ts';
import { int32, Options, wordAt } from '../../table/arguments.ts';
import { type Argv, type KeySpec, key, keys } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { refuseOtherDatabase } from '../node/cluster.ts';

const SAME = 'ERR source and destination objects are the same';

function remove(client: Caller, argv: readonly Bytes[]): Reply {
  const { db } = client;
  let removed = 0;
  for (let i = 1; i < argv.length; i++) {
    const name = wordAt(argv, i);
    if (!db.remove(name)) continue;
    db.changed(name, 'del');
    removed++;
  }
  return removed;
}

/** UNLINK: removes keys, and counts the values that Redis frees in another thread. */
function unlink(client: Caller, argv: readonly Bytes[]): Reply {
  const { db, server } = client;
  const runLength = server.settings['stream-node-max-entries'];
  for (const name of new Set(argv.slice(1))) {
    const entry = db.peek(name);
    if (entry !== undefined && isFreedLazily(entry, runLength)) server.stats.lazyFreed++;
  }
  return remove(client, argv);
}

function count(argv: readonly Bytes[], find: (name: Bytes) => Entry | undefined): number {
  let found = 0;
  for (let i = 1; i < argv.length; i++) if (find(wordAt(argv, i)) !== undefined) found++;
  return found;
}

/** Moves an entry with its deadline to another key. Reports both keys, but counts one change. */
function rename(client: Caller, from: Bytes, to: Bytes, entry: Entry): void {
  const { db } = client;
  const { madeAs } = entry;
  const value = entry.read();
  const expiresAt = db.expiresAt(entry);
  const before = typeBefore(client, db, to);
  db.remove(from);
  db.remove(to);
  const moved = db.put(to, value);
  carryEncoding(madeAs, moved);
  if (expiresAt !== undefined) db.expireAt(to, moved, expiresAt);
  db.changed(from, 'rename_from');
  db.changed(to, 'rename_to', 0);
  reportReplaced(client, db, to, before, value);
}

/** Returns the database with the number in a request. */
function otherDatabase(client: Caller, text: Bytes) {
  const index = int32(text);
  if (index < 0 || index >= client.server.databaseCount) fail('ERR DB index is out of range');
  return client.server.db(index);
}

/** The positions of the databases that COPY names. */
function copiedTo(argv: readonly Bytes[]): number[] {
  const found: number[] = [];
  for (let at = 3; at < argv.length - 1; at++) if (asciiUpper(argv[at] ?? '') === 'DB') found.push(++at);
  return found;
}

function copy(client: Caller, argv: Argv<-3>): Reply {
  const [, from, to] = argv;
  const { db } = client;
  const options = new Options(argv, 3);
  let target = db;
  let replace = false;
  while (options.more()) {
    const option = options.next();
    if (option === 'REPLACE') replace = true;
    else if (option === 'DB' && options.more()) target = otherDatabase(client, options.value());
    else fail(SYNTAX);
  }
  if (target !== db) refuseOtherDatabase(client, 'Copying to another database');
  if (target === db && from === to) fail(SAME);
  const entry = db.lookup(from);
  if (entry === undefined) return 0;
  const taken = target.find(to) !== undefined;
  if (taken && !replace) return 0;
  allocate(copyBytes(entry.held));
  const copy = copyValue(entry.read()) ?? fail('ERR not supported for this module key');
  const before = typeBefore(client, target, to);
  if (taken) target.remove(to);
  const copied = target.put(to, copy);
  carryEncoding(entry.madeAs, copied);
  const expiresAt = db.expiresAt(entry);
  if (expiresAt !== undefined) target.expireAt(to, copied, expiresAt);
  target.changed(to, 'copy_to');
  reportReplaced(client, target, to, before, copy);
  return 1;
}

function move(client: Caller, name: Bytes, index: Bytes): Reply {
  refuseOtherDatabase(client, 'MOVE');
  const { db } = client;
  const target = otherDatabase(client, index);
  if (target === db) fail(SAME);
  const entry = db.find(name);
  if (entry === undefined || target.find(name) !== undefined) return 0;
  const { madeAs } = entry;
  const value = entry.read();
  const expiresAt = db.expiresAt(entry);
  db.remove(name);
  const moved = target.put(name, value);
  carryEncoding(madeAs, moved);
  if (expiresAt !== undefined) target.expireAt(name, moved, expiresAt);
  db.changed(name, 'move_from');
  target.changed(name, 'move_to', 0);
  return 1;
}

function renameKeys(target: string): KeySpec[] {
  return [...key('RW ACCESS DELETE'), ...key(target, 2)];
}

/** How often RANDOMKEY tries if every key has expired but must not be removed (on a replica). */
const TRIES_MAX = 100;

function randomKey(client: Caller): Reply {
  const { db, server } = client;
  const roll = db.openRoll();
  for (let tries = 0; db.size > 0; ) {
    const name = roll.at(Math.floor(server.host.random() * roll.length));
    if (name === undefined) continue;
    if (db.peek(name) !== undefined) return name;
    // A replica does not remove what has expired.
    if (db.entries.has(name) && ++tries === TRIES_MAX) return name;
  }
  return null;
}

export const genericCommands = defineCommands('generic', {
  del: {
    summary: 'Removes keys.',
    since: '1.0.0',
    complexity: 'O(N), N keys and elements of their values',
    arity: -2,
    flags: ['write'],
    keys: keys('RM DELETE'),
    tips: ['request_policy:multi_shard', 'response_policy:agg_sum'],
    run: remove,
  },
  unlink: {
    summary: 'Removes keys (their memory is freed later).',
    since: '4.0.0',
    complexity: 'O(N), N keys',
    arity: -2,
    flags: ['write', 'fast'],
    keys: keys('RM DELETE'),
    tips: ['request_policy:multi_shard', 'response_policy:agg_sum'],
    run: unlink,
  },
  exists: {
    summary: 'Counts which of the keys exist.',
    since: '1.0.0',
    complexity: 'O(N), N keys',
    arity: -2,
    flags: ['readonly', 'fast'],
    keys: keys('RO'),
    tips: ['request_policy:multi_shard', 'response_policy:agg_sum'],
    run: (client, argv) => count(argv, (name) => client.db.inspect(name)),
  },
  touch: {
    summary: 'Counts which of the keys exist, and marks them as used.',
    since: '3.2.1',
    complexity: 'O(N), N keys',
    arity: -2,
    flags: ['readonly', 'fast'],
    keys: keys('RO'),
    tips: ['request_policy:multi_shard', 'response_policy:agg_sum'],
    run: (client, argv) =>
      client.server.eviction.touching(() => count(argv, (name) => client.db.lookup(name))),
  },
  type: {
    summary: 'Returns the type of the value a key holds.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO'),
    run(client, argv) {
      const entry = client.db.inspect(argv[1]);
      return new SimpleString(entry === undefined ? 'none' : wordOf(entry.held));
    },
  },
  keys: {
    summary: 'Lists the keys that match a pattern.',
    since: '1.0.0',
    complexity: 'O(N), N keys of the database',
    arity: 2,
    flags: ['readonly'],
    categories: ['keyspace', 'dangerous'],
    tips: ['request_policy:all_shards', 'nondeterministic_output_order'],
    run(client, argv) {
      const { db } = client;
      const found: Bytes[] = [];
      // What has expired is left out, but not removed.
      const all = db.world.expiryPolicy === 'keep';
      const matches = argv[1] === '*' ? () => true : globTest(argv[1]);
      for (const entry of db.entries.matching(matches))
        if (all || !db.hasExpired(entry)) found.push(entry.key);
      return found;
    },
  },
  randomkey: {
    summary: 'Returns a key picked at random.',
    since: '1.0.0',
    complexity: 'O(1)',
    changes: [
      {
        since: '7.2.0',
        tips: ['request_policy:all_shards', 'response_policy:special', 'nondeterministic_output'],
      },
    ],
    arity: 1,
    flags: ['readonly'],
    tips: ['request_policy:all_shards', 'nondeterministic_output'],
    run: randomKey,
  },
  rename: {
    summary: 'Renames a key and overwrites the target.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write'],
    keys: renameKeys('OW UPDATE'),
    run(client, argv) {
      const [, from, to] = argv;
      const entry = client.db.find(from) ?? fail(NO_SUCH_KEY);
      if (from !== to) rename(client, from, to, entry);
      return OK;
    },
  },
  renamenx: {
    summary: 'Renames a key unless the new name exists.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'fast'],
    keys: renameKeys('OW INSERT'),
    run(client, argv) {
      const [, from, to] = argv;
      const entry = client.db.find(from) ?? fail(NO_SUCH_KEY);
      if (client.db.find(to) !== undefined) return 0;
      rename(client, from, to, entry);
      return 1;
    },
  },
  copy: {
    summary: 'Copies a value to another key.',
    since: '6.2.0',
    complexity: 'O(N), N elements of the value',
    arity: -3,
    flags: ['write', 'denyoom'],
    keys: [...key('RO ACCESS'), ...key('OW UPDATE', 2)],
    databases: { named: copiedTo, own: true },
    run: copy,
  },
  move: {
    summary: 'Moves a key to another database.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS UPDATE'),
    databases: { named: () => [2], own: true },
    run: (client, argv) => move(client, argv[1], argv[2]),
  },
});
