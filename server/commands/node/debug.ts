/** DEBUG, as used by test suites: sleep, expiry, digests, sample replies, and generated keys. */

import { RdbError } from '../../../keyspace/format/errors.ts';
import { dumpValue } from '../../../keyspace/rdb/dump.ts';
import { allocate } from '../../../protocol/allowance.ts';
import { asciiLower, asciiUpper, type Bytes, cString, parseDouble } from '../../../protocol/bytes.ts';
import { fail, NO_SUCH_KEY, NOT_POSITIVE } from '../../../protocol/errors.ts';
import {
  BigNumber,
  Double,
  MapReply,
  OK,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  Verbatim,
} from '../../../protocol/reply.ts';
import { IN_MULTI, SCRIPT } from '../../clients/client.ts';
import { PushMessage } from '../../clients/message.ts';
import { digestOfAll, digestOfValue } from '../../data/digest.ts';
import type { Caller } from '../../server.ts';
import { encodingOf } from '../../settings/encodings.ts';
import { parseMemory } from '../../settings/parameters.ts';
import { integer, integerBetween } from '../../table/arguments.ts';
import type { Command } from '../../table/command.ts';
import { type Outcome, PAUSED } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';
import { references } from '../keys/scan.ts';
import { startInterpreter } from './scripting.ts';

/**
 * Pauses all clients for that many seconds on the host's clock. The caller is answered at the end. A transaction stays
 * open meanwhile. A script goes on at once, and the pause follows it, because time stands still for scripts.
 */
function sleep(client: Caller, argv: readonly Bytes[]): Outcome {
  const { server } = client;
  const { pausing, blocking, observer, slowScript } = server;
  const timeout = Math.floor((parseDouble(argv[2] ?? '') ?? 0) * 1000);
  if (!(timeout > 0)) return OK;
  const command = server.declared.get('debug') as Command;
  const awake = (): Reply => {
    observer.record(client, command, argv, timeout * 1000);
    return OK;
  };
  if (client.has(IN_MULTI) && !client.has(SCRIPT)) {
    // The transaction's own call is timed to its end.
    slowScript.holdFor(client, timeout, () => OK);
    return PAUSED;
  }
  pausing.pause(timeout, true);
  if (client.has(SCRIPT)) return awake();
  return blocking.block(client, { kind: 'wait', timeout, timeoutReply: awake });
}

function disableDenials(client: Caller, word: Bytes): Reply {
  client.server.scripts.callsAnything = word !== '0';
  return OK;
}

/** As C's atoi: what does not begin with a number is 0. */
function isOn(word: Bytes): boolean {
  return /^\s*[-+]?0*[1-9]/.test(word);
}

/** SLOTMIGRATION of Valkey 9: stops moves of slots before a step. Of the number only the last bit counts. */
function holdMoves(client: Caller, [what = '', word = '']: readonly Bytes[], argv: readonly Bytes[]): Reply {
  const step = { 'prevent-pause': 'pause', 'prevent-failover': 'failover' } as const;
  const name = asciiLower(what);
  const isKnown = name === 'prevent-pause' || name === 'prevent-failover';
  if (!isKnown || client.server.dialect.cluster.movesSlots !== 'from the source') return refuse(argv);
  client.server.cluster?.holdMoves(step[name], /^\s*[-+]?\d*[13579](?!\d)/.test(word));
  return OK;
}

function setActiveExpire(client: Caller, word: Bytes): Reply {
  const { expiry } = client.server;
  expiry.active = isOn(word);
  if (!expiry.active) expiry.cancel();
  return OK;
}

/** The bytes of a DUMP payload besides the value: the type before it, the version and the checksum behind it. */
const AROUND_VALUE = 11;

function describe(client: Caller, key: Bytes): Reply {
  const { now, rdbFormat } = client.server;
  // A key that has expired and is still stored is described.
  const entry = client.db.entries.get(key) ?? fail(NO_SUCH_KEY);
  const encoding = encodingOf(entry);
  const value = entry.read();
  const length = dumpValue(value, rdbFormat).length - AROUND_VALUE;
  const used = `lru:${Math.floor(entry.usedAt / 1000) & 0xffffff} lru_seconds_idle:${Math.floor((now - entry.usedAt) / 1000)}`;
  const what = `refcount:${references(client, entry)} encoding:${encoding} serializedlength:${length} ${used}`;
  return new SimpleString(`Value at:0x000000000000 ${what}`);
}

