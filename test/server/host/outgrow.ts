/**
 * Tries to outgrow the heap of this process: `node outgrow.ts FIRST COUNT` plays programs with these numbers on a node of its own, and
 * prints the number of each before and after. A program allocates in a loop, in every way that a request can.
 */
import { writeSync } from 'node:fs';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { Dice } from '../../scripting/dice.ts';
import { RawClient } from '../../support/raw-client.ts';
import { printReply } from '../../support/reply-text.ts';

type Request = readonly string[];

/** Texts, of any length. `s` is a text, `t` a table of what was made so far, and `i` the number of the iteration. */
const TEXTS = [
  "string.rep('x', $N)",
  'string.rep(s, 20)',
  's .. i',
  'i .. s .. s',
  's:upper()',
  's:reverse() .. i',
  "string.format('%s%s%q', s, i, s)",
  "(string.gsub(s, 'x', 'yy'))",
  "(string.gsub(s:sub(1, 2000), 'x', s:sub(1, 2000)))",
  "string.rep('ab', $N):gsub('a', '%0%0%0')",
  "table.concat({s, s, i}, 'x')",
  'cjson.encode({s, i, {s}})',
  'cjson.encode({a = s, b = {c = {i}}})',
  'cmsgpack.pack({s, i, {s}})',
  "struct.pack('>I4s' .. string.rep('x', 5000), i, s)",
  'redis.sha1hex(s) .. s',
  "redis.call('GETRANGE', 'v', i, -1)",
  "redis.call('DUMP', 'set')",
  'tostring(i) .. string.char(i % 256)',
];

/** Tables, and other values. */
const VALUES = [
  '{}',
  '{i, s, i}',
  '{a = i, b = {s}, c = {d = i}}',
  '{unpack(big)}',
  '{big, big, big}',
  'function() return i end',
  "loadstring('return ' .. string.rep('{', 50) .. string.rep('}', 50))",
  "loadstring(string.rep('local a = 1 a = a + 1 ', 60))",
  "loadstring('return function() ' .. string.rep('x = {} ', 500) .. ' end')",
  "cjson.decode('[' .. string.rep('[],', $N) .. '1]')",
  "cjson.decode('{\"a\":[' .. string.rep('{\"b\":1},', $N) .. '1]}')",
  "cjson.decode('\"' .. string.rep('\\\\n', $N) .. '\"')",
  "cmsgpack.unpack('\\220\\39\\16' .. string.rep('\\144', 10000))",
  "redis.call('LRANGE', 'list', 0, -1)",
  "redis.call('SMEMBERS', 'set')",
  "redis.call('ZRANGE', 'zset', 0, -1, 'WITHSCORES')",
  "redis.call('KEYS', '*')",
  'setmetatable({i}, {__index = big})',
  'coroutine.wrap(function(...) coroutine.yield() return ... end)',
  'tree',
];

/** Commands that store something. */
const WRITES = [
  "redis.call('SET', 'k' .. i, s)",
  "redis.call('APPEND', 'k', s)",
  "redis.call('SETRANGE', 'k' .. i, $N * 100, 'x')",
  "redis.call('SETBIT', 'k' .. i, $N * 1000, 1)",
  "redis.call('BITFIELD', 'k' .. i, 'SET', 'u8', $N * 100, 1)",
  "redis.call('BITOP', 'NOT', 'k' .. i, 'v')",
  "redis.call('COPY', 'set', 'k' .. i)",
  "redis.call('COPY', 'zset', 'k' .. i)",
  "redis.call('COPY', 'hash', 'k' .. i)",
  "redis.call('SUNIONSTORE', 'k' .. i, 'set', 'set')",
  "redis.call('SDIFFSTORE', 'k' .. i, 'set', 'none')",
  "redis.call('ZUNIONSTORE', 'k' .. i, 2, 'zset', 'set')",
  "redis.call('ZRANGESTORE', 'k' .. i, 'zset', 0, -1)",
  "redis.call('SORT', 'list', 'STORE', 'k' .. i)",
  "redis.call('RESTORE', 'k' .. i, 0, redis.call('DUMP', 'set'))",
  "redis.call('XADD', 'x', '*', 'f' .. i, s)",
  "redis.call('HSET', 'h', i, s)",
  "redis.call('RPUSH', 'l', i .. s)",
  "redis.call('SADD', 's', i .. s)",
  "redis.call('ZADD', 'z', i, i .. s)",
  "redis.call('PFADD', 'p' .. i, i)",
  "redis.call('LPUSH', 'm', unpack(big, 1, 7000))",
];

