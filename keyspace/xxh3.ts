/** XXH3, the 64-bit hash of Redis 8.4's DIGEST, written from the algorithm's specification. */
import { type Bytes, narrow, toBuffer } from '../protocol/bytes.ts';

export const MASK = 0xffffffffffffffffn;
const PRIME32_1 = 0x9e3779b1n;
export const PRIME32_2 = 0x85ebca77n;
const PRIME32_3 = 0xc2b2ae3dn;
export const PRIME64_1 = 0x9e3779b185ebca87n;
export const PRIME64_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME64_3 = 0x165667b19e3779f9n;
export const PRIME64_4 = 0x85ebca77c2b2ae63n;
const PRIME64_5 = 0x27d4eb2f165667c5n;
const PRIME_MX1 = 0x165667919e3779f9n;
export const PRIME_MX2 = 0x9fb21c651e98df25n;

/** The specification's default secret, 192 bytes. */
const SECRET = Buffer.from(
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e',
  'hex',
);

export const SECRET_LENGTH = SECRET.length;

/** The hash of the bytes: 16 lower-case hexadecimal digits, most significant first. */
export function xxh3Hex(bytes: Bytes): Bytes {
  return xxh3(toBuffer(bytes)).toString(16).padStart(16, '0');
}

/** The 64-bit XXH3 of the data, with seed 0 and the default secret. */
export function xxh3(data: Buffer): bigint {
  const length = data.length;
  if (length === 0) return avalanche64(secret64(56) ^ secret64(64));
  if (length <= 3) return hash1to3(data);
  if (length <= 8) return hash4to8(data);
  if (length <= 16) return hash9to16(data);
  if (length <= 128) return hash17to128(data);
  if (length <= 240) return hash129to240(data);
  return hashLong(data);
}

export function secret64(offset: number): bigint {
  return SECRET.readBigUInt64LE(offset);
}

export function secret32(offset: number): bigint {
  return BigInt(SECRET.readUInt32LE(offset));
}

export function multiply(a: bigint, b: bigint): bigint {
  return (a * b) & MASK;
}

/** The low half of a 128-bit product XORed with its high half. */
function fold(a: bigint, b: bigint): bigint {
  const product = a * b;
  return (product & MASK) ^ (product >> 64n);
}

export function rotateLeft(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}

export function swap64(value: bigint): bigint {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(value);
  return buffer.readBigUInt64BE();
}

/** XXH64's final mix. */
export function avalanche64(value: bigint): bigint {
  let hash = value ^ (value >> 33n);
  hash = multiply(hash, PRIME64_2);
  hash ^= hash >> 29n;
  hash = multiply(hash, PRIME64_3);
  return hash ^ (hash >> 32n);
}

/** XXH3's own final mix. */
export function avalanche(value: bigint): bigint {
  let hash = value ^ (value >> 37n);
  hash = multiply(hash, PRIME_MX1);
  return hash ^ (hash >> 32n);
}

function hash1to3(data: Buffer): bigint {
  const length = data.length;
  const first = BigInt(data[0]!);
  const middle = BigInt(data[length >> 1]!);
  const last = BigInt(data[length - 1]!);
  const combined = (first << 16n) | (middle << 24n) | last | (BigInt(length) << 8n);
  return avalanche64(combined ^ (secret32(0) ^ secret32(4)));
}

function hash4to8(data: Buffer): bigint {
  const length = data.length;
  const head = BigInt(data.readUInt32LE(0));
  const tail = BigInt(data.readUInt32LE(length - 4));
  let hash = (tail + (head << 32n)) ^ (secret64(8) ^ secret64(16));
  hash ^= rotateLeft(hash, 49n) ^ rotateLeft(hash, 24n);
  hash = multiply(hash, PRIME_MX2);
  hash ^= (hash >> 35n) + BigInt(length);
  hash = multiply(hash, PRIME_MX2);
  return hash ^ (hash >> 28n);
}

function hash9to16(data: Buffer): bigint {
  const length = data.length;
  const low = data.readBigUInt64LE(0) ^ (secret64(24) ^ secret64(32));
  const high = data.readBigUInt64LE(length - 8) ^ (secret64(40) ^ secret64(48));
  return avalanche((BigInt(length) + swap64(low) + high + fold(low, high)) & MASK);
}

export function mix16(data: Buffer, offset: number, secret: number): bigint {
  return fold(
    data.readBigUInt64LE(offset) ^ secret64(secret),
    data.readBigUInt64LE(offset + 8) ^ secret64(secret + 8),
  );
}

function hash17to128(data: Buffer): bigint {
  const length = data.length;
  let sum = multiply(BigInt(length), PRIME64_1);
  for (let i = (length - 1) >> 5; i >= 0; i--) {
    sum += mix16(data, 16 * i, 32 * i);
    sum += mix16(data, length - 16 * (i + 1), 32 * i + 16);
  }
  return avalanche(sum & MASK);
}

