/** DUMP and RESTORE of vector sets between lostlock and the real servers, and payloads that are refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc64 } from '../../../keyspace/format/crc64.ts';
import { RdbError } from '../../../keyspace/format/errors.ts';
import { RdbWriter } from '../../../keyspace/format/writer.ts';
import { dumpValue, restoreValue } from '../../../keyspace/rdb/dump.ts';
import { type RdbFormat, REDIS_7_0, REDIS_7_4, REDIS_8_2 } from '../../../keyspace/rdb/formats.ts';
import { ModuleWriter } from '../../../keyspace/rdb/modules.ts';
import { VECTOR_SET } from '../../../keyspace/rdb/vector-set.ts';
import type { DialectName } from '../../../server/dialects/index.ts';
import { blob, vectorDialects, vectorOf } from '../../server/commands/vector/vectors.ts';
import { Beside } from '../../support/beside/beside.ts';
import { testBeside } from '../../support/beside/each.ts';
import { readReply } from '../../support/reply-text.ts';

const FORMATS: Partial<Record<DialectName, RdbFormat>> = { 'redis-8.0': REDIS_7_4, 'redis-8.2': REDIS_8_2 };
const DIMENSION = 5;

/** Requests that make a set: elements are added, changed and removed. */
const histories = fc
  .record({
    form: fc.constantFrom('NOQUANT', 'Q8', 'BIN'),
    links: fc.constantFrom('4', '16'),
    reduced: fc.constantFrom(undefined, '3'),
    steps: fc.array(
      fc.record({
        element: fc.constantFrom(...'a b c d e f g h 12 -5 \0'.split(' ')),
        vector: fc.option(vectorOf(DIMENSION), { freq: 5 }),
        attributes: fc.option(fc.constantFrom('{"x":1}', '77', '')),
      }),
      { minLength: 1, maxLength: 25 },
    ),
  })
  .map(({ form, links, reduced, steps }) => [
    ['DEL', 'k'],
    ['VADD', 'k', ...reducing(reduced), 'FP32', blob([1, 2, 3, 4, 5]), 'first', form, 'M', links],
    ...steps.map(({ element, vector, attributes }) =>
      vector === null
        ? ['VREM', 'k', element]
        : [
            ...['VADD', 'k', ...reducing(reduced), 'FP32', blob(vector), element, form, 'M', links],
            ...(attributes === null ? [] : ['SETATTR', attributes]),
          ],
    ),
  ]);

function reducing(dimension: string | undefined): string[] {
  return dimension === undefined ? [] : ['REDUCE', dimension];
}

const ELEMENTS = 'first a b c d e f g h 12 -5 \0'.split(' ');
const QUESTIONS = [
  ...ELEMENTS.flatMap((element) => [
    ['VEMB', 'k', element, 'RAW'],
    ['VGETATTR', 'k', element],
    ['VSIM', 'k', 'ELE', element, 'COUNT', '99', 'WITHSCORES', 'TRUTH'],
  ]),
  ['VCARD', 'k'],
  ['DEBUG', 'DIGEST-VALUE', 'k'],
];

function bulk(raw = ''): string {
  const [, text] = readReply(raw);
  return String(text);
}

/** VLINKS of each element, sorted: a server sorts the links of a set that it loads. */
function links(replies: readonly string[]): string[][] {
  return replies.map((reply) => reply.split('\r\n').sort());
}

const ASK_LINKS = ELEMENTS.map((element) => ['VLINKS', 'k', element, 'WITHSCORES']);

testBeside(vectorDialects, '%s loads our payloads, and we load its payloads', async (dialect) => {
  await using both = await Beside.start([], dialect);
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const dumps = await both.askWords([...history, ['DUMP', 'k']]);
      const before = await both.askWords(ASK_LINKS);
      // Each server restores what the other has dumped.
      const [fromUs, fromThem] = [bulk(dumps.ours.at(-1)), bulk(dumps.theirs.at(-1))];
      const swap = (payload: string): string[] => ['RESTORE', 'k', '0', payload, 'REPLACE'];
      const restored = [(await both.askOurs([swap(fromThem)]))[0], (await both.askTheirs([swap(fromUs)]))[0]];
      expect(restored).toEqual(['+OK\r\n', '+OK\r\n']);
      const after = await both.askWords(ASK_LINKS);
      expect(links(after.ours)).toEqual(links(before.theirs));
      expect(links(after.theirs)).toEqual(links(before.ours));
      const { ours, theirs } = await both.askWords(QUESTIONS);
      expect(ours).toEqual(theirs);
      // What was loaded can be dumped and loaded again.
      const again = await both.askWords([['DUMP', 'k']]);
      expect((await both.askTheirs([swap(bulk(again.ours[0]))]))[0]).toBe('+OK\r\n');
    }),
    { numRuns: 15 },
  );
});

