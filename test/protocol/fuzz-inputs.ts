/** Numbered inputs for fuzzing: mutated conversations, random tokens, and commands with odd arguments. */
import type { Bytes } from '../../protocol/bytes.ts';
import { request } from '../support/reply-text.ts';

/** A small random number generator for each input, so that a failing input can be made again from its number. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  }

  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}

const tokens: readonly Bytes[] = [
  ...[
    '*',
    '$',
    '\r',
    '\n',
    '\r\n',
    ' ',
    '\0',
    '"',
    "'",
    '\\',
    '\\x',
    '-',
    '+',
    ':',
    '0',
    '1',
    '2',
    '9',
    '12',
  ],
  ...['-1', '2147483647', '2147483648', '536870912', '9223372036854775807', '18446744073709551616', '1e3'],
  ...['*1\r\n', '*2\r\n', '*3\r\n', '$0\r\n\r\n', '$4\r\nPING\r\n', '$3\r\nSET\r\n', 'PING\r\n', 'GET a\r\n'],
  ...['\xff', '\x80', 'a', 'x'.repeat(70), 'POST', 'Host:', '*0\r\n', '*-1\r\n'],
];

/** A sequence of random tokens. */
function babble(chance: Chance): Bytes {
  let text = '';
  for (let left = 1 + chance.below(20); left > 0; left--) text += chance.pick(tokens);
  return text;
}

/** A seed with some of its bytes changed, removed, repeated or replaced by tokens. */
function mutate(chance: Chance, seed: Bytes): Bytes {
  let text = seed;
  for (let left = 1 + chance.below(4); left > 0; left--) {
    const at = chance.below(text.length + 1);
    const end = Math.min(text.length, at + chance.below(6));
    const put = [
      '',
      String.fromCharCode(chance.below(256)),
      text.slice(at, end).repeat(2),
      chance.pick(tokens),
    ];
    text = text.slice(0, at) + chance.pick(put) + text.slice(end);
  }
  return text;
}

/** Arguments that are hard for commands. Counts are small because a server may allocate as much memory as they ask for. */
const words: readonly Bytes[] = [
  ...['a', 'b', 'c', '{t}a', '{t}b', '', '__proto__', 'constructor', 'toString', '\0', '\xff\xfe', 'a\r\nb'],
  ...[
    '0',
    '1',
    '-1',
    '2',
    '3',
    '-2',
    '10',
    '100',
    '007',
    '+1',
    ' 1',
    '1.5',
    '-0',
    'inf',
    '-inf',
    'nan',
    '1e400',
  ],
  ...['9223372036854775807', '-9223372036854775808', '9223372036854775808', '9007199254740993', '4294967296'],
  ...['(1', '[a', '(a', '-', '+', '*', '?', '[', '~', '$', '>', '>9', '0-0', '0-1', '5-*', '*a*b*c*d'],
  ...[
    'EX',
    'PX',
    'NX',
    'XX',
    'GT',
    'LT',
    'CH',
    'INCR',
    'GET',
    'KEEPTTL',
    'PXAT',
    'PERSIST',
    'MATCH',
    'COUNT',
  ],
  ...['LIMIT', 'BYSCORE', 'BYLEX', 'REV', 'WITHSCORES', 'WITHVALUES', 'STORE', 'WEIGHTS', 'AGGREGATE', 'MAX'],
  ...[
    'LEFT',
    'RIGHT',
    'BEFORE',
    'AFTER',
    'RANK',
    'MAXLEN',
    'MINID',
    'NOMKSTREAM',
    'STREAMS',
    'GROUP',
    'CREATE',
  ],
  ...[
    'REPLACE',
    'DB',
    'IDLETIME',
    'FREQ',
    'ASYNC',
    'LEN',
    'IDX',
    'BY',
    'ALPHA',
    'ASC',
    'DESC',
    'TYPE',
    'string',
  ],
  ...['return 1', 'return redis.call(KEYS[1])', 'return {1,{2,{3}}}', '#!lua flags=x\nreturn 1', 'return '],
];

/** One of the commands with random arguments, in most cases as many as it takes. */
function command(chance: Chance, names: readonly Bytes[]): Bytes {
  const argv = [...chance.pick(names).split('|')];
  for (let left = chance.below(7); left > 0; left--) argv.push(chance.pick(words));
  return request(...argv);
}

/** Input number `index`: a mutated seed, random tokens, or one of the commands. */
export function fuzzInput(index: number, seeds: readonly Bytes[], names: readonly Bytes[]): Bytes {
  const chance = new Chance(index);
  const kind = chance.below(names.length > 0 ? 6 : 3);
  if (kind === 0) return babble(chance);
  if (kind <= 2) return mutate(chance, chance.pick(seeds));
  let text = '';
  for (let left = 1 + chance.below(4); left > 0; left--) text += command(chance, names);
  return chance.below(5) === 0 ? mutate(chance, text) : text;
}
