/** The rules for bytes and numbers, by hand and compared with redis-server on generated values. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asciiLower,
  asciiUpper,
  type Bytes,
  cString,
  flat,
  formatDouble,
  formatGeneral,
  fromBuffer,
  fromText,
  isInt64,
  narrow,
  parseDouble,
  parseInteger,
  parseSafeInteger,
  sliceBytes,
  toBuffer,
} from '../../protocol/bytes.ts';
import { sampleOf } from '../support/long.ts';
import { RawClient } from '../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { request } from '../support/reply-text.ts';

const everyByte = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code));

test('bytes survive the conversion to a Buffer and back, also from the middle of a larger one', () => {
  expect(fromBuffer(toBuffer(everyByte))).toBe(everyByte);
  expect(fromBuffer(new Uint8Array([1, 2, 255, 4]).subarray(1, 3))).toBe('\x02\xff');
  expect(fromText('é€')).toBe('\xc3\xa9\xe2\x82\xac');
});

test('joined strings take as much memory as they have bytes, once they are flat', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const joined = (first: number): Bytes => {
    let text = `${first} `;
    for (let i = 0; i < 1000; i++) text += `part ${i} `;
    return text;
  };
  const before = used();
  const texts = Array.from({ length: 500 }, (_, i) => flat(joined(i)));
  const bytes = texts.reduce((sum, { length }) => sum + length, 0);
  expect((used() - before) / bytes).toBeLessThan(2);
  expect(texts[7]).toBe(joined(7));
});

test('long strings of any length are complete', () => {
  const buffer = Buffer.alloc(3_000_003);
  for (let i = 0; i < buffer.length; i++) buffer[i] = (i * 31) % 251;
  for (const length of [999_999, 1_000_000, 1_000_001, 2_000_000, 3_000_003]) {
    const text = sliceBytes(buffer, 1, length);
    expect(text.length).toBe(length - 1);
    expect(toBuffer(text).equals(buffer.subarray(1, length))).toBe(true);
  }
});

test("strings of megabytes are in V8's heap, which returns memory, and longer ones are mapped separately", () => {
  const outside = (length: number): number => {
    const buffer = Buffer.alloc(length, 'v');
    const before = process.memoryUsage().external;
    const held = Array.from({ length: 8 }, () => sliceBytes(buffer, 0, length));
    const grown = process.memoryUsage().external - before;
    expect(held.every((text) => text.length === length)).toBe(true);
    return grown / length;
  };
  expect(outside(1 << 20)).toBeLessThan(1);
  expect(outside(5 << 20)).toBeLessThan(1);
  expect(outside(33 << 20)).toBeGreaterThan(7);
});

test('only A to Z and a to z change case', () => {
  for (const [upper, lower] of ['Aa', 'Zz'] as Iterable<string>) {
    expect([asciiLower(upper!), asciiUpper(lower!)]).toEqual([lower, upper]);
  }
  for (const other of '@[`{') expect([asciiLower(other), asciiUpper(other)]).toEqual([other, other]);
  expect(asciiLower(everyByte)).toHaveLength(256);
  expect(asciiLower('aZ[\xdf\xff\xb5\x130')).toBe('az[\xdf\xff\xb5\x130');
  expect(asciiUpper('Az{\xdf\xff\xb5\x130')).toBe('AZ{\xdf\xff\xb5\x130');
  expect(asciiLower(asciiUpper(everyByte))).toBe(asciiLower(everyByte));
});

test('C reads a string up to its first NUL', () => {
  expect(cString('abc\0def')).toBe('abc');
  expect(cString('abcdef', 4)).toBe('abcd');
  expect(cString('ab\0def', 4)).toBe('ab');
});

describe('integers', () => {
  test.each<[text: string, value: number | bigint | undefined]>([
    ['0', 0],
    ['-1', -1],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9007199254740992', -9007199254740992n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', undefined],
    ['-9223372036854775808', -9223372036854775808n],
    ['-9223372036854775809', undefined],
    ['18446744073709551616', undefined],
    ['100000000000000000000', undefined],
    ...[
      '',
      '-',
      '+1',
      ' 1',
      '1 ',
      '01',
      '-0',
      '-01',
      '1.0',
      '1e3',
      '0x1',
      '1a',
      '--1',
      '\xb2',
      '\u0661',
      '١',
    ].map((text): [string, undefined] => [text, undefined]),
  ])('%j', (text, value) => {
    expect(parseInteger(text)).toBe(value);
    expect(parseSafeInteger(text)).toBe(typeof value === 'number' ? value : undefined);
  });

  test('any text is parsed like BigInt does, or refused', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }), (value) => {
        const read = parseInteger(String(value));
        expect(read === undefined ? undefined : BigInt(read)).toBe(isInt64(value) ? value : undefined);
      }),
    );
  });

  test('narrow returns a number if that is exact', () => {
    expect(narrow(2n ** 53n)).toBe(2n ** 53n);
    expect(narrow(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(narrow(-(2n ** 53n))).toBe(-(2n ** 53n));
  });
});

describe('doubles', () => {
  test.each<[text: string, value: number | undefined]>([
    ['1', 1],
    ['+1', 1],
    ['-1.5', -1.5],
    ['1.', 1],
    ['.5', 0.5],
    ['1.e2', 100],
    ['1E+2', 100],
    ['-0', -0],
    ['0e999', 0],
    ['007', 7],
    ['inf', Infinity],
    ['-Infinity', -Infinity],
    ['+INF', Infinity],
    ['0x10', 16],
    ['-0X1.8p1', -3],
    ['0x.8', 0.5],
    ['0x1p-1074', 5e-324],
    ['0x1.fffffffffffff8p0', 2],
    ['0x1.fffffffffffff7p0', 2 - 2 ** -52],
    ['1e400', undefined],
    ['-1e400', undefined],
    ['1e-400', undefined],
    ['0x1p1024', undefined],
    ['0x1p-1080', undefined],
    ['4.9e-324', 5e-324],
    ...[
      '',
      '.',
      '-',
      'e5',
      '1e',
      '1e+',
      '0x',
      '0x.',
      '0x1p',
      'nan',
      '-nan',
      'infinit',
      ' 1',
      '1 ',
      '1,5',
      '1_0',
      '--1',
      '0b1',
      '0o7',
      '1e-400',
      '0xe.Fp-1099',
    ].map((text): [string, undefined] => [text, undefined]),
  ])('%j', (text, value) => {
    expect(parseDouble(text)).toBe(value);
  });

  test('a megabyte of digits is refused as fast as it is read', () => {
    expect(parseDouble(`${'1'.repeat(1 << 20)}x`)).toBeUndefined();
    expect(parseDouble(`${'1'.repeat(1 << 20)}.${'1'.repeat(1 << 20)}x`)).toBeUndefined();
    expect(parseDouble(`0x${'f'.repeat(1 << 16)}`)).toBeUndefined();
  });

  test.each<[value: number, digits: number, text: string]>([
    [0.1, 17, '0.10000000000000001'],
    [0.1, 14, '0.1'],
    [-0, 17, '-0'],
    [1e17, 17, '1e+17'],
    [1e-5, 17, '1.0000000000000001e-05'],
    [1e100, 14, '1e+100'],
    [123456, 14, '123456'],
    [100000000000000, 14, '1e+14'],
    [2 ** -25, 17, '2.9802322387695312e-08'],
    [12345678901234.5, 14, '12345678901234'],
    [12345678901235.5, 14, '12345678901236'],
    [99999999999999.5, 14, '1e+14'],
    [-2.5, 1, '-2'],
    [3.5, 1, '4'],
    [Number.NaN, 17, 'nan'],
    [Infinity, 17, 'inf'],
    [-Infinity, 14, '-inf'],
  ])('%d with %d digits is %j', (value, digits, text) => {
    expect(formatGeneral(value, digits)).toBe(text);
  });

  test('a double printed with 17 digits is parsed back to the same double', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        expect(parseDouble(formatDouble(value))).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Doubles of all magnitudes, and those where rounding is a tie. */
