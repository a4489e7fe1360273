/** DUMP and RESTORE: values as payloads that other nodes can load (https://redis.io/docs/latest/commands/dump/). */

import { footprint } from '../../../keyspace/footprint.ts';
import { RdbError } from '../../../keyspace/format/errors.ts';
import { dumpValue, formatOfPayload, restoreValue } from '../../../keyspace/rdb/dump.ts';
import type { Value } from '../../../keyspace/value.ts';
import { allocate } from '../../../protocol/allowance.ts';
import type { Bytes, Millis } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { OK, type Reply } from '../../../protocol/reply.ts';
import { PRIMARY_LINK } from '../../clients/client.ts';
import { reportReplaced, typeBefore } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { instantOf, int64, integer, Options } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';

const BAD_TTL = 'ERR Invalid TTL value, must be >= 0';

interface RestoreOptions {
  replace: boolean;
  absolute: boolean;
  /** The seconds since the last use (IDLETIME), and the frequency (FREQ). They exclude each other. */
  idle: number | undefined;
  frequency: number | undefined;
}

function parseOptions(argv: readonly Bytes[]): RestoreOptions {
  const parsed: RestoreOptions = { replace: false, absolute: false, idle: undefined, frequency: undefined };
  const options = new Options(argv, 4);
  while (options.more()) {
    const option = options.next();
    switch (option) {
      case 'REPLACE':
        parsed.replace = true;
        break;
      case 'ABSTTL':
        parsed.absolute = true;
        break;
      case 'IDLETIME':
        if (parsed.frequency !== undefined) fail(SYNTAX);
        parsed.idle = integer(options.value());
        if (parsed.idle < 0) fail('ERR Invalid IDLETIME value, must be >= 0');
        break;
      case 'FREQ':
        if (parsed.idle !== undefined) fail(SYNTAX);
        parsed.frequency = integer(options.value());
        if (parsed.frequency < 0 || parsed.frequency > 255) {
          fail('ERR Invalid FREQ value, must be >= 0 and <= 255');
        }
        break;
      default:
        fail(SYNTAX);
    }
  }
  return parsed;
}

function decode(client: Caller, payload: Bytes): Value {
  const { commands, encoding, rdbFormat } = client.server;
  const format = client.has(PRIMARY_LINK) ? formatOfPayload(payload) : rdbFormat;
  // With the extra TTLs of hash fields, hashes that have them can be restored where the dialect's server has none.
  const timed = rdbFormat.fieldTimes === 'beside' && commands.has('hpexpire');
  try {
    return restoreValue(payload, encoding, format, timed);
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    return fail(
      error.kind === 'checksum' ? 'ERR DUMP payload version or checksum are wrong' : 'ERR Bad data format',
    );
  }
}

/** Adds a time to live to the base with 64-bit overflow: a result that is too large wraps into the past. */
function instant(ttl: number | bigint, base: Millis): Millis {
  return instantOf(BigInt.asIntN(64, BigInt(ttl) + BigInt(base)));
}

function restore(client: Caller, argv: Argv<-4>): Reply {
  const [, name, ttlText, payload] = argv;
  const { server, db } = client;
  const options = parseOptions(argv);
  if (!options.replace && db.find(name) !== undefined) fail('BUSYKEY Target key name already exists.');
  const ttl = int64(ttlText);
  if (ttl < 0) fail(BAD_TTL);
  const value = decode(client, payload);
  const expiresAt: Millis | undefined =
    ttl === 0 ? undefined : instant(ttl, options.absolute ? 0 : server.now);
  const before = typeBefore(client, db, name);
  const replaced = db.remove(name);
  if (expiresAt !== undefined && expiresAt < server.now && server.role === 'primary') {
    if (replaced) {
      db.changed(name, 'del');
      const lazy = server.settings['lazyfree-lazy-server-del'];
      const unlinks = lazy && server.dialect.restoreRemoves === 'as lazyfree-lazy-server-del says';
      server.effects.propagateAs([unlinks ? 'UNLINK' : 'DEL', name]);
    }
    return OK;
  }
  const entry = db.put(name, value);
  if (options.idle !== undefined || options.frequency !== undefined)
    server.eviction.restoreUse(entry, options);
  if (expiresAt !== undefined) db.expireAt(name, entry, expiresAt);
  db.changed(name, 'restore');
  reportReplaced(client, db, name, before, value);
  if (expiresAt !== undefined) {
    const [command] = argv;
    const marks = options.absolute ? [] : ['ABSTTL'];
    server.effects.propagateAs([command, name, String(expiresAt), payload, ...argv.slice(4), ...marks]);
  }
  return OK;
}

const RESTORE = {
  since: '2.6.0',
  complexity: 'O(N) with N the size of the value',
  arity: -4,
  keys: key('OW UPDATE'),
  run: restore,
} as const;

export const dumpCommands = defineCommands('generic', {
  dump: {
    summary: "Returns a value's payload, for RESTORE.",
    since: '2.6.0',
    complexity: 'O(N) with N the size of the value',
    arity: 2,
    flags: ['readonly'],
    tips: ['nondeterministic_output'],
    keys: key('RO ACCESS'),
    run(client, argv) {
      const entry = client.db.lookup(argv[1]);
      if (entry === undefined) return null;
      allocate(2 * footprint('', entry.held));
      return dumpValue(entry.read(), client.server.rdbFormat);
    },
  },
  restore: {
    ...RESTORE,
    summary: 'Creates a key from a payload of DUMP.',
    flags: ['write', 'denyoom'],
    categories: ['keyspace', 'dangerous'],
  },
});

export const restoreAskingCommands = defineCommands('server', {
  'restore-asking': {
    ...RESTORE,
    summary: 'RESTORE, as nodes of a cluster use it among themselves.',
    since: '3.0.0',
    flags: ['write', 'denyoom', 'asking'],
    categories: ['keyspace', 'dangerous'],
  },
});
