/** Converts values to plain data and back, for the tests of RDB. */
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../../keyspace/collections/encoding.ts';
import { HashValue } from '../../../keyspace/collections/hash.ts';
import { ListValue } from '../../../keyspace/collections/list.ts';
import { SetValue } from '../../../keyspace/collections/set.ts';
import { SortedSet } from '../../../keyspace/collections/sorted-set.ts';
import type { Value } from '../../../keyspace/value.ts';

export type Plain =
  | { type: 'string'; value: string }
  | { type: 'list'; items: string[] }
  | { type: 'set'; members: string[] }
  | { type: 'hash'; fields: [string, string][] }
  | { type: 'zset'; scores: [string, number][] };

export function toValue(plain: Plain): Value {
  switch (plain.type) {
    case 'string':
      return plain.value;
    case 'list':
      return new ListValue([...plain.items]);
    case 'set': {
      const set = new SetValue();
      for (const member of plain.members) set.add(member);
      return set;
    }
    case 'hash': {
      const hash = new HashValue();
      for (const [field, value] of plain.fields) hash.set(field, value);
      return hash;
    }
    case 'zset': {
      const zset = new SortedSet(DEFAULT_LIMITS);
      for (const [member, score] of plain.scores) zset.set(member, score);
      return zset;
    }
  }
}

/** Sets, and hashes that are not listpacks, are sorted because their order is undefined. */
export function toPlain(value: Value): Plain {
  if (typeof value === 'string') return { type: 'string', value };
  switch (value.type) {
    case 'stream':
    case 'vectorset':
    case 'own':
      throw new Error(`a test of its own has values of type ${value.type}`);
    case 'list':
      return { type: 'list', items: [...value.values()] };
    case 'set':
      return { type: 'set', members: [...value.values()].sort() };
    case 'hash':
      return { type: 'hash', fields: [...value.entries()].sort((a, b) => (a[0] < b[0] ? -1 : 1)) };
    case 'zset':
      return { type: 'zset', scores: [...value.entries()].map(({ member, score }) => [member, score]) };
  }
}

/** The command that creates the value in Redis. */
export function createCommand(key: string, plain: Plain): string[] {
  switch (plain.type) {
    case 'string':
      return ['set', key, plain.value];
    case 'list':
      return ['rpush', key, ...plain.items];
    case 'set':
      return ['sadd', key, ...plain.members];
    case 'hash':
      return ['hset', key, ...plain.fields.flat()];
    case 'zset':
      return ['zadd', key, ...plain.scores.flatMap(([member, score]) => [scoreText(score), member])];
  }
}

function scoreText(score: number): string {
  if (Number.isFinite(score)) return Object.is(score, -0) ? '-0' : String(score);
  return score > 0 ? '+inf' : '-inf';
}

const bytes = (maxLength: number) =>
  fc.array(fc.nat({ max: 255 }), { maxLength }).map((codes) => String.fromCharCode(...codes));

/** Strings of every form: integers of each width, lengths around each limit, bytes that compress well. */
const text = fc.oneof(
  bytes(12),
  fc.integer({ min: -300, max: 300 }).map(String),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  fc.constantFrom(
    ...[7, 8, 12, 13, 15, 16, 23, 24, 31, 32, 63].flatMap((bits) => [
      String(2n ** BigInt(bits) - 1n),
      String(-(2n ** BigInt(bits))),
    ]),
  ),
  fc.constantFrom('', '0', '-0', '01', '9223372036854775808', '\0', '\xff'.repeat(64)),
  fc.tuple(bytes(4), fc.constantFrom(1, 5, 15, 16, 17, 32, 33, 1024, 4096)).map(([s, n]) => s.repeat(n)),
);

const score = fc.oneof(
  fc.integer({ min: -70000, max: 70000 }),
  fc.double({ noNaN: true }),
  fc.constantFrom(Infinity, -Infinity, -0, 0.1, 1e300, 2 ** 53, 2 ** 62, -(2 ** 63)),
);

const sizes = { maxLength: 12, minLength: 1 };
const many = fc.constantFrom(127, 128, 129, 200, 512, 513, 600);

/** Values of every type and encoding. */
export const anyPlain: fc.Arbitrary<Plain> = fc.oneof(
  text.map((value): Plain => ({ type: 'string', value })),
  fc.array(text, sizes).map((items): Plain => ({ type: 'list', items })),
  fc.uniqueArray(text, sizes).map((members): Plain => ({ type: 'set', members })),
  fc
    .uniqueArray(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map(String), sizes)
    .map((members): Plain => ({ type: 'set', members })),
  fc
    .uniqueArray(fc.tuple(text, text), { ...sizes, selector: ([field]) => field })
    .map((fields): Plain => ({ type: 'hash', fields })),
  fc
    .uniqueArray(fc.tuple(text, score), { ...sizes, selector: ([member]) => member })
    .map((scores): Plain => ({ type: 'zset', scores })),
  fc.tuple(many, text).map(([count, value]): Plain => {
    return { type: 'hash', fields: Array.from({ length: count }, (_, i) => [`field ${i}`, value]) };
  }),
  fc.tuple(many, score).map(([count, value]): Plain => {
    return {
      type: 'zset',
      scores: Array.from({ length: count }, (_, i) => [`member ${i}`, i % 7 ? i : value]),
    };
  }),
  fc.tuple(many, fc.constantFrom('', 'm')).map(([count, prefix]): Plain => {
    return { type: 'set', members: Array.from({ length: count }, (_, i) => `${prefix}${i}`) };
  }),
  fc.tuple(many, text).map(([count, value]): Plain => {
    return { type: 'list', items: Array.from({ length: count }, (_, i) => (i % 3 ? value : `${i}`)) };
  }),
);
