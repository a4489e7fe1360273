/**
 * Compiled scripts, shared by all servers of the process. Each node keeps its own list of the scripts that it knows by
 * SHA-1.
 */
import type { Bytes } from '../protocol/bytes.ts';
import { ReplyError } from '../protocol/reply.ts';
import { fastRealm, resumableRealm } from './library/realms.ts';
import { sha1Of } from './library/redis.ts';
import { Program } from './program.ts';
import { REDIS_7_0, type ScriptTexts } from './runtime/texts.ts';
import type { LuaFunction } from './runtime/values.ts';
import { readShebang } from './shebang.ts';
import { LuaSyntaxError } from './syntax/lexer.ts';

const CHUNK = '@user_script';

/** A compiled script. */
export class CompiledScript extends Program {
  /** True when the script begins with `#!lua`. */
  readonly declared: boolean;
  /** Its text as it was sent, the line with `#!lua` included. */
  readonly source: Bytes;
  readonly #body: Bytes;
  readonly #fast: LuaFunction;
  #resumable: LuaFunction | undefined;

  constructor(sha1: Bytes, source: Bytes, lookUp: ScriptTexts['engine']) {
    const { declared, flags, body } = readShebang(source, lookUp);
    super(sha1, flags);
    this.source = source;
    this.declared = declared;
    this.#body = body;
    this.#fast = fastRealm().compile(body, CHUNK);
  }

  /** The size of its text in bytes. */
  get size(): number {
    return this.#body.length;
  }

  get sha1(): Bytes {
    return this.label;
  }

  protected override fast(): LuaFunction {
    return this.#fast;
  }

  protected override resumable(): LuaFunction {
    this.#resumable ??= resumableRealm().compile(this.#body, CHUNK);
    return this.#resumable;
  }
}

const CACHE_SIZE = 500;
const cache = new Map<Bytes, CompiledScript>();

/**
 * Compiles a script, or returns it from the cache of the 500 scripts used last.
 * @param lookUp when the engine in its first line is looked up
 * @throws ReplyError with Redis' text when it does not parse
 */
export function compile(source: Bytes, lookUp: ScriptTexts['engine'] = REDIS_7_0.engine): CompiledScript {
  // The cache is keyed by text, so that a repeated EVAL needs no digest. Not every server accepts every first line.
  const key = source.startsWith('#!') ? `${lookUp}\n${source}` : source;
  let script = cache.get(key);
  if (script !== undefined) {
    cache.delete(key);
    cache.set(key, script);
    return script;
  }
  script = compileAnew(sha1Of(source), source, lookUp);
  cache.set(key, script);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value!);
  return script;
}

function compileAnew(sha1: Bytes, source: Bytes, lookUp: ScriptTexts['engine']): CompiledScript {
  try {
    return new CompiledScript(sha1, source, lookUp);
  } catch (thrown) {
    if (!(thrown instanceof LuaSyntaxError)) throw thrown;
    throw new ReplyError(`ERR Error compiling script (new function): ${thrown.message}`);
  }
}
