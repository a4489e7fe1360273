/** The words that generated requests are made of: few keys, so that types collide, and values at every edge. */
import type { Bytes } from '../../../protocol/bytes.ts';
import type { Random } from '../random.ts';
import {
  ALL_BYTES,
  EDGE_FLOATS,
  EDGE_INTEGERS,
  FEW,
  FLOATS,
  INTEGERS,
  ODD_NUMBERS,
  ODD_VALUES,
  SIZES,
  VALUES,
} from './values.ts';

/** Keys by the type that mostly lives there. */
const KEYS: Record<string, readonly Bytes[]> = {
  string: ['s1', 's2', 's3', 'n1'],
  hash: ['h1', 'h2'],
  list: ['l1', 'l2', 'l3'],
  set: ['t1', 't2', 't3'],
  zset: ['z1', 'z2', 'z3'],
  stream: ['x1', 'x2'],
  bits: ['b1', 'b2'],
  geo: ['g1', 'g2'],
  hll: ['p1', 'p2'],
};
const ALL_KEYS = Object.values(KEYS).flat();
const ODD_KEYS = ['', '__proto__', 'constructor', 'none', '{a}b', 'weird[key]*?', ALL_BYTES, 'S1', 'a b'];

function keyOf(random: Random, type: string): Bytes {
  const own = KEYS[type] ?? ALL_KEYS;
  const roll = random.below(100);
  // The first of them more often, so that requests meet.
  if (roll < 40) return own[0]!;
  if (roll < 86) return random.pick(own);
  return roll < 95 ? random.pick(ALL_KEYS) : random.pick(ODD_KEYS);
}

function integer(random: Random): Bytes {
  const roll = random.below(100);
  if (roll < 78) return random.pick(INTEGERS);
  return roll < 92 ? random.pick(EDGE_INTEGERS) : random.pick(ODD_NUMBERS);
}

function float(random: Random): Bytes {
  const roll = random.below(100);
  if (roll < 50) return random.pick(FLOATS);
  if (roll < 75) return random.pick(INTEGERS);
  return roll < 90 ? random.pick(EDGE_FLOATS) : random.pick([...EDGE_INTEGERS, ...ODD_NUMBERS]);
}

function value(random: Random): Bytes {
  const roll = random.below(100);
  if (roll < 72) return random.pick(VALUES);
  if (roll < 84) return random.pick(ODD_VALUES);
  if (roll < 92) return random.pick([...EDGE_INTEGERS, ...FLOATS]);
  return random
    .pick(['x', 'ab', ALL_BYTES.slice(100)])
    .repeat(random.pick(SIZES))
    .slice(0, random.pick(SIZES));
}

/** Mostly one of the few, so that members and fields meet again. */
function member(random: Random): Bytes {
  const roll = random.below(100);
  if (roll < 55) return random.pick(FEW);
  return roll < 80 ? random.pick(VALUES.slice(0, 12)) : value(random);
}

/** Enough elements to leave the compact encodings. */
function many(random: Random, each: (index: number) => Bytes[]): Bytes[] {
  const count = random.percent(80) ? random.between(5, 20) : random.pick([100, 129, 513]);
  const from = random.below(4);
  return Array.from({ length: count }, (_, i) => each(from + i)).flat();
}

/**
 * Distances into the future: far enough that no test run reaches them, or so near that the runner waits them out; or
 * no future at all.
 */
const SECONDS = ['100', '1000', '86400', '1000000', '315360000', '0', '-1', '-100'];
const MILLIS = ['100000', '1000000', '86400000', '100000000000', '8', '15', '0', '-1'];
const NO_TIME = [
  ...EDGE_INTEGERS,
  ...ODD_NUMBERS.filter((text) => !/^[+ ]?0*1 ?$/.test(text) && text !== '01'),
];
const INSTANTS = ['4102444800', '33000000000', '9999999999', '1', '100', '0', '-1', '1000000000'];

function time(random: Random, plain: readonly Bytes[]): Bytes {
  return random.percent(88) ? random.pick(plain) : random.pick(NO_TIME);
}

function oneOf(...words: readonly Bytes[]) {
  return (random: Random): Bytes[] => [random.pick(words)];
}

/** Mostly from the first list, now and then from the second. */
function rarely(share: number, often: readonly Bytes[], seldom: readonly Bytes[]) {
  return (random: Random): Bytes[] => [random.pick(random.percent(share) ? seldom : often)];
}

const BAD_IDS = [
  '0-0',
  '-',
  '+',
  '$',
  '>',
  'abc',
  '1-',
  '-1',
  '1-2-3',
  '18446744073709551616',
  '1-18446744073709551616',
  '',
  '01-1',
];
const IDS = ['0', '1', '1-0', '1-1', '2-0', '5-1', '5', '7-1', '100', '1000-0', '0-1', '99999999999-5'];

/** What programs begin with. */
const OFTEN = ['1-0', '1', '2-0', '5-0', '7-0', '1-1'];

function streamId(random: Random): Bytes {
  if (random.percent(45)) return random.pick(OFTEN);
  return random.percent(90) ? random.pick(IDS) : random.pick(BAD_IDS);
}

