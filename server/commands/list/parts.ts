/** Shared parts of the list commands: ends, popping, moving, and popping from the first of several lists. */
import { ListValue } from '../../../keyspace/collections/list.ts';
import { asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integerBetween, wordAt } from '../../table/arguments.ts';

/** An end of a list. */
export type End = 'LEFT' | 'RIGHT';

/** Reads LEFT or RIGHT. Throws a syntax error for anything else. */
export function listEnd(text: Bytes | undefined): End {
  const word = text === undefined ? '' : asciiUpper(text);
  return word === 'LEFT' || word === 'RIGHT' ? word : fail(SYNTAX);
}

/** Pushes values at an end, one after the other. Creates the list if it does not exist. */
export function push(client: Caller, name: Bytes, end: End, values: readonly Bytes[], changes?: number) {
  const { db } = client;
  let list = db.get(name, 'list');
  if (list === undefined) db.put(name, (list = new ListValue([], client.server.encoding)));
  list.expect(values);
  for (const value of values) {
    if (end === 'LEFT') list.pushLeft(value);
    else list.pushRight(value);
  }
  db.changed(name, end === 'LEFT' ? 'lpush' : 'rpush', changes ?? values.length);
  return list.size;
}

/** Pops up to `count` elements from an end of a list that is not empty, and reports it. */
export function take(client: Caller, name: Bytes, list: ListValue, end: End, count: number): Bytes[] {
  const taken: Bytes[] = [];
  for (let left = Math.min(count, list.size); left > 0; left--) {
    taken.push((end === 'LEFT' ? list.popLeft() : list.popRight())!);
  }
  client.db.changed(name, end === 'LEFT' ? 'lpop' : 'rpop', taken.length);
  return taken;
}

/** The arguments of LMOVE: the keys, and the ends from which and to which an element moves. */
export interface Move {
  readonly source: Bytes;
  readonly target: Bytes;
  readonly from: End;
  readonly to: End;
}

/** Moves one element. Returns undefined if the source is empty. Throws WRONGTYPE if a key holds another type. */
export function move(client: Caller, { source, target, from, to }: Move): Bytes | undefined {
  const { db } = client;
  const list = db.get(source, 'list');
  if (list === undefined) return undefined;
  db.get(target, 'list');
  const value = (from === 'LEFT' ? list.popLeft() : list.popRight())!;
  push(client, target, to, [value], 0);
  db.changed(source, from === 'LEFT' ? 'lpop' : 'rpop');
  return value;
}

/**
 * The arguments of LMPOP and BLMPOP: the lists, the end, and how many elements to pop from the first non-empty list.
 */
export interface MultiPop {
  readonly names: readonly Bytes[];
  readonly end: End;
  readonly count: number;
}

/** Reads `numkeys key … LEFT|RIGHT [COUNT count]` from a position on. Throws Redis' error for bad arguments. */
export function parseMultiPop(argv: readonly Bytes[], at: number): MultiPop {
  const tooFew = 'ERR numkeys should be greater than 0';
  const count = integerBetween(wordAt(argv, at), 1, 2 ** 63, tooFew, tooFew);
  const behind = at + 1 + count;
  const end = listEnd(argv[behind]);
  let most = 1;
  for (let i = behind + 1; i < argv.length; i += 2) {
    const text = argv[i + 1];
    if (i > behind + 1 || asciiUpper(wordAt(argv, i)) !== 'COUNT' || text === undefined) fail(SYNTAX);
    const wrong = 'ERR count should be greater than 0';
    most = integerBetween(text, 1, 2 ** 63, wrong, wrong);
  }
  return { names: argv.slice(at + 1, behind), end, count: most };
}

/** Pops from the first list that has elements. Returns the reply, and the command that has the same effect. */
export function multiPop(
  client: Caller,
  { names, end, count }: MultiPop,
): { readonly reply: Reply; readonly effect: Bytes[] } | undefined {
  for (const name of names) {
    const list = client.db.get(name, 'list');
    if (list === undefined) continue;
    const taken = take(client, name, list, end, count);
    return { reply: [name, taken], effect: popEffect(name, end, taken.length) };
  }
  return undefined;
}

/** LMPOP: pops from the first list that has elements; undefined if none has. Replicas receive an LPOP or RPOP. */
export function popNow(client: Caller, wanted: MultiPop): Reply | undefined {
  const popped = multiPop(client, wanted);
  if (popped !== undefined && client.server.effects.feeding) client.server.effects.propagateAs(popped.effect);
  return popped?.reply;
}

/** Returns the command that has the same effect on a replica. */
export function popEffect(name: Bytes, end: End, count?: number): Bytes[] {
  const command = end === 'LEFT' ? 'LPOP' : 'RPOP';
  return count === undefined ? [command, name] : [command, name, String(count)];
}
