/** The one script that runs at this moment: its fuel, depth, place, arguments and host. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Reply } from '../../protocol/reply.ts';
import type { ScriptHost } from './host.ts';
import { NATIVE, type Site } from './site.ts';
import { LuaError, type LuaFunction, LuaTable, type LuaValue, type Thread } from './values.ts';

/** What the configuration functions set; each instance of the library has its own. */
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
}

/** A function as its library has registered it. */
export interface Registered {
  readonly name: Bytes;
  readonly description: Bytes | undefined;
  /** In the order in which Redis lists them. */
  readonly flags: ReadonlySet<Bytes>;
  readonly callback: LuaFunction;
}

class RunState {
  /** Steps that may still be made before the engine gets a word. */
  fuel = 0;
  /** An estimate of the JavaScript stack in use, in bytes. */
  depth = 0;
  /** Library functions that call back, one inside the other. */
  nested = 0;
  /** The call that is under way. */
  site: Site = NATIVE;
  keys = new LuaTable();
  argv = new LuaTable();
  host: ScriptHost | undefined = undefined;
  /** Everything the host has answered, so that the script can be run again. */
  log: Reply[] = [];
  /** How much of the log is to be read back before the host is asked again. */
  replayed = 0;
  /** The protocol that replies are converted by, 2 or 3. */
  protocol: 2 | 3 = 2;
  /** The settings of cjson, once a script has asked for them. */
  json: JsonSettings | undefined = undefined;
  /** The functions of the library that is being loaded. */
  registering: Map<Bytes, Registered> | undefined = undefined;
  /** Whether a script is running at this moment. */
  active = false;
  /** Whether it runs in the resumable form. */
  resumable = false;
  /** The metatable that strings have. */
  stringMeta = new LuaTable();
  /** The place of a caller further out, for error(message, level): only the resumable form can tell. */
  callerPlace: (level: number) => Bytes = () => '';
  /** The coroutine that runs, in the resumable form. */
  thread: Thread | undefined = undefined;
}

/** The running script. There is one at a time in a process: a paused one puts its state aside. */
export const S = new RunState();

/** Puts the state of a running script aside, should a host's command run another one; undefined when none runs. */
export function setAside(): Partial<RunState> | undefined {
  const outer = S.active ? { ...S } : undefined;
  S.active = true;
  return outer;
}

/** Goes back to what setAside put aside. */
export function takeUp(outer: Partial<RunState> | undefined): void {
  if (outer === undefined) S.active = false;
  else Object.assign(S, outer);
}

/** The prefix `user_script:3: ` of messages, where the site has a line. */
export function where(site: Site): Bytes {
  return site.line > 0 ? `${site.chunk}:${site.line}: ` : '';
}

/** Raises a message with the place of the call that is under way, as luaL_error does. */
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
