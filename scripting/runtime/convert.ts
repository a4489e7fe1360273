/**
 * Converts between replies and Lua values, by Redis' rules
 * (https://redis.io/docs/latest/develop/programmability/lua-api/).
 */
import { allocate } from '../../protocol/allowance.ts';
import { approximate, type Bytes, formatDouble } from '../../protocol/bytes.ts';
import type { PrintDouble } from '../../protocol/encode.ts';
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
} from '../../protocol/reply.ts';
import { PLACE_BYTES, TABLE_BYTES } from './memory.ts';
import { S } from './state.ts';
import type { LuaValue } from './values.ts';
import { LuaTable } from './values.ts';

export function fieldTable(name: Bytes, value: LuaValue): LuaTable {
  const table = new LuaTable(1);
  table.set(name, value);
  return table;
}

/** The field of an error's table that says that the error has been counted, as Redis names it. */
const COUNTED = 'ignore_error_stats_update';

/** The table that redis.pcall returns for an error. */
export function errorTable(text: Bytes): LuaTable {
  const table = fieldTable('err', text);
  table.set(COUNTED, true);
  return table;
}

/** True for an error that was counted when a command failed, so that the script's own reply does not count again. */
export function isCounted(error: LuaValue): boolean {
  return error instanceof LuaTable && error.get(COUNTED) === true;
}

/** A command's reply as a script sees it, with the protocol version that redis.setresp chose. */
export function toLua(reply: Reply, protocol: 2 | 3, print: PrintDouble = formatDouble): LuaValue {
  if (typeof reply === 'string' || typeof reply === 'number') return reply;
  if (reply === null || reply instanceof NullArray) return protocol === 2 ? false : undefined;
  if (Array.isArray(reply)) return listToLua(reply, protocol, print);
  if (reply instanceof SimpleString) return fieldTable('ok', reply.text);
  if (typeof reply === 'bigint') return approximate(reply);
  if (typeof reply === 'boolean') return protocol === 3 ? reply : reply ? 1 : 0;
  if (reply instanceof ReplyError) return errorTable(reply.text);
  return protocol === 2 ? olderToLua(reply, print) : newerToLua(reply);
}

function listToLua(items: readonly Reply[], protocol: 2 | 3, print?: PrintDouble): LuaTable {
  allocate(TABLE_BYTES + 2 * PLACE_BYTES * items.length);
  const values: LuaValue[] = [];
  for (let i = 0; i < items.length; i++) values.push(toLua(items[i]!, protocol, print));
  return LuaTable.from(values);
}

/** A table for so many entries of a reply. */
function tableFor(entries: number): LuaTable {
  return new LuaTable(S.host?.texts?.sizesReplies === true ? entries : 0);
}

/** RESP3's types as RESP2 represents them. */
function olderToLua(reply: Reply, print: PrintDouble): LuaValue {
  if (reply instanceof Double) return reply.text ?? print(reply.value);
  if (reply instanceof Verbatim) return reply.text;
  if (reply instanceof BigNumber) return reply.digits;
  return listToLua((reply as MapReply).items, 2, print);
}

function newerToLua(reply: Reply): LuaValue {
  if (reply instanceof Double) return fieldTable('double', reply.value);
  if (reply instanceof MapReply) {
    const map = tableFor(reply.items.length / 2);
    for (let i = 0; i + 1 < reply.items.length; i += 2) {
      const key = toLua(reply.items[i]!, 3);
      if (key !== undefined) map.set(key, toLua(reply.items[i + 1]!, 3));
    }
    return fieldTable('map', map);
  }
  if (reply instanceof SetReply) {
    const set = tableFor(reply.items.length);
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
