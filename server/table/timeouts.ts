/** How commands that wait read their timeout. */
import { type Bytes, type Millis, parseAnyDouble, parseInteger } from '../../protocol/bytes.ts';
import { fail } from '../../protocol/errors.ts';
import { parseLongDouble } from '../../protocol/long-double.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { integer } from './arguments.ts';

/** The client, as far as a timeout depends on its node. */
interface Waiter {
  readonly server: { readonly now: Millis; readonly dialect: Pick<Dialect, 'farTimeout'> };
}

const NEGATIVE = 'ERR timeout is negative';
/** The first number that does not fit into 64 bits with a sign. */
export const INT64_END = 2 ** 63;
/** In seconds. Nearly all timeouts are smaller, and have no fraction. */
const WHOLE_MAX = 1e9;

/** Refuses a timeout whose end cannot be represented in 64 bits, if the server does. */
function checkEnd({ server }: Waiter, millis: Millis): void {
  if (server.dialect.farTimeout === 'refused' && millis + server.now >= INT64_END)
    fail('ERR timeout is out of range');
}

/**
 * Reads a timeout in seconds. Returns whole milliseconds, rounded up; 0: no limit. Throws Redis' error for anything but a
 * number, and for one that is negative or too large.
 */
export function secondsToWait(client: Waiter, text: Bytes): Millis {
  const whole = parseInteger(text);
  if (typeof whole === 'number' && whole >= 0 && whole < WHOLE_MAX) return whole * 1000;
  // Redis reads a long double, which has a larger range than a double.
  if (parseLongDouble(text) === undefined) fail('ERR timeout is not a float or out of range');
  const millis = (parseAnyDouble(text) ?? 0) * 1000;
  checkEnd(client, millis);
  // In 7.0 values too large for 64 bits become negative, and its 80-bit floats round -0.001 up to 0.
  if (millis < -1 || millis >= INT64_END) fail(NEGATIVE);
  // A double's rounding error may make 57 ms slightly more than 57.
  return millis <= 0 ? 0 : Math.max(1, Math.ceil(millis - 1e-9));
}

/**
 * Reads a timeout in milliseconds; 0: no limit. Throws Redis' error for anything but an integer, and for one that is
 * negative or too large.
 */
export function millisToWait(client: Waiter, text: Bytes): Millis {
  const millis = integer(text, 'ERR timeout is not an integer or out of range');
  if (millis < 0) fail(NEGATIVE);
  checkEnd(client, millis);
  return millis;
}
