/** List commands that never wait (https://redis.io/docs/latest/commands/?group=list). */
import type { ListValue } from '../../../keyspace/collections/list.ts';
import { approximate, asciiUpper } from '../../../protocol/bytes.ts';
import {
  fail,
  NO_SUCH_KEY,
  NOT_POSITIVE,
  OUT_OF_RANGE,
  SYNTAX,
  wrongArity,
} from '../../../protocol/errors.ts';
import { NULL_ARRAY, OK, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64, integer, integerBetween } from '../../table/arguments.ts';
import { type Argv, countedKeys, type Flag, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { type End, listEnd, move, parseMultiPop, popNow, push, take } from './parts.ts';
import { positions } from './positions.ts';

/** A count that LREM refuses, because there is no such positive number. */
const SMALLEST = -(2n ** 63n);
const BELOW_RANGE =
  'ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807';
const PUSHES: readonly Flag[] = ['write', 'denyoom', 'fast'];
const MOVES = [...key('RW ACCESS DELETE'), ...key('RW INSERT', 2)];

function pushing(end: End, onlyExisting = false) {
  return (client: Caller, argv: Argv<-2>): Reply => {
    const name = argv[1];
    if (onlyExisting && client.db.get(name, 'list') === undefined) return 0;
    return push(client, name, end, argv.slice(2));
  };
}

function popping(end: End) {
  return (client: Caller, argv: Argv<-2>): Reply => {
    const [, name, text] = argv;
    if (argv.length > 3) throw wrongArity(end === 'LEFT' ? 'lpop' : 'rpop');
    const count = text === undefined ? 1 : integerBetween(text, 0, 2 ** 63, NOT_POSITIVE, NOT_POSITIVE);
    const list = client.db.get(name, 'list');
    if (list === undefined) return text === undefined ? null : NULL_ARRAY;
    if (count === 0) return [];
    const taken = take(client, name, list, end, count);
    return text === undefined ? taken[0]! : taken;
  };
}

/** Resolves an index: a negative one counts from the end. */
function fromEnd(index: number, size: number): number {
  return index < 0 ? index + size : index;
}

/** Returns the indices of a range within a list, both inclusive; `first > last` if it is empty. */
function slice(list: ListValue, start: number, stop: number): { first: number; last: number } {
  const first = Math.max(0, fromEnd(start, list.size));
  const last = Math.min(fromEnd(stop, list.size), list.size - 1);
  return first > last ? { first: 1, last: 0 } : { first, last };
}

function trim(client: Caller, [, name, from, to]: Argv<4>): Reply {
  const start = integer(from);
  const stop = integer(to);
  const list = client.db.get(name, 'list');
  if (list === undefined) return OK;
  const before = list.size;
  const { first, last } = slice(list, start, stop);
  list.keep(first, last);
  const removed = before - list.size;
  if (removed === 0 && client.server.dialect.vainTrim === 'an event only') client.db.announce(name, 'ltrim');
  else client.db.changed(name, 'ltrim', removed);
  return OK;
}

function insert(client: Caller, [, name, place, pivot, value]: Argv<5>): Reply {
  const where = asciiUpper(place);
  if (where !== 'BEFORE' && where !== 'AFTER') fail(SYNTAX);
  const list = client.db.get(name, 'list');
  if (list === undefined) return 0;
  list.expect([value]);
  let index = 0;
  for (const item of list.values()) {
    if (item !== pivot) {
      index++;
      continue;
    }
    list.insertAt(where === 'BEFORE' ? index : index + 1, value);
    client.db.changed(name, 'linsert');
    return list.size;
  }
  return -1;
}

export const directListCommands = defineCommands('list', {
  lpush: {
    summary: 'Adds elements at the head of a list.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of elements added',
    arity: -3,
    flags: PUSHES,
    keys: key('RW INSERT'),
    run: pushing('LEFT'),
  },
  rpush: {
    summary: 'Adds elements at the tail of a list.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of elements added',
    arity: -3,
    flags: PUSHES,
    keys: key('RW INSERT'),
    run: pushing('RIGHT'),
  },
  lpushx: {
    summary: 'Adds elements at the head of a list that exists.',
    since: '2.2.0',
    complexity: 'O(N) with N the number of elements added',
    arity: -3,
    flags: PUSHES,
    keys: key('RW INSERT'),
    run: pushing('LEFT', true),
  },
  rpushx: {
    summary: 'Adds elements at the tail of a list that exists.',
    since: '2.2.0',
    complexity: 'O(N) with N the number of elements added',
    arity: -3,
    flags: PUSHES,
    keys: key('RW INSERT'),
    run: pushing('RIGHT', true),
  },
  lpop: {
    summary: 'Takes elements from the head of a list.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of elements taken',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    run: popping('LEFT'),
  },
  rpop: {
    summary: 'Takes elements from the tail of a list.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of elements taken',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW ACCESS DELETE'),
    run: popping('RIGHT'),
  },
  llen: {
    summary: 'Counts the elements of a list.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO'),
    run: (client, argv) => client.db.read(argv[1], 'list')?.size ?? 0,
  },
  lindex: {
    summary: 'Returns the element at an index.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run(client, argv) {
      const list = client.db.read(argv[1], 'list');
      return list === undefined ? null : (list.at(fromEnd(integer(argv[2]), list.size)) ?? null);
    },
  },
  lrange: {
    summary: 'Returns the elements between two indices.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of elements answered',
    arity: 4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run(client, argv) {
      const start = integer(argv[2]);
      const stop = integer(argv[3]);
      const list = client.db.read(argv[1], 'list');
      if (list === undefined) return [];
      const { first, last } = slice(list, start, stop);
      return list.range(first, last);
    },
  },
  lrem: {
    summary: 'Deletes elements equal to a value, from the head, from the tail, or all.',
    since: '1.0.0',
    complexity: 'O(N) with N the length of the list',
    arity: 4,
    flags: ['write'],
    keys: key('RW DELETE'),
    run(client, [, name, text, value]) {
      const count = integer(text);
      if (client.server.dialect.listNumbers === 'checked and cut' && int64(text) === SMALLEST)
        fail(BELOW_RANGE);
      const removed = client.db.get(name, 'list')?.removeMatching(value, count) ?? 0;
      if (removed > 0) client.db.changed(name, 'lrem', removed);
      return removed;
    },
  },
  lset: {
    summary: 'Replaces the element at an index.',
    since: '1.0.0',
    complexity: 'O(N) with N the distance to the nearer end',
    arity: 4,
    flags: ['write', 'denyoom'],
    keys: key('RW UPDATE'),
    run(client, [, name, text, value]) {
      const list = client.db.get(name, 'list') ?? fail(NO_SUCH_KEY);
      list.expect([value]);
      const cut = client.server.dialect.listNumbers === 'checked and cut';
      const given = cut ? approximate(BigInt.asIntN(32, BigInt(int64(text)))) : integer(text);
      const index = fromEnd(given, list.size);
      if (index < 0 || index >= list.size) fail(OUT_OF_RANGE);
      list.setAt(index, value);
      client.db.changed(name, 'lset');
      return OK;
    },
  },
  ltrim: {
    summary: 'Keeps only the elements between two indices.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of elements deleted',
    arity: 4,
    flags: ['write'],
    keys: key('RW DELETE'),
    run: trim,
  },
  linsert: {
    summary: 'Adds an element before or after the first one equal to a pivot.',
    since: '2.2.0',
    complexity: 'O(N) with N the distance from the head to the pivot',
    arity: 5,
    flags: ['write', 'denyoom'],
    keys: key('RW INSERT'),
    run: insert,
  },
  lpos: {
    summary: 'Returns the indices of elements equal to a value.',
    since: '6.0.6',
    complexity: 'O(N) with N the number of elements compared',
    arity: -3,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: positions,
  },
  rpoplpush: {
    summary: "Moves an element from one list's tail to another's head.",
    since: '1.2.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom'],
    keys: MOVES,
    run: (client, [, source, target]) => move(client, { source, target, from: 'RIGHT', to: 'LEFT' }) ?? null,
  },
  lmove: {
    summary: 'Moves an element from an end of one list to an end of another.',
    since: '6.2.0',
    complexity: 'O(1)',
    arity: 5,
    flags: ['write', 'denyoom'],
    keys: MOVES,
    run: (client, [, source, target, from, to]) =>
      move(client, { source, target, from: listEnd(from), to: listEnd(to) }) ?? null,
  },
  lmpop: {
    summary: 'Takes elements from the first of several lists that is not empty.',
    since: '7.0.0',
    complexity: 'O(N+M) with N the number of lists and M that of elements taken',
    arity: -4,
    flags: ['write', 'movablekeys'],
    keys: countedKeys('RW ACCESS DELETE', 1),
    run: (client, argv) => popNow(client, parseMultiPop(argv, 1)) ?? NULL_ARRAY,
  },
});