const doubles = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.tuple(fc.integer(), fc.integer({ min: -70, max: 70 })).map(([odd, power]) => odd * 2 ** power),
  fc.tuple(fc.maxSafeInteger(), fc.constantFrom(1, 2, 4, 8)).map(([value, by]) => value / by),
);
const hex = fc.array(fc.constantFrom(...'0123456789abcdefF'), { maxLength: 20 }).map((all) => all.join(''));
const figure = fc.constantFrom(...'0123456789abcdefxXpPeE+-. infINF');
const numeric = fc.oneof(
  fc.array(figure, { maxLength: 9 }).map((all) => all.join('')),
  fc
    .tuple(fc.constantFrom('', '-', '+'), hex, hex, fc.integer({ min: -1100, max: 1030 }))
    .map(([sign, whole, part, power]) => `${sign}0x${whole}.${part}p${power}`),
  fc.tuple(fc.bigInt(), fc.integer({ min: -330, max: 310 })).map(([digits, power]) => `${digits}e${power}`),
  doubles.map(String),
);

describe.skipIf(!hasRedisServer)('beside redis-server (needs redis-server)', () => {
  const asking = async (requests: readonly Bytes[]): Promise<string[]> => {
    const server = await startRedisServer();
    const client = await RawClient.connect({ path: server.path });
    const answers: string[] = [];
    for (let at = 0; at < requests.length; at += 500) {
      const batch = requests.slice(at, at + 500);
      await client.send(batch.join(''));
      for (let i = 0; i < batch.length; i++) answers.push((await client.read()).raw);
    }
    client.close();
    await server.stop();
    return answers;
  };

  test('ZADD parses the same texts to the same doubles, and ZSCORE prints them alike', async () => {
    const texts = fc.sample(numeric, { numRuns: sampleOf(50_000, 4000), seed: 11 });
    const answers = await asking(
      texts.flatMap((text) => [
        request('DEL', 'z'),
        request('ZADD', 'z', text, 'm'),
        request('ZSCORE', 'z', 'm'),
      ]),
    );
    texts.forEach((text, i) => {
      const value = parseDouble(text);
      // A small sorted set keeps no minus zero.
      const printed = value === undefined ? undefined : formatDouble(Object.is(value, -0) ? 0 : value);
      const wanted = printed === undefined ? '$-1\r\n' : `$${printed.length}\r\n${printed}\r\n`;
      expect({ text, answer: answers[3 * i + 2] }).toEqual({ text, answer: wanted });
    });
  });

  test('Lua prints doubles with 14 digits alike', async () => {
    const values = fc.sample(doubles, { numRuns: sampleOf(40_000, 3000), seed: 12 });
    const script = "return string.format('%.14g %.17g %.1g', ARGV[1], ARGV[1], ARGV[1])";
    const answers = await asking(values.map((value) => request('EVAL', script, '0', formatDouble(value))));
    values.forEach((value, i) => {
      const wanted = [14, 17, 1].map((digits) => formatGeneral(value, digits)).join(' ');
      expect({ value, answer: answers[i] }).toEqual({ value, answer: `$${wanted.length}\r\n${wanted}\r\n` });
    });
  });

  test('GETRANGE accepts the same texts as integers', async () => {
    const integers = fc.oneof(
      fc.array(fc.constantFrom(...'0123456789+- .eax'), { maxLength: 5 }).map((all) => all.join('')),
      fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
    );
    const texts = fc.sample(integers, { numRuns: sampleOf(40_000, 3000), seed: 13 });
    const answers = await asking(texts.map((text) => request('GETRANGE', 'none', text, '0')));
    texts.forEach((text, i) => {
      expect({ text, refused: answers[i]?.startsWith('-') }).toEqual({
        text,
        refused: parseInteger(text) === undefined,
      });
    });
  });
});
