/** The reply encoder, checked by hand, with redis-parser (RESP2) and against redis-server's reply of each type. */
import fc from 'fast-check';
import RedisParser from 'redis-parser';
import { beforeEach, describe, expect, test } from 'vitest';
import { allowance, UNLIMITED_MEMORY } from '../../protocol/allowance.ts';
import { toBuffer } from '../../protocol/bytes.ts';
import { encodeReply, encodeRequest } from '../../protocol/encode.ts';
import {
  BigNumber,
  Double,
  MapReply,
  NULL_ARRAY,
  OK,
  PairsReply,
  PushReply,
  type Reply,
  ReplyError,
  SetReply,
  SimpleString,
  Verbatim,
} from '../../protocol/reply.ts';
import { RawClient } from '../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { readReply, replyEnd } from '../support/reply-text.ts';

// What encodes here is no request of a node, whose allowance would be measured from the last request of another test.
beforeEach(() => allowance.begin(UNLIMITED_MEMORY));

const examples: readonly [name: string, reply: Reply, resp2: string, resp3: string][] = [
  ['a string', 'a\r\n\xff\0', '$5\r\na\r\n\xff\0\r\n', '$5\r\na\r\n\xff\0\r\n'],
  ['an empty string', '', '$0\r\n\r\n', '$0\r\n\r\n'],
  ['a long string', 'x'.repeat(2000), `$2000\r\n${'x'.repeat(2000)}\r\n`, `$2000\r\n${'x'.repeat(2000)}\r\n`],
  ['zero', 0, ':0\r\n', ':0\r\n'],
  ['minus zero', -0, ':0\r\n', ':0\r\n'],
  ['a negative number', -5, ':-5\r\n', ':-5\r\n'],
  ['a small number', 1023, ':1023\r\n', ':1023\r\n'],
  ['a number', 1024, ':1024\r\n', ':1024\r\n'],
  ['the largest number', Number.MAX_SAFE_INTEGER, ':9007199254740991\r\n', ':9007199254740991\r\n'],
  ['a bigint', -9223372036854775808n, ':-9223372036854775808\r\n', ':-9223372036854775808\r\n'],
  ['null', null, '$-1\r\n', '_\r\n'],
  ['the absent array', NULL_ARRAY, '*-1\r\n', '_\r\n'],
  ['true', true, ':1\r\n', '#t\r\n'],
  ['false', false, ':0\r\n', '#f\r\n'],
  ['OK', OK, '+OK\r\n', '+OK\r\n'],
  ['another OK', new SimpleString('OK'), '+OK\r\n', '+OK\r\n'],
  ['a status with line breaks', new SimpleString('a\r\nb'), '+a  b\r\n', '+a  b\r\n'],
  ['an error', new ReplyError('ERR x'), '-ERR x\r\n', '-ERR x\r\n'],
  ['an error with line breaks', new ReplyError('ERR \nx\r'), '-ERR  x\r\n', '-ERR  x\r\n'],
  ['a double', new Double(3.5), '$3\r\n3.5\r\n', ',3.5\r\n'],
  ['infinity', new Double(-Infinity), '$4\r\n-inf\r\n', ',-inf\r\n'],
  ['an array', [], '*0\r\n', '*0\r\n'],
  [
    'a nested array',
    [[], [null, [1]]],
    '*2\r\n*0\r\n*2\r\n$-1\r\n*1\r\n:1\r\n',
    '*2\r\n*0\r\n*2\r\n_\r\n*1\r\n:1\r\n',
  ],
  [
    'a map',
    new MapReply(['a', 1, 'b', true]),
    '*4\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n:1\r\n',
    '%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n#t\r\n',
  ],
  ['a set', new SetReply(['a']), '*1\r\n$1\r\na\r\n', '~1\r\n$1\r\na\r\n'],
  ['a push', new PushReply(['a', 1]), '*2\r\n$1\r\na\r\n:1\r\n', '>2\r\n$1\r\na\r\n:1\r\n'],
  [
    'pairs',
    new PairsReply(['a', new Double(1), 'b', new Double(2)]),
    '*4\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\nb\r\n$1\r\n2\r\n',
    '*2\r\n*2\r\n$1\r\na\r\n,1\r\n*2\r\n$1\r\nb\r\n,2\r\n',
  ],
  ['no pairs', new PairsReply([]), '*0\r\n', '*0\r\n'],
  [
    'pairs within pairs',
    new PairsReply(['a', new PairsReply(['b', 1])]),
    '*2\r\n$1\r\na\r\n*2\r\n$1\r\nb\r\n:1\r\n',
    '*1\r\n*2\r\n$1\r\na\r\n*1\r\n*2\r\n$1\r\nb\r\n:1\r\n',
  ],
  ['a verbatim string', new Verbatim('txt', 'a\nb'), '$3\r\na\nb\r\n', '=7\r\ntxt:a\nb\r\n'],
  [
    'a big number',
    new BigNumber('123456789012345678901'),
    '$21\r\n123456789012345678901\r\n',
    '(123456789012345678901\r\n',
  ],
];