/** What is done with everything in the end. */
const ENDS = [
  'return #t',
  'return t',
  'return cjson.encode(t)',
  'return cmsgpack.pack(t)',
  'return {t, t, t}',
  'return tree',
  'return cjson.encode(tree)',
  'for k, v in pairs(t) do if type(v) == "string" then v:byte(1) end end return 1',
  'table.sort(t, function(a, b) return tostring(a) < tostring(b) end) return #t',
  'local u = {} for k = 1, #t do u[k] = tostring(t[k]) end return table.concat(u)',
];

const LENGTHS = [10, 1000, 30_000, 1_000_000, 20_000_000];
const ITERATIONS = [20, 1000, 30_000];
/** The most bytes that a program handles at one place. What is larger takes minutes, and is no more dangerous. */
const MOST = 3e7;

/** What takes about a millisecond each time, whatever the lengths are: a compiler runs, or thousands of items are read. */
const SLOW = /loadstring|10000|redis\.call|gsub|unpack\(big/;
/** The most iterations of a loop with something slow. More take minutes, and allocate nothing that is new. */
const FEW = 1000;

const PRELUDE = `
local big = {} for i = 1, 7000 do big[i] = i end
local row, rows = {}, {} for i = 1, 1000 do row[i] = i end for i = 1, 1000 do rows[i] = row end
local tree = {} for i = 1, 1000 do tree[i] = rows end
local t, s = {}, string.rep('x', $N)
`;

function script(dice: Dice): string {
  let times = dice.pick(ITERATIONS);
  const lengths = LENGTHS.filter((length) => length * times <= MOST);
  const sized = (text: string): string => text.replaceAll('$N', () => String(dice.pick(lengths)));
  const steps = Array.from({ length: 1 + dice.roll(3) }, () => {
    switch (dice.roll(5)) {
      case 0:
        return `s = ${sized(dice.pick(TEXTS))}`;
      case 1:
        return `t[#t + 1] = ${sized(dice.pick(TEXTS))}`;
      case 2:
        return sized(dice.pick(WRITES));
      case 3:
        return `pcall(function() t[#t + 1] = ${sized(dice.pick(VALUES))} end)`;
      default:
        return `t[#t + 1] = ${sized(dice.pick(VALUES))}`;
    }
  });
  if (steps.some((step) => SLOW.test(step))) times = Math.min(times, FEW);
  return `${sized(PRELUDE)} for i = 1, ${times} do ${steps.join(' ')} end ${dice.pick(ENDS)}`;
}

/** Plain requests, with the number of the request and a text. */
const PLAIN: readonly ((i: number, text: string) => Request)[] = [
  (_, text) => ['APPEND', 'k', text],
  (i, text) => ['SET', `k${i}`, text],
  (i, text) => ['SET', `k${i % 3}`, text, 'GET'],
  (i, text) => ['SET', `k${i}`, text, 'NX', 'GET'],
  (i, text) => ['GETSET', `k${i % 3}`, text],
  (i, text) => ['SETRANGE', `k${i}`, String(text.length), 'x'],
  (i, text) => ['SETRANGE', 'k', String(i * text.length), text],
  (i, text) => ['XADD', 'x', '*', `f${i}`, text],
  (i, text) => [
    'XADD',
    'x',
    '*',
    ...Array.from({ length: 500 }, (_, at) => [`f${at}`, text.slice(0, i)]).flat(),
  ],
  (i, text) => ['RPUSH', 'l', text, String(i)],
  (i, text) => ['HSET', 'h', `f${i}`, text],
  (i, text) => ['EVAL', `return #'${text.slice(0, 1000)}' + ${i}`, '0'],
  (i, text) => ['SCRIPT', 'LOAD', `return '${text}' .. ${i}`],
  (_, text) => ['PUBLISH', 'c', text],
  () => ['LRANGE', 'list', '0', '-1'],
  () => ['GETRANGE', 'v', '0', '-1'],
];

/** How many requests of how many bytes. */
const AMOUNTS = [
  [3000, 10],
  [3000, 30_000],
  [300, 1_000_000],
  [20, 20_000_000],
] as const;

function many(dice: Dice, request: (i: number, text: string) => Request): Request[] {
  const [count, bytes] = dice.pick(AMOUNTS);
  const text = 'x'.repeat(bytes);
  return Array.from({ length: count }, (_, i) => request(i, text));
}

/** Statements that are compiled as tables, one by one, and with trees that are kept. */
const CODE = [
  'x=1;',
  'x={1,2} ',
  'do local a = 1 end ',
  'x=function() end ',
  'f(1)(2)\\n',
  'return {',
  'x={x={x={1}}}\\n',
];

/** The requests of a program. Most are one script. */
function program(dice: Dice): Request[] {
  switch (dice.roll(16)) {
    case 0:
      return [['DEBUG', 'POPULATE', String(dice.pick([1000, 1_000_000, 30_000_000])), 'p', '100']];
    case 1:
      return [
        [
          'FUNCTION',
          'LOAD',
          `#!lua name=l\nlocal function f() ${'x=1;'.repeat(dice.pick(LENGTHS) / 20)} end`,
        ],
      ];
    case 2:
      return [['MGET', ...Array.from({ length: dice.pick(ITERATIONS) }, () => 'v')]];
    case 3: {
      const queued = Array.from({ length: 100 }, (_, i) => [
        'SETRANGE',
        `m${i}`,
        String(dice.pick(LENGTHS)),
        'x',
      ]);
      return [['MULTI'], ...queued, ['EXEC']];
    }
    case 4:
      return many(dice, dice.pick(PLAIN));
    case 5:
      return [['MULTI'], ...many(dice, dice.pick(PLAIN)), ['EXEC']];
    case 6:
      return [
        ['EVAL', `return loadstring(string.rep('${dice.pick(CODE)}', ${dice.pick(LENGTHS) / 10}))`, '0'],
      ];
    case 7:
      return [['EVAL', `return {${'{1},{2},'.repeat(dice.pick(LENGTHS) / 100)}}`, '0']];
    default:
      return [['EVAL', script(dice), '0']];
  }
}

const DATA: Request[] = [
  ['FLUSHALL'],
  ['FUNCTION', 'FLUSH'],
  ['SCRIPT', 'FLUSH'],
  ['SETRANGE', 'v', '100000', 'x'],
  [
    'EVAL',
    `for i = 1, 5000 do redis.call('SADD', 'set', i .. 'm') redis.call('ZADD', 'zset', i, i .. 'm')
     redis.call('HSET', 'hash', i, i) redis.call('RPUSH', 'list', i) end return 1`,
    '0',
  ],
];

/** So many requests have one connection. The client keeps all replies of a connection, on the heap that is tested. */
const CONVERSATION = 16;

/** Sends requests on a connection of their own. Returns the last reply, or how the server ended the connection. */
async function converse(node: Server, requests: readonly Request[]): Promise<string> {
  const client = new RawClient(connectInMemory(node.connections));
  let last = '';
  for (const [command = '', ...words] of requests) {
    if (client.ending !== undefined) break;
    try {
      last = printReply((await client.ask(command, ...words)).value).slice(0, 100);
    } catch (error) {
      if (client.ending === undefined) throw error;
    }
  }
  client.close();
  return client.ending === undefined ? last : client.ending;
}

async function play(first: number, count: number): Promise<void> {
  const node = createNode(nodeHost(), { settings: { 'enable-debug-command': 'yes' } });
  for (let number = first; number < first + count; number++) {
    const requests = program(new Dice(number));
    await converse(node, DATA);
    writeSync(1, `${number} `);
    const isTransaction = requests[0]?.[0] === 'MULTI';
    const size = isTransaction ? requests.length : CONVERSATION;
    for (let at = 0; at < requests.length; at += size) await converse(node, requests.slice(at, at + size));
    const alive = await converse(node, [['PING']]);
    writeSync(1, alive === '+PONG' ? 'ok\n' : `${alive}\n`);
  }
  node.stop();
}

/** The program with this number, as text. */
export function programText(number: number): string {
  return program(new Dice(number))
    .map((words) => words.join(' ').slice(0, 2000))
    .join('\n');
}

if (process.argv[1]?.endsWith('outgrow.ts') === true) {
  await play(Number(process.argv[2]), Number(process.argv[3]));
  process.exit(0);
}
