/** SCAN, which iterates over keys, and OBJECT, which describes how values are stored. */
import type { Entry } from '../../../keyspace/entry.ts';
import { wordOf } from '../../../keyspace/value.ts';
import { asciiLower, type Bytes, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { encodingOf } from '../../settings/encodings.ts';
import { type Argv, type Command, key } from '../../table/command.ts';
import { defineCommands, defineContainer } from '../define.ts';
import { type ScanOptions, scanCursor, scanOptions } from './scanning.ts';

/** SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]. The cursor is the only state. */
function scan(client: Caller, argv: Argv<-2>): Reply {
  const { db } = client;
  const cursor = scanCursor(client, argv[1]);
  const options = scanOptions(client, argv, 2, 'scan');
  const { names, next } = db.openRoll().walk(cursor, options.count);
  return [String(next), scanned(client, names, options)];
}

/** Of the keys that a step of a scan came upon, those that have not expired and that match its options. */
export function scanned(
  client: Caller,
  names: readonly Bytes[],
  { matches, type }: Pick<ScanOptions, 'matches' | 'type'>,
): Bytes[] {
  const { db } = client;
  const wanted = type === undefined ? undefined : asciiLower(type);
  const { dialect, world } = client.server;
  const { scanRemoves, scanTypes } = dialect;
  // Keys of one type often follow each other.
  let [kind, isWanted] = ['', wanted === ''];
  const hasType = (held: Entry['held']): boolean => {
    const word = wordOf(held);
    if (word !== kind) [kind, isWanted] = [word, asciiLower(word) === wanted];
    return isWanted;
  };
  // The names are those of stored keys, and usually none of these has expired: then looking each up again is saved.
  const { isCurrent } = db;
  return names.filter((name) => {
    // `peek` removes a key that has expired.
    if (scanRemoves === 'every one' && !isCurrent) db.peek(name);
    if (!matches(name)) return false;
    if (wanted === undefined) return isCurrent || db.peek(name) !== undefined;
    if (scanTypes === 'looked up') {
      const entry = db.peek(name);
      if (entry === undefined) return false;
      world.hits++;
      return hasType(entry.held);
    }
    const stored = db.entries.get(name);
    const fits = stored !== undefined && hasType(stored.held);
    if (isCurrent || (!fits && scanRemoves === 'those that match pattern and type')) return fits;
    return db.peek(name) !== undefined && fits;
  });
}

export const scanCommands = defineCommands('generic', {
  scan: {
    summary: 'Lists the keys step by step.',
    since: '2.8.0',
    complexity: 'O(1) for a step, O(N) for all, N keys of the database',
    changes: [
      {
        since: '7.2.0',
        tips: ['nondeterministic_output', 'request_policy:special', 'response_policy:special'],
      },
    ],
    arity: -2,
    flags: ['readonly'],
    tips: ['nondeterministic_output', 'request_policy:special'],
    run: scan,
  },
});

const NO_LFU =
  'ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.';
const LFU =
  'ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.';
/** Redis shares the objects of integers below this, and reports `SHARED` as their reference count. */
const SHARED_INTEGERS = 10_000;
const SHARED = 2 ** 31 - 1;

/** Returns the reference count of an entry's value, as reported by OBJECT REFCOUNT. */
export function references({ server }: Caller, entry: Entry): number {
  const { held } = entry;
  // A value inside its key is not shared.
  if (server.dialect.stringPlace !== 'apart from its key') return 1;
  const small = typeof held === 'string' && encodingOf(entry) === 'int' ? parseSafeInteger(held) : undefined;
  return small !== undefined && small >= 0 && small < SHARED_INTEGERS ? SHARED : 1;
}

function usesFrequency(client: Caller): boolean {
  return client.server.settings['maxmemory-policy'].endsWith('lfu');
}

/** Answers `ask` for the key's entry; nil if the key does not exist. */
function ofEntry(client: Caller, name: Bytes, ask: (entry: Entry) => Reply): Reply {
  const { world } = client.server;
  const entry = client.db.peek(name);
  if (entry === undefined) {
    world.misses++;
    return null;
  }
  world.hits++;
  return ask(entry);
}

const aboutOne = {
  since: '2.2.3',
  complexity: 'O(1)',
  flags: ['readonly'],
  keys: key('RO', 2),
  tips: ['nondeterministic_output'],
} as const;

export const objectCommand: Command = defineContainer(
  'generic',
  'object',
  {
    summary: 'Commands about the internals of a value.',
    since: '2.2.3',
    helpSince: '6.2.0',
    complexity: 'O(1)',
    flags: [],
  },
  {
    encoding: {
      summary: 'Returns the encoding of the value of a key.',
      ...aboutOne,
      arity: 3,
      run: (client, argv) => ofEntry(client, argv[2], encodingOf),
    },
    refcount: {
      summary: 'Counts the references to the value of a key.',
      ...aboutOne,
      arity: 3,
      run: (client, argv) => ofEntry(client, argv[2], (entry) => references(client, entry)),
    },
    idletime: {
      summary: 'Returns the seconds since a key was used.',
      ...aboutOne,
      arity: 3,
      run: (client, argv) =>
        ofEntry(client, argv[2], (entry) => {
          if (usesFrequency(client)) fail(LFU);
          return Math.floor((client.server.now - entry.usedAt) / 1000);
        }),
    },
    freq: {
      summary: 'Returns how often a key is used, on a logarithmic scale.',
      ...aboutOne,
      since: '4.0.0',
      arity: 3,
      run: (client, argv) =>
        ofEntry(client, argv[2], (entry) =>
          usesFrequency(client) ? client.server.eviction.frequency(entry) : fail(NO_LFU),
        ),
    },
  },
);
