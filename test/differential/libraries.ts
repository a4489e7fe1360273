/** Libraries of functions, to be put into generated requests. */
import { dumpLibraries } from '../../keyspace/rdb/dump.ts';
import type { Bytes } from '../../protocol/bytes.ts';

const library = (name: Bytes, body: Bytes): Bytes => `#!lua name=${name}\n${body}`;
const simple = (name: Bytes, body: Bytes): Bytes =>
  `redis.register_function('${name}', function(keys, args) ${body} end)`;
const flagged = (name: Bytes, flags: Bytes, body: Bytes): Bytes =>
  `redis.register_function{function_name='${name}', flags={${flags}}, description='it ${name}s', callback=function(keys, args) ${body} end}`;

// Without the defaults, redis.call may be handed nil. Redis 8.0 and 8.2 refuse that, and crash at the next FUNCTION FLUSH.
const KEY = 'keys[1] or "s1"';
const WRITE = `local key = ${KEY} redis.call('set', key, args[1] or "x") return redis.call('incr', key)`;
const READ = `return redis.call("get", ${KEY})`;
const FIELDS =
  'for field, value in pairs(redis.call("hgetall", "h1").map) do all[#all + 1] = field .. "=" .. value end';

/** Libraries that load, and some that do not. */
export const libraries: readonly Bytes[] = [
  library('la', simple('fa', 'return 1')),
  library('la', `${simple('fa', 'return keys')}\n${simple('fb', 'return args')}`),
  library('lb', simple('fb', 'return {#keys, #args, keys, args}')),
  library('lc', `${simple('fc', 'return redis.status_reply(args[1] or "none")')}`),
  library('la', flagged('fa', "'no-writes'", READ)),
  library('lb', `${flagged('read', "'no-writes', 'allow-stale'", READ)} ${simple('write', WRITE)}`),
  library('lc', flagged('write', "'no-writes'", WRITE)),
  library('lc', flagged('write', "'allow-oom', 'no-cluster', 'allow-cross-slot-keys'", WRITE)),
  library('la', `local n = 0 ${simple('count', 'n = n + 1 return n')}`),
  library('lb', `local t = {} ${simple('count', 't[#t + 1] = args[1] or "none" return t')}`),
  library(
    'lb',
    `local M = {} function M.twice(x) return x .. x end ${simple('args', 'return M.twice(args[1])')}`,
  ),
  library('lc', simple('fails', 'error("stop")')),
  library('lc', simple('fails', `redis.call("set", ${KEY}, "half") error({err="MYERR stop"})`)),
  library('lc', simple('fails', `return redis.call("lpush", ${KEY})`)),
  library('lc', simple('fails', 'return KEYS')),
  library('lc', simple('fails', 'x = 1')),
  // Sorted, as a table of Lua has no order of its own.
  library('la', simple('args', `local all = {} redis.setresp(3) ${FIELDS} table.sort(all) return all`)),
  library('la', simple('args', 'return cjson.encode({keys, args})')),
  library('la', simple('args', 'return loadstring("return redis.call(...)")(unpack(args))')),
  library('la', 'local x = string'),
  library('la', 'redis.call("get", "x")'),
  library('la', 'return 1 +'),
  library('la', ''),
  library('l-', simple('fa', 'return 1')),
  library('la', simple('f-', 'return 1')),
  library('la', flagged('fa', "'nosuch'", '')),
  library('la', `${simple('fa', '')} ${simple('fa', '')}`),
  'return 1',
  '#!lua\nreturn 1',
];

/** Payloads of FUNCTION RESTORE. */
export const libraryPayloads: readonly Bytes[] = [[], ['la'], ['lb'], ['la', 'lc'], ['la', 'la']]
  .map((names) => dumpLibraries(names.map((name) => library(name, simple(`f${name[1]}`, 'return args')))))
  .concat([dumpLibraries([library('lc', simple('fa', 'return 5'))]), dumpLibraries(['bad']), 'bad']);