/** A coordinate, mostly near others; seldom the same as another, because equal distances have no order. */
function degrees(
  random: Random,
  centre: number,
  most: number,
  edges: readonly Bytes[],
  wrong: readonly Bytes[],
): Bytes {
  const roll = random.below(100);
  if (roll < 55) return String((centre * 1000 + random.between(-3000, 3000)) / 1000);
  if (roll < 85) return String(random.between(-most * 1000, most * 1000) / 1000);
  return random.pick(roll < 94 ? edges : wrong);
}

/** Programs add later and later entries, so that most of them are taken. */
const LATER_IDS = ['1-*', '1-*', '2-*', '5-*', '5-*', '7-*', '100-*', '1000-*'];

const GENERATORS: Record<string, (random: Random) => Bytes[]> = {
  any: (random) => [keyOf(random, '')],
  value: (random) => [value(random)],
  member: (random) => [member(random)],
  field: (random) => [member(random)],
  int: (random) => [integer(random)],
  float: (random) => [float(random)],
  plainScore: (random) => [random.pick([...INTEGERS, ...FLOATS.slice(0, 6)])],
  laterId: (random) => [random.pick(LATER_IDS)],
  score: (random) => [float(random)],
  attributes: rarely(
    30,
    ['{"n":1}', '{"n":2,"s":"x"}', '{"s":"1","n":null}', '{"n":3'],
    ['', 'x', '[1]', '{"n":1e9}'],
  ),
  condition: rarely(
    20,
    ['.n > 1', '.n == null', '.n < 3 and !.s', '.s == .n', '.n in [1, 2]', '.s in "xyz"', '1'],
    ['.zz', '.n +', '(1', '', '@', '.n ** 2 > 3', '2 2 =='],
  ),
  index: (random) => [random.percent(85) ? String(random.between(-6, 6)) : integer(random)],
  offset: rarely(
    10,
    ['0', '1', '2', '5', '10', '50', '300'],
    ['-1', '536870912', '4294967296', 'abc', '', '9223372036854775807'],
  ),
  count: rarely(
    12,
    ['0', '1', '2', '3', '10', '100'],
    ['-1', '-2', '-9223372036854775808', '9223372036854775807', '4611686018427387904', 'abc', '', '1.5'],
  ),
  positive: rarely(8, ['1', '2', '3', '5', '1000'], ['0', '-1', '9223372036854775807', 'x']),
  huge: oneOf('1000000', '1000000', '9223372036854775807', '0'),
  negative: oneOf('-1', '-3', '-10'),
  seconds: (random) => [time(random, SECONDS)],
  millis: (random) => [time(random, MILLIS)],
  at: (random) => [time(random, INSTANTS)],
  atms: (random) => [
    time(
      random,
      INSTANTS.map((text) => `${text}000`),
    ),
  ],
  // What blocks waits for ever or a moment, never a time that might end by chance.
  timeout: rarely(
    12,
    ['0', '0', '1000', '5000', '0.01'],
    ['-1', 'abc', 'inf', 'nan', '', '1e10', '9223372036854775807', '0x2000', '-0.0'],
  ),
  pattern: oneOf(
    '*',
    's*',
    '?1',
    '[a-z]?',
    'h[^2]',
    '*1',
    '\\*',
    '',
    '[',
    '[a',
    '[^',
    'a\\',
    '{a}*',
    '__*',
    '[z-a]1',
    '**1',
    'x',
    '*\xff*',
  ),
  cursor: rarely(15, ['0'], ['abc', '-1', '99999999999999999999', '', '01']),
  db: rarely(10, ['0', '1', '2'], ['15', '16', '-1', 'abc', '', '9223372036854775807', '1.5']),
  channel: oneOf('c1', 'c2', 'c3', '', 'c\0\xff', 'news.a'),
  channelPattern: oneOf('c*', 'c?', '*', 'news.*', 'c1', '', '[c]1'),
  sha: oneOf(
    'e0e1f9fabfc9d4800c877a703b823ac0578ff8db',
    'ffffffffffffffffffffffffffffffffffffffff',
    'abc',
    '',
  ),
  library: oneOf('la', 'lb', 'lc', 'l*', 'LA', '', 'l-', 'nosuch'),
  function: oneOf('fa', 'fb', 'fc', 'Fa', 'args', 'write', 'read', 'fails', 'count', 'nosuch', ''),
  name: oneOf('conn', 'a', '', 'two words', 'new\nline', '~tilde', '\xe9'),
  manyMembers: (random) => many(random, (i) => [`m${i}`]),
  manyNumbers: (random) => many(random, (i) => [String(i * 7)]),
  manyFields: (random) => many(random, (i) => [`f${i}`, String(i)]),
  manyScores: (random) => many(random, (i) => [String(i % 5), `m${i}`]),
  min: (random) => [random.percent(30) ? `(${float(random)}` : random.percent(40) ? '-inf' : float(random)],
  max: (random) => [random.percent(30) ? `(${float(random)}` : random.percent(40) ? '+inf' : float(random)],
  lexmin: (random) => [random.pick(['-', '-', '[a', '(a', '[b', '[', '(', '+', 'a', '', '[1', '(\xff'])],
  lexmax: (random) => [random.pick(['+', '+', '[c', '(c', '[e', '[', '(', '-', 'c', '', '[foo', '(\xff'])],
  xid: (random) => [streamId(random)],
  xstart: (random) => [
    random.percent(40) ? '-' : random.percent(20) ? `(${streamId(random)}` : streamId(random),
  ],
  xend: (random) => [
    random.percent(40) ? '+' : random.percent(20) ? `(${streamId(random)}` : streamId(random),
  ],
  xadd: rarely(
    10,
    ['1-*', '2-*', '5-*', '7-1', '9-9', '100-*', '1000-0', '5', '0-1', '0-*'],
    [...BAD_IDS, '18446744073709551615-18446744073709551615'],
  ),
  user: rarely(4, ['alice', 'alice', 'bob'], ['nobody', 'two words', '']),
  rule: rarely(
    10,
    [
      'on',
      'off',
      'nopass',
      'resetpass',
      '>pw',
      '>other',
      '<pw',
      'allkeys',
      'resetkeys',
      '~*',
      '~s*',
      '%R~l*',
      '%W~h*',
      '%RW~z*',
      'allchannels',
      'resetchannels',
      '&c1',
      '&c*',
      'allcommands',
      'nocommands',
      '+@all',
      '-@all',
      '+@read',
      '-@write',
      '+@string',
      '-@dangerous',
      '+get',
      '-set',
      '+config|get',
      '-client|id',
      '(+get ~n*)',
      '(+@write %W~t*)',
      'clearselectors',
      'sanitize-payload',
      'skip-sanitize-payload',
      'reset',
    ],
    [
      '',
      'nosuch',
      '+nosuch',
      '-@nosuch',
      '~',
      '<no',
      '%X~a',
      '(+get',
      '+get|a',
      '>',
      '#abc',
      '!abc',
      '(~a +nosuch)',
    ],
  ),
  group: rarely(6, ['grp', 'grp', 'grp', 'grp', 'grp', 'grp2'], ['', 'nogroup']),
  consumer: rarely(6, ['alice', 'bob'], ['', 'carol']),
  // Times without delivery are compared only where no test run comes near them.
  idle: rarely(8, ['0', '0', '0', '100000000'], ['-1', 'abc', '9223372036854775807']),
  bit: rarely(6, ['0', '1'], ['2', '-1', 'abc', '']),
  bitOffset: rarely(
    8,
    ['0', '1', '7', '8', '15', '100', '1000', '5000'],
    ['-1', '4294967296', 'abc', '9223372036854775807', ''],
  ),
  bitType: rarely(
    8,
    ['u1', 'u4', 'i5', 'u8', 'i8', 'u16', 'i32', 'u63', 'i64'],
    ['u64', 'i65', 'u0', 'x8', 'i', '8', ''],
  ),
  bitPlace: rarely(8, ['0', '3', '8', '#0', '#1', '#5', '100'], ['-1', '#-1', 'abc', '#', '4294967296']),
  longitude: (random) => [degrees(random, 14, 180, ['0', '180', '-180'], ['181', 'abc', 'nan', '-180.1'])],
  latitude: (random) => [degrees(random, 38, 85, ['0', '85.05112878', '-85.05112878'], ['86', 'abc', '-90'])],
  radius: rarely(8, ['1', '100', '200.5', '5000', '20000', '0'], ['-1', 'abc', 'nan', '1e300']),
  unit: rarely(6, ['m', 'km', 'ft', 'mi', 'KM'], ['cm', '']),
  side: rarely(4, ['LEFT', 'RIGHT'], ['left', 'Right', 'MIDDLE', '']),
  type: rarely(10, ['string', 'list', 'hash', 'set', 'zset', 'stream'], ['String', 'none', '', 'module']),
  client: oneOf('{client 0}', '{client 1}', '{client 2}', '0', '-1', '123456', 'abc'),
};

/** Draws the words of one kind; `3 keys` of a type after their number is `n:type`. */
export function draw(random: Random, kind: string): Bytes[] {
  const [name = '', type = ''] = kind.split(':');
  if (name === 'n') {
    const keys = Array.from({ length: random.pick([1, 1, 2, 2, 3]) }, () => keyOf(random, type));
    const count = random.percent(93)
      ? String(keys.length)
      : random.pick(['0', '-1', '1', '2', '5', 'abc', '9223372036854775807']);
    return [count, ...keys];
  }
  if (KEYS[name] !== undefined) return [keyOf(random, name)];
  const generator = GENERATORS[name];
  if (generator === undefined) throw new Error(`no words of the kind <${kind}>`);
  return generator(random);
}

/** An edge value to put in place of any argument; never a short time. */
export function edge(random: Random): Bytes {
  return random.pick([
    ...NO_TIME,
    ...ODD_VALUES.filter((text) => text !== ' 1'),
    ...ODD_KEYS,
    ...EDGE_FLOATS,
  ]);
}
