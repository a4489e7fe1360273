/** The globals of functions in libraries: no KEYS and ARGV, and almost nothing while a library loads. */
import type { Bytes } from '../../protocol/bytes.ts';
import { compileChunk } from '../compiler/compiler.ts';
import type { Form, Library } from '../compiler/emitter.ts';
import type { ScriptTexts } from '../runtime/texts.ts';
import type { LuaFunction, LuaValue } from '../runtime/values.ts';
import { LuaTable } from '../runtime/values.ts';
import { type Module, tableFrom } from './builder.ts';
import { registerFunction } from './registering.ts';

/** The globals of scripts, from which those of functions are derived. */
interface Ground {
  readonly library: Library;
  readonly texts: ScriptTexts;
  /** The table `redis` of scripts. */
  readonly redis: Module;
  /** load and loadstring, which compile against the functions' own globals. */
  readonly loaders: (compile: FunctionRealm['compile']) => readonly (readonly [Bytes, LuaValue])[];
  readonly form: Form;
  /** Makes a table read-only, with a metatable that raises an error for unknown names. */
  readonly protect: (table: LuaTable) => LuaTable;
  readonly freeze: (table: LuaTable) => LuaTable;
}

/** The library that libraries of functions are compiled against. */
export interface FunctionRealm extends Library {
  compile(source: Bytes, chunk: Bytes): LuaFunction;
  /** Chooses the visible globals: those for loading a library, or those for calling its functions. */
  show(stage: 'load' | 'call'): void;
}

const SCRIPTS_ONLY = /^(KEYS|ARGV|__.*__err__handler|server)$/;
const REDIS_SCRIPTS_ONLY = new Set<Bytes>(['breakpoint', 'debug', 'replicate_commands']);

/** The globals during calls. */
function callGlobals(
  { library, redis, texts, protect, freeze, loaders }: Ground,
  compile: FunctionRealm['compile'],
) {
  const globals = new LuaTable();
  for (let at = library.globals.advance(0); at !== 0; at = library.globals.advance(at)) {
    const name = library.globals.keyAt(at);
    if (!SCRIPTS_ONLY.test(String(name))) globals.set(name, library.globals.valueAt(at));
  }
  const entries = redis.entries.filter(([name]) => !REDIS_SCRIPTS_ONLY.has(name));
  globals.set('redis', freeze(tableFrom({ entries })));
  if (texts.table !== 'redis') globals.set(texts.table, globals.get('redis'));
  for (const [name, value] of loaders(compile)) globals.set(name, value);
  globals.set('_G', globals);
  return protect(globals);
}

/** The globals while a library loads. */
function loadGlobals({ redis, texts, protect }: Ground): LuaTable {
  const known = new Set(['log', ...texts.names.map(([name]) => name)]);
  const entries = redis.entries.filter(([name]) => known.has(name) || name.startsWith('LOG_'));
  const table = protect(tableFrom({ entries: [['register_function', registerFunction], ...entries] }));
  const names = texts.table === 'redis' ? ['redis'] : ['redis', texts.table];
  return protect(tableFrom({ entries: names.map((name) => [name, table]) }));
}

/** Builds the globals of libraries: an empty table in front of the two sets of globals. */
export function createFunctionRealm(ground: Ground): FunctionRealm {
  const front = new LuaTable();
  const meta = new LuaTable();
  const library: Library = { ...ground.library, globals: front, steady: false };
  const compile: FunctionRealm['compile'] = (source, chunk) =>
    compileChunk(source, chunk, ground.form, library);
  const globals = { call: callGlobals(ground, compile), load: loadGlobals(ground) };
  meta.set('__index', globals.call);
  front.meta = ground.freeze(meta);
  ground.freeze(front);
  return { ...library, compile, show: (stage) => meta.set('__index', globals[stage]) };
}
