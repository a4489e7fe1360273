/** Sums of 80-bit floats, against what redis-server 7.0.15 answered to INCRBYFLOAT on x86-64. */
import { expect, test } from 'vitest';
import { addLongDoubles, formatLongDouble, parseLongDouble } from '../../protocol/long-double.ts';

/** The sum as text; 'invalid' and 'infinite' where there is none. */
function sum(a: string, b: string): string {
  const [left, right] = [parseLongDouble(a), parseLongDouble(b)];
  if (left === undefined || right === undefined) return 'invalid';
  const total = addLongDoubles(left, right);
  return total === undefined ? 'infinite' : formatLongDouble(total);
}

test.each([
  ['0', '0', '0'],
  ['3.0', '1.1', '4.1'],
  ['4.1', '1e3', '1004.09999999999999998'],
  ['0.1', '0.2', '0.3'],
  ['-0', '0', '0'],
  ['10', '-10', '0'],
  ['5.', '.5', '5.5'],
  ['+2', '0x10', '18'],
  ['0x.8p1', '0', '1'],
  ['18446744073709551616', '1', '18446744073709551616'],
  ['36893488147419103233', '0', '36893488147419103232'],
  ['9007199254740993.5', '0', '9007199254740993.5'],
  ['1e-19', '0', '0'],
  ['1e-4000', '0', '0'],
  ['1e-5000', '0', 'invalid'],
  ['1e4933', '0', 'invalid'],
  ['1e4932', '1e4932', 'infinite'],
  ['inf', '1', 'infinite'],
  ['nan', '1', 'invalid'],
  ['abc', '1', 'invalid'],
  ['', '1', 'invalid'],
  [' 1', '1', 'invalid'],
  ['1e', '1', 'invalid'],
  ['0x', '1', 'invalid'],
])('%s + %s = %s', (a, b, expected) => {
  expect(sum(a, b)).toBe(expected);
});

test('a number keeps 64 bits, and a large one is printed to its last digit', () => {
  expect(sum('123456789012345678901234567890', '1')).toBe('123456789012345678899921813504');
  expect(sum('1e100', '0')).toMatch(/^99999999999999999996693535322073426194986990198284960792713\d{41}$/);
});
