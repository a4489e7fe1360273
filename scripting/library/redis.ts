/** The table `redis`, through which a script uses its server. */
import { createHash } from 'node:crypto';
import { type Bytes, cString, formatGeneral, toBuffer } from '../../protocol/bytes.ts';
import { type Reply, ReplyError } from '../../protocol/reply.ts';
import { errorTable, fieldTable, toLua } from '../runtime/convert.ts';
import { allocateText } from '../runtime/memory.ts';
import { NO_REPLIES, S } from '../runtime/state.ts';
import { REDIS_7_0, type ScriptTexts } from '../runtime/texts.ts';
import {
  LuaError,
  type LuaFunction,
  LuaTable,
  type LuaValue,
  NOTHING,
  toNumber,
  toText,
} from '../runtime/values.ts';
import type { Module } from './builder.ts';

/** The texts of the server that runs the script. */
export function texts(): ScriptTexts {
  return S.host?.texts ?? REDIS_7_0;
}

/** Raises a table with the error's text, as this library's functions do. */
function fail(text: Bytes): never {
  throw new LuaError(fieldTable('err', `ERR ${text}`), S.site);
}

/** A number as an argument of a command: integers in full, other numbers as the server prints them. */
function numberArgument(value: number): Bytes {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return `${value}`;
  return S.host?.printArgument?.(value) ?? formatGeneral(value, 17);
}

/** The command in a call's arguments, or the error text for invalid ones. */
function commandOf(args: LuaValue[]): Bytes[] | Bytes {
  if (args.length === 0) return texts().noCommand;
  for (let i = 0; i < args.length; i++) {
    const value = args[i];
    if (typeof value === 'string') continue;
    if (typeof value !== 'number') return texts().badArgument;
    args[i] = numberArgument(value);
  }
  return args as Bytes[];
}

/** Asks the host, or returns its earlier reply when the script is run again. */
function ask(command: Bytes[]): Reply {
  if (S.replayed < S.logged) return S.log[S.replayed++]!;
  S.fuel -= 20;
  const reply = S.host!.call(command);
  note(reply);
  return reply;
}

/** os.clock: the seconds of the host's clock. When a script is run again, it gets the same times. */
export const clock: LuaFunction = () => {
  if (S.replayed < S.logged) return S.log[S.replayed++] as number;
  S.fuel -= 20;
  const seconds = S.host?.seconds?.() ?? 0;
  note(seconds);
  return seconds;
};

/** Keeps a reply for the second run. There is no third run, so a reply that was used is dropped. */
function note(answer: Reply): void {
  if (S.resumable) {
    S.log = NO_REPLIES;
    S.logged = 0;
    S.replayed = 0;
    return;
  }
  if (typeof answer === 'string') allocateText(answer.length);
  // Most scripts ask once or a few times: an array made for four replies is a quarter of the size of one that grew by push.
  if (S.logged === 0) S.log = [answer, null, null, null];
  else if (S.logged < S.log.length) S.log[S.logged] = answer;
  else S.log.push(answer);
  S.logged++;
  S.replayed++;
}

/** redis.call */
const call: LuaFunction = (...args) => {
  const command = commandOf(args);
  if (typeof command === 'string') fail(command);
  const reply = ask(command);
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (reply instanceof ReplyError) throw new LuaError(errorTable(reply.text), S.site);
  return toLua(reply, S.protocol, S.host?.printDouble);
};

/** redis.call when the result is not used. */
const callAndForget: LuaFunction = (...args) => {
  const command = commandOf(args);
  if (typeof command === 'string') fail(command);
  const reply = ask(command);
  if (reply instanceof ReplyError) throw new LuaError(errorTable(reply.text), S.site);
  return undefined;
};

/** redis.pcall */
const pcall: LuaFunction = (...args) => {
  const command = commandOf(args);
  return typeof command === 'string'
    ? fieldTable('err', `ERR ${command}`)
    : toLua(ask(command), S.protocol, S.host?.printDouble);
};

/** What pcall(redis.call, …) returns. Only the reply for an error is a table with this field. */
const callProtected: LuaFunction = (...args) => {
  const value = pcall(...args) as LuaValue;
  const error = value instanceof LuaTable ? value.get('err') : undefined;
  return error === undefined ? [true, value] : [false, error];
};

