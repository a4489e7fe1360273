/** Shared parts of SCAN, HSCAN, SSCAN and ZSCAN: reading their arguments. */

import {
  approximate,
  asciiLower,
  asciiUpper,
  type Bytes,
  cString,
  parseInteger,
  stripBlanks,
} from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { globTest } from '../../../protocol/glob.ts';
import { SLOT_COUNT } from '../../../protocol/slot.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';

const CURSOR = /^[ \t\n\v\f\r]*[+-]?\d+$/;
const BLANKS = ' \t\n\v\f\r';
const TYPES: ReadonlySet<Bytes> = new Set(['string', 'list', 'set', 'zset', 'hash', 'stream']);
const BAD_SLOT = 'ERR Invalid or out of range slot';
const UINT64_MAX = 2n ** 64n - 1n;

/**
 * Reads a cursor as C's strtoul does: it may have a sign, and empty text is 0. Newer servers take blanks before it, but no
 * empty text, and a minus only before what is no plain integer. Throws Redis' error for a bad cursor.
 */
export function scanCursor({ server }: Caller, given: Bytes): number {
  const newer = server.dialect.cursors === 'with blanks';
  const text = newer ? stripBlanks(cString(given)) : cString(given);
  if (text === '' && !newer) return 0;
  if (!CURSOR.test(text) || (!newer && BLANKS.includes(text[0]!))) fail('ERR invalid cursor');
  const plain = parseInteger(text);
  if (typeof plain === 'number' && plain >= 0) return plain;
  if (newer && plain !== undefined && plain < 0 && cString(given) === text) fail('ERR invalid cursor');
  const value = BigInt(text[0] === '+' ? text.slice(1) : text);
  const magnitude = value < 0n ? -value : value;
  if (magnitude > UINT64_MAX) fail('ERR invalid cursor');
  return approximate(BigInt.asUintN(64, value));
}

/** True for the type of a user's commands, whose word may be written in any case. */
function isOwnType({ declared }: Caller['server'], word: Bytes): boolean {
  for (const { spec } of declared.values())
    if (spec.valueType !== undefined && asciiLower(spec.valueType) === asciiLower(word)) return true;
  return false;
}

export interface ScanOptions {
  /** Approximately how many items to examine. */
  count: number;
  /** Whether an item is part of the reply. */
  matches(item: Bytes): boolean;
  /** The argument of SCAN's TYPE, unchanged. */
  type: Bytes | undefined;
  /** The pattern of MATCH; undefined without it. */
  pattern: Bytes | undefined;
  /** The argument of CLUSTERSCAN's SLOT. */
  slot: number | undefined;
  /** True if only fields or members are wanted, without values or scores. */
  namesOnly: boolean;
}

/** The options that leave values or scores out, and the command of each. */
const NAMES_ONLY: Record<string, 'hscan' | 'zscan'> = { NOVALUES: 'hscan', NOSCORES: 'zscan' };

/**
 * Reads the options from a position on. Throws Redis' error for bad ones.
 * @param command which of the four commands it is
 */
export function scanOptions(
  { server }: Caller,
  argv: readonly Bytes[],
  from: number,
  command: 'scan' | 'hscan' | 'sscan' | 'zscan' | 'clusterscan',
): ScanOptions {
  const found: ScanOptions = {
    count: 10,
    matches: () => true,
    type: undefined,
    pattern: undefined,
    slot: undefined,
    namesOnly: false,
  };
  const scansKeys = command === 'scan' || command === 'clusterscan';
  const options = new Options(argv, from);
  while (options.more()) {
    const option = options.next();
    const only = NAMES_ONLY[option];
    if (only !== undefined && server.vocabulary.knows(only, option)) {
      if (only !== command) fail(`ERR ${option} option can only be used in ${asciiUpper(only)}`);
      found.namesOnly = true;
      continue;
    }
    const value = options.value();
    if (option === 'COUNT') {
      found.count = integer(value);
      if (found.count < 1) fail(SYNTAX);
    } else if (option === 'MATCH') {
      found.pattern = value;
      found.matches = value === '*' ? () => true : globTest(value);
    } else if (option === 'TYPE' && scansKeys) {
      found.type = value;
      const known =
        server.dialect.unknownType !== 'refused' || TYPES.has(asciiLower(value)) || isOwnType(server, value);
      if (!known) fail(`ERR unknown type name '${cString(value)}'`);
    } else if (option === 'SLOT' && command === 'clusterscan') {
      if (found.slot !== undefined) fail('ERR SLOT option can only be specified once');
      found.slot = integer(value, BAD_SLOT);
      if (found.slot < 0 || found.slot >= SLOT_COUNT) fail(BAD_SLOT);
    } else {
      fail(SYNTAX);
    }
  }
  return found;
}
