/** redis.register_function, which a library calls while it loads. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { badName } from '../library-header.ts';
import { fieldTable } from '../runtime/convert.ts';
import { type Registered, S } from '../runtime/state.ts';
import { LuaError, type LuaFunction, LuaTable, type LuaValue, NOTHING, toText } from '../runtime/values.ts';
import { FLAGS } from '../shebang.ts';
import { texts } from './redis.ts';

type Fields = { -readonly [Field in keyof Registered]?: Registered[Field] | undefined };

/** The function's own name, in its errors. */
function self(): Bytes {
  return `${texts().table}.register_function`;
}

function fail(text: Bytes): never {
  throw new LuaError(fieldTable('err', `ERR ${text}`), S.site);
}

/** redis.register_function(name, callback) or register_function{…}. */
export const registerFunction: LuaFunction = (...args) => {
  const { registering } = S;
  if (registering === undefined) fail(`${self()} can only be called on FUNCTION LOAD command`);
  if (args.length < 1 || args.length > 2) fail(`wrong number of arguments to ${self()}`);
  const { name, callback, ...rest } = args.length === 1 ? named(args[0]) : positional(args);
  if (name === undefined) fail(`${self()} must get a function name argument`);
  if (callback === undefined) fail(`${self()} must get a callback argument`);
  const wrong = registering.has(name) ? 'Function already exists in the library' : badFunctionName(name);
  if (wrong !== undefined) {
    if (texts().functionNames === 'when registered') fail(wrong);
    S.wrongFunction ??= wrong;
    return NOTHING;
  }
  registering.set(name, {
    name,
    callback,
    description: rest.description,
    flags: rest.flags ?? new Set(),
  });
  return NOTHING;
};

function badFunctionName(name: Bytes): Bytes | undefined {
  return badName(name, texts().functionNames === 'when registered' ? 'Library' : 'Function');
}

function positional([first, callback]: readonly LuaValue[]): Fields {
  const name = toText(first);
  if (name === undefined) fail(`first argument to ${self()} must be a string`);
  if (typeof callback !== 'function') fail(`second argument to ${self()} must be a function`);
  return { name, callback };
}

function named(table: LuaValue): Fields {
  if (!(table instanceof LuaTable)) {
    fail(
      `calling ${self()} with a single argument is only applicable to Lua table (representing named arguments).`,
    );
  }
  const fields: Fields = {};
  for (let at = table.advance(0); at !== 0; at = table.advance(at)) {
    readField(fields, toText(table.keyAt(at)), table.valueAt(at));
  }
  return fields;
}

function readField(fields: Fields, key: Bytes | undefined, value: LuaValue): void {
  if (key === undefined) fail(`named argument key given to ${self()} is not a string`);
  const what = asciiLower(key);
  switch (what) {
    case 'function_name':
      fields.name = toText(value) ?? fail(`function_name argument given to ${self()} must be a string`);
      break;
    case 'description':
      fields.description = toText(value) ?? fail(`description argument given to ${self()} must be a string`);
      break;
    case 'callback':
      if (typeof value !== 'function') fail(`callback argument given to ${self()} must be a function`);
      fields.callback = value;
      break;
    case 'flags':
      if (!(value instanceof LuaTable)) {
        fail(`flags argument to ${self()} must be a table representing function flags`);
      }
      fields.flags = readFlags(value);
      break;
    default:
      fail(`unknown argument given to ${self()}`);
  }
}

function readFlags(list: LuaTable): ReadonlySet<Bytes> {
  const given = new Set<Bytes>();
  for (let i = 1; list.get(i) !== undefined; i++) {
    const flag = asciiLower(toText(list.get(i)) ?? '');
    if (!FLAGS.has(flag)) fail('unknown flag given');
    given.add(flag);
  }
  return new Set([...FLAGS].filter((flag) => given.has(flag)));
}
