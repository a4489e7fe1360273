/**
 * Converts the return value of a script to a reply, by the rules of Redis 7.0. Tables may have any depth and contain
 * themselves.
 */
import { allocate } from '../../protocol/allowance.ts';
import { type Bytes, cString } from '../../protocol/bytes.ts';
import {
  BigNumber,
  Double,
  MapReply,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  Verbatim,
} from '../../protocol/reply.ts';
import { isCounted } from './convert.ts';
import type { LuaValue } from './values.ts';
import { LuaTable } from './values.ts';

/** Redis converts on Lua's stack, which has this limit. */
const MAX_STACK = 7996;

/** The bytes of a table's reply, without its items. */
const LEVEL_BYTES = 160;
/** Items are counted in parts of so many. */
const ITEMS = 32;
/** The bytes of an item, and of what it takes while it is converted. */
const ITEM_BYTES = 24;

function oneLine(text: Bytes): Bytes {
  return text.replace(/[\r\n]/g, ' ');
}

/**
 * An error's text as it is sent: up to a NUL, without line breaks at its ends, and with blanks for other line breaks.
 */
export function errorLine(text: Bytes): Bytes {
  return oneLine(cString(text).replace(/^[\r\n]+|[\r\n]+$/g, ''));
}

function integerReply(value: number): Reply {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole + 0;
  return Math.abs(whole) < 2 ** 63 ? BigInt(whole) : -(1n << 63n);
}

/** A table that is being converted. */
interface Level {
  readonly kind: 'list' | 'map' | 'set';
  readonly table: LuaTable;
  readonly items: Reply[];
  /** The current index or position. */
  at: number;
  /** In a map: true when the key has been converted and its value is next. */
  half: boolean;
  /** How many entries of Lua's stack are in use. */
  readonly used: number;
}

/**
 * The reply for a script's return value.
 * @param protocol the version that redis.setresp chose; with 3, booleans stay booleans
 */
export function toReply(value: LuaValue, protocol: 2 | 3): Reply {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return integerReply(value);
    case 'boolean':
      if (protocol === 3) return value;
      return value ? 1 : null;
    case 'object':
      return value instanceof LuaTable ? tableToReply(value, protocol) : null;
    default:
      return null;
  }
}

/** Converts nested tables without recursion. */
function tableToReply(top: LuaTable, protocol: 2 | 3): Reply {
  const levels: Level[] = [];
  const convert = (value: LuaValue, used: number): Reply => {
    if (used > MAX_STACK) return new ReplyError('ERR reached lua stack limit');
    if (!(value instanceof LuaTable)) return toReply(value, protocol);
    const plain = plainReply(value);
    if (plain !== undefined) return plain;
    allocate(LEVEL_BYTES);
    const level = levelOf(value, used);
    levels.push(level);
    if (level.kind === 'list') return level.items;
    return level.kind === 'map' ? new MapReply(level.items) : new SetReply(level.items);
  };
  const reply = convert(top, 2);
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const next = step(level);
    if (next === undefined) levels.pop();
    else {
      level.items.push(convert(next.value, level.used + next.slots));
      if (level.items.length % ITEMS === 0) allocate(ITEMS * ITEM_BYTES);
    }
  }
  return reply;
}

/** The next value of a level, and how many entries of Lua's stack it uses; undefined at the end. */
function step(level: Level): { value: LuaValue; slots: number } | undefined {
  const { table } = level;
  if (level.kind === 'list') {
    const value = table.get(++level.at);
    return value === undefined ? undefined : { value, slots: 1 };
  }
  if (level.half) {
    level.half = false;
    return { value: table.valueAt(level.at), slots: 3 };
  }
  level.at = table.advance(level.at);
  if (level.at === 0) return undefined;
  level.half = level.kind === 'map';
  return { value: table.keyAt(level.at), slots: level.half ? 4 : 3 };
}

function levelOf(table: LuaTable, used: number): Level {
  const map = table.get('map');
  if (map instanceof LuaTable) return { kind: 'map', table: map, items: [], at: 0, half: false, used };
  const set = table.get('set');
  if (set instanceof LuaTable) return { kind: 'set', table: set, items: [], at: 0, half: false, used };
  return { kind: 'list', table, items: [], at: 0, half: false, used };
}

/** The reply for a table with one of the special fields. */
function plainReply(table: LuaTable): Reply | undefined {
  const error = table.get('err');
  if (typeof error === 'string') return new ReplyError(errorLine(error), isCounted(table));
  const status = table.get('ok');
  if (typeof status === 'string') return new SimpleString(oneLine(cString(status)));
  const double = table.get('double');
  if (typeof double === 'number') return new Double(double);
  const big = table.get('big_number');
  if (typeof big === 'string') return new BigNumber(oneLine(big));
  const verbatim = table.get('verbatim_string');
  if (!(verbatim instanceof LuaTable)) return undefined;
  const text = verbatim.get('string');
  const format = verbatim.get('format');
  if (typeof text !== 'string' || typeof format !== 'string') return undefined;
  // The format has three letters on the wire, whatever the script says.
  return new Verbatim(format.slice(0, 3).padEnd(3) as Verbatim['format'], text);
}
