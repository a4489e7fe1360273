/** Commands for parts of strings, and LCS (https://redis.io/docs/latest/commands/?group=string). */

import type { HeldString } from '../../../keyspace/collections/edited-string.ts';
import { allocateOutside } from '../../../protocol/allowance.ts';
import { approximate, type Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { SCRIPT } from '../../clients/client.ts';
import type { Caller } from '../../server.ts';
import { keepText, noteEncoding } from '../../settings/encodings.ts';
import { int64, integer, longestString } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { lcs } from './lcs.ts';

/** Overwrites a part of the key's string, fills a gap with zeros, and reports the change. */
function overwrite(client: Caller, name: Bytes, value: HeldString, offset: number, part: Bytes): number {
  const { db } = client;
  const end = offset + part.length;
  const length = Math.max(value.length, end);
  const edited = db.edit(name, length);
  edited?.write(offset, part);
  if (edited === undefined && typeof value === 'string') {
    const head = value.slice(0, offset).padEnd(offset, '\0');
    noteEncoding(db.put(name, head + part + value.slice(end), true), 'raw');
  }
  return length;
}

/** Throws if a string would be longer than the longest that a client may send, or too long for one request. */
function checkLength(client: Caller, length: number): void {
  if (length > longestString(client)) {
    fail('ERR string exceeds maximum allowed size (proto-max-bulk-len)');
  }
  allocateOutside(length);
}

function getrange(client: Caller, argv: Argv<-4>): Bytes {
  const [from, to] = [int64(argv[2]), int64(argv[3])];
  const value = client.db.readPart(argv[1]) ?? '';
  if (from < 0 && to < 0 && from > to) return '';
  const [start, end] = [approximate(from), approximate(to)];
  const first = start < 0 ? Math.max(0, start + value.length) : start;
  const last = end < 0 ? Math.max(0, end + value.length) : end;
  return value.slice(first, last + 1);
}

function setrange(client: Caller, argv: Argv<-4>): Reply {
  const { db } = client;
  const name = argv[1];
  const part = argv[3];
  const offset = integer(argv[2]);
  if (offset < 0) fail('ERR offset is out of range');
  const value = db.getPart(name) ?? '';
  if (part === '') return value.length;
  checkLength(client, offset + part.length);
  const length = overwrite(client, name, value, offset, part);
  db.changed(name, 'setrange');
  return length;
}

export const stringEditCommands = defineCommands('string', {
  append: {
    summary: 'Appends to a string, and creates it if it is missing.',
    since: '2.0.0',
    complexity: 'O(1) amortized',
    arity: 3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW INSERT'),
    run(client, argv) {
      const [, name, part] = argv;
      const { db } = client;
      const value = db.getPart(name);
      const length = (value?.length ?? 0) + part.length;
      checkLength(client, length);
      if (value === undefined) {
        const entry = db.put(name, part);
        if (client.has(SCRIPT)) keepText(client, name, entry);
      } else overwrite(client, name, value, value.length, part);
      db.changed(name, 'append');
      return length;
    },
  },
  getrange: {
    summary: 'Returns a part of a string.',
    since: '2.4.0',
    complexity: 'O(N), N bytes answered',
    arity: 4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: getrange,
  },
  substr: {
    summary: "Returns a part of a string (GETRANGE's old name).",
    since: '1.0.0',
    complexity: 'O(N), N bytes answered',
    arity: 4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: getrange,
  },
  setrange: {
    summary: 'Overwrites a string from an offset on, filling a gap with zero bytes.',
    since: '2.2.0',
    complexity: 'O(N), N bytes written',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: key('RW UPDATE'),
    run: setrange,
  },
  lcs: {
    summary: 'Finds the longest common subsequence of two strings.',
    since: '7.0.0',
    complexity: 'O(N*M), N and M the lengths of the strings',
    arity: -3,
    flags: ['readonly'],
    keys: [{ flags: 'RO ACCESS', begin: 1, find: { last: 1, step: 1, limit: 0 } }],
    run(client, argv) {
      const [first, second] = [client.db.lookup(argv[1]), client.db.lookup(argv[2])];
      const a = first?.read() ?? '';
      const b = second?.read() ?? '';
      if (typeof a !== 'string' || typeof b !== 'string') {
        fail('ERR The specified keys must contain string values');
      }
      return lcs(a, b, argv.slice(3), client.server.settings['proto-max-bulk-len']);
    },
  },
});
