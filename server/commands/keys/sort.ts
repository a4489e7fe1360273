/** SORT and SORT_RO: sort the elements of a list, set or sorted set (https://redis.io/docs/latest/commands/sort/). */

import { ListValue } from '../../../keyspace/collections/list.ts';
import { liveFields } from '../../../keyspace/field-expiry.ts';
import { MEMBER_BYTES } from '../../../keyspace/footprint.ts';
import type { Value } from '../../../keyspace/value.ts';
import { allocate } from '../../../protocol/allowance.ts';
import {
  asciiUpper,
  type Bytes,
  compareBytes,
  cString,
  parseDouble,
  stripBlanks,
} from '../../../protocol/bytes.ts';
import { fail, SYNTAX, WRONGTYPE } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { slotOf } from '../../../protocol/slot.ts';
import { SCRIPT } from '../../clients/client.ts';
import { overwrite } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { integer, Options, wordAt } from '../../table/arguments.ts';
import { type Argv, type KeySpec, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { strictDouble } from '../sorted-set/range.ts';
import { sortPart } from './partial-sort.ts';

interface SortOptions {
  descending: boolean;
  alphabetic: boolean;
  offset: number;
  /** The number of elements to return; negative: all. */
  count: number;
  by: Bytes | undefined;
  readonly get: Bytes[];
  store: Bytes | undefined;
}

/** Refuses a pattern that may lead to keys of another slot than that of the sorted key. */
function checkPattern({ server }: Caller, option: 'BY' | 'GET', pattern: Bytes, key: Bytes): void {
  if (server.cluster === undefined || (option === 'BY' && !pattern.includes('*'))) return;
  const denied = `ERR ${option} option of SORT denied in Cluster mode`;
  if (server.dialect.cluster.sortPatterns === 'nothing') fail(`${denied}.`);
  if (pattern === '#') return;
  const tag = /\{([^}]+)\}/.exec(pattern)?.[1];
  if (tag !== undefined && !tag.includes('*') && slotOf(pattern) === slotOf(key)) return;
  fail(`${denied} when keys formed by the pattern may be in different slots.`);
}

function parse(client: Caller, argv: readonly Bytes[], readOnly: boolean): SortOptions {
  const parsed: SortOptions = {
    descending: false,
    alphabetic: false,
    offset: 0,
    count: -1,
    by: undefined,
    get: [],
    store: undefined,
  };
  const options = new Options(argv, 2);
  while (options.more()) {
    const option = options.next();
    if (option === 'ASC') parsed.descending = false;
    else if (option === 'DESC') parsed.descending = true;
    else if (option === 'ALPHA') parsed.alphabetic = true;
    else if (option === 'LIMIT' && options.left >= 2) {
      parsed.offset = integer(options.value());
      parsed.count = integer(options.value());
    } else if ((option === 'BY' || option === 'GET') && options.more()) {
      const pattern = options.value();
      checkPattern(client, option, pattern, wordAt(argv, 1));
      if (option === 'BY') parsed.by = pattern;
      else parsed.get.push(pattern);
    } else if (option === 'STORE' && options.more() && !readOnly) parsed.store = options.value();
    else fail(SYNTAX);
  }
  return parsed;
}

/** Returns all elements, in the value's own order. */
function elementsOf(value: Value | undefined): readonly Bytes[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return fail(WRONGTYPE);
  if (value.type === 'list') return value.range(0, value.size - 1);
  if (value.type === 'set') return [...value.values()];
  if (value.type !== 'zset') return fail(WRONGTYPE);
  value.outgrow();
  return value.rangeByRank(0, value.size - 1, false).map(({ member }) => member);
}

