/** What the commands on vector sets share: reading vectors and words as the server's module does, and its errors. */
import type { VectorSet } from '../../../keyspace/vector/vector-set.ts';
import {
  approximate,
  asciiUpper,
  type Bytes,
  cString,
  parseDouble,
  parseInteger,
  toBuffer,
} from '../../../protocol/bytes.ts';
import { fail, wrongArity } from '../../../protocol/errors.ts';
import type { Caller } from '../../server.ts';

/** A vector of a request. */
export interface GivenVector {
  readonly vector: Float32Array;
  /** The dimension that REDUCE asks for; 0 without REDUCE. */
  readonly reduced: number;
  /** The position of the word behind it. */
  readonly next: number;
}

const INVALID = 'ERR invalid vector specification';

/** A word as the module compares it: up to its first zero byte, in capitals. */
export function keyword(argv: readonly Bytes[], at: number): Bytes {
  return asciiUpper(cString(argv[at] ?? ''));
}

/** A 64-bit integer of at least this size, or an error. */
export function atLeast(least: number, text: Bytes | undefined, error: Bytes, most = Infinity): number {
  const value = approximate(parseInteger(text ?? '') ?? Number.NaN);
  return value >= least && value <= most ? value : fail(error);
}

/** Throws the error for a wrong number of words. The module checks it itself. */
export function checkWords(argv: readonly Bytes[], name: Bytes, least: number, most = least): void {
  if (argv.length < least || argv.length > most) throw wrongArity(name);
}

/**
 * Reads `[REDUCE dim] FP32 blob` or `[REDUCE dim] VALUES count value...`.
 * @param reducible whether REDUCE may come first
 */
export function givenVector(argv: readonly Bytes[], start: number, reducible: boolean): GivenVector {
  let at = start;
  let reduced = 0;
  if (reducible && argv.length > at + 2 && keyword(argv, at) === 'REDUCE') {
    // The server keeps the lower 32 bits.
    const whole = parseInteger(argv[at + 1] ?? '') ?? 0;
    if (whole <= 0) fail(INVALID);
    reduced = approximate(BigInt.asUintN(32, BigInt(whole)));
    at += 2;
  }
  const text = argv[at + 1];
  if (text === undefined) fail(INVALID);
  const form = keyword(argv, at);
  if (form === 'FP32') return { vector: fromBlob(text), reduced, next: at + 2 };
  if (form !== 'VALUES') fail(INVALID);
  const count = atLeast(1, text, INVALID, argv.length - at - 2);
  const vector = new Float32Array(count);
  for (let i = 0; i < count; i++) vector[i] = parseDouble(argv[at + 2 + i] ?? '') ?? fail(INVALID);
  return { vector, reduced, next: at + 2 + count };
}

function fromBlob(blob: Bytes): Float32Array {
  if (blob.length === 0 || blob.length % 4 !== 0) fail(INVALID);
  return new Float32Array(Uint8Array.from(toBuffer(blob)).buffer);
}

/** Throws the error for a vector of another dimension than that of the set. */
export function wrongDimension(set: VectorSet, dimension: number): never {
  return fail(`ERR Vector dimension mismatch - got ${dimension} but set has ${set.dimension}`);
}

/** Throws the error for a vector that the set's projection does not take. */
export function wrongInput(from: number, dimension: number): never {
  return fail(
    `ERR Input dimension mismatch for projection - got ${dimension} but projection expects ${from}`,
  );
}

/**
 * Runs a writing command's work on a key. Its module opens the key for writing, which fails the transactions that watch
 * it and invalidates cached copies even if nothing changes, and publishes no event.
 * @param work returns whether there is something to replicate
 */
export function opened<T>({ db }: Caller, key: Bytes, work: () => { reply: T; replicates: boolean }): T {
  let changes = 0;
  try {
    const { reply, replicates } = work();
    if (replicates) changes = 1;
    return reply;
  } finally {
    db.changed(key, 'opened', changes);
  }
}