test.each(examples)('%s', (_name, reply, resp2, resp3) => {
  expect(encodeReply(reply, 2)).toBe(resp2);
  expect(encodeReply(reply, 3)).toBe(resp3);
  expect(encodeReply([reply, 'behind'], 3)).toBe(`*2\r\n${resp3}$6\r\nbehind\r\n`);
});

test('a hundred thousand nested arrays are written and read back', () => {
  let nested: Reply = [];
  for (let i = 0; i < 100_000; i++) nested = i % 2 === 0 ? [nested] : new SetReply([nested]);
  const bytes = encodeReply(nested, 3);
  expect(bytes).toHaveLength(4 * 100_001);
  expect(replyEnd(bytes, 0)).toBe(bytes.length);
});

/** The same reply, joined without blocks of memory. */
function joined(reply: Reply): string {
  if (!Array.isArray(reply)) return encodeReply(reply, 3);
  return `*${reply.length}\r\n${reply.map((item: Reply) => joined(item)).join('')}`;
}

test('long lists are assembled in order, whatever their items are', () => {
  const short = fc.string({ maxLength: 8 });
  const long = fc.constantFrom('m'.repeat(600), 'l'.repeat(20_000), 'x'.repeat(16 * 1024));
  const item = fc.oneof({ weight: 20, arbitrary: short }, { weight: 1, arbitrary: long }, fc.integer());
  const row = fc.oneof(
    item,
    fc.array(item, { minLength: 30, maxLength: 34 }),
    fc.array(item, { maxLength: 3 }),
  );
  const lists = fc.array(row, { minLength: 28, maxLength: 140, size: 'max' });
  fc.assert(
    fc.property(lists, (list) => {
      expect(encodeReply(list, 3)).toBe(joined(list));
    }),
  );
  for (const length of [31, 32, 33, 63, 64, 65, 96, 1000, 5000]) {
    const list = Array.from({ length }, (_, i) => String(i));
    expect(encodeReply(list, 2)).toBe(joined(list));
    expect(encodeReply([...list, list, ...list], 2)).toBe(joined([...list, list, ...list]));
  }
});

test('a list that is longer than a string can be leaves nothing behind for the next', () => {
  const mebibyte = 'x'.repeat(1024 ** 2);
  const tooLong = Array.from({ length: 600 }, () => mebibyte);
  expect(() => encodeReply(tooLong, 2)).toThrow('Invalid string length');
  const list = Array.from({ length: 40 }, (_, i) => i);
  expect(encodeReply(list, 2)).toBe(joined(list));
});

test('a request is an array of bulk strings', () => {
  expect(encodeRequest(['SET', '\xff', ''])).toBe('*3\r\n$3\r\nSET\r\n$1\r\n\xff\r\n$0\r\n\r\n');
});

