/**
 * A script that did not finish within its first slice. It is run again in the resumable form, and continues from then
 * on one slice at a time.
 */
import { allowance, OverLimit } from '../protocol/allowance.ts';
import { type Bytes, cString } from '../protocol/bytes.ts';
import { type Reply, ReplyError } from '../protocol/reply.ts';
import { FrameDriver } from './driver.ts';
import { address } from './library/base.ts';
import { luaErrorOf } from './library/protected.ts';
import { resumableRealm } from './library/realms.ts';
import { isCounted } from './runtime/convert.ts';
import { isFrame } from './runtime/frames.ts';
import type { ScriptHost } from './runtime/host.ts';
import { index } from './runtime/operations.ts';
import { errorLine, toReply } from './runtime/returning.ts';
import { NATIVE, type Site } from './runtime/site.ts';
import { fill, hashAsOn, S, setAside, takeUp, type Words } from './runtime/state.ts';
import { identityCount, setIdentityCount } from './runtime/table.ts';
import {
  firstOf,
  type LuaError,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  type Result,
  toText,
} from './runtime/values.ts';

/** How much fuel a metamethod may use to make an error's text. */
const LAST_WORDS = 100_000;

/** The input of a script, kept so that the script can start again. */
export interface Beginning {
  /** The name of the script in errors. */
  readonly label: Bytes;
  readonly input: Words;
  readonly host: ScriptHost;
  /** The state of the host's random generator. */
  readonly random: bigint;
}

/** Sets the state for a new run, in either form. */
export function begin(words: Words, host: ScriptHost): void {
  S.depth = 0;
  S.nested = 0;
  S.site = NATIVE;
  S.words = words;
  S.keysTable = undefined;
  S.argvTable = undefined;
  S.host = host;
  hashAsOn(host);
  S.replayed = 0;
  S.protocol = 2;
  S.json = undefined;
  S.thread = undefined;
  setIdentityCount(0);
}

/** The reply for a script's error. */
export function failure(of: Beginning, error: LuaError): ReplyError {
  const { site } = error;
  const text = errorText(error) + placeOf(of, site.line > 0 ? site : site.caller);
  return new ReplyError(errorLine(text), isCounted(error.value));
}

/** The reply for a script that would allocate too much memory. */
export function overLimit(of: Beginning, { message }: OverLimit, site: Site): ReplyError {
  return new ReplyError(`ERR the script ${message}${placeOf(of, site.line > 0 ? site : site.caller)}`);
}

/** The text of an error, up to a NUL. */
export function errorText({ value }: LuaError): Bytes {
  let text: Bytes;
  if (value instanceof LuaTable) text = textIn(value) ?? 'ERR unknown error';
  else text = `ERR ${plainText(value)}`;
  return cString(text);
}

function plainText(value: LuaValue): Bytes {
  if (typeof value === 'object' || typeof value === 'function') return address(value);
  return toText(value) ?? `${value ?? 'nil'}`;
}

/** The `err` field of an error's table, which may come from a metatable. */
function textIn(table: LuaTable): Bytes | undefined {
  try {
    const found: Result = index(table, 'err', NATIVE);
    if (!isFrame(found)) return toText(firstOf(found));
    fill(LAST_WORDS);
    const ended = new FrameDriver(() => found).run();
    return ended && toText(firstOf(ended.result));
  } catch {
    return undefined;
  }
}

function placeOf({ label, host }: Beginning, site: Site | undefined): Bytes {
  if (site === undefined || site.line === 0) return '';
  const named = host.texts?.errorPlace === 'without its name' ? '' : `${label}, `;
  return ` script: ${named}on ${cString(site.source)}:${site.line}.`;
}

/** A script that is running or paused. Other scripts may run between its slices. */
export class Execution {
  readonly #beginning: Beginning;
  readonly #driver: FrameDriver;
  #saved: Partial<typeof S> = {};
  #identities = 0;
  /** What the script has allocated. It counts across its slices. */
  #account = allowance.account;

  /** @param log the host's replies so far; the script receives them again until it has caught up */
  constructor(beginning: Beginning, body: LuaFunction, log: Reply[]) {
    this.#beginning = beginning;
    begin(beginning.input, beginning.host);
    beginning.host.random.state = beginning.random;
    beginning.host.setProtocol(2);
    this.#driver = new FrameDriver(body);
    S.log = log;
    S.logged = log.length;
    this.#save();
  }

  /** The name of the script in errors. */
  get label(): Bytes {
    return this.#beginning.label;
  }

  /**
   * Continues for as many steps as the fuel allows. A step is a call or one iteration of a loop.
   * @returns the reply once the script has ended, undefined when it needs another slice
   */
  step(fuel: number): Reply | undefined {
    const outer = setAside();
    Object.assign(S, this.#saved);
    hashAsOn(this.#beginning.host);
    S.resumable = true;
    S.stringMeta = resumableRealm(this.#beginning.host.texts).stringMeta;
    fill(fuel);
    const outerAccount = allowance.account;
    allowance.account = this.#account;
    setIdentityCount(this.#identities);
    this.#driver.enter();
    try {
      allowance.look(0);
      const ended = this.#driver.run();
      if (ended !== undefined) return toReply(firstOf(ended.result), S.protocol);
    } catch (thrown) {
      if (thrown instanceof OverLimit) return overLimit(this.#beginning, thrown, S.site);
      return failure(this.#beginning, luaErrorOf(thrown));
    } finally {
      this.#account = allowance.account;
      allowance.account = outerAccount;
      this.#save();
      S.resumable = false;
      S.thread = undefined;
      takeUp(outer);
    }
    return undefined;
  }

  /**
   * Ends a paused script.
   * @returns its reply: the text and the place at which it was stopped
   */
  kill(text: Bytes): ReplyError {
    return new ReplyError(errorLine(text + placeOf(this.#beginning, this.#saved.site)));
  }

  #save(): void {
    const { words, keysTable, argvTable, host, nested, site, log, logged, replayed, protocol, json } = S;
    this.#saved = { words, keysTable, argvTable, host, nested, site, log, logged, replayed, protocol, json };
    this.#identities = identityCount();
  }
}
