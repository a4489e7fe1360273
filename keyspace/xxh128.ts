/** XXH3's 128-bit hash, which Redis 8.6 uses to name an idempotent entry by its content. Written from the specification. */
import {
  avalanche,
  avalanche64,
  hashState,
  MASK,
  mergeSums,
  mix16,
  multiply,
  PRIME_MX2,
  PRIME32_2,
  PRIME64_1,
  PRIME64_2,
  PRIME64_4,
  rotateLeft,
  SECRET_LENGTH,
  secret32,
  secret64,
  swap64,
} from './xxh3.ts';

/** A 128-bit hash. */
export interface Hash128 {
  readonly low: bigint;
  readonly high: bigint;
}

/** The 128-bit XXH3 of the data, with seed 0 and the default secret. */
export function xxh128(data: Buffer): Hash128 {
  const length = data.length;
  if (length === 0) {
    return {
      low: avalanche64(secret64(64) ^ secret64(72)),
      high: avalanche64(secret64(80) ^ secret64(88)),
    };
  }
  if (length <= 3) return hash1to3(data);
  if (length <= 8) return hash4to8(data);
  if (length <= 16) return hash9to16(data);
  if (length <= 240) return hash17to240(data);
  const sums = hashState(data);
  const size = BigInt(length);
  return {
    low: mergeSums(sums, 11, multiply(size, PRIME64_1)),
    high: mergeSums(sums, SECRET_LENGTH - 64 - 11, ~multiply(size, PRIME64_2) & MASK),
  };
}

function swap32(value: bigint): bigint {
  return swap64(value) >> 32n;
}

function hash1to3(data: Buffer): Hash128 {
  const length = data.length;
  const [first, middle, last] = [data[0]!, data[length >> 1]!, data[length - 1]!].map(BigInt);
  const low = (first! << 16n) | (middle! << 24n) | last! | (BigInt(length) << 8n);
  const swapped = swap32(low);
  const high = ((swapped << 13n) | (swapped >> 19n)) & 0xffffffffn;
  return {
    low: avalanche64(low ^ (secret32(0) ^ secret32(4))),
    high: avalanche64(high ^ (secret32(8) ^ secret32(12))),
  };
}

function hash4to8(data: Buffer): Hash128 {
  const length = data.length;
  const input = BigInt(data.readUInt32LE(0)) + (BigInt(data.readUInt32LE(length - 4)) << 32n);
  const keyed = input ^ (secret64(16) ^ secret64(24));
  const product = keyed * (PRIME64_1 + (BigInt(length) << 2n));
  let low = product & MASK;
  const high = ((product >> 64n) + (low << 1n)) & MASK;
  low ^= high >> 3n;
  low ^= low >> 35n;
  low = multiply(low, PRIME_MX2);
  low ^= low >> 28n;
  return { low, high: avalanche(high) };
}

function hash9to16(data: Buffer): Hash128 {
  const length = data.length;
  const first = data.readBigUInt64LE(0);
  let last = data.readBigUInt64LE(length - 8);
  const product = (first ^ last ^ secret64(32) ^ secret64(40)) * PRIME64_1;
  let low = ((product & MASK) + (BigInt(length - 1) << 54n)) & MASK;
  last ^= secret64(48) ^ secret64(56);
  const high = ((product >> 64n) + last + (last & 0xffffffffn) * (PRIME32_2 - 1n)) & MASK;
  low ^= swap64(high);
  const mixed = low * PRIME64_2;
  return {
    low: avalanche(mixed & MASK),
    high: avalanche(((mixed >> 64n) + multiply(high, PRIME64_2)) & MASK),
  };
}

/** Mixes two chunks of 16 bytes into both halves. */
function mix32(
  [low, high]: [bigint, bigint],
  data: Buffer,
  a: number,
  b: number,
  secret: number,
): [bigint, bigint] {
  const sum = (at: number): bigint => (data.readBigUInt64LE(at) + data.readBigUInt64LE(at + 8)) & MASK;
  return [
    ((low + mix16(data, a, secret)) & MASK) ^ sum(b),
    ((high + mix16(data, b, secret + 16)) & MASK) ^ sum(a),
  ];
}

function hash17to240(data: Buffer): Hash128 {
  const length = data.length;
  const size = BigInt(length);
  let halves: [bigint, bigint] = [multiply(size, PRIME64_1), 0n];
  if (length <= 128) {
    for (let i = (length - 1) >> 5; i >= 0; i--) {
      halves = mix32(halves, data, 16 * i, length - 16 * (i + 1), 32 * i);
    }
  } else {
    for (let i = 32; i < 160; i += 32) halves = mix32(halves, data, i - 32, i - 16, i - 32);
    halves = [avalanche(halves[0]), avalanche(halves[1])];
    for (let i = 160; i <= length; i += 32) halves = mix32(halves, data, i - 32, i - 16, 3 + i - 160);
    halves = mix32(halves, data, length - 16, length - 32, 136 - 17 - 16);
  }
  const [low, high] = halves;
  const mixed = multiply(low, PRIME64_1) + multiply(high, PRIME64_4) + multiply(size, PRIME64_2);
  return { low: avalanche((low + high) & MASK), high: -avalanche(mixed & MASK) & MASK };
}

/**
 * The hash of an entry's fields and values, whatever their order: 16 bytes. Each pair is hashed with the length of its
 * field in between, and the hashes are combined by sum and by XOR.
 */
export function entryHash(fields: readonly Buffer[]): Buffer {
  let [sumLow, sumHigh, xorLow, xorHigh] = [0n, 0n, 0n, 0n];
  for (let i = 0; i < fields.length; i += 2) {
    const field = fields[i]!;
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(field.length));
    const { low, high } = xxh128(Buffer.concat([field, length, fields[i + 1]!]));
    sumLow = (sumLow + low) & MASK;
    sumHigh = (sumHigh + high) & MASK;
    xorLow ^= low;
    xorHigh ^= high;
  }
  const out = Buffer.alloc(16);
  out.writeBigUInt64LE(sumLow ^ rotateLeft(xorHigh, 1n), 0);
  out.writeBigUInt64LE(sumHigh ^ rotateLeft(xorLow, 1n), 8);
  return out;
}
