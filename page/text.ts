/** Makes text of bytes for people to read: what is UTF-8 is decoded, and nothing in it can hide or turn other text. */

/** A sequence of several bytes that may be one character of UTF-8, or one byte that is not ASCII. */
const SEQUENCE = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;
/** Characters that are not seen, or that change how the text beside them is shown, such as the direction of writing. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Bytes (latin1) as text. Bytes that are not UTF-8 become `\xff`, and characters that are not seen `\x07` or `\u{202e}`. */
export function readable(bytes: string): string {
  return harmless(bytes.replace(SEQUENCE, decoded));
}

/** Text in which each character can be seen. */
export function harmless(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** A short form of a text, without half a character at its end. */
export function beginning(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function decoded(sequence: string): string {
  try {
    return decodeURIComponent(sequence.replace(/./g, (byte) => `%${byte.charCodeAt(0).toString(16)}`));
  } catch {
    // Not the shortest form of a character, half a pair, or beyond Unicode.
    return sequence.replace(/./g, escaped);
  }
}

function escaped(letter: string): string {
  const code = letter.codePointAt(0) as number;
  const hex = code.toString(16);
  return code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`;
}