const text = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) });
const leaf = fc.oneof(text, fc.maxSafeInteger(), fc.constant(null), fc.boolean());
const { value } = fc.letrec<{ value: Reply }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value')),
    fc.array(tie('value')).map((items) => new SetReply(items)),
    fc.array(fc.tuple(text, tie('value'))).map((pairs) => new MapReply(pairs.flat())),
    fc.array(fc.tuple(text, tie('value'))).map((pairs) => new PairsReply(pairs.flat())),
    text.map((each) => new Verbatim('txt', each)),
  ),
}));

/** The value that a RESP2 client reads from a reply. */
function asResp2(reply: Reply): unknown {
  if (typeof reply === 'boolean') return reply ? 1 : 0;
  if (reply instanceof Verbatim) return reply.text;
  if (Array.isArray(reply)) return reply.map(asResp2);
  if (reply !== null && typeof reply === 'object' && 'items' in reply) return reply.items?.map(asResp2);
  return Object.is(reply, -0) ? 0 : reply;
}

function decoded(parsed: unknown): unknown {
  if (Buffer.isBuffer(parsed)) return parsed.latin1Slice();
  return Array.isArray(parsed) ? parsed.map(decoded) : parsed;
}

test('redis-parser reads back what was written as RESP2', () => {
  fc.assert(
    fc.property(value, (reply) => {
      const read: unknown[] = [];
      const fail = (error: Error): void => void read.push(error);
      const parser = new RedisParser({
        returnBuffers: true,
        returnReply: (parsed: unknown) => read.push(decoded(parsed)),
        returnError: fail,
        returnFatalError: fail,
      });
      parser.execute(toBuffer(encodeReply(reply, 2)));
      expect(read).toEqual([asResp2(reply)]);
    }),
    { numRuns: 500 },
  );
});

test('RESP3 is always one whole reply', () => {
  fc.assert(
    fc.property(value, (reply) => {
      const bytes = encodeReply(reply, 3);
      expect(replyEnd(bytes, 0)).toBe(bytes.length);
      expect(() => readReply(bytes)).not.toThrow();
    }),
  );
});

const kinds: readonly [kind: string, reply: Reply][] = [
  ['string', 'Hello World'],
  ['integer', 12345],
  ['double', new Double(3.141)],
  ['null', null],
  ['array', [0, 1, 2]],
  ['set', new SetReply([0, 1, 2])],
  ['map', new MapReply([0, false, 1, true, 2, false])],
  ['verbatim', new Verbatim('txt', 'This is a verbatim\nstring')],
  ['bignum', new BigNumber('1234567999999999999999999999999999999')],
  ['true', true],
  ['false', false],
];

describe.skipIf(!hasRedisServer)('beside redis-server (needs redis-server)', () => {
  test('DEBUG PROTOCOL encodes every type as we do', async () => {
    const server = await startRedisServer({ args: ['--enable-debug-command', 'yes'] });
    const client = await RawClient.connect({ path: server.path });
    for (const protocol of [2, 3] as const) {
      await client.ask('HELLO', String(protocol));
      for (const [kind, reply] of kinds) {
        const { raw } = await client.ask('DEBUG', 'PROTOCOL', kind);
        expect({ kind, protocol, raw }).toEqual({ kind, protocol, raw: encodeReply(reply, protocol) });
      }
      await client.ask('ZADD', 'z', '1', 'a', '2.5', 'b');
      const pairs = new PairsReply(['a', new Double(1), 'b', new Double(2.5)]);
      expect((await client.ask('ZRANGE', 'z', '0', '-1', 'WITHSCORES')).raw).toBe(
        encodeReply(pairs, protocol),
      );
      expect((await client.ask('BLPOP', 'none', '0.001')).raw).toBe(encodeReply(NULL_ARRAY, protocol));
    }
    await client.ask('DEBUG', 'PROTOCOL', 'push');
    expect(client.pushes.map(({ raw }) => raw)).toEqual([
      encodeReply(new PushReply(['server-cpu-usage', 42]), 3),
    ]);
    client.close();
    await server.stop();
  });
});
