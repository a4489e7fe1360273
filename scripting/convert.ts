/** Replies to Lua values and back, by the rules of Redis 7.0. */
import { approximate, type Bytes, formatDouble } from '../protocol/bytes.ts';
import {
  BigNumber,
  Double,
  MapReply,
  NullArray,
  PairsReply,
  type PushReply,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  Verbatim,
} from '../protocol/reply.ts';
import { LuaTable } from './table.ts';
import type { LuaValue } from './values.ts';

/** Deeper tables are cut off, where Redis' Lua stack would end. */
const MAX_REPLY_DEPTH = 1990;

/** A table with one field. */
export function fieldTable(name: Bytes, value: LuaValue): LuaTable {
  const table = new LuaTable(1);
  table.set(name, value);
  return table;
}

/** The table that redis.pcall answers for an error. */
export function errorTable(text: Bytes): LuaTable {
  const table = fieldTable('err', text);
  table.set('ignore_error_stats_update', true);
  return table;
}

/** A command's reply as a script sees it, under the protocol that redis.setresp chose. */
export function toLua(reply: Reply, protocol: 2 | 3): LuaValue {
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (reply === null || reply instanceof NullArray) return protocol === 2 ? false : undefined;
  if (Array.isArray(reply)) return listToLua(reply, protocol);
  if (reply instanceof SimpleString) return fieldTable('ok', reply.text);
  if (typeof reply === 'bigint') return approximate(reply);
  if (typeof reply === 'boolean') return protocol === 3 ? reply : reply ? 1 : 0;
  if (reply instanceof ReplyError) return errorTable(reply.text);
  return protocol === 2 ? olderToLua(reply) : newerToLua(reply);
}

function listToLua(items: readonly Reply[], protocol: 2 | 3): LuaTable {
  const values: LuaValue[] = [];
  for (let i = 0; i < items.length; i++) values.push(toLua(items[i]!, protocol));
  return LuaTable.from(values);
}

/** RESP3's types as RESP2 shows them. */
function olderToLua(reply: Reply): LuaValue {
  if (reply instanceof Double) return formatDouble(reply.value);
  if (reply instanceof Verbatim) return reply.text;
  if (reply instanceof BigNumber) return reply.digits;
  return listToLua((reply as MapReply).items, 2);
}

function newerToLua(reply: Reply): LuaValue {
  if (reply instanceof Double) return fieldTable('double', reply.value);
  if (reply instanceof MapReply) {
    const map = new LuaTable();
    for (let i = 0; i + 1 < reply.items.length; i += 2) {
      const key = toLua(reply.items[i]!, 3);
      if (key !== undefined) map.set(key, toLua(reply.items[i + 1]!, 3));
    }
    return fieldTable('map', map);
  }
  if (reply instanceof SetReply) {
    const set = new LuaTable();
    for (const item of reply.items) {
      const key = toLua(item, 3);
      if (key !== undefined) set.set(key, true);
    }
    return fieldTable('set', set);
  }
  if (reply instanceof PairsReply) {
    const pairs: LuaValue[] = [];
    for (let i = 0; i < reply.items.length; i += 2) pairs.push(listToLua(reply.items.slice(i, i + 2), 3));
    return LuaTable.from(pairs);
  }
  if (reply instanceof Verbatim) {
    const verbatim = new LuaTable();
    verbatim.set('string', reply.text);
    verbatim.set('format', reply.format);
    return fieldTable('verbatim_string', verbatim);
  }
  if (reply instanceof BigNumber) return fieldTable('big_number', reply.digits);
  return listToLua((reply as PushReply).items, 3);
}

function oneLine(text: Bytes): Bytes {
  return text.replace(/[\r\n]/g, ' ');
}

/** An error's text as it is sent: line ends at its ends are cut off, others become blanks. */
export function errorLine(text: Bytes): Bytes {
  return oneLine(text.replace(/^[\r\n]+|[\r\n]+$/g, ''));
}

function integerReply(value: number): Reply {
  const whole = Math.trunc(value);
  if (Number.isSafeInteger(whole)) return whole + 0;
  return Math.abs(whole) < 2 ** 63 ? BigInt(whole) : -(1n << 63n);
}

/**
 * What a script returns, as a reply.
 * @param protocol what redis.setresp chose: under 3, booleans stay booleans
 */
export function toReply(value: LuaValue, protocol: 2 | 3, depth = 0): Reply {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return integerReply(value);
    case 'boolean':
      if (protocol === 3) return value;
      return value ? 1 : null;
    case 'object':
      return value instanceof LuaTable ? tableToReply(value, protocol, depth) : null;
    default:
      return null;
  }
}

function tableToReply(table: LuaTable, protocol: 2 | 3, depth: number): Reply {
  if (depth > MAX_REPLY_DEPTH) return new ReplyError('ERR reached lua stack limit');
  const error = table.get('err');
  if (typeof error === 'string') return new ReplyError(errorLine(error));
  const status = table.get('ok');
  if (typeof status === 'string') return new SimpleString(oneLine(status));
  return typedReply(table, protocol, depth) ?? arrayReply(table, protocol, depth);
}

function typedReply(table: LuaTable, protocol: 2 | 3, depth: number): Reply | undefined {
  const double = table.get('double');
  if (typeof double === 'number') return new Double(double);
  const map = table.get('map');
  if (map instanceof LuaTable) {
    const items: Reply[] = [];
    for (let at = map.advance(0); at > 0; at = map.advance(at)) {
      items.push(toReply(map.keyAt(at), protocol, depth + 1), toReply(map.valueAt(at), protocol, depth + 1));
    }
    return new MapReply(items);
  }
  const set = table.get('set');
  if (set instanceof LuaTable) {
    const items: Reply[] = [];
    for (let at = set.advance(0); at > 0; at = set.advance(at)) {
      items.push(toReply(set.keyAt(at), protocol, depth + 1));
    }
    return new SetReply(items);
  }
  const big = table.get('big_number');
  if (typeof big === 'string') return new BigNumber(oneLine(big));
  const verbatim = table.get('verbatim_string');
  if (!(verbatim instanceof LuaTable)) return undefined;
  const text = verbatim.get('string');
  const format = verbatim.get('format');
  if (typeof text !== 'string' || typeof format !== 'string') return undefined;
  return new Verbatim(format as Verbatim['format'], text);
}

function arrayReply(table: LuaTable, protocol: 2 | 3, depth: number): Reply {
  const items: Reply[] = [];
  for (let i = 1; ; i++) {
    const value = table.get(i);
    if (value === undefined) return items;
    items.push(toReply(value, protocol, depth + 1));
  }
}
