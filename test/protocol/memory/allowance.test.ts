/** What one request may allocate, on a heap that the test makes up, and on the heap of this process. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { allocate, allowance, memoryRule, OverLimit, UNLIMITED_MEMORY } from '../../../protocol/allowance.ts';
import { encodeReply } from '../../../protocol/encode.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { RawClient } from '../../support/raw-client.ts';
import { printReply } from '../../support/reply-text.ts';

const MB = 2 ** 20;

afterEach(() => allowance.begin(UNLIMITED_MEMORY));

/** A heap of 64 MB. What is allocated stays, unless it is garbage. */
class Heap {
  readonly limit = 64 * MB;
  live = 0;
  garbage = 0;
  collections = 0;

  used(): { heap: number; all: number } {
    return { heap: this.live + this.garbage, all: this.live + this.garbage };
  }

  collect(): void {
    this.collections++;
    this.garbage = 0;
  }

  keep(bytes: number): void {
    allocate(bytes);
    this.live += bytes;
  }

  drop(bytes: number): void {
    allocate(bytes);
    this.garbage += bytes;
  }
}

describe('on a heap of 64 MB', () => {
  let heap: Heap;
  beforeEach(() => {
    heap = new Heap();
    allowance.begin(memoryRule(undefined, heap));
  });

  test('a request may keep a quarter of it', () => {
    for (let i = 0; i < 16; i++) heap.keep(MB);
    expect(() => {
      for (let i = 0; i < 11; i++) heap.keep(MB);
    }).toThrow(OverLimit);
    // Half of the limit is allocated before anybody looks closely.
    expect(heap.live).toBeLessThanOrEqual(26 * MB);
  });

  test('one allocation that is larger is refused at once', () => {
    expect(() => heap.keep(17 * MB)).toThrow('exceeds the memory limit of one request');
    expect(heap.collections).toBe(0);
    heap.keep(1000);
  });

  test('the parts of a long reply are counted once', () => {
    const items = Array.from({ length: 100_000 }, (_, i) => `element:${i}`);
    expect(encodeReply(items, 2).length).toBeGreaterThan(MB);
    expect(heap.collections).toBe(0);
    const long = Array.from({ length: 20_000 }, () => 'x'.repeat(1000));
    expect(() => encodeReply(long, 2)).toThrow(OverLimit);
  });

  test('garbage of earlier requests does not hide what a request keeps', () => {
    heap.garbage = 24 * MB;
    const collecting = (): void => {
      for (let i = 0; i < 40; i++) {
        if (i === 12) heap.garbage = 0;
        heap.keep(MB);
      }
    };
    expect(collecting).toThrow(OverLimit);
  });

  test('garbage does not count', () => {
    for (let i = 0; i < 1000; i++) heap.drop(MB);
    expect(heap.collections).toBeGreaterThan(10);
    expect(heap.collections).toBeLessThan(200);
  });

  test('the next request begins anew, until three quarters of the heap are full', () => {
    const rule = memoryRule(undefined, heap);
    for (let i = 0; i < 3; i++) {
      allowance.begin(rule);
      for (let k = 0; k < 14; k++) heap.keep(MB);
    }
    allowance.begin(rule);
    expect(() => {
      for (let k = 0; k < 14; k++) heap.keep(MB);
    }).toThrow(OverLimit);
    expect(heap.live).toBeLessThanOrEqual(50 * MB);
  });

  test('a refusal that follows another one does not collect again', () => {
    for (let i = 0; i < 24; i++) heap.keep(MB);
    const { collections } = heap;
    for (let i = 0; i < 100; i++) expect(() => heap.keep(12 * MB)).toThrow(OverLimit);
    expect(heap.collections - collections).toBeLessThanOrEqual(1);
  });
});

test('without a meter, everything that a request allocates counts', () => {
  allowance.begin(memoryRule(8 * MB, undefined));
  for (let i = 0; i < 8; i++) allocate(MB);
  expect(() => {
    for (let i = 0; i < 3; i++) allocate(MB);
  }).toThrow(OverLimit);
  allowance.begin(memoryRule(8 * MB, undefined));
  expect(() => allocate(MB)).not.toThrow();
});

test('work that is not refused, such as loading a dataset, does not count', () => {
  allowance.begin(memoryRule(8 * MB, undefined));
  allowance.unlimited(() => allocate(100 * MB));
  expect(() => allocate(9 * MB)).toThrow(OverLimit);
});

