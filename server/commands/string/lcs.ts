/** LCS: the longest common subsequence of two strings, with its ranges (https://redis.io/docs/latest/commands/lcs/). */
import { allocateOutside } from '../../../protocol/allowance.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { MapReply, type Reply } from '../../../protocol/reply.ts';
import { integer, Options } from '../../table/arguments.ts';

/** The bytes of one cell of the table. */
const CELL_BYTES = 4;

interface LcsOptions {
  length: boolean;
  ranges: boolean;
  minimum: number;
  withLength: boolean;
}

/**
 * Returns the reply of LCS for two strings. Throws Redis' error for wrong options, and for strings whose table would
 * exceed the limit.
 * @param words the words behind the keys
 * @param most the limit of the table, in bytes
 */
export function lcs(a: Bytes, b: Bytes, words: readonly Bytes[], most: number): Reply {
  const options = parse(words);
  if (a.length >= 2 ** 32 - 1 || b.length >= 2 ** 32 - 1) fail('ERR String too long for LCS');
  if ((a.length + 1) * (b.length + 1) * CELL_BYTES > most) {
    fail('ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len');
  }
  allocateOutside((a.length + 1) * (b.length + 1) * CELL_BYTES);
  const table = lengths(a, b);
  const total = table[table.length - 1] ?? 0;
  if (options.length) return total;
  const { text, ranges } = trace(a, b, table);
  if (!options.ranges) return text;
  const shown = ranges.filter((range) => range.length >= options.minimum);
  const matches = shown.map(({ a: i, b: j, length }): Reply => {
    const both: Reply[] = [
      [i, i + length - 1],
      [j, j + length - 1],
    ];
    return options.withLength ? [...both, length] : both;
  });
  return new MapReply(['matches', matches, 'len', total]);
}

function parse(words: readonly Bytes[]): LcsOptions {
  const parsed: LcsOptions = { length: false, ranges: false, minimum: 0, withLength: false };
  const options = new Options(words, 0);
  while (options.more()) {
    const option = options.next();
    if (option === 'IDX') parsed.ranges = true;
    else if (option === 'LEN') parsed.length = true;
    else if (option === 'WITHMATCHLEN') parsed.withLength = true;
    else if (option === 'MINMATCHLEN') parsed.minimum = Math.max(0, integer(options.value()));
    else fail(SYNTAX);
  }
  if (parsed.length && parsed.ranges) {
    fail('ERR If you want both the length and indexes, please just use IDX.');
  }
  return parsed;
}

/** Returns the length of the longest common subsequence of each pair of prefixes, row by row. */
function lengths(a: Bytes, b: Bytes): Uint32Array {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = 1; i <= a.length; i++) {
    const row = i * width;
    const code = a.charCodeAt(i - 1);
    for (let j = 1; j <= b.length; j++) {
      const above = row - width + j;
      table[row + j] =
        code === b.charCodeAt(j - 1) ? table[above - 1]! + 1 : Math.max(table[above]!, table[row + j - 1]!);
    }
  }
  return table;
}

/** Traces the table back from its end. Returns the text and its contiguous ranges, the last one first. */
function trace(a: Bytes, b: Bytes, table: Uint32Array) {
  const width = b.length + 1;
  const ranges: { a: number; b: number; length: number }[] = [];
  const text: string[] = [];
  let open: { a: number; b: number; length: number } | undefined;
  for (let i = a.length, j = b.length; i > 0 && j > 0; ) {
    if (a.charCodeAt(i - 1) !== b.charCodeAt(j - 1)) {
      if (table[(i - 1) * width + j]! > table[i * width + j - 1]!) i--;
      else j--;
      open = undefined;
      continue;
    }
    i--;
    j--;
    text.push(a.charAt(i));
    if (open === undefined) ranges.push((open = { a: i, b: j, length: 0 }));
    open.a = i;
    open.b = j;
    open.length++;
  }
  return { text: text.reverse().join(''), ranges };
}
