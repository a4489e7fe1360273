/** The quoting of inline requests. */
import { expect, test } from 'vitest';
import {
  quoted,
  quotedIfNeeded,
  splitInline,
  VALKEY_8_WORDS,
  VALKEY_9_WORDS,
} from '../../protocol/inline.ts';

test.each<[line: string, argv: string[] | undefined]>([
  ['', []],
  [' \t\v\f\r', []],
  ['set a b', ['set', 'a', 'b']],
  ['  set   a  ', ['set', 'a']],
  ['"a b" \'c d\'', ['a b', 'c d']],
  ['""', ['']],
  ["''", ['']],
  ['"\\x41\\xfF\\x0"', ['A\xffx0']],
  ['"\\n\\r\\t\\b\\a\\"\\\\\\z"', ['\n\r\t\b\x07"\\z']],
  ["'\\'\\n\\x41'", ["'\\n\\x41"]],
  ['a"b c"', ['ab c']],
  ["a'b c'", ['ab c']],
  ['a\\x41', ['a\\x41']],
  ['a\vb', ['a\vb']],
  ['"a"\vb', ['a', 'b']],
  ['"a"b', undefined],
  ['"a"\'b\'', undefined],
  ["'a'b", undefined],
  ['"a', undefined],
  ["'a", undefined],
  ['"a\\', undefined],
  ['"a\\"', undefined],
  ["'a\\'", undefined],
  ['__proto__ constructor "\\toString"', ['__proto__', 'constructor', '\toString']],
])('%j is %j', (line, argv) => {
  expect(splitInline(line)).toEqual(argv);
});

test.each<[line: string, argv: string[] | undefined]>([
  ['"a"b', ['ab']],
  ['a"b"c', ['abc']],
  ['\'a\'"b"', ['ab']],
  ['"a""b"', ['ab']],
  ['""b b""', ['b', 'b']],
  ['"a b"c d', ['a bc', 'd']],
  ['"a\\"', ['a\\']],
  ["'a\\'", ['a\\']],
  ["'\\\\'", ['\\\\']],
  ['"\\\\\\"', ['\\\\']],
  ['"a\\" \\"', ['a" \\']],
  ['"a\\" b"', ['a" b']],
  ['"a\\"  ', undefined],
  ["'a\\' ", undefined],
  ['"a\\"b', undefined],
  ['\\"a', undefined],
  ['"a"\v', ['a\v']],
  ['a \v', ['a']],
  ['"a\xffb" \xff \'\xff\'', ['ab', '', '']],
  ['"\\xff"', ['\xff']],
])('%j is %j in Valkey 9 (asked of valkey-server 9.1.2)', (line, argv) => {
  expect(splitInline(line, VALKEY_9_WORDS)).toEqual(argv);
});

test('Valkey 8.1 leaves bytes 0xff out, and closes quotes as Redis does', () => {
  expect(splitInline('"a\xffb" \xff', VALKEY_8_WORDS)).toEqual(['ab', '']);
  expect(splitInline('"a"b', VALKEY_8_WORDS)).toBeUndefined();
});

test('a quoted word is read back as it was, whatever bytes it has', () => {
  const all = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
  expect(quoted('a"\\\n\x7f')).toBe('"a\\"\\\\\\n\\x7f"');
  expect(['plain:1.2#', '', 'a b', "it's", '\n'].map(quotedIfNeeded)).toEqual([
    'plain:1.2#',
    '""',
    '"a b"',
    '"it\'s"',
    '"\\n"',
  ]);
  for (const word of [all, ...all]) expect(splitInline(`${quotedIfNeeded(word)} x`)).toEqual([word, 'x']);
});