/** Returns the part that LIMIT selects of the value's own order, or for DESC of the reverse. A set has no order to reverse. */
function partOf(value: Value | undefined, options: SortOptions): readonly Bytes[] {
  if (value === undefined) return [];
  if (typeof value === 'string' || value.type === 'set') return limited(elementsOf(value), options);
  if (value.type !== 'list' && value.type !== 'zset') return fail(WRONGTYPE);
  const { descending, count } = options;
  const first = Math.max(0, options.offset);
  const last = Math.min(count < 0 ? Infinity : first + count, value.size) - 1;
  if (value.type === 'zset') value.outgrow();
  if (last < first) return [];
  if (value.type === 'zset') return value.rangeByRank(first, last, descending).map(({ member }) => member);
  if (!descending) return value.range(first, last);
  return value.range(value.size - 1 - last, value.size - 1 - first).reverse();
}

/** Returns what a pattern of BY or GET yields for an element: '#' is the element, 'a*->f' a field of a hash. */
function follow(client: Caller, pattern: Bytes, element: Bytes): Bytes | undefined {
  if (pattern === '#') return element;
  const star = pattern.indexOf('*');
  if (star < 0) return undefined;
  const arrow = pattern.indexOf('->', star);
  const isField = arrow >= 0 && arrow + 2 < pattern.length;
  const end = isField ? arrow : pattern.length;
  const name = pattern.slice(0, star) + element + pattern.slice(star + 1, end);
  const value = client.db.lookup(name)?.read();
  if (!isField) return typeof value === 'string' ? value : undefined;
  if (value === undefined || typeof value === 'string' || value.type !== 'hash') return undefined;
  const field = pattern.slice(arrow + 2);
  const named = client.server.expiry.active ? undefined : [field];
  return liveFields(client.db, name, value, true, named)?.get(field);
}

const NO_WEIGHT = "ERR One or more scores can't be converted into double";

interface Weighted {
  readonly element: Bytes;
  readonly weight: Bytes | undefined;
  readonly score: number;
}

/** Returns the weight as a number; NaN if it is not one. */
function scoreOf({ server }: Caller, weight: Bytes | undefined): number {
  // strtod reads a C string, which ends at a NUL.
  const text = cString(weight ?? '');
  if (text === '') return 0;
  const { looseScores, hexadecimal } = server.dialect;
  const score = looseScores ? parseDouble(stripBlanks(text)) : strictDouble(text);
  // Valkey 9 reads weights as it reads scores, and refuses one that is too large.
  const tooLarge = !hexadecimal && score !== undefined && parseDouble(text) === undefined;
  return tooLarge ? Number.NaN : (score ?? Number.NaN);
}

/** Compares weights. Missing ones come first. */
function compareWeights(a: Bytes | undefined, b: Bytes | undefined): number {
  if (a === undefined) return b === undefined ? 0 : -1;
  return b === undefined ? 1 : compareBytes(a, b);
}

function sorted(client: Caller, elements: readonly Bytes[], options: SortOptions): Bytes[] {
  const { by, alphabetic } = options;
  allocate(2 * elements.length * MEMBER_BYTES);
  const weighted = elements.map((element): Weighted => {
    let weight = by === undefined ? element : follow(client, by, element);
    // Without STORE, Redis compares with C functions, up to a zero byte.
    if (alphabetic && options.store === undefined && weight !== undefined) weight = cString(weight);
    return { element, weight, score: alphabetic ? 0 : scoreOf(client, weight) };
  });
  // As in Redis, the error comes after all weights have been looked up.
  if (weighted.some(({ score }) => Number.isNaN(score))) fail(NO_WEIGHT);
  const direction = options.descending ? -1 : 1;
  const compare = (a: Weighted, b: Weighted): number => {
    if (alphabetic) return direction * compareWeights(a.weight, b.weight);
    const order = a.score < b.score ? -1 : a.score > b.score ? 1 : compareBytes(a.element, b.element);
    return direction * order;
  };
  const first = Math.max(0, options.offset);
  const last = Math.min(options.count < 0 ? Infinity : first + options.count, weighted.length) - 1;
  // Equal items keep the order of Redis' own sorts: with both BY and LIMIT it sorts only a part.
  if (by !== undefined && (first > 0 || last < weighted.length - 1)) sortPart(weighted, compare, first, last);
  else weighted.sort(compare);
  return weighted.map(({ element }) => element);
}

