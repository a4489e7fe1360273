/** VRANGE: the elements of a vector set between two names (https://redis.io/docs/latest/commands/vrange/). */
import { approximate, type Bytes, parseInteger } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { checkWords } from './parts.ts';

/** One end of a range: everything (`-` and `+`), or a name that belongs to the range (`[name`) or does not (`(name`). */
type Bound = '-' | '+' | { readonly name: Bytes; readonly included: boolean };

function boundOf(word: Bytes, error: Bytes): Bound {
  if (word === '-' || word === '+') return word;
  const included = word.startsWith('[');
  if (word.length < 2 || !(included || word.startsWith('('))) fail(error);
  return { name: word.slice(1), included };
}

function follows(name: Bytes, { name: bound, included }: Exclude<Bound, string>): boolean {
  return name > bound || (included && name === bound);
}

function precedes(name: Bytes, { name: bound, included }: Exclude<Bound, string>): boolean {
  return name < bound || (included && name === bound);
}

/** VRANGE key start end [count]. A negative count asks for all. Names are compared byte by byte. */
export function elementsBetween(client: Caller, argv: readonly Bytes[]): Reply {
  checkWords(argv, 'VRANGE', 4, 5);
  const [, key = '', first = '', last = '', most] = argv;
  const count = most === undefined ? -1 : approximate(parseInteger(most) ?? fail('ERR invalid COUNT value'));
  const start = boundOf(first, 'ERR invalid start range format');
  const end = boundOf(last, 'ERR invalid end range format');
  if (start === '+' || end === '-') fail("ERR '-' can only be used as first argument, '+' only as second");
  const set = client.db.read(key, 'vectorset');
  const names = [...(set?.nodes() ?? [])]
    .map(({ element }) => element)
    .filter((name) => (start === '-' || follows(name, start)) && (end === '+' || precedes(name, end)))
    .sort((one, other) => (one < other ? -1 : 1));
  return count < 0 ? names : names.slice(0, count);
}
