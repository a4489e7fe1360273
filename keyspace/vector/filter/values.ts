/** The values of filter expressions, and how they become numbers and truth. */
import { type Bytes, cString, parseAnyDouble } from '../../../protocol/bytes.ts';

/** A value: of a literal, of an attribute, or of an operation. */
export type FilterValue =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'string'; readonly text: Bytes }
  | { readonly kind: 'list'; readonly items: readonly FilterValue[] }
  | { readonly kind: 'null' };

/** Longer texts count as 0. */
const TEXT_MAX = 255;
const NAN = /^[+-]?nan(\(\w*\))?$/i;

export function numberValue(number: number): FilterValue {
  return { kind: 'number', number };
}

/** True for the blanks of C's isspace. */
export function isBlank(char: Bytes | undefined): boolean {
  return char !== undefined && /[ \t-\r]/.test(char);
}

/** The number of a value. A text counts as C's strtod reads it, and as 0 when something is left over. */
export function toNumber(value: FilterValue): number {
  if (value.kind === 'number') return value.number;
  if (value.kind !== 'string' || value.text.length > TEXT_MAX) return 0;
  const text = cString(value.text).replace(/^[ \t-\r]+/, '');
  if (NAN.test(text)) return Number.NaN;
  return parseAnyDouble(text) ?? 0;
}

/** True unless the value is 0, empty text, or null. A list is true. */
export function isTrue(value: FilterValue): boolean {
  if (value.kind === 'number') return value.number !== 0;
  return value.kind === 'string' ? value.text !== '' : value.kind === 'list';
}

/** Compares texts as texts, null with null alone, and everything else as numbers. */
export function areEqual(a: FilterValue, b: FilterValue): boolean {
  if (a.kind === 'string' && b.kind === 'string') return a.text === b.text;
  if (a.kind === 'null' || b.kind === 'null') return a.kind === b.kind;
  return toNumber(a) === toNumber(b);
}