/** Returns the part selected by LIMIT. */
function limited(elements: readonly Bytes[], { offset, count }: SortOptions): readonly Bytes[] {
  const start = Math.max(0, offset);
  return elements.slice(start, count < 0 ? undefined : start + count);
}

function storeList(client: Caller, name: Bytes, items: Bytes[]): Reply {
  const { db } = client;
  if (items.length > 0) {
    overwrite(client, name, new ListValue(items, client.server.encoding));
    db.changed(name, 'sortstore', items.length);
  } else if (db.removeStored(name)) {
    db.changed(name, 'del');
  }
  return items.length;
}

function sort(client: Caller, argv: Argv<-2>, readOnly: boolean): Reply {
  const options = parse(client, argv, readOnly);
  const { get, store } = options;
  if (!client.account.unlimited) checkPatterns(client, options);
  const value = client.db.lookup(argv[1])?.read();
  let unsorted = options.by !== undefined && !options.by.includes('*');
  if (unsorted && isSet(value) && (store !== undefined || client.has(SCRIPT))) {
    // A set has no defined order, but what is stored or returned to a script must be deterministic.
    unsorted = false;
    options.alphabetic = true;
    options.by = undefined;
  }
  const chosen = unsorted
    ? partOf(value, options)
    : limited(sorted(client, elementsOf(value), options), options);
  const answer: (Bytes | undefined)[] =
    get.length === 0
      ? [...chosen]
      : chosen.flatMap((element) => get.map((pattern) => follow(client, pattern, element)));
  if (store !== undefined) {
    return storeList(
      client,
      store,
      answer.map((item) => item ?? ''),
    );
  }
  return answer.map((item) => item ?? null);
}

/** The keys that patterns match are not known in advance, so the user must be allowed to read every key. */
function checkPatterns(client: Caller, { by, get }: SortOptions): void {
  if (client.account.mayReadAll) return;
  const which = by?.includes('*') === true ? 'BY' : get.length > 0 ? 'GET' : undefined;
  if (which !== undefined) fail(`ERR ${which} option of SORT denied due to insufficient ACL permissions.`);
}

function isSet(value: Value | undefined): boolean {
  return value !== undefined && typeof value !== 'string' && value.type === 'set';
}

/** Returns the positions of the sorted key and, for SORT, of the last STORE's key. */
function sortKeys(argv: readonly Bytes[]): number[] {
  let stored = 0;
  for (let i = 2; i < argv.length; i++) {
    const option = asciiUpper(wordAt(argv, i));
    if (option === 'LIMIT') i += 2;
    else if (option === 'GET' || option === 'BY') i++;
    else if (option === 'STORE' && i + 1 < argv.length) stored = ++i;
  }
  return stored === 0 ? [1] : [1, stored];
}

const UNKNOWN = { begin: 'unknown', find: 'unknown' } as const;
const READ: KeySpec[] = [
  ...key('RO ACCESS'),
  { notes: 'The keys of BY and GET: their names come out of what is sorted', flags: 'RO ACCESS', ...UNKNOWN },
];
const categories = ['set', 'sortedset', 'list', 'dangerous'];

export const sortCommands = defineCommands('generic', {
  sort: {
    summary: 'Sorts the elements of a list, set or sorted set, and may store them.',
    since: '1.0.0',
    complexity: 'O(N+M*log(M)), N elements, M of them returned',
    arity: -2,
    flags: ['write', 'denyoom', 'movablekeys'],
    categories,
    keys: [...READ, { notes: 'The key of STORE, which may stand anywhere', flags: 'OW UPDATE', ...UNKNOWN }],
    getKeys: sortKeys,
    run: (client, argv) => sort(client, argv, false),
  },
  sort_ro: {
    summary: 'Sorts the elements of a list, set or sorted set.',
    since: '7.0.0',
    complexity: 'O(N+M*log(M)), N elements, M of them returned',
    arity: -2,
    flags: ['readonly', 'movablekeys'],
    categories,
    keys: READ,
    getKeys: () => [1],
    run: (client, argv) => sort(client, argv, true),
  },
});
