/** Intersections, unions and differences of sets (https://redis.io/docs/latest/commands/?group=set). */

import { SetValue } from '../../../keyspace/collections/set.ts';
import { MEMBER_BYTES } from '../../../keyspace/footprint.ts';
import { allocate } from '../../../protocol/allowance.ts';
import { asciiUpper, type Bytes, parseInteger } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { overwrite } from '../../data/overwriting.ts';
import type { Caller } from '../../server.ts';
import { integerBetween, wordAt } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';

/** Members of a result are counted in parts of so many. */
const COUNTED = 64;

type Combination = (client: Caller, names: readonly Bytes[]) => SetValue;

/**
 * Returns the sets at the keys. Throws WRONGTYPE if any key holds another type, even if the result is known already.
 */
function setsAt(client: Caller, names: readonly Bytes[]): (SetValue | undefined)[] {
  return names.map((name) => client.db.read(name, 'set'));
}

/** The sets from the smallest to the largest; none when a key holds none. */
function bySize(sets: readonly (SetValue | undefined)[]): SetValue[] {
  const present = sets.filter((set) => set !== undefined);
  return present.length < sets.length ? [] : present.sort((a, b) => a.size - b.size);
}

/** Yields the members that all sets have, in the order of the smallest set. */
function* shared([smallest, ...others]: readonly SetValue[]): Iterable<Bytes> {
  for (const member of smallest?.values() ?? []) {
    if (others.every((other) => other === smallest || other.has(member))) yield member;
  }
}

/** Returns the members that all sets have. */
export const intersection: Combination = (client, names) => {
  const sets = bySize(setsAt(client, names));
  const members = [...shared(sets)];
  const result = new SetValue(client.server.encoding);
  // What begins as a listpack keeps the order of the smallest set. Only integers become an intset in the end.
  const isMixed = members.some((member) => parseInteger(member) === undefined);
  if (sets[0]?.encoding() === 'listpack' && isMixed) result.leaveIntset('listpack');
  if (members[0] !== undefined) result.expect(members[0], members.length);
  allocate(members.length * MEMBER_BYTES);
  for (const member of members) result.add(member);
  return result;
};

/** Returns the members of all sets. */
export const union: Combination = (client, names) => {
  const result = new SetValue(client.server.encoding);
  for (const set of setsAt(client, names)) {
    for (const member of set?.values() ?? []) {
      result.add(member);
      if (result.size % COUNTED === 0) allocate(COUNTED * MEMBER_BYTES);
    }
  }
  return result;
};

/** Returns the members of the first set that no other set has. */
export const difference: Combination = (client, names) => {
  const [first, ...others] = setsAt(client, names);
  const result = new SetValue(client.server.encoding);
  const present = others.filter((other) => other !== undefined);
  if (first === undefined) return result;
  // If the other sets are small, Redis copies the first set and removes from it: a copy that was not an intset stays
  // so.
  const removals = present.reduce((sum, other) => sum + other.size, first.size);
  const copies = Math.floor((first.size * (present.length + 1)) / 2) > removals;
  for (const member of first.values()) {
    if (copies || !present.some((other) => other.has(member))) {
      result.add(member);
      if (result.size % COUNTED === 0) allocate(COUNTED * MEMBER_BYTES);
    }
  }
  if (copies) for (const other of present) for (const member of other.values()) result.delete(member);
  return result;
};

/**
 * Returns a handler that stores the result at the first key and replaces its old value. An empty result deletes the
 * key.
 */
export function storing(combine: Combination, event: string) {
  return (client: Caller, argv: Argv<-2>): Reply => {
    const { db } = client;
    const target = argv[1];
    const result = combine(client, argv.slice(2));
    if (result.size > 0) {
      overwrite(client, target, result);
      db.changed(target, event);
    } else if (db.removeStored(target)) {
      db.changed(target, 'del');
    }
    return result.size;
  };
}

/** SINTERCARD numkeys key … [LIMIT limit] (https://redis.io/docs/latest/commands/sintercard/). */
export function countIntersection(client: Caller, argv: Argv<-2>): Reply {
  const tooFew = 'ERR numkeys should be greater than 0';
  const count = integerBetween(argv[1], 1, 2 ** 63, tooFew, tooFew);
  if (count > argv.length - 2) fail("ERR Number of keys can't be greater than number of args");
  let limit = 0;
  for (let i = 2 + count; i < argv.length; i += 2) {
    const text = argv[i + 1];
    if (asciiUpper(wordAt(argv, i)) !== 'LIMIT' || text === undefined) fail(SYNTAX);
    const negative = "ERR LIMIT can't be negative";
    limit = integerBetween(text, 0, 2 ** 63, negative, negative);
  }
  let found = 0;
  for (const _ of shared(bySize(setsAt(client, argv.slice(2, 2 + count))))) {
    found++;
    if (found === limit) break;
  }
  return found;
}
