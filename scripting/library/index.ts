/** The globals that scripts see: exactly those of the server's sandbox, all of them read-only. */
import { type Bytes, cString } from '../../protocol/bytes.ts';
import { compileChunk } from '../compiler/compiler.ts';
import type { Form, Library } from '../compiler/emitter.ts';
import { type NativeFunction, plain } from '../runtime/frames.ts';
import { raise } from '../runtime/state.ts';
import { hashWith } from '../runtime/table.ts';
import { REDIS_7_0, type ScriptTexts } from '../runtime/texts.ts';
import { type LuaFunction, LuaTable, type LuaValue, toText } from '../runtime/values.ts';
import { BASE } from './base.ts';
import { BIT } from './bit.ts';
import { type Module, singles, tableFrom } from './builder.ts';
import { load, loadString } from './chunks.ts';
import { CMSGPACK, packing } from './cmsgpack.ts';
import { coroutineLibrary, markNative } from './coroutine.ts';
import { createFunctionRealm, type FunctionRealm } from './function-globals.ts';
import { cjson } from './json/cjson.ts';
import { find, gmatch, gsub, match } from './matching.ts';
import { MATH } from './math.ts';
import { protectedCall, protectedCallAtOnce, protectedCallHandled } from './protected.ts';
import { clock, DISCARDING, redisModule } from './redis.ts';
import { STRING } from './string.ts';
import { STRUCT } from './struct.ts';
import { TABLE } from './table.ts';
import { foreach, foreachi, sort, sortAtOnce } from './traversing.ts';

/** A library with the metatable of its strings. */
export interface Realm extends Library {
  readonly stringMeta: LuaTable;
  /** The library for functions. */
  readonly functions: FunctionRealm;
  /** Compiles further chunks against this library. */
  compile(source: Bytes, chunk: Bytes): LuaFunction;
}

function missingGlobal(_globals: LuaValue, name: LuaValue): LuaValue {
  const text = toText(name);
  if (text === undefined) raise('Second argument to luaProtectedTableError must be a string or number');
  return raise(`Script attempted to access nonexistent global variable '${cString(text)}'`);
}

function freeze(table: LuaTable): LuaTable {
  table.readonly = true;
  table.plain = false;
  return table;
}

/** Makes a table read-only, and makes it raise an error for unknown names. */
function protect(table: LuaTable): LuaTable {
  const meta = new LuaTable();
  meta.set('__index', missingGlobal);
  table.meta = freeze(meta);
  return freeze(table);
}

/** Entries in alphabetical order if there are more than one, as string's are registered. */
function merged(entries: Module['entries'], extra: Module['entries']): Module['entries'] {
  if (extra.length === 0) return entries;
  return [...entries, ...extra].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The function with which Redis' scripts handle errors. Valkey has it by two names. */
const HANDLER = '__redis__err__handler';

/** The functions of the base library, as globals. */
function baseGlobals({ table, clock: hasClock }: ScriptTexts): LuaTable {
  const globals = tableFrom(BASE);
  if (table !== 'redis') globals.set(`__${table}__err__handler`, globals.get(HANDLER));
  if (hasClock) globals.set('os', freeze(tableFrom({ entries: [['clock', clock]] })));
  return globals;
}

/** Builds everything that a form of execution needs on a server. */
export function createRealm(form: Form, texts: ScriptTexts = REDIS_7_0): Realm {
  const hash = hashWith(texts.stringHash);
  try {
    return realm(form, texts);
  } finally {
    hashWith(hash);
  }
}

function realm(form: Form, texts: ScriptTexts): Realm {
  const globals = baseGlobals(texts);
  const native = (name: Bytes, call: NativeFunction): readonly [Bytes, LuaFunction] => {
    if (form === 'fast') return [name, plain(call)];
    markNative(call);
    return [name, call];
  };
  const add = (name: Bytes, module: Module, extra: Module['entries'] = []) => {
    const table = tableFrom({ ...module, entries: merged(module.entries, extra) });
    globals.set(name, freeze(table));
    return table;
  };
  const strings = add('string', STRING, [
    ['find', find],
    ['match', match],
    ['gmatch', gmatch],
    ['gfind', gmatch],
    native('gsub', gsub),
  ]);
  const atOnce = (name: Bytes, fast: LuaFunction, call: NativeFunction) =>
    form === 'fast' ? ([name, fast] as const) : native(name, call);
  const sorting = atOnce('sort', sortAtOnce, sort);
  add('table', TABLE, [native('foreach', foreach), native('foreachi', foreachi), sorting]);
  const [redis, json, cmsgpack] = [redisModule(texts), cjson(texts.marksArrays), packing(texts.packer)];
  const others = { math: MATH, bit: BIT, redis, cjson: json, cmsgpack, struct: STRUCT };
  for (const [name, module] of Object.entries(others)) add(name, module);
  if (texts.table !== 'redis') globals.set(texts.table, globals.get('redis'));
  const coroutines = coroutineLibrary((call) => native('', call)[1]);
  add('coroutine', coroutines);
  const stringMeta = freeze(tableFrom({ entries: [['__index', strings]] }));
  const library: Library = {
    stringHash: texts.stringHash,
    globals,
    steady: true,
    strings,
    single: new Set([BASE, STRING, TABLE, MATH, BIT, redis, json, CMSGPACK, STRUCT].flatMap(singles)),
    discarding: DISCARDING,
  };
  const compile: Realm['compile'] = (source, chunk) => compileChunk(source, chunk, form, library);
  const loaders = (compile: Realm['compile']): Module['entries'] => [
    native('load', load(compile)),
    ['loadstring', loadString(compile)],
  ];
  const pcall = atOnce('pcall', protectedCallAtOnce, protectedCall);
  const calls = [pcall, native('xpcall', protectedCallHandled), ...loaders(compile)];
  for (const [name, value] of calls) globals.set(name, value);
  for (const name of ['KEYS', 'ARGV']) globals.set(name, new LuaTable());
  globals.set('_G', globals);
  protect(globals);
  const functions = createFunctionRealm({ library, texts, redis, form, loaders, protect, freeze });
  return { ...library, stringMeta, functions, compile };
}
