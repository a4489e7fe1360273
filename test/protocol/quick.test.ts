/** The quick decoder: requests that have most of their words in common, and those that look as if they had. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { request } from '../support/reply-text.ts';
import { decode, open } from './decoding.ts';

/** Checks that requests are decoded as they were sent, in one chunk and one by one. */
function expectAsSent(requests: readonly Bytes[][]): void {
  const pieces = requests.map((argv) => request(...argv));
  const whole = { requests, failure: undefined, buffered: 0 };
  expect(decode([pieces.join('')])).toEqual(whole);
  expect(decode(pieces)).toEqual(whole);
}

/** So many requests that all have the same words: more than it takes until the decoder knows them by heart. */
const again = (argv: Bytes[]): Bytes[][] => new Array<Bytes[]>(600).fill(argv);

test('words that differ in one byte or in length from the ones before are told apart', () => {
  for (const length of [1, 8, 9, 31, 40, 63, 64, 65]) {
    const words = ['a'.repeat(length), 'a'.repeat(length), 'a'.repeat(length - 1), 'a'.repeat(length)];
    for (let at = 0; at < length; at++) {
      words.push(
        `${'a'.repeat(at)}\xff${'a'.repeat(length - at - 1)}`,
        'a'.repeat(length),
        'a'.repeat(length),
      );
    }
    expectAsSent(words.map((word) => ['EVALSHA', word, '1', 'key']));
    expectAsSent(words.map((word) => ['SET', 'key', word, 'NX', 'PX', '30000']));
  }
});

test('NULs are told apart from bytes that make the same double', () => {
  const zeros = ['SET', 'key', '\0'.repeat(24), 'NX'];
  for (let at = 0; at < 24; at++) {
    const minus = ['SET', 'key', `${'\0'.repeat(at)}\x80${'\0'.repeat(23 - at)}`, 'NX'];
    expectAsSent([...again(zeros), minus]);
    expectAsSent([...again(minus), zeros]);
  }
});

test('many words are not kept', () => {
  for (let count = 1; count <= 99; count++)
    expectAsSent(new Array(3).fill(new Array(count).fill('x'.repeat(64))));
});

test('long words are not kept', () => {
  const word = 'x'.repeat(500);
  expectAsSent(again(['HSET', word, word, word, word, word, word, word]));
});

test('any requests from few words are decoded as they were sent, cut anywhere', () => {
  const word = fc.constantFrom(
    'SET',
    'GET',
    'SOT',
    '',
    '1',
    '12',
    '\r\n',
    '$1\r\n1\r\n',
    'key:1',
    'a'.repeat(64),
    'b'.repeat(65),
  );
  const argv = fc.array(word, { minLength: 1, maxLength: 11 });
  const changes = fc.array(fc.tuple(fc.nat(10), word), { maxLength: 8 });
  const alike = fc.tuple(argv, changes).map(([first, list]) => {
    const all = [first, first];
    for (const [at, other] of list) all.push(all.at(-1)!.with(at % first.length, other));
    return all;
  });
  fc.assert(
    fc.property(fc.array(alike, { minLength: 1, maxLength: 4 }), fc.nat(10_000), (groups, place) => {
      const requests = groups.flat();
      expectAsSent(requests);
      const stream = requests.map((each) => request(...each)).join('');
      const cut = place % stream.length;
      expect(decode([stream.slice(0, cut), stream.slice(cut)]).requests).toEqual(requests);
    }),
    { numRuns: 500 },
  );
});

test('a word that stays the same after a while is decoded as before', () => {
  const changing = Array.from({ length: 300 }, (_, i) => ['HSET', `key:${i}`, `f${i % 2}`, 'value']);
  expectAsSent([...changing, ...again(['HSET', 'key', 'f', 'value']), ...changing]);
});

test('requests are read from the chunk that the decoder has now, or from its own copy', () => {
  const decoder = new RequestDecoder(open);
  const set = (letter: string): Bytes[] => ['SET', letter.repeat(40), letter.repeat(40), 'NX'];
  const chunk = toBuffer([...again(set('a')), set('b')].map((argv) => request(...argv)).join(''));
  decoder.write(chunk);
  for (const argv of again(set('a'))) expect(decoder.next()).toEqual(argv);
  decoder.retain();
  chunk.fill('a');
  expect(decoder.next()).toEqual(set('b'));
  decoder.write(toBuffer(request(...set('c'))));
  expect(decoder.next()).toEqual(set('c'));
});

test('what is left of an earlier chunk in the same memory does not complete a request', () => {
  const decoder = new RequestDecoder(open);
  const argv = ['SET', 'key', 'token-of-twenty-byte', 'NX', 'PX', '30000'];
  const memory = toBuffer(request(...argv));
  for (let cut = 1; cut < memory.length; cut++) {
    for (let i = 0; i < 600; i++) {
      decoder.write(memory);
      expect(decoder.next()).toEqual(argv);
      expect(decoder.next()).toBeUndefined();
    }
    decoder.write(memory.subarray(0, cut));
    expect(decoder.next()).toBeUndefined();
    decoder.write(memory.subarray(cut));
    expect(decoder.next()).toEqual(argv);
  }
});

test('a known word must still respect the limits of the client', () => {
  const long = ['SET', 'key', 'longer', 'NX'];
  expectAsSent(again(long));
  const decoder = new RequestDecoder({ ...open, maxBulk: 5 });
  decoder.write(toBuffer(request(...long)));
  expect(decoder.next()).toBeUndefined();
  expect(decoder.failure).toBe('ERR Protocol error: invalid bulk length');
});