function showQuicklist(client: Caller, key: Bytes): Reply {
  const entry = client.db.peek(key) ?? fail(NO_SUCH_KEY);
  if (encodingOf(entry) !== 'quicklist') fail('ERR Not a quicklist encoded object.');
  return new SimpleString('Quicklist structure printed on stdout');
}

/** Returns a sample reply of the requested kind. */
function protocolSample(client: Caller, kind: Bytes): Reply {
  switch (asciiLower(kind)) {
    case 'string':
      return 'Hello World';
    case 'integer':
      return 12345;
    case 'double':
      return new Double(3.141);
    case 'null':
      return null;
    case 'array':
      return [0, 1, 2];
    case 'set':
      return new SetReply([0, 1, 2]);
    case 'map':
      return new MapReply([0, false, 1, true, 2, false]);
    case 'attrib':
      // A script receives replies without attributes.
      if (client.protocol === 3 && !client.has(SCRIPT))
        client.output.write('|1\r\n$14\r\nkey-popularity\r\n*2\r\n$7\r\nkey:123\r\n:90\r\n');
      return 'Some real reply following the attribute';
    case 'push':
      if (client.protocol === 2) fail('ERR RESP2 is not supported by this command');
      client.output.push(new PushMessage('server-cpu-usage', 42));
      return 'Some real reply following the push reply';
    case 'verbatim':
      return new Verbatim('txt', 'This is a verbatim\nstring');
    case 'true':
      return true;
    case 'false':
      return false;
    case 'bignum':
      return new BigNumber('1234567999999999999999999999999999999');
    default:
      return fail(
        'ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false',
      );
  }
}

/** What a key of DEBUG POPULATE takes with a short value, in bytes. */
const KEY_BYTES = 160;

/** Adds this many keys to the database. Existing keys are kept. */
function populate(client: Caller, [count = '', prefix = 'key', size]: readonly Bytes[]): Reply {
  const natural = (text: Bytes): number =>
    integerBetween(text, 0, Number.MAX_SAFE_INTEGER, NOT_POSITIVE, NOT_POSITIVE);
  const keys = natural(count);
  const bytes = size === undefined ? 0 : natural(size);
  allocate(keys * (KEY_BYTES + prefix.length + bytes));
  for (let i = 0; i < keys; i++) {
    const name = `${prefix}:${i}`;
    if (client.db.peek(name) !== undefined) continue;
    const text = `value:${i}`;
    const value = bytes === 0 ? text : text.slice(0, bytes).padEnd(bytes, '\0');
    client.db.weigh(name, client.db.put(name, value));
    client.db.touch(name);
  }
  return OK;
}

/** Saves the dataset, unless NOSAVE is given, and loads it again. */
function reload(client: Caller, options: readonly Bytes[]): Reply {
  const words = new Set(options.map(asciiUpper));
  for (const word of words) {
    if (!['MERGE', 'NOFLUSH', 'NOSAVE'].includes(word)) {
      fail('ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options.');
    }
  }
  if (!words.has('NOFLUSH')) startInterpreter(client);
  try {
    client.server.dumpFile.reload({
      saves: !words.has('NOSAVE'),
      keeps: words.has('NOFLUSH'),
      replaces: words.has('MERGE'),
    });
  } catch (error) {
    // A ReplyError: a library that exists already, or does not compile.
    if (!(error instanceof RdbError || error instanceof ReplyError)) throw error;
    fail('ERR Error trying to load the RDB dump');
  }
  return OK;
}

/** Replaces the dataset by what the append-only file has. */
function loadAppendOnlyFile(client: Caller): Reply {
  const { server } = client;
  startInterpreter(client);
  if (server.durability === undefined) fail('ERR Error trying to load the AOF files, check server logs.');
  server.durability.reload();
  return OK;
}

function packedThreshold(text: Bytes): Reply {
  const bytes = parseMemory(text);
  if (bytes === undefined || bytes >= 2 ** 32) {
    fail('ERR argument must be a memory value bigger than 1 and smaller than 4gb');
  }
  return OK;
}

function showListpack(client: Caller, key: Bytes): Reply {
  const entry = client.db.peek(key) ?? fail(NO_SUCH_KEY);
  if (encodingOf(entry) !== 'listpack') fail('ERR Not a listpack encoded object.');
  return new SimpleString('Listpack structure printed on stdout');
}

