/** The values of keys, and operations on any of them. */
import type { Bytes } from '../protocol/bytes.ts';
import type { EditedString } from './collections/edited-string.ts';
import type { HashValue } from './collections/hash.ts';
import type { ListValue } from './collections/list.ts';
import type { OwnValue } from './collections/own-value.ts';
import type { SetValue } from './collections/set.ts';
import type { SortedSet } from './collections/sorted-set.ts';
import type { StreamValue } from './stream/stream.ts';
import type { VectorSet } from './vector/vector-set.ts';

/** The class of each type, by the name that TYPE reports; `own` stands for every type that a user's commands define. */
export interface Types {
  string: Bytes;
  hash: HashValue;
  list: ListValue;
  set: SetValue;
  zset: SortedSet;
  stream: StreamValue;
  vectorset: VectorSet;
  own: OwnValue;
}

/** A type by its key in `Types`; `wordOf` has the word for clients. */
export type TypeName = keyof Types;
/** The value of a key. */
export type Value = Types[TypeName];
/** A value in the form in which its key stores it. */
export type Held = Value | EditedString;

/** The key of the value's type in `Types`, which is `own` for every type of a user's. */
export function typeOf(value: Held): TypeName {
  return typeof value === 'string' ? 'string' : value.type;
}

/** The word that TYPE reports for the value. */
export function wordOf(value: Held): Bytes {
  if (typeof value === 'string') return 'string';
  return value.type === 'own' ? value.word : value.type;
}

/** A deep copy of a value; undefined for a type that the server cannot copy. */
export function copyValue(value: Value): Value | undefined {
  if (typeof value === 'string') return value;
  return value.type === 'vectorset' ? undefined : value.copy();
}

/** True for an empty collection, which must be removed. Empty streams stay. */
export function isEmptied(value: Held): boolean {
  if (typeof value === 'string' || value.type === 'string') return false;
  if (value.type === 'stream' || value.type === 'own') return false;
  return value.size === 0;
}
