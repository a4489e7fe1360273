/** The values a key can hold, and what may be asked of any of them. */
import type { Bytes } from '../protocol/bytes.ts';
import type { EditedString } from './collections/edited-string.ts';
import type { HashValue } from './collections/hash.ts';
import type { ListValue } from './collections/list.ts';
import type { SetValue } from './collections/set.ts';
import type { SortedSet } from './collections/sorted-set.ts';
import type { StreamValue } from './stream/stream.ts';

/** Each type's name, as TYPE answers it, with its representation. */
export interface Types {
  string: Bytes;
  hash: HashValue;
  list: ListValue;
  set: SetValue;
  zset: SortedSet;
  stream: StreamValue;
}

export type TypeName = keyof Types;
export type Value = Types[TypeName];
/** A value in the form in which its key holds it. */
export type Held = Value | EditedString;

/** The type's name, as TYPE answers it. */
export function typeOf(value: Held): TypeName {
  return typeof value === 'string' ? 'string' : value.type;
}

/** A value that shares nothing with the original. */
export function copyValue(value: Value): Value {
  return typeof value === 'string' ? value : value.copy();
}

/** True for a collection that has become empty, and goes: every type but streams. */
export function isEmptied(value: Held): boolean {
  if (typeof value === 'string' || value.type === 'string' || value.type === 'stream') return false;
  return value.size === 0;
}