/** What the requests of the bug report become where one request may keep 16 MB. */
const REQUESTS: [name: string, requests: string[][]][] = [
  [
    'a list with a gap',
    [['EVAL', 'cjson.encode_sparse_array(true,0,0) return #cjson.encode({[1]=1,[50000000]=1})', '0']],
  ],
  ['a text to compile', [['EVAL', "return type(loadstring('t={'..string.rep('{},',300000)..'}'))", '0']]],
  ['an EVAL with a long script', [['EVAL', `local t={${'{},'.repeat(300_000)}}`, '0']]],
  ['many small arrays of JSON', [['EVAL', "return #cjson.decode('['..string.rep('[],',300000)..'1]')", '0']]],
  [
    'many empty arrays of MessagePack',
    [['EVAL', "return #cmsgpack.unpack('\\221\\0\\15\\255\\255'..string.rep('\\144',1048575))", '0']],
  ],
  [
    'a tree of shared tables that is returned',
    [
      [
        'EVAL',
        'local a={} for i=1,1000 do a[i]=i end local b={} for i=1,1000 do b[i]=a end local c={} for i=1,1000 do c[i]=b end return c',
        '0',
      ],
    ],
  ],
  [
    'a tree of shared tables that is encoded',
    [
      [
        'EVAL',
        'local a={} for i=1,1000 do a[i]=i end local b={} for i=1,1000 do b[i]=a end local c={} for i=1,1000 do c[i]=b end return cjson.encode(c)',
        '0',
      ],
    ],
  ],
  [
    'a long library',
    [['FUNCTION', 'LOAD', `#!lua name=l\nlocal function f() return {${'{},'.repeat(300_000)}} end`]],
  ],
  [
    'copies in a loop',
    [
      ['EVAL', "for i=1,20000 do redis.call('SADD','s',i..'m') end return 1", '0'],
      ['EVAL', "for i=1,1000 do redis.call('COPY','s','d'..i) end return 1", '0'],
    ],
  ],
  [
    'unions in a loop',
    [
      ['EVAL', "for i=1,20000 do redis.call('SADD','s',i..'m') end return 1", '0'],
      ['EVAL', "for i=1,1000 do redis.call('SUNIONSTORE','d'..i,'s') end return 1", '0'],
    ],
  ],
  ['DEBUG POPULATE', [['DEBUG', 'POPULATE', '30000000']]],
  ['a string with a long gap', [['SETRANGE', 'k', '100000000', 'x']]],
  [
    'texts that take no memory until they are read',
    [
      [
        'EVAL',
        "local b=string.rep('x',100000) local t={} for i=1,1000 do t[i]=b..i end for i=1,1000 do t[i]:byte(1) end return 1",
        '0',
      ],
    ],
  ],
  [
    'a list of long values',
    [
      ['SETRANGE', 'k', '1000000', 'x'],
      ['MGET', ...Array.from({ length: 100 }, () => 'k')],
    ],
  ],
];

describe('where one request may keep 16 MB', () => {
  let node: Server;
  let client: RawClient;
  beforeEach(() => {
    node = createNode(nodeHost(), {
      requestMemory: 16 * MB,
      settings: { 'enable-debug-command': 'yes' },
      dialect: 'redis-7.0',
    });
    client = new RawClient(connectInMemory(node.connections));
  });
  afterEach(() => {
    client.close();
    node.stop();
  });

  test.each(REQUESTS)('%s is refused, and the next request is answered', async (_, requests) => {
    const replies: string[] = [];
    for (const [command = '', ...words] of requests) {
      replies.push(printReply((await client.ask(command, ...words)).value));
    }
    expect(replies.at(-1)).toMatch(/^-ERR .* exceeds the memory limit of one request/);
    expect(printReply((await client.ask('PING')).value)).toBe('+PONG');
  });

  test('a script cannot catch the refusal, and goes on after a command that was refused', async () => {
    const caught = "pcall(string.rep, 'x', 20000000) redis.call('SET', 'k', 'v') return 1";
    expect(printReply((await client.ask('EVAL', caught, '0')).value)).toMatch(
      /^-ERR the script exceeds the memory limit of one request/,
    );
    const refused =
      "local r = redis.pcall('SETRANGE', 'k', 100000000, 'x') return {r.err, redis.call('SET', 'k', 'v')}";
    expect(printReply((await client.ask('EVAL', refused, '0')).value)).toBe(
      `["ERR 'setrange' command exceeds the memory limit of one request" +OK]`,
    );
  });

  test('a script that makes much garbage runs to its end', async () => {
    const busy =
      "local n = 0 for i = 1, 3000 do local s = string.rep('x', 20000) .. i n = n + #s:upper() end return n";
    expect(printReply((await client.ask('EVAL', busy, '0')).value)).toBe(':60010893');
  });

  test('a transaction that is too long to keep ends the connection, as client-query-buffer-limit does', async () => {
    await client.ask('MULTI');
    const queue = async (): Promise<void> => {
      for (let i = 0; i < 40; i++) await client.ask('SET', `k${i}`, 'x'.repeat(500_000));
    };
    await expect(queue()).rejects.toThrow('instead of a reply');
    expect(node.stats.queryBufferDisconnections).toBe(1);
  });
});
