/** Builds the tables of libraries. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { LuaFunction, LuaValue } from '../runtime/values.ts';
import { LuaTable } from '../runtime/values.ts';

/** The contents of a library. */
export interface Module {
  /** The entries, in the order in which Redis registers them, which is visible in `pairs`. */
  readonly entries: readonly (readonly [Bytes, LuaValue])[];
  /** For how many entries the table initially reserves room. */
  readonly announced?: number;
  /** Names of the functions that always return exactly one value at once. */
  readonly single?: readonly Bytes[];
}

/** A Lua table with a library's entries. */
export function tableFrom(module: Module): LuaTable {
  const table = new LuaTable(module.announced);
  for (const [name, value] of module.entries) table.set(name, value);
  return table;
}

/** The functions named in `single`. */
export function singles(module: Module): LuaFunction[] {
  const names = new Set(module.single ?? []);
  return module.entries
    .filter(([name]) => names.has(name))
    .map(([, value]) => value)
    .filter((value) => typeof value === 'function');
}
