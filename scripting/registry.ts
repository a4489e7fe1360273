/** Compiled scripts, shared by all servers of the process; which of them a node knows by SHA-1 is the node's affair. */
import type { Bytes } from '../protocol/bytes.ts';
import { type Reply, ReplyError } from '../protocol/reply.ts';
import { type Beginning, begin, Execution, failure } from './execution.ts';
import type { ScriptHost } from './host.ts';
import { LuaSyntaxError } from './lexer.ts';
import { luaErrorOf } from './library/protected.ts';
import { FAST, RESUMABLE } from './library/realms.ts';
import { sha1Of } from './library/redis.ts';
import { toReply } from './returning.ts';
import { readShebang } from './shebang.ts';
import { S, setAside, takeUp } from './state.ts';
import { firstOf, type LuaFunction, Signal } from './values.ts';

const CHUNK = 'user_script';

/** Enough for a script that is to be run to its end, however long that takes. */
const AMPLE = 2 ** 30;

/** A compiled script. */
export class Script {
  readonly sha1: Bytes;
  /** Whether it opens with `#!lua`, and the flags that it gives there. */
  readonly declared: boolean;
  readonly flags: ReadonlySet<Bytes>;
  readonly #body: Bytes;
  readonly #fast: LuaFunction;
  #resumable: LuaFunction | undefined;

  constructor(sha1: Bytes, source: Bytes) {
    const { declared, flags, body } = readShebang(source);
    this.sha1 = sha1;
    this.declared = declared;
    this.flags = flags;
    this.#body = body;
    this.#fast = FAST.compile(body, CHUNK);
  }

  /** Bytes of its text. */
  get size(): number {
    return this.#body.length;
  }

  /**
   * Runs the script.
   * @param fuel how many steps (calls, turns of loops) it may make before it has to pause
   * @returns its reply (a script's error is a ReplyError), or what is left of it to be run in slices
   */
  start(keys: readonly Bytes[], argv: readonly Bytes[], host: ScriptHost, fuel: number): Reply | Execution {
    const outer = setAside();
    const random = host.random.state;
    begin(keys, argv, host);
    S.resumable = false;
    const log: Reply[] = [];
    S.log = log;
    S.fuel = fuel;
    S.stringMeta = FAST.stringMeta;
    try {
      return toReply(firstOf(this.#fast()), S.protocol);
    } catch (thrown) {
      return this.#recover({ sha1: this.sha1, keys, argv, host, random }, log, thrown);
    } finally {
      takeUp(outer);
    }
  }

  /** Runs the script to its end, without a pause. */
  run(keys: readonly Bytes[], argv: readonly Bytes[], host: ScriptHost): Reply {
    const result = this.start(keys, argv, host, AMPLE);
    if (!(result instanceof Execution)) return result;
    for (;;) {
      const reply = result.step(AMPLE);
      if (reply !== undefined) return reply;
    }
  }

  /** A script has failed, or the fast form has come to its limits. */
  #recover(beginning: Beginning, log: Reply[], thrown: unknown): Reply | Execution {
    let reason = thrown;
    if (!(reason instanceof Signal)) {
      try {
        return failure(this.sha1, luaErrorOf(thrown));
      } catch (other) {
        if (!(other instanceof Signal)) throw other;
        reason = other;
      }
    }
    this.#resumable ??= RESUMABLE.compile(this.#body, CHUNK);
    const execution = new Execution(beginning, this.#resumable, log);
    if ((reason as Signal).reason === 'fuel') return execution;
    return execution.step(Math.max(0, S.fuel)) ?? execution;
  }
}

const CACHE_SIZE = 500;
const cache = new Map<Bytes, Script>();

/**
 * Compiles a script, or finds it among the 500 used last.
 * @throws ReplyError with Redis' text when it does not parse
 */
export function compile(source: Bytes): Script {
  // By text, not by SHA-1: an EVAL that comes again needs no digest.
  let script = cache.get(source);
  if (script !== undefined) {
    cache.delete(source);
    cache.set(source, script);
    return script;
  }
  script = compileAnew(sha1Of(source), source);
  cache.set(source, script);
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
