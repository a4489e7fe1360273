/** The request decoder: each edge case of the protocol, with the stream cut at any byte. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Bytes, toBuffer } from '../../protocol/bytes.ts';
import { RequestDecoder } from '../../protocol/decode.ts';
import { encodeRequest } from '../../protocol/encode.ts';
import type { DecodeLimits } from '../../protocol/limits.ts';
import { request } from '../support/reply-text.ts';
import { corpus } from './corpus.ts';
import { decode, open } from './decoding.ts';

const stranger: DecodeLimits = { ...open, authenticated: false };

const failureOf = (bytes: Bytes, limits = open): Bytes | undefined => decode([bytes], limits).failure;

/** Cuts the text at the given offsets. */
function cutAt(text: Bytes, places: readonly number[]): Bytes[] {
  const ends = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...ends, text.length].map((end, i) => text.slice(i === 0 ? 0 : ends[i - 1], end));
}

describe('cutting', () => {
  test.each(corpus.filter(({ bytes }) => bytes.length <= 400))(
    '$name decodes alike whole, cut anywhere, and byte by byte',
    ({ bytes, auth }) => {
      const limits = auth ? stranger : open;
      const whole = decode([bytes], limits);
      for (let at = 1; at < bytes.length; at++) {
        expect(decode([bytes.slice(0, at), bytes.slice(at)], limits)).toEqual(whole);
      }
      expect(decode([...bytes], limits)).toEqual(whole);
    },
  );

  const word = fc.string({
    unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
    maxLength: 40,
  });
  const argv = fc.array(word, { minLength: 1, maxLength: 12 });

  test('any requests, cut anywhere, are decoded as they were sent', () => {
    fc.assert(
      fc.property(
        fc.array(argv, { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (requests, places) => {
          const bytes = requests.map(encodeRequest).join('');
          expect(decode(cutAt(bytes, places))).toEqual({ requests, failure: undefined, buffered: 0 });
        },
      ),
      { numRuns: 500 },
    );
  });

  test('requests of more than a hundred arguments, cut anywhere, are decoded as they were sent', () => {
    const long = fc.constantFrom('x'.repeat(1000), 'y'.repeat(16_384), 'z'.repeat(16_385), '');
    const item = fc.oneof({ weight: 30, arbitrary: word }, { weight: 1, arbitrary: long });
    const many = fc.array(item, { minLength: 100, maxLength: 130, size: 'max' });
    fc.assert(
      fc.property(many, fc.array(fc.nat(), { maxLength: 12 }), (words, places) => {
        const bytes = encodeRequest(words) + encodeRequest(['PING']);
        const requests = [words, ['PING']];
        expect(decode(cutAt(bytes, places))).toEqual({ requests, failure: undefined, buffered: 0 });
      }),
      { numRuns: 200 },
    );
  });

  test('any bytes decode alike, wherever they are cut', () => {
    const pieces = fc.constantFrom(
      '*',
      '$',
      '\r',
      '\n',
      '\r\n',
      '1',
      '2',
      '-',
      '0',
      ' ',
      '"',
      "'",
      '\\x41',
      '\0',
      'PING',
      '*1\r\n',
      '$4\r\n',
      'PING\r\n',
    );
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (parts, places) => {
          const bytes = parts.join('');
          expect(decode(cutAt(bytes, places))).toEqual(decode([bytes]));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('large arguments are put together from many chunks', () => {
    const value = 'v'.repeat(300_000);
    const pieces = cutAt(
      request('SET', 'k', value) + request('GET', 'k'),
      Array.from({ length: 60 }, (_, i) => i * 4999),
    );
    expect(decode(pieces).requests).toEqual([
      ['SET', 'k', value],
      ['GET', 'k'],
    ]);
  });
});

describe('holding back', () => {
  test('what was written before next() is kept in order', () => {
    const decoder = new RequestDecoder(open);
    for (let i = 0; i < 100; i++) decoder.write(toBuffer(request('ECHO', `${i}`)));
    expect(decoder.buffered).toBe(100 * request('ECHO', '0').length + 90);
    for (let i = 0; i < 100; i++) expect(decoder.next()).toEqual(['ECHO', `${i}`]);
    expect(decoder.next()).toBeUndefined();
    expect(decoder.buffered).toBe(0);
  });

  test('retain copies the rest of a chunk that is about to be overwritten', () => {
    const decoder = new RequestDecoder(open);
    const chunk = toBuffer(request('BLPOP', 'a', '0') + request('PING'));
    decoder.write(chunk);
    expect(decoder.next()).toEqual(['BLPOP', 'a', '0']);
    decoder.retain();
    chunk.fill(0);
    decoder.write(toBuffer(request('GET', 'b')));
    expect(decoder.next()).toEqual(['PING']);
    expect(decoder.next()).toEqual(['GET', 'b']);
  });

  test('a second retain copies what came after the first', () => {
    const decoder = new RequestDecoder(open);
    for (const key of ['a', 'b']) {
      const chunk = toBuffer(request('GET', key) + request('DEL', key));
      decoder.write(chunk);
      expect(decoder.next()).toEqual(['GET', key]);
      decoder.retain();
      chunk.fill(0);
      expect(decoder.next()).toEqual(['DEL', key]);
      expect(decoder.next()).toBeUndefined();
    }
  });

  test('a Uint8Array inside a larger buffer is read in place', () => {
    const decoder = new RequestDecoder(open);
    decoder.write(new Uint8Array(toBuffer(`xx${request('PING')}yy`)).subarray(2, 16));
    expect(decoder.next()).toEqual(['PING']);
    expect(decoder.next()).toBeUndefined();
    expect(decoder.failure).toBeUndefined();
  });

  test('empty chunks and idle calls change nothing', () => {
    const decoder = new RequestDecoder(open);
    for (const piece of ['', '*1\r', '', '\n$4\r', '', '\nPING\r', '', '']) {
      decoder.write(toBuffer(piece));
      expect(decoder.next()).toBeUndefined();
      expect(decoder.next()).toBeUndefined();
    }
    decoder.write(toBuffer('\n'));
    expect(decoder.next()).toEqual(['PING']);
  });

  test('buffered counts what no request contains yet', () => {
    expect(decode(['PIN']).buffered).toBe(3);
    expect(decode(['*1\r\n$4\r\nPI']).buffered).toBe(2);
    expect(decode(['*2\r\n$1\r\na\r\n$3']).buffered).toBe(2);
  });
});

describe('memory and work', () => {
  test('an announced length reserves no memory', () => {
    const before = process.memoryUsage().arrayBuffers;
    const decoders = Array.from({ length: 100 }, () => {
      const decoder = new RequestDecoder(open);
      decoder.write(toBuffer('*2147483647\r\n$536870912\r\nsome bytes'));
      decoder.next();
      return decoder;
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 20);
    expect(decoders.every(({ buffered }) => buffered === 10)).toBe(true);
  });

  test('with many tiny chunks each byte is copied a few times, not once per chunk', () => {
    const value = 'x'.repeat(60_000);
    let copied = 0;
    const { copy } = Buffer.prototype;
    Buffer.prototype.copy = function (this: Buffer, ...args: Parameters<Buffer['copy']>): number {
      const count = copy.apply(this, args);
      copied += count;
      return count;
    };
    try {
      expect(decode([...request('SET', 'k', value)]).requests).toEqual([['SET', 'k', value]]);
    } finally {
      Buffer.prototype.copy = copy;
    }
    expect(copied).toBeLessThan(4 * value.length);
  });
});

describe('limits', () => {
  test.each([
    ['*2147483648\r\n', 'invalid multibulk length'],
    ['*1\r\n$536870913\r\n', 'invalid bulk length'],
    ['*1\r\nx', undefined],
    ['*1\r\nx\r\n', "expected '$', got 'x'"],
    ['ECHO "\r\n', 'unbalanced quotes in request'],
    ['x'.repeat(65537), 'too big inline request'],
    [`*${'1'.repeat(65536)}`, 'too big mbulk count string'],
    [`*1\r\n$${'1'.repeat(65536)}`, 'too big bulk count string'],
    [`*${'1'.repeat(65535)}`, undefined],
  ])('%#', (bytes, text) => {
    expect(failureOf(bytes)).toBe(text && `ERR Protocol error: ${text}`);
  });

  test('the maximum length of an argument follows the setting at each header', () => {
    const limits = { maxBulk: 10, authenticated: true };
    const decoder = new RequestDecoder(limits);
    decoder.write(toBuffer(request('ECHO', '0123456789')));
    expect(decoder.next()).toEqual(['ECHO', '0123456789']);
    limits.maxBulk = 9;
    decoder.write(toBuffer(request('ECHO', '0123456789')));
    expect(decoder.next()).toBeUndefined();
    expect(decoder.failure).toBe('ERR Protocol error: invalid bulk length');
  });

  test('a client that authenticates in the middle of a request may continue', () => {
    const limits = { ...stranger };
    const decoder = new RequestDecoder(limits);
    decoder.write(toBuffer(request('AUTH', 'x') + request('ECHO', ...'0123456789')));
    expect(decoder.next()).toEqual(['AUTH', 'x']);
    limits.authenticated = true;
    expect(decoder.next()).toEqual(['ECHO', ...'0123456789']);
    expect(failureOf(request('ECHO', ...'0123456789'), stranger)).toContain(
      'unauthenticated multibulk length',
    );
    expect(failureOf(request('ECHO', 'x'.repeat(16385)), stranger)).toContain('unauthenticated bulk length');
    expect(decode([request('ECHO', 'x'.repeat(16384))], stranger).requests).toHaveLength(1);
  });

  test('requests before an error are returned, and nothing after it is read', () => {
    const decoder = new RequestDecoder(open);
    decoder.write(toBuffer(`${request('PING')}*x\r\n${request('PING')}`));
    expect(decoder.next()).toEqual(['PING']);
    expect(decoder.failure).toBeUndefined();
    expect(decoder.next()).toBeUndefined();
    expect(decoder.failure).toBe('ERR Protocol error: invalid multibulk length');
    decoder.write(toBuffer(request('PING')));
    expect(decoder.next()).toBeUndefined();
    expect(decoder.buffered).toBe(0);
  });
});

test('a server that checks the ends of lines refuses anything but CR LF', () => {
  const bad = ['*1\rX', '*1\r\n$4\rX', '*1\r\n$4\r\nPINGxx', '*1\r\n$4\r\nPING\rx', '*1\r\n$4\r\nPINGx\n'];
  for (const text of bad) {
    for (const size of [1, 3, text.length]) {
      const strict = new RequestDecoder({ ...open, checksLines: true });
      for (let at = 0; at < text.length; at += size) {
        strict.write(toBuffer(text.slice(at, at + size)));
        expect(strict.next()).toBeUndefined();
      }
      expect(strict.failure).toBe('ERR Protocol error: invalid CRLF in request');
    }
  }
  const strict = new RequestDecoder({ ...open, checksLines: true });
  // A request of this kind has been learned, and still both ends of its words are checked.
  for (let i = 0; i < 9; i++) {
    strict.write(toBuffer(request('SET', 'k', `${i}`, 'NX')));
    expect(strict.next()).toEqual(['SET', 'k', `${i}`, 'NX']);
  }
  strict.write(toBuffer(request('SET', 'k', '9', 'NX').replace('9\r\n', '9\r\r')));
  expect(strict.next()).toBeUndefined();
  expect(strict.failure).toBe('ERR Protocol error: invalid CRLF in request');
  const loose = new RequestDecoder(open);
  loose.write(toBuffer('*1\r\n$4\r\nPINGxx'));
  expect(loose.next()).toEqual(['PING']);
});
