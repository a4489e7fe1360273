/** FILTER beside the real servers: generated expressions, valid and not, over generated attributes, JSON and not. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { Beside, labelled } from '../../../support/beside/beside.ts';
import { testBeside } from '../../../support/beside/each.ts';
import { vectorDialects } from './vectors.ts';

/** Expressions and attributes in which the servers or their versions have their peculiarities. */
const EXPRESSIONS = String.raw`
null|.n == null|null == null|1 null|!null|(null)|null&&1|null null ==|null in [1]|!(.n == null)
'a' in 'abc'|"" in "abc"|1 in "123"|.s in "xabc"|'c' in .s|.n in .l|1 in .l|"x" in .l|1 in 1
2 2 ==|1 1 and|2 'x' ==|not not 1|!!1|!(!(1))|- 1|3 -1|.a -1 == 0|1 - -1 == 2|1--1|(-.a)|1 in [- 1]
2 ** 3 ** 2 == 512|2 ** 0.5 > 1.41|1 ** (0/0)|-2 ** 2|5 % 3 == 2|-5 % 3 == -2|5 % 0|5 / 0 > 100|0/0
.|1 + .|.zz|!.zz|1 or .zz|.a.b|..a|.k-x_y == 3|.0|.A|.o|.e|!.e|.h + 0 == 16|.w + 0 == 7|.i > 5|.x + 0
1e3 == 1000|1.e3|.5|0.5|1e|0x10|1_0|1and1|1 andnot 0|5andor|true|1 2|(1|1)|()|[1,2|[1 2]|[1,]|[,]|1 in [[1]]
'abc|"a\"b" == 'a"b'|'a\'b' == 'a\'b'|1.2.3|5 and|5 =1|5 === 1|5 <> 1|5 & 1|@| |1 AND 1|[1] == [1]|[1] == 0
`
  .trim()
  .split(/[|\n]/)
  // The bar separates, and is an operator too.
  .concat(
    '0 || 1',
    '.a==1||.zz==1',
    '5 | 1',
    '',
    '1'.repeat(255),
    '1'.repeat(256),
    `'${'9'.repeat(256)}' > 1`,
    '1\0@',
    '@\0',
  );

const ATTRIBUTES = [
  `{"a":1,"n":null,"t":true,"f":false,"o":{"x":1},"l":[1,"x",null],"s":"abc","e":"","k-x_y":3,"h":"0x10","w":" 7","i":"inf","x":"nan","0":5}`,
  String.raw`{"s":"q\u0041\n\"\\","l":["a\"b", [1], true ],"a":-1.5e2}`,
  '{"a":1',
  '{"a":1}x',
  '{,"a":1}',
  ' { "b" : [ } ] , "a" : 01 }',
  '{"b":{]},"a":+1}',
  '{"b":"\\"a\\":5","a":.5}',
  '{"a":truex}',
  '{"a":true }',
  '{"a":[1,]}',
  '{"a":[1]',
  '{"b":nul,"a":1}',
  '{"b":-,"a":1}',
  '{"A":0,"a":1,"a":2}',
  '{"a":1e400}',
  `{"a":${'1'.repeat(300)}}`,
  '{"a":12abc}',
  '{"b":1\t,\n"a":\v1}',
  '[1]',
  '{}',
  'x',
  '{"a":1\0}',
];

const literal = fc.oneof(
  fc.integer({ min: -9, max: 99 }).map(String),
  fc.constantFrom('1.5', '1e2', '0', "'a'", '"b"', "''", "'12'", 'null', '[1, 2]', '["a",12]', '[]'),
  fc.constantFrom('.a', '.s', '.l', '.n', '.t', '.o', '.zz', '.e'),
);
const operator = fc.constantFrom(...'+ - * / % ** < <= > >= == != in and or && ||'.split(' '));
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    literal,
    fc.tuple(tie('expression'), operator, tie('expression')).map((parts) => parts.join(' ')),
    tie('expression').map((inner) => `(${inner})`),
    tie('expression').map((inner) => `not ${inner}`),
    tie('expression').map((inner) => `!(${inner})`),
  ),
}));
/** What is hardly ever valid: the position of the error matters. */
const noise = fc
  .array(
    fc.constantFrom(...'( ) [ ] , . - ! = & | < > * 1 23 .a \' " null and in not \\ @'.split(' '), ' '),
    {
      maxLength: 10,
    },
  )
  .map((parts) => parts.join(''));

testBeside(vectorDialects, '%s filters alike', async (dialect) => {
  await using both = await Beside.start([], dialect);
  const places = ATTRIBUTES.map((attributes, i) => [
    'VADD',
    'k',
    'VALUES',
    '1',
    '1',
    `e${i}`,
    'SETATTR',
    attributes,
  ]);
  const plain = ['VADD', 'k', 'VALUES', '1', '1', 'plain'];
  await both.askWords([...places, plain]);
  const search = (text: string): string[] => [
    'VSIM',
    'k',
    'ELE',
    'plain',
    'TRUTH',
    'COUNT',
    '99',
    'FILTER',
    text,
  ];
  const compare = async (texts: readonly string[]): Promise<void> => {
    const { ours, theirs } = await both.askWords(texts.map(search));
    expect(labelled(texts, ours)).toEqual(labelled(texts, theirs));
  };
  await compare(EXPRESSIONS);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 3, arbitrary: expression }, noise), { maxLength: 20 }),
      compare,
    ),
    { numRuns: 15 },
  );
});
