/** How commands that wait read a timeout in seconds. */
import { expect, test } from 'vitest';
import { secondsToWait } from '../../../server/table/timeouts.ts';

const client = { server: { now: 0, dialect: { farTimeout: 'refused' } } } as const;

test.each([
  ['0', 0],
  ['-0', 0],
  ['2', 2000],
  ['+2', 2000],
  ['007', 7000],
  ['2.5', 2500],
  ['0.0001', 1],
  ['999999999', 999_999_999_000],
  ['1000000000', 1e12],
])('%s seconds are %d milliseconds', (text, millis) => {
  expect(secondsToWait(client, text)).toBe(millis);
});

test.each([
  ['-1', 'ERR timeout is negative'],
  ['x', 'ERR timeout is not a float or out of range'],
  ['', 'ERR timeout is not a float or out of range'],
  ['9223372036854775807', 'ERR timeout is out of range'],
])("'%s' is refused", (text, error) => {
  expect(() => secondsToWait(client, text)).toThrow(error);
});
