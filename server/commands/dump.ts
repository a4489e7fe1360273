/** DUMP and RESTORE: values as payloads that any node reads (https://redis.io/docs/latest/commands/dump/). */
import { dumpValue, restoreValue } from '../../keyspace/rdb/dump.ts';
import { RdbError } from '../../keyspace/rdb/errors.ts';
import type { Value } from '../../keyspace/value.ts';
import { approximate, type Bytes, type Millis } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { OK, type Reply } from '../../protocol/reply.ts';
import { int64, integer, Options } from '../arguments.ts';
import type { Client } from '../client.ts';
import { defineCommands, key } from '../command.ts';

const BAD_TTL = 'ERR Invalid TTL value, must be >= 0';

interface RestoreOptions {
  replace: boolean;
  absolute: boolean;
}

function parseOptions(argv: readonly Bytes[]): RestoreOptions {
  const parsed = { replace: false, absolute: false };
  const options = new Options(argv, 4);
  while (options.more()) {
    switch (options.next()) {
      case 'REPLACE':
        parsed.replace = true;
        break;
      case 'ABSTTL':
        parsed.absolute = true;
        break;
      case 'IDLETIME':
        if (integer(options.value()) < 0) fail('ERR Invalid IDLETIME value, must be >= 0');
        break;
      case 'FREQ': {
        const frequency = integer(options.value());
        if (frequency < 0 || frequency > 255) fail('ERR Invalid FREQ value, must be >= 0 and <= 255');
        break;
      }
      default:
        fail(SYNTAX);
    }
  }
  return parsed;
}

function decode(client: Client, payload: Bytes): Value {
  try {
    return restoreValue(payload, client.server.encoding);
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    return fail(
      error.kind === 'checksum' ? 'ERR DUMP payload version or checksum are wrong' : 'ERR Bad data format',
    );
  }
}

function restore(client: Client, argv: readonly Bytes[]): Reply {
  const [, name, ttlText, payload] = argv as [Bytes, Bytes, Bytes, Bytes];
  const { server, db } = client;
  const options = parseOptions(argv);
  if (!options.replace && db.find(name) !== undefined) fail('BUSYKEY Target key name already exists.');
  const ttl = approximate(int64(ttlText));
  if (ttl < 0) fail(BAD_TTL);
  const value = decode(client, payload);
  const expiresAt: Millis | undefined = ttl === 0 ? undefined : options.absolute ? ttl : server.now + ttl;
  const replaced = db.remove(name);
  if (expiresAt !== undefined && expiresAt < server.now && server.role === 'primary') {
    if (replaced) {
      db.changed(name, 'del');
      server.propagateAs(['DEL', name]);
    }
    return OK;
  }
  const entry = db.put(name, value);
  if (expiresAt !== undefined) db.expireAt(name, entry, expiresAt);
  db.changed(name, 'restore');
  if (expiresAt !== undefined) {
    server.propagateAs(['RESTORE', name, String(expiresAt), payload, 'REPLACE', 'ABSTTL']);
  }
  return OK;
}

const RESTORE = {
  since: '2.6.0',
  complexity: 'O(N) with N the size of the value',
  arity: -4,
  keys: key('OW update'),
  run: restore,
} as const;

export const dumpCommands = defineCommands('generic', {
  dump: {
    summary: "Answers a value's payload, for RESTORE.",
    since: '2.6.0',
    complexity: 'O(N) with N the size of the value',
    arity: 2,
    flags: ['readonly'],
    tips: ['nondeterministic_output'],
    keys: key('RO access'),
    run(client, argv) {
      const entry = client.db.lookup(argv[1]);
      return entry === undefined ? null : dumpValue(entry.value);
    },
  },
  restore: {
    ...RESTORE,
    summary: 'Makes a key from a payload of DUMP.',
    flags: ['write', 'denyoom'],
    categories: ['keyspace', 'dangerous'],
  },
  'restore-asking': {
    ...RESTORE,
    summary: 'RESTORE, as nodes of a cluster use it among themselves.',
    since: '3.0.0',
    flags: ['write', 'denyoom', 'asking'],
    categories: ['keyspace', 'dangerous'],
  },
});