function hash129to240(data: Buffer): bigint {
  const length = data.length;
  const rounds = length >> 4;
  let sum = multiply(BigInt(length), PRIME64_1);
  for (let i = 0; i < 8; i++) sum += mix16(data, 16 * i, 16 * i);
  sum = avalanche(sum & MASK);
  for (let i = 8; i < rounds; i++) sum += mix16(data, 16 * i, 16 * (i - 8) + 3);
  sum += mix16(data, length - 16, 136 - 17);
  return avalanche(sum & MASK);
}

const STRIPE = 64;
const STRIPES_PER_BLOCK = (SECRET.length - STRIPE) / 8;
const BLOCK = STRIPE * STRIPES_PER_BLOCK;

const INITIAL_SUMS = [
  PRIME32_3,
  PRIME64_1,
  PRIME64_2,
  PRIME64_3,
  PRIME64_4,
  PRIME32_2,
  PRIME64_5,
  PRIME32_1,
] as const;

/** Hashes more than 240 bytes. */
function hashLong(data: Buffer): bigint {
  return mergeSums(hashState(data), 11, multiply(BigInt(data.length), PRIME64_1));
}

/**
 * The eight 64-bit sums of more than 240 bytes, each as its low and its high half. All work per stripe is done on 32-bit
 * halves, because BigInts would be twenty times slower.
 */
export function hashState(data: Buffer): Uint32Array {
  const length = data.length;
  const sums = new Uint32Array(16);
  for (const [i, sum] of INITIAL_SUMS.entries()) {
    sums[2 * i] = half(sum);
    sums[2 * i + 1] = half(sum >> 32n);
  }
  const blocks = Math.floor((length - 1) / BLOCK);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < STRIPES_PER_BLOCK; i++) accumulate(sums, data, block * BLOCK + i * STRIPE, 8 * i);
    scramble(sums);
  }
  const stripes = Math.floor((length - 1 - blocks * BLOCK) / STRIPE);
  for (let i = 0; i < stripes; i++) accumulate(sums, data, blocks * BLOCK + i * STRIPE, 8 * i);
  accumulate(sums, data, length - STRIPE, SECRET.length - STRIPE - 7);
  return sums;
}

/** Combines the sums to 64 bits, under the secret from an offset on. */
export function mergeSums(sums: Uint32Array, offset: number, start: bigint): bigint {
  let hash = start;
  for (let i = 0; i < 4; i++) {
    const secret = offset + 16 * i;
    hash += fold(sumAt(sums, 2 * i) ^ secret64(secret), sumAt(sums, 2 * i + 1) ^ secret64(secret + 8));
  }
  return avalanche(hash & MASK);
}

/** The low 32 bits. */
function half(value: bigint): number {
  return narrow(value & 0xffffffffn) as number;
}

function sumAt(sums: Uint32Array, i: number): bigint {
  return (BigInt(sums[2 * i + 1]!) << 32n) | BigInt(sums[2 * i]!);
}

/**
 * Adds one stripe of 64 bytes to the sums: each lane to its neighbour's sum, and the product of its keyed halves to its
 * own.
 */
function accumulate(sums: Uint32Array, data: Buffer, offset: number, secret: number): void {
  for (let lane = 0; lane < 8; lane++) {
    const at = offset + 8 * lane;
    const low = word(data, at);
    const high = word(data, at + 4);
    addTo(sums, 2 * (lane ^ 1), low >>> 0, high);
    const a = low ^ word(SECRET, secret + 8 * lane);
    const b = high ^ word(SECRET, secret + 8 * lane + 4);
    const a0 = a & 0xffff;
    const a1 = a >>> 16;
    const b0 = b & 0xffff;
    const b1 = b >>> 16;
    const middle = a1 * b0 + ((a0 * b0) >>> 16);
    const carried = a0 * b1 + (middle & 0xffff);
    addTo(
      sums,
      2 * lane,
      Math.imul(a, b) >>> 0,
      a1 * b1 + Math.floor(middle / 65536) + Math.floor(carried / 65536),
    );
  }
}

function addTo(sums: Uint32Array, at: number, low: number, high: number): void {
  const sum = sums[at]! + low;
  sums[at] = sum;
  sums[at + 1] = sums[at + 1]! + high + (sum > 0xffffffff ? 1 : 0);
}

function word(data: Buffer, at: number): number {
  return data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
}

/**
 * Ends a block of sixteen stripes: XORs each sum with its own shift and with the key, and multiplies it by a 32-bit
 * prime.
 */
function scramble(sums: Uint32Array): void {
  for (let i = 0; i < 8; i++) {
    const sum = sumAt(sums, i);
    const mixed = (sum ^ (sum >> 47n) ^ secret64(SECRET.length - STRIPE + 8 * i)) * PRIME32_1;
    sums[2 * i] = half(mixed);
    sums[2 * i + 1] = half(mixed >> 32n);
  }
}
