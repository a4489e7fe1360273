/** MIGRATE: moves keys to another server (https://redis.io/docs/latest/commands/migrate/). */

import { dumpValue } from '../../../keyspace/rdb/dump.ts';
import { asciiUpper, type Bytes, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { SimpleString } from '../../../protocol/reply.ts';
import { SCRIPT } from '../../clients/client.ts';
import type { Caller } from '../../server.ts';
import { int64, integer, wordAt } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';

/** The position of the first option. */
const OPTIONS = 6;

const NO_KEY_ARGUMENT =
  'ERR When using MIGRATE KEYS option, the key argument must be set to the empty string';

interface MigrateRequest {
  copy: boolean;
  replace: boolean;
  /** The words of AUTH, if credentials were given. */
  credentials: readonly Bytes[] | undefined;
  keys: readonly Bytes[];
}

function parseOptions(argv: Argv<-4>): MigrateRequest {
  const wanted: MigrateRequest = {
    copy: false,
    replace: false,
    credentials: undefined,
    keys: [argv[3]],
  };
  for (let at = OPTIONS; at < argv.length; at++) {
    const option = asciiUpper(wordAt(argv, at));
    const left = argv.length - 1 - at;
    if (option === 'COPY') wanted.copy = true;
    else if (option === 'REPLACE') wanted.replace = true;
    else if (option === 'AUTH' || option === 'AUTH2') {
      const words = option === 'AUTH' ? 1 : 2;
      if (left < words) fail(SYNTAX);
      wanted.credentials = argv.slice(at + 1, at + 1 + words);
      at += words;
    } else if (option === 'KEYS') {
      if (argv[3] !== '') fail(NO_KEY_ARGUMENT);
      wanted.keys = argv.slice(at + 1);
      break;
    } else fail(SYNTAX);
  }
  return wanted;
}

/** Reads a port as C does: text that is not a number counts as 0, and only five characters are used. */
function portOf(text: Bytes): number | undefined {
  const digits = /^[ \t\n\v\f\r]*([+-]?\d+)/.exec(text)?.[1] ?? '0';
  const port = parseSafeInteger(digits.replace(/^\+/, '').slice(0, 5)) ?? 0;
  return port < 0 ? undefined : port % 65536;
}

function migrate(client: Caller, argv: Argv<-6>): Outcome {
  const [, host, port, , dbText, timeoutText] = argv;
  const { server, db } = client;
  const wanted = parseOptions(argv);
  const timeout = integer(timeoutText);
  const target = int64(dbText);
  const keys: Bytes[] = [];
  const restores: Bytes[][] = [];
  for (const name of wanted.keys) {
    const entry = db.lookup(name);
    if (entry === undefined) continue;
    const expiresAt = db.expiresAt(entry);
    const ttl = expiresAt === undefined ? 0 : Math.max(1, expiresAt - server.now);
    keys.push(name);
    restores.push([
      server.cluster === undefined ? 'RESTORE' : 'RESTORE-ASKING',
      name,
      String(ttl),
      dumpValue(entry.read(), server.rdbFormat),
      ...(wanted.replace ? ['REPLACE'] : []),
    ]);
  }
  if (keys.length === 0) return new SimpleString('NOKEY');
  // Redis blocks until the target answers. A script here cannot wait for that.
  if (client.has(SCRIPT)) fail(client.server.dialect.notFromScript);
  const preface: Bytes[][] = [];
  if (wanted.credentials !== undefined) preface.push(['AUTH', ...wanted.credentials]);
  // Redis accepts -1 for the database of a new connection.
  if (target !== -1) preface.push(['SELECT', String(target)]);
  return server.migrations.start(client, {
    host,
    port: portOf(port),
    preface,
    keys,
    restores,
    timeout: timeout <= 0 ? 1000 : timeout,
    copy: wanted.copy,
  });
}

/** Returns the position of the key, or of the keys behind KEYS; none if both are given. */
function migratedKeys(argv: Argv<-4>): number[] {
  for (let at = OPTIONS; at + 1 < argv.length; at++) {
    const option = asciiUpper(wordAt(argv, at));
    if (option === 'AUTH') at++;
    else if (option === 'AUTH2') at += 2;
    else if (option === 'KEYS') return argv[3] === '' ? argv.slice(at + 1).map((_, i) => at + 1 + i) : [];
  }
  return [3];
}

export const migrateCommands = defineCommands('generic', {
  migrate: {
    summary: 'Moves keys to another server, or copies them.',
    since: '2.6.0',
    complexity: 'That of DUMP and DEL here and of RESTORE there, and O(N) to send N bytes',
    arity: -6,
    flags: ['write', 'movablekeys'],
    categories: ['keyspace', 'dangerous'],
    tips: ['nondeterministic_output'],
    keys: [
      ...key('RW ACCESS DELETE', 3),
      {
        flags: 'RW ACCESS DELETE INCOMPLETE',
        begin: { keyword: 'KEYS', from: -2 },
        find: { last: -1, step: 1, limit: 0 },
      },
    ],
    getKeys: migratedKeys,
    getFlags: () => 'RW ACCESS DELETE',
    run: migrate,
  },
});
