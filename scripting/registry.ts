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
import { parse } from './syntax/parser.ts';

const CHUNK = '@user_script';

/**
 * Scripts of up to so many bytes are only parsed when they are loaded, and compiled when they first run: clients load all of
 * theirs, and run few. In a longer script, the compiler may find too many levels, or need too much memory.
 */
const LATER_MAX = 1024;

export class CompiledScript extends Program {
  override readonly declared: boolean;
  /** Its text as it was sent, the line with `#!lua` included. */
  readonly source: Bytes;
  readonly #body: Bytes;
  readonly #texts: ScriptTexts;
  #fast: LuaFunction | undefined;
  #resumable: LuaFunction | undefined;

  constructor(sha1: Bytes, source: Bytes, texts: ScriptTexts) {
    const { declared, flags, body } = readShebang(source, texts);
    super(sha1, flags);
    this.source = source;
    this.declared = declared;
    this.#body = body;
    this.#texts = texts;
    if (body.length > LATER_MAX) this.fast();
    else parse(body, CHUNK.slice(1));
  }

  /** The size of its text in bytes. */
  get size(): number {
    return this.#body.length;
  }

  get sha1(): Bytes {
    return this.label;
  }

  protected override fast(): LuaFunction {
    this.#fast ??= fastRealm(this.#texts).compile(this.#body, CHUNK);
    return this.#fast;
  }

  protected override resumable(): LuaFunction {
    this.#resumable ??= resumableRealm(this.#texts).compile(this.#body, CHUNK);
    return this.#resumable;
  }
}

const CACHE_SIZE = 500;
/** The compiled scripts of each kind of server, by their text. */
const caches = new Map<ScriptTexts, Map<Bytes, CompiledScript>>();

/**
 * Compiles a script, or returns it from the cache of the 500 scripts used last on servers of this kind.
 * @param texts what the scripts of the server have
 * @param sha1 its SHA-1, if that is known
 * @throws ReplyError with Redis' text when it does not parse
 */
export function compile(source: Bytes, texts: ScriptTexts = REDIS_7_0, sha1?: Bytes): CompiledScript {
  let cache = caches.get(texts);
  if (cache === undefined) caches.set(texts, (cache = new Map()));
  // The cache is keyed by text, so that a repeated EVAL needs no digest.
  let script = cache.get(source);
  if (script !== undefined) {
    cache.delete(source);
    cache.set(source, script);
    return script;
  }
  script = compileAnew(sha1 ?? sha1Of(source), source, texts);
  cache.set(source, script);
  if (cache.size > CACHE_SIZE) cache.delete(cache.keys().next().value!);
  return script;
}

function compileAnew(sha1: Bytes, source: Bytes, texts: ScriptTexts): CompiledScript {
  try {
    return new CompiledScript(sha1, source, texts);
  } catch (thrown) {
    if (!(thrown instanceof LuaSyntaxError)) throw thrown;
    throw new ReplyError(`ERR Error compiling script (new function): ${thrown.message}`);
  }
}
