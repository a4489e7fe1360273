/** Bytes as text for people: UTF-8 is decoded, and no character of it hides or turns the text beside it. */
import { expect, test } from 'vitest';
import { beginning, harmless, readable } from '../../page/text.ts';
import { fromText } from '../../protocol/bytes.ts';

test('UTF-8 is decoded, and bytes that are not UTF-8 are escaped', () => {
  expect(readable(fromText('käse:€:😀:plain'))).toBe('käse:€:😀:plain');
  expect(readable('a\xff\xc3(b\xe2\x82')).toBe('a\\xff\\xc3(b\\xe2\\x82');
  // A slash in two bytes, half a pair, and what lies beyond Unicode.
  expect(readable('\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80')).toBe(
    '\\xc0\\xaf \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80',
  );
});

test('control characters and those that turn the direction of writing are escaped', () => {
  expect(readable(fromText('a\0\n\u0085b\u202ec\u200bd\u2028'))).toBe(
    'a\\x00\\x0a\\x85b\\u{202e}c\\u{200b}d\\u{2028}',
  );
  expect(harmless('René\u2066 \ud83d')).toBe('René\\u{2066} \\u{d83d}');
  expect(beginning('ab😀', 3)).toBe('ab');
});
