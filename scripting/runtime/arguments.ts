/**
 * Reads KEYS[n] and ARGV[n]. As long as a script does nothing else with them, no tables are made: two tables take 30 to
 * 100 nanoseconds, up to an eighth of a short script.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import { indexNumber } from './operations.ts';
import type { Site } from './site.ts';
import { S } from './state.ts';
import type { LuaValue } from './values.ts';

/** KEYS[n] for an integer of at least 1. */
export function keyAt(n: number, site: Site): LuaValue {
  const { words, keysTable } = S;
  if (keysTable !== undefined) return indexNumber(keysTable, n, site);
  return n <= words.keys ? wordAt(words.argv, words.firstKey + n - 1) : undefined;
}

/** ARGV[n] for an integer of at least 1. */
export function argumentAt(n: number, site: Site): LuaValue {
  const { words, argvTable } = S;
  if (argvTable !== undefined) return indexNumber(argvTable, n, site);
  return wordAt(words.argv, words.firstKey + words.keys + n - 1);
}

function wordAt(argv: readonly Bytes[], at: number): Bytes | undefined {
  return at < argv.length ? argv[at] : undefined;
}
