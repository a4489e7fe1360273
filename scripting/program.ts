/** What can be run as a script: first as plain functions, and where those cannot go on, again in the resumable form. */
import type { Bytes } from '../protocol/bytes.ts';
import type { Reply } from '../protocol/reply.ts';
import { type Beginning, begin, Execution, failure } from './execution.ts';
import { luaErrorOf } from './library/protected.ts';
import { fastRealm } from './library/realms.ts';
import type { ScriptHost } from './runtime/host.ts';
import { toReply } from './runtime/returning.ts';
import { S, setAside, takeUp } from './runtime/state.ts';
import { firstOf, type LuaFunction, Signal } from './runtime/values.ts';

/** Enough for a script that is to be run to its end, however long that takes. */
const AMPLE = 2 ** 30;

export abstract class Program {
  /** What errors call it: a script's SHA-1, a function's name. */
  readonly label: Bytes;
  /** What it declares. */
  readonly flags: ReadonlySet<Bytes>;

  constructor(label: Bytes, flags: ReadonlySet<Bytes>) {
    this.label = label;
    this.flags = flags;
  }

  /** The plain form; undefined where only the resumable one will do. */
  protected abstract fast(): LuaFunction | undefined;
  protected abstract resumable(): LuaFunction;

  /**
   * Runs the program.
   * @param fuel how many steps (calls, turns of loops) it may make before it has to pause
   * @returns its reply (a script's error is a ReplyError), or what is left of it to be run in slices
   */
  start(keys: readonly Bytes[], argv: readonly Bytes[], host: ScriptHost, fuel: number): Reply | Execution {
    const outer = setAside();
    const random = host.random.state;
    const log: Reply[] = [];
    try {
      const fast = this.fast();
      if (fast === undefined) {
        const { label } = this;
        const execution = new Execution({ label, keys, argv, host, random }, this.resumable(), log);
        return execution.step(fuel) ?? execution;
      }
      begin(keys, argv, host);
      S.resumable = false;
      S.log = log;
      S.fuel = fuel;
      S.stringMeta = fastRealm().stringMeta;
      try {
        return toReply(firstOf(fast()), S.protocol);
      } catch (thrown) {
        return this.#recover({ label: this.label, keys, argv, host, random }, log, thrown);
      }
    } finally {
      takeUp(outer);
    }
  }

  /** Runs the program to its end, without a pause. */
  run(keys: readonly Bytes[], argv: readonly Bytes[], host: ScriptHost): Reply {
    const result = this.start(keys, argv, host, AMPLE);
    if (!(result instanceof Execution)) return result;
    for (;;) {
      const reply = result.step(AMPLE);
      if (reply !== undefined) return reply;
    }
  }

  /** It has failed, or the fast form has come to its limits. */
  #recover(beginning: Beginning, log: Reply[], thrown: unknown): Reply | Execution {
    let reason = thrown;
    if (!(reason instanceof Signal)) {
      try {
        return failure(this.label, luaErrorOf(thrown));
      } catch (other) {
        if (!(other instanceof Signal)) throw other;
        reason = other;
      }
    }
    const execution = new Execution(beginning, this.resumable(), log);
    if ((reason as Signal).reason === 'fuel') return execution;
    return execution.step(Math.max(0, S.fuel)) ?? execution;
  }
}
