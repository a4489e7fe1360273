/** Values as other programs and older servers store them, for every form: sound ones, and some that servers refuse. */
import {
  intset,
  listpack,
  type Stored,
  type StreamFaults,
  size,
  stream,
  text,
  ziplist,
  zipmap,
} from './foreign.ts';

type Elements = readonly (string | number)[];

const numbered = (count: number, prefix = ''): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

/** Collections of several sizes: within the usual limits of compact forms, and beyond. */
const COLLECTIONS: Readonly<Record<string, Elements>> = {
  small: ['a', 'b', '12'],
  numbers: [1, -5, 70_000, 2 ** 40],
  'a long text': ['x'.repeat(100), 'b'],
  many: numbered(200),
  'very many': numbered(700, 'element'),
};

function double(value: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeDoubleLE(value);
  return out;
}

const texts = (elements: Elements): Buffer[] => elements.map((each) => text(String(each)));
const table = (elements: Elements): Buffer => Buffer.concat([size(elements.length), ...texts(elements)]);
const nodes = (...data: Buffer[]): Buffer =>
  Buffer.concat([size(data.length), ...data.map((each) => text(each))]);
const packed = (...data: Buffer[]): Buffer =>
  Buffer.concat([size(data.length), ...data.flatMap((each) => [size(2), text(each)])]);

function* collections(): Generator<[string, Stored]> {
  for (const [name, all] of Object.entries(COLLECTIONS)) {
    const pairs = all.flatMap((value, i) => [`f${i}`, value]);
    const scored = all.flatMap((member, i) => [`m${member}`, i]);
    yield [`list of ${name}`, [1, table(all)]];
    yield [`ziplist list of ${name}`, [10, text(ziplist(all))]];
    yield [`quicklist of ${name}`, [14, nodes(ziplist(all))]];
    yield [`quicklist of ${name}, two nodes`, [14, nodes(ziplist(all), ziplist(['z']))]];
    yield [`quicklist of ${name}, an empty node`, [14, nodes(ziplist(all), ziplist([]))]];
    yield [`later quicklist of ${name}`, [18, packed(listpack(all))]];
    yield [`later quicklist of ${name}, two nodes`, [18, packed(listpack(all), listpack(['z']))]];
    yield [
      `plain quicklist of ${name}`,
      [18, Buffer.concat([size(all.length), ...texts(all).flatMap((each) => [size(1), each])])],
    ];
    yield [`set of ${name}`, [2, table(all)]];
    yield [`listpack set of ${name}`, [20, text(listpack(all))]];
    yield [`hash of ${name}`, [4, Buffer.concat([size(all.length), ...texts(pairs)])]];
    yield [`zipmap of ${name}`, [9, text(zipmap(pairs.map(String), { count: Math.min(254, all.length) }))]];
    yield [
      `zipmap of ${name} with room`,
      [9, text(zipmap(pairs.map(String), { count: Math.min(254, all.length) }, 3))],
    ];
    yield [`ziplist hash of ${name}`, [13, text(ziplist(pairs))]];
    yield [`listpack hash of ${name}`, [16, text(listpack(pairs))]];
    yield [`ziplist sorted set of ${name}`, [12, text(ziplist(scored))]];
    yield [`listpack sorted set of ${name}`, [17, text(listpack(scored))]];
    const old = all.flatMap((member, i) => [
      text(String(member)),
      Buffer.from([String(i).length]),
      Buffer.from(String(i)),
    ]);
    yield [`text sorted set of ${name}`, [3, Buffer.concat([size(all.length), ...old])]];
    const later = all.flatMap((member, i) => [text(String(member)), double(i)]);
    yield [`sorted set of ${name}`, [5, Buffer.concat([size(all.length), ...later])]];
  }
}

function* scores(): Generator<[string, Stored]> {
  for (const score of ['-0', '0', '1', '1.5', '00', '+1', '3.5', '-1e-5', '1e-320', '-inf']) {
    yield [`ziplist score ${score}`, [12, text(ziplist(['m', score, 'n', '9']))]];
    yield [`listpack score ${score}`, [17, text(listpack(['m', score, 'n', '9']))]];
    const many = numbered(150, 'k').flatMap((member) => [member, '7']);
    yield [
      `ziplist score ${score} of many`,
      [12, text(ziplist(score === '-inf' ? ['m', score, ...many] : [...many, 'm', '8', 'o', '9']))],
    ];
    const word = Buffer.from(score);
    yield [`text score ${score}`, [3, Buffer.concat([size(1), text('m'), Buffer.from([word.length]), word])]];
  }
  for (const mark of [254, 255])
    yield [`text score ${mark}`, [3, Buffer.concat([size(1), text('m'), Buffer.from([mark])])]];
  for (const score of [-0, 0, 1.5, Infinity, 5e-324])
    yield [
      `score ${Object.is(score, -0) ? '-0' : score}`,
      [5, Buffer.concat([size(1), text('m'), double(score)])],
    ];
  for (const width of [2, 4, 8])
    for (const members of [[1, 2, 3], [-5, 5], Array.from({ length: 600 }, (_, i) => i)])
      yield [`intset of width ${width} with ${members.length}`, [11, text(intset(members, width))]];
}