function rename(client: Caller): Reply {
  const { replication } = client.server;
  replication.id = client.server.randomHex(40);
  return OK;
}

/** Refuses a subcommand that does not exist, or that has other arguments. */
function refuse(argv: readonly Bytes[]): never {
  const shown = cString(argv[1] ?? '', 128);
  return fail(`ERR unknown subcommand or wrong number of arguments for '${shown}'. Try DEBUG HELP.`);
}

/** Sets after which time reply buffers forget how much of them was used, or whether they are resized. */
function setReplyBuffers(
  { server: { replyBuffers } }: Caller,
  what: Bytes,
  value: Bytes,
  argv: readonly Bytes[],
): Reply {
  const word = asciiLower(value);
  if (asciiLower(what) === 'resizing') replyBuffers.resizes = isOn(value);
  else if (asciiLower(what) !== 'peak-reset-time') {
    refuse(argv);
  } else if (word === 'never') replyBuffers.resetAfter = undefined;
  else if (word === 'reset') replyBuffers.reset();
  else replyBuffers.resetAfter = integer(value);
  return OK;
}

/** A subcommand: the smallest and the largest number of words after its name, and its handler. */
type Subcommand = readonly [
  number,
  number,
  (client: Caller, words: readonly Bytes[], argv: readonly Bytes[]) => Outcome,
];

const one = (run: (client: Caller, word: Bytes) => Outcome): Subcommand => [
  1,
  1,
  (client, [word = '']) => run(client, word),
];

const SUBCOMMANDS: Record<string, Subcommand> = {
  'CHANGE-REPL-ID': [0, 0, rename],
  DIGEST: [0, 0, (client) => new SimpleString(digestOfAll(client.server.databases, client.server.rdbFormat))],
  'DIGEST-VALUE': [
    0,
    Infinity,
    (client, keys) =>
      keys.map((name) => new SimpleString(digestOfValue(client.db, name, client.server.rdbFormat))),
  ],
  ERROR: one((_client, text) => new ReplyError(text.replace(/[\r\n]/g, ' '))),
  LISTPACK: one(showListpack),
  LOADAOF: [0, 0, loadAppendOnlyFile],
  LOG: one((client, text) => {
    client.server.log('warning', `DEBUG LOG: ${text}`);
    return OK;
  }),
  OBJECT: one(describe),
  'PAUSE-CRON': one(() => OK),
  POPULATE: [1, 3, populate],
  PROTOCOL: one(protocolSample),
  'QUICKLIST-PACKED-THRESHOLD': one((_client, text) => packedThreshold(text)),
  QUICKLIST: [1, 2, (client, [name = '']) => showQuicklist(client, name)],
  RELOAD: [0, Infinity, reload],
  REPLICATE: [
    1,
    Infinity,
    (client, words) => {
      client.server.effects.propagateAlso(client.db, words);
      return OK;
    },
  ],
  REPLYBUFFER: [2, 2, (client, [what = '', value = ''], argv) => setReplyBuffers(client, what, value, argv)],
  'SET-ACTIVE-EXPIRE': one(setActiveExpire),
  'SET-DISABLE-DENY-SCRIPTS': one(disableDenials),
  SLEEP: [1, 1, (client, _words, argv) => sleep(client, argv)],
  SLOTMIGRATION: [2, Infinity, holdMoves],
};

const HELP = [
  'DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:',
  ...Object.keys(SUBCOMMANDS),
  'HELP',
  '    Prints this help.',
];

export const debugCommands = defineCommands('server', {
  debug: {
    summary: `Helps to test: ${Object.keys(SUBCOMMANDS).join(', ')}.`,
    since: '1.0.0',
    complexity: 'Depends on subcommand.',
    arity: -2,
    flags: ['admin', 'noscript', 'loading', 'stale'],
    guard: 'enable-debug-command',
    run(client, argv) {
      const name = asciiUpper(argv[1]);
      if (name === 'HELP' && argv.length === 2) return HELP.map((line) => new SimpleString(line));
      const [least, most, run] = (Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined) ?? [
        1,
        0,
        () => OK,
      ];
      const words = argv.slice(2);
      if (words.length >= least && words.length <= most) return run(client, words, argv);
      return refuse(argv);
    },
  },
});