const errorReply: LuaFunction = (...args) => {
  const text = args[0];
  if (args.length !== 1 || typeof text !== 'string') return wrongArguments();
  const body = cString(text.startsWith('-') ? text.slice(1) : text).replace(/^[\r\n]+|[\r\n]+$/g, '');
  return fieldTable('err', body.includes(' ') ? body : `ERR ${body}`);
};

const statusReply: LuaFunction = (...args) => {
  const text = args[0];
  return args.length === 1 && typeof text === 'string' ? fieldTable('ok', text) : wrongArguments();
};

function wrongArguments(): LuaTable {
  return fieldTable('err', 'ERR wrong number or type of arguments');
}

const sha1hex: LuaFunction = (...args) => {
  if (args.length !== 1) fail('wrong number of arguments');
  return sha1Of(toText(args[0]) ?? '');
};

/** SHA-1 in hexadecimal. */
export function sha1Of(text: Bytes): Bytes {
  allocateText(text.length);
  return createHash('sha1').update(toBuffer(text)).digest('hex');
}

const log: LuaFunction = (...args) => {
  if (args.length < 2) fail(`${texts().table}.log() requires two arguments or more.`);
  const number = toNumber(args[0]);
  if (number === undefined) fail('First argument must be a number (log level).');
  const level = Math.trunc(number);
  if (level < 0 || level > 3) fail(texts().badLevel);
  const text = args.slice(1).map((part) => toText(part) ?? '');
  if (S.replayed < S.logged) S.replayed++;
  else {
    S.host!.log(level, text.join(' '));
    note(null);
  }
  return NOTHING;
};

const setProtocol: LuaFunction = (...args) => {
  if (args.length !== 1) fail(`${texts().table}.setresp() requires one argument.`);
  const version = Math.trunc(toNumber(args[0]) ?? 0);
  if (version !== 2 && version !== 3) fail('RESP version must be 2 or 3.');
  S.protocol = version;
  S.host!.setProtocol(version);
  return NOTHING;
};

const setReplication: LuaFunction = (...args) => {
  const { table, setReplNeeds } = texts();
  if (args.length !== 1) fail(`${table}.set_repl() requires ${setReplNeeds}.`);
  const targets = Math.trunc(toNumber(args[0]) ?? 0);
  if (!(targets >= 0 && targets <= 3)) {
    fail('Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.');
  }
  S.host!.setReplication(targets);
  return NOTHING;
};

const mayRun: LuaFunction = (...args) => {
  const command = commandOf(args);
  if (typeof command === 'string') fail(command);
  const allowed = S.host!.allowed(command);
  if (typeof allowed === 'string') fail(`${allowed} ${texts().table}.acl_check_cmd()`);
  return allowed;
};

/** The table `redis` of a server. */
export function redisModule({ names }: ScriptTexts): Module {
  return { entries: [...LOGGING, ...names, ...CALLS], single: SINGLE };
}

const LOGGING: Module['entries'] = [
  ['call', call],
  ['pcall', pcall],
  ['log', log],
  ['LOG_DEBUG', 0],
  ['LOG_VERBOSE', 1],
  ['LOG_NOTICE', 2],
  ['LOG_WARNING', 3],
];

const CALLS: Module['entries'] = [
  ['setresp', setProtocol],
  ['sha1hex', sha1hex],
  ['error_reply', errorReply],
  ['status_reply', statusReply],
  ['set_repl', setReplication],
  ['REPL_NONE', 0],
  ['REPL_AOF', 1],
  ['REPL_SLAVE', 2],
  ['REPL_REPLICA', 2],
  ['REPL_ALL', 3],
  ['acl_check_cmd', mayRun],
  ['breakpoint', () => false],
  ['debug', () => NOTHING],
  ['replicate_commands', () => true],
];

const SINGLE = ['call', 'pcall', 'sha1hex', 'error_reply', 'status_reply', 'acl_check_cmd'];

/** The variant that pcall calls. */
export const PROTECTED_CALL = [call, callProtected] as const;

/** The variant to call when the result is not used. */
export const DISCARDING: ReadonlyMap<LuaFunction, LuaFunction> = new Map([[call, callAndForget]]);
