/** MurmurHash64A, the hash of HyperLogLogs. */
import type { Bytes } from '../../protocol/bytes.ts';

const MULTIPLIER = 0xc6a4a7935bd1e995n;

function product(a: bigint, b: bigint): bigint {
  return BigInt.asUintN(64, a * b);
}

/** The unsigned 64-bit hash of a byte string. */
export function murmurHash64A(text: Bytes, seed: bigint): bigint {
  const { length } = text;
  const whole = length - (length % 8);
  let hash = seed ^ product(BigInt(length), MULTIPLIER);
  for (let at = 0; at < whole; at += 8) {
    let block = product(littleEndian(text, at, 8), MULTIPLIER);
    block = product(block ^ (block >> 47n), MULTIPLIER);
    hash = product(hash ^ block, MULTIPLIER);
  }
  if (whole < length) hash = product(hash ^ littleEndian(text, whole, length - whole), MULTIPLIER);
  hash = product(hash ^ (hash >> 47n), MULTIPLIER);
  return hash ^ (hash >> 47n);
}

function littleEndian(text: Bytes, from: number, bytes: number): bigint {
  let low = 0;
  let high = 0;
  for (let i = Math.min(4, bytes) - 1; i >= 0; i--) low = low * 256 + text.charCodeAt(from + i);
  for (let i = bytes - 1; i >= 4; i--) high = high * 256 + text.charCodeAt(from + i);
  return (BigInt(high) << 32n) | BigInt(low);
}