testBeside(vectorDialects, '%s refuses the payloads that we refuse', async (dialect) => {
  await using both = await Beside.start([], dialect);
  const format = FORMATS[dialect] ?? REDIS_8_2;
  for (const [name, payload] of Object.entries(payloads(format))) {
    const { ours, theirs } = await both.askWords([['RESTORE', name, '0', payload]]);
    expect(`${name}: ${ours}`).toBe(`${name}: ${theirs}`);
  }
});

/** A payload of version 12 with a vector set of one dimension, in floats. */
function payload(write: (out: ModuleWriter) => void, module = VECTOR_SET): string {
  const out = new RdbWriter();
  out.byte(7);
  write(new ModuleWriter(out, module));
  const data = Buffer.concat([out.data(), Buffer.from([12, 0])]);
  return Buffer.concat([data, crc64(data)]).toString('latin1');
}

/** One element: its id, level and version, and its layers. */
function element(out: ModuleWriter, name: string, numbers: readonly (number | bigint)[]): void {
  out.string(name);
  out.blob(Buffer.from(Float32Array.of(1).buffer));
  out.unsigned(numbers.length);
  for (const number of numbers) out.unsigned(number);
}

const LENGTH = 0x3f800000;

/** Two elements that are linked with each other, unless numbers are replaced. */
function pair(
  { farthestLinks }: RdbFormat,
  { id = 2, links = [2], back = [1], room = 32, name = 'b', level = 0, tail = [LENGTH] as number[] } = {},
): string {
  const form = level | (farthestLinks ? 1 << 24 : 0);
  const farthest = farthestLinks ? [0] : [];
  return payload((out) => {
    for (const number of [1, 2, 16 << 8, 0]) out.unsigned(number);
    element(out, 'a', [1, form, links.length, room, ...links, ...farthest, ...tail]);
    element(out, name, [id, form, back.length, room, ...back, ...farthest, ...tail]);
    out.end();
  });
}

function payloads(format: RdbFormat): Record<string, string> {
  const head = (...numbers: number[]): string =>
    payload((out) => {
      for (const number of numbers) out.unsigned(number);
      out.end();
    });
  return {
    'two elements': pair(format),
    'no links': pair(format, { links: [], back: [] }),
    'a link to nothing': pair(format, { links: [3] }),
    'an unknown quantization': head(1, 1, (16 << 8) | 3, 0),
    'too few elements': head(1, 1, 16 << 8, 0),
    'no length': pair(format, { tail: [] }),
  };
}

function outcome(text: string, format = REDIS_8_2): string {
  try {
    const value = restoreValue(text, undefined, format);
    return typeof value === 'string' ? 'string' : value.type;
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    return error.kind;
  }
}

test('a payload that contradicts itself is refused', () => {
  const results = Object.entries(payloads(REDIS_8_2)).map(([name, text]) => [name, outcome(text)]);
  expect(Object.fromEntries(results)).toMatchObject({ 'two elements': 'vectorset', 'no links': 'vectorset' });
  expect(results.filter(([, result]) => result === 'vectorset')).toHaveLength(2);
  for (const wrong of [
    { name: 'a' },
    { room: 0 },
    { room: 20_000 },
    { id: 1 },
    { id: 0 },
    { links: [1] },
    { links: [2, 2] },
    { back: [] },
    { level: 1 },
  ]) {
    expect(outcome(pair(REDIS_8_2, wrong)), JSON.stringify(wrong)).toBe('format');
  }
});

test('changed bytes never break the reader', () => {
  const whole = Buffer.from(pair(REDIS_8_2), 'latin1');
  fc.assert(
    fc.property(fc.nat(whole.length - 11), fc.nat(255), (at, byte) => {
      const data = Buffer.from(whole.subarray(0, -8));
      data[at] = byte;
      const text = Buffer.concat([data, crc64(data)]).toString('latin1');
      expect(() => outcome(text)).not.toThrow();
    }),
  );
});

test('values of other modules, and later versions of this one, are not known', () => {
  const other = (module: typeof VECTOR_SET): string => payload((out) => out.end(), module);
  expect(outcome(other({ name: 'ReJSON-RL', version: 3 }))).toBe('format');
  expect(outcome(other({ name: 'vectorset', version: 1 }))).toBe('format');
});

test('a server without vector sets refuses their payloads, and dumps them for later ones', () => {
  const text = pair(REDIS_8_2);
  expect(outcome(text, REDIS_7_0)).toBe('checksum');
  const value = restoreValue(text, undefined, REDIS_8_2);
  expect(outcome(dumpValue(value, REDIS_7_0), REDIS_7_4)).toBe('vectorset');
});