/** What a stream may say of itself. */
const STREAMS: readonly StreamFaults[] = [
  {},
  { length: 0 },
  { length: 1 },
  { length: 99 },
  { live: 0 },
  { live: 9 },
  { deleted: 2 },
  { gone: [0] },
  { gone: [1] },
  { gone: [0, 1, 2] },
  { firstId: 0 },
  { lastId: 1 },
  { added: 0 },
  { added: 99 },
];

function* streams(): Generator<[string, Stored]> {
  for (const type of [15, 19, 21]) {
    for (const faults of STREAMS)
      yield [`stream ${type} ${JSON.stringify(faults)}`, [type, stream(type, 3, faults)]];
    yield [`stream ${type} without entries`, [type, stream(type, 0, { lastId: 0, firstId: 0 })]];
    yield [
      `stream ${type} that says it has entries`,
      [type, stream(type, 0, { lastId: 0, firstId: 0, length: 3 })],
    ];
  }
}

function* damaged(): Generator<[string, Stored]> {
  const bytes = (name: string, ...all: number[]): [string, Stored] => [
    `zipmap ${name}`,
    [9, text(Buffer.from(all))],
  ];
  for (const count of [0, 1, 3, 253, 254, 255])
    yield [`zipmap that counts ${count}`, [9, text(zipmap(['a', 'b', 'c', 'd'], { count }))]];
  yield ['zipmap with bytes behind', [9, text(zipmap(['a', 'b'], { behind: 1 }))]];
  yield ['zipmap with a field twice', [9, text(zipmap(['a', 'b', 'a', 'c']))]];
  yield bytes('of one byte', 0);
  yield bytes('without pairs', 0, 255);
  yield bytes('with a wide length of one', 1, 254, 1, 0, 0, 0, 97, 1, 0, 98, 255);
  yield bytes('with a wide length of a value', 1, 1, 97, 254, 1, 0, 0, 0, 0, 98, 255);
  yield bytes('that ends in a value', 1, 1, 97, 9, 0, 98, 255);
  yield bytes('that ends in room', 1, 1, 97, 1, 9, 98, 255);
  yield bytes('without an end', 1, 1, 97, 1, 0, 98);
  yield bytes('with half a pair', 1, 1, 97, 255);
  for (const faults of [{ count: 1 }, { count: 9 }, { count: 0xffff }, { bytes: 20 }, { behind: 2 }]) {
    const name = JSON.stringify(faults);
    yield [`ziplist list ${name}`, [10, text(ziplist(['a', 'b'], faults))]];
    yield [`ziplist hash ${name}`, [13, text(ziplist(['a', 'b'], faults))]];
    yield [`ziplist sorted set ${name}`, [12, text(ziplist(['a', '1'], faults))]];
  }
  yield ['intset of width 3', [11, text(intset([1], 3))]];
  yield ['intset that counts 9', [11, text(intset([1, 2], 2, { count: 9 }))]];
  yield ['ziplist hash with half a pair', [13, text(ziplist(['a', 'b', 'c']))]];
  yield ['ziplist sorted set with a member twice', [12, text(ziplist(['a', '1', 'a', '2']))]];
  yield ['ziplist sorted set out of order', [12, text(ziplist(['a', '3', 'b', '1', 'c', '2']))]];
  yield ['ziplist hash with a field twice', [13, text(ziplist(['f', '1', 'g', '2', 'f', '3']))]];
  yield ['listpack set with a member twice', [20, text(listpack(['a', 'b', 'a']))]];
  yield ['listpack hash with a field twice', [16, text(listpack(['f', '1', 'g', '2', 'f', '3']))]];
  yield ['listpack sorted set with a member twice', [17, text(listpack(['a', 1, 'a', 2]))]];
  yield ['listpack sorted set out of order', [17, text(listpack(['a', 3, 'b', 1, 'c', 2]))]];
  yield ['intset out of order', [11, text(intset([3, 1, 2], 2))]];
  yield ['intset with a member twice', [11, text(intset([1, 1, 2], 2))]];
  yield ['sorted set with a score that is no number', [5, Buffer.concat([size(1), text('m'), double(NaN)])]];
  yield ['list without elements', [1, table([])]];
  yield ['ziplist list without elements', [10, text(ziplist([]))]];
  yield ['quicklist of empty nodes', [14, nodes(ziplist([]), ziplist([]))]];
}

/** All of them, by name. */
export function foreignValues(): Map<string, Stored> {
  return new Map([...collections(), ...scores(), ...streams(), ...damaged()]);
}
