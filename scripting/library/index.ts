/** The globals that scripts see: exactly those of Redis 7.0's sandbox, all of them read-only. */
import type { Bytes } from '../../protocol/bytes.ts';
import { compileChunk } from '../compiler.ts';
import type { Form, Library } from '../emitter.ts';
import { raise } from '../state.ts';
import { LuaTable } from '../table.ts';
import { type LuaFunction, type LuaValue, toText } from '../values.ts';
import { BASE } from './base.ts';
import { BIT } from './bit.ts';
import { type Module, singles, tableFrom } from './builder.ts';
import { load, loadString } from './chunks.ts';
import { CJSON } from './cjson.ts';
import { CMSGPACK } from './cmsgpack.ts';
import { find, gmatch, gsub, match } from './matching.ts';
import { MATH } from './math.ts';
import { protectedCall, protectedCallHandled } from './protected.ts';
import { DISCARDING, REDIS } from './redis.ts';
import { STRING } from './string.ts';
import { STRUCT } from './struct.ts';
import { TABLE } from './table.ts';

/** A library together with the metatable that its strings have. */
export interface Realm extends Library {
  readonly stringMeta: LuaTable;
  /** Compiles further chunks against this library. */
  compile(source: Bytes, chunk: Bytes): LuaFunction;
}

function missingGlobal(_globals: LuaValue, name: LuaValue): never {
  const text = toText(name);
  if (text === undefined) raise('Second argument to luaProtectedTableError must be a string or number');
  return raise(`Script attempted to access nonexistent global variable '${text}'`);
}

function freeze(table: LuaTable): LuaTable {
  table.readonly = true;
  table.plain = false;
  return table;
}

/** The functions that differ between the forms, since they call back into scripts. */
const FAST: Record<Form, Readonly<Record<string, readonly (readonly [Bytes, LuaFunction])[]>>> = {
  fast: {
    base: [
      ['pcall', protectedCall],
      ['xpcall', protectedCallHandled],
    ],
    string: [['gsub', gsub]],
    table: [],
  },
  resumable: { base: [], string: [], table: [] },
};

/** Entries in alphabetical order where there are more of them, as string's are registered. */
function merged(entries: Module['entries'], extra: Module['entries']): Module['entries'] {
  if (extra.length === 0) return entries;
  return [...entries, ...extra].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Builds everything a form of execution needs. */
export function createRealm(form: Form): Realm {
  const own = FAST[form];
  const globals = tableFrom(BASE);
  const add = (name: Bytes, module: Module, extra: readonly (readonly [Bytes, LuaFunction])[] = []) => {
    const table = tableFrom({ ...module, entries: merged(module.entries, extra) });
    globals.set(name, freeze(table));
    return table;
  };
  for (const [name, value] of own['base']!) globals.set(name, value);
  const strings = add('string', STRING, [
    ['find', find],
    ['match', match],
    ['gmatch', gmatch],
    ['gfind', gmatch],
    ...own['string']!,
  ]);
  add('table', TABLE, own['table']!);
  add('math', MATH);
  add('bit', BIT);
  add('redis', REDIS);
  add('cjson', CJSON);
  add('cmsgpack', CMSGPACK);
  add('struct', STRUCT);
  const stringMeta = new LuaTable();
  stringMeta.set('__index', strings);
  freeze(stringMeta);
  const realm: Realm = {
    globals,
    strings,
    stringMeta,
    single: new Set([BASE, STRING, TABLE, MATH, BIT, REDIS, CJSON, CMSGPACK, STRUCT].flatMap(singles)),
    discarding: DISCARDING,
    compile: (source, chunk) => compileChunk(source, chunk, form, realm),
  };
  globals.set('loadstring', loadString(realm.compile));
  globals.set('load', load(realm.compile));
  globals.set('_G', globals);
  globals.set('KEYS', new LuaTable());
  globals.set('ARGV', new LuaTable());
  const meta = new LuaTable();
  meta.set('__index', missingGlobal);
  freeze(meta);
  globals.meta = meta;
  freeze(globals);
  return realm;
}
