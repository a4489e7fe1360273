/** Compiled scripts, by the SHA-1 of their text, shared by all servers of the process. */
import type { Bytes } from '../protocol/bytes.ts';
import { type Reply, ReplyError } from '../protocol/reply.ts';
import { toReply } from './convert.ts';
import type { ScriptHost } from './host.ts';
import { LuaSyntaxError } from './lexer.ts';
import { address } from './library/base.ts';
import { createRealm } from './library/index.ts';
import { luaErrorOf } from './library/protected.ts';
import { sha1Of } from './library/redis.ts';
import { readShebang } from './shebang.ts';
import { NATIVE, S } from './state.ts';
import { LuaTable } from './table.ts';
import { firstOf, type LuaError, type LuaFunction, toText } from './values.ts';

const FAST = createRealm('fast');
const FUEL = 2 ** 30;

/** A compiled script. */
export class Script {
  readonly sha1: Bytes;
  /** Whether it opens with `#!lua`, and the flags that it gives there. */
  readonly declared: boolean;
  readonly flags: ReadonlySet<Bytes>;
  readonly #fast: LuaFunction;

  constructor(sha1: Bytes, source: Bytes) {
    const { declared, flags, body } = readShebang(source);
    this.sha1 = sha1;
    this.declared = declared;
    this.flags = flags;
    this.#fast = FAST.compile(body, 'user_script');
  }

  /** Runs the script to its end. A script's error comes back as a ReplyError. */
  run(keys: Bytes[], argv: Bytes[], host: ScriptHost): Reply {
    S.fuel = FUEL;
    S.depth = 0;
    S.nested = 0;
    S.site = NATIVE;
    S.keys = LuaTable.from([...keys]);
    S.argv = LuaTable.from([...argv]);
    S.host = host;
    S.log = [];
    S.replayed = 0;
    S.protocol = 2;
    S.json = undefined;
    S.stringMeta = FAST.stringMeta;
    try {
      return toReply(firstOf(this.#fast()), S.protocol);
    } catch (thrown) {
      return this.#failure(luaErrorOf(thrown));
    }
  }

  #failure(error: LuaError): ReplyError {
    const { value } = error;
    let text: Bytes | undefined;
    if (value instanceof LuaTable) text = toText(value.get('err')) ?? 'ERR unknown error';
    else text = `ERR ${typeof value === 'object' ? address(value) : (toText(value) ?? `${value ?? 'nil'}`)}`;
    const line = error.site.line || error.site.caller?.line;
    const place = line ? ` script: ${this.sha1}, on @user_script:${line}.` : '';
    return new ReplyError(`${text}${place}`.replace(/[\r\n]/g, ' '));
  }
}

const CACHE_SIZE = 500;
const cache = new Map<Bytes, Script>();

/**
 * Compiles a script, or finds it among the 500 used last.
 * @throws ReplyError with Redis' text when it does not parse
 */
export function compile(source: Bytes): Script {
  const sha1 = sha1Of(source);
  let script = cache.get(sha1);
  if (script !== undefined) {
    cache.delete(sha1);
    cache.set(sha1, script);
    return script;
  }
  script = compileAnew(sha1, source);
  cache.set(sha1, script);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value!);
  return script;
}

function compileAnew(sha1: Bytes, source: Bytes): Script {
  try {
    return new Script(sha1, source);
  } catch (thrown) {
    if (!(thrown instanceof LuaSyntaxError)) throw thrown;
    throw new ReplyError(`ERR Error compiling script (new function): ${thrown.message}`);
  }
}
