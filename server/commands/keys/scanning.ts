/** What SCAN, HSCAN, SSCAN and ZSCAN share: reading their words. */

import { approximate, type Bytes, parseInteger } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { globMatch } from '../../../protocol/glob.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';

const CURSOR = /^[ \t\n\v\f\r]*[+-]?\d+$/;
const UINT64_MAX = 2n ** 64n - 1n;

/** Reads a cursor as C's strtoul does: signs are taken, nothing at all is 0. Throws what Redis answers. */
export function scanCursor({ server }: Caller, text: Bytes): number {
  if (server.dialect.cursors === 'plain digits' && !/^\d+$/.test(text)) fail('ERR invalid cursor');
  if (text === '') return 0;
  if (!CURSOR.test(text) || ' \t\n\v\f\r'.includes(text[0]!)) fail('ERR invalid cursor');
  const plain = parseInteger(text);
  if (typeof plain === 'number' && plain >= 0) return plain;
  const value = BigInt(text[0] === '+' ? text.slice(1) : text);
  const magnitude = value < 0n ? -value : value;
  if (magnitude > UINT64_MAX) fail('ERR invalid cursor');
  return approximate(BigInt.asUintN(64, value));
}

/** What a scan's options ask for. */
export interface ScanOptions {
  /** Roughly how many items to look at. */
  count: number;
  /** Which of them to answer. */
  matches(item: Bytes): boolean;
  /** SCAN's TYPE, as it was written. */
  type: Bytes | undefined;
}

/** Reads MATCH, COUNT and, where allowed, TYPE from a position on. Throws what Redis answers. */
export function scanOptions(argv: readonly Bytes[], from: number, withType = false): ScanOptions {
  const found: ScanOptions = { count: 10, matches: () => true, type: undefined };
  const options = new Options(argv, from);
  while (options.more()) {
    const option = options.next();
    const value = options.value();
    if (option === 'COUNT') {
      found.count = integer(value);
      if (found.count < 1) fail(SYNTAX);
    } else if (option === 'MATCH') {
      found.matches = value === '*' ? () => true : (item) => globMatch(value, item);
    } else if (option === 'TYPE' && withType) {
      found.type = value;
    } else {
      fail(SYNTAX);
    }
  }
  return found;
}
