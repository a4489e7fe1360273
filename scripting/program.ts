/** A program that can be run: first in the fast form, and if that cannot continue, again in the resumable form. */
import { OverLimit } from '../protocol/allowance.ts';
import type { Bytes } from '../protocol/bytes.ts';
import type { Reply } from '../protocol/reply.ts';
import { type Beginning, begin, Execution, failure, overLimit } from './execution.ts';
import { luaErrorOf } from './library/protected.ts';
import { fastRealm } from './library/realms.ts';
import type { ScriptHost } from './runtime/host.ts';
import { toReply } from './runtime/returning.ts';
import { fill, fuelLeft, NO_REPLIES, S, setAside, takeUp, type Words } from './runtime/state.ts';
import { firstOf, type LuaFunction, Signal } from './runtime/values.ts';

/** Enough fuel for a script that has to run to its end, however long it takes. */
const AMPLE = 2 ** 30;

/** A compiled script or a function of a library. */
export abstract class Program {
  /** The name in errors: a script's SHA-1, or a function's name. */
  readonly label: Bytes;
  /** The flags that it declares. */
  readonly flags: ReadonlySet<Bytes>;
  /** Three of the flags, which every run asks for. */
  readonly isReadonly: boolean;
  readonly ignoresMemory: boolean;
  readonly crossesSlots: boolean;
  /** How many steps the last run took, if it needed no pause. */
  steps = 0;
  /** True for a function, and for a script that begins with `#!lua`. */
  abstract readonly declared: boolean;

  constructor(label: Bytes, flags: ReadonlySet<Bytes>) {
    this.label = label;
    this.flags = flags;
    this.isReadonly = flags.has('no-writes');
    this.ignoresMemory = flags.has('allow-oom');
    this.crossesSlots = flags.has('allow-cross-slot-keys');
  }

  /** The fast form; undefined when only the resumable form can run the program. */
  protected abstract fast(): LuaFunction | undefined;
  protected abstract resumable(): LuaFunction;

  /**
   * Runs the program.
   * @param fuel how many steps (calls and iterations of loops) it may take before it must pause
   * @returns its reply (a ReplyError for a script's error), or the execution that continues it in slices
   */
  start(input: Words, host: ScriptHost, fuel: number): Reply | Execution {
    const outer = setAside();
    const random = host.random.state;
    this.steps = fuel;
    try {
      const fast = this.fast();
      if (fast === undefined) {
        const { label } = this;
        return continued(new Execution({ label, input, host, random }, this.resumable(), NO_REPLIES), fuel);
      }
      begin(input, host);
      S.resumable = false;
      S.log = NO_REPLIES;
      S.logged = 0;
      fill(fuel);
      S.stringMeta = fastRealm(host.texts).stringMeta;
      try {
        const result = fast();
        this.steps = fuel - fuelLeft();
        return toReply(firstOf(result), S.protocol);
      } catch (thrown) {
        return this.#recover({ label: this.label, input, host, random }, S.log.slice(0, S.logged), thrown);
      }
    } finally {
      takeUp(outer);
    }
  }

  /** Runs the program to its end without a pause. */
  run(input: Words, host: ScriptHost): Reply {
    const result = this.start(input, host, AMPLE);
    if (!(result instanceof Execution)) return result;
    for (;;) {
      const reply = result.step(AMPLE);
      if (reply !== undefined) return reply;
    }
  }

  /** Handles an error, or the point at which the fast form cannot continue. */
  #recover(beginning: Beginning, log: Reply[], thrown: unknown): Reply | Execution {
    let reason = thrown;
    if (thrown instanceof OverLimit) return overLimit(beginning, thrown, S.site);
    if (!(reason instanceof Signal)) {
      try {
        return failure(beginning, luaErrorOf(thrown));
      } catch (other) {
        if (!(other instanceof Signal)) throw other;
        reason = other;
      }
    }
    const execution = new Execution(beginning, this.resumable(), log);
    if ((reason as Signal).reason === 'fuel') return execution;
    return continued(execution, Math.max(0, fuelLeft()));
  }
}

/** Continues an execution. Returns its reply, which may be null, or the execution itself if it needs another slice. */
function continued(execution: Execution, fuel: number): Reply | Execution {
  const reply = execution.step(fuel);
  return reply === undefined ? execution : reply;
}
