/** The state of the script that is currently running: its fuel, depth, place, arguments and host. */
import { allowance } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { ScriptHost } from './host.ts';
import { STEP_BYTES, TRANCHE } from './memory.ts';
import { NATIVE, type Site } from './site.ts';
import { hashWith } from './table.ts';
import { REDIS_7_0 } from './texts.ts';
import { LuaError, type LuaFunction, LuaTable, type LuaValue, type Thread } from './values.ts';

/** The settings of cjson's configuration functions. Each instance of the library has its own. */
export interface JsonSettings {
  sparseConvert: boolean;
  sparseRatio: number;
  sparseSafe: number;
  encodeDepth: number;
  decodeDepth: number;
  precision: number;
  keepBuffer: boolean;
  encodeInvalid: 'off' | 'on' | 'null';
  decodeInvalid: boolean;
  /** Whether decoded arrays are marked as arrays, so that they are encoded as such even when they are empty. */
  marksArrays: boolean;
}

/** A function as its library has registered it. */
export interface Registered {
  readonly name: Bytes;
  readonly description: Bytes | undefined;
  /** The flags, in the order in which Redis lists them. */
  readonly flags: ReadonlySet<Bytes>;
  readonly callback: LuaFunction;
}

/** The keys and arguments of a run, as the words of a request contain them. */
export interface Words {
  readonly argv: readonly Bytes[];
  /** The index of the first key, and the number of keys. All words after them are arguments. */
  readonly firstKey: number;
  readonly keys: number;
}

const NO_WORDS: Words = { argv: [], firstKey: 0, keys: 0 };

/** The log of a run that has not asked its host anything yet. */
export const NO_REPLIES: Reply[] = [];

class RunState {
  /** How many steps are left before the heap is looked at, or the engine regains control. */
  fuel = 0;
  /** How many more steps may follow then. */
  reserve = 0;
  /** The estimated JavaScript stack in use, in bytes. */
  depth = 0;
  /** The nesting depth of library functions that call back. */
  nested = 0;
  /** The current call. */
  site: Site = NATIVE;
  words = NO_WORDS;
  /** KEYS and ARGV, once the script has used them as more than lists to read from. Most scripts never do. */
  keysTable: LuaTable | undefined = undefined;
  argvTable: LuaTable | undefined = undefined;
  host: ScriptHost | undefined = undefined;
  /** The host's replies so far, so that the script can be run again. */
  log: Reply[] = NO_REPLIES;
  /** How many replies the log has. It may have places for more. */
  logged = 0;
  /** How many replies of the log are still to be replayed before the host is asked again. */
  replayed = 0;
  /** The protocol version that replies are converted by. */
  protocol: 2 | 3 = 2;
  /** The settings of cjson, once a script has used them. */
  json: JsonSettings | undefined = undefined;
  /** The functions of the library that is being loaded. */
  registering: Map<Bytes, Registered> | undefined = undefined;
  /** Why the first function that a loading library registered under a wrong name is refused. */
  wrongFunction: Bytes | undefined = undefined;
  /** True while a script is running. */
  active = false;
  /** True when the script runs in the resumable form. */
  resumable = false;
  /** The metatable of strings. */
  stringMeta = new LuaTable();
  /** The place of an outer caller, for error(message, level). Only the resumable form knows it. */
  callerPlace: (level: number) => Bytes = () => '';
  /** The running coroutine, in the resumable form. */
  thread: Thread | undefined = undefined;

  get keys(): LuaTable {
    const { argv, firstKey, keys } = this.words;
    return (this.keysTable ??= LuaTable.fromPart<never>(argv, firstKey, keys));
  }

  get argv(): LuaTable {
    const { argv, firstKey, keys } = this.words;
    const first = firstKey + keys;
    return (this.argvTable ??= LuaTable.fromPart<never>(argv, first, argv.length - first));
  }
}

/** The running script. One script runs at a time in a process; a paused script saves its state. */
export const S = new RunState();

/** Sets how many steps the script may take before the engine regains control. */
export function fill(fuel: number): void {
  S.fuel = Math.min(fuel, TRANCHE);
  S.reserve = fuel - S.fuel;
}

/** How many of these steps are left. */
export function fuelLeft(): number {
  return S.fuel + S.reserve;
}

/**
 * Takes the next steps out of the reserve, and counts what a script may have allocated since then in small pieces.
 * @returns false when there are none left
 * @throws OverLimit when the script has allocated too much
 */
export function refuel(): boolean {
  while (S.fuel < 0) {
    if (S.reserve <= 0) return false;
    const steps = Math.min(S.reserve, TRANCHE);
    S.reserve -= steps;
    S.fuel += steps;
  }
  allowance.countSmall(TRANCHE * STEP_BYTES);
  return true;
}

/** Saves the state of the running script, in case a host's command runs another one; undefined when none is running. */
export function setAside(): Partial<RunState> | undefined {
  const outer = S.active ? { ...S } : undefined;
  S.active = true;
  return outer;
}

/** Lets tables hash strings as the server of these scripts does. */
export function hashAsOn({ texts = REDIS_7_0 }: ScriptHost): void {
  hashWith(texts.stringHash);
}

/** Restores what setAside saved. */
export function takeUp(outer: Partial<RunState> | undefined): void {
  if (outer === undefined) {
    S.active = false;
    return;
  }
  Object.assign(S, outer);
  if (S.host !== undefined) hashAsOn(S.host);
}

/** The prefix `user_script:3: ` of messages, if the site has a line. */
export function where(site: Site): Bytes {
  return site.line > 0 ? `${site.chunk}:${site.line}: ` : '';
}

/** Raises a message with the place of the current call, as luaL_error does. */
export function raise(message: Bytes): never {
  throw new LuaError(where(S.site) + message, S.site);
}

/** Raises a message or value without a place. */
export function raiseBare(value: LuaValue): never {
  throw new LuaError(value, S.site);
}

/** Raises a message with the place of an operation. */
export function raiseAt(site: Site, message: Bytes): never {
  throw new LuaError(where(site) + message, site);
}
