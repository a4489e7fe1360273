/** Intsets, and the compact forms of earlier Redis versions that 7.0 still reads: ziplists and zipmaps. */
import { allocate } from '../../protocol/allowance.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import { badFormat } from '../format/errors.ts';
import { ELEMENT_BYTES, RdbReader } from '../format/reader.ts';
import { RdbWriter } from '../format/writer.ts';

/** The elements of a ziplist, with integers as text. */
export function readZiplist(data: Buffer): Bytes[] {
  const reader = new RdbReader(data);
  if (reader.uint32() !== data.length) throw badFormat('ziplist size');
  reader.skip(4);
  const count = reader.uint16();
  const elements: Bytes[] = [];
  for (;;) {
    const previous = reader.byte();
    if (previous === 0xff) break;
    if (previous === 0xfe) reader.skip(4);
    allocate(ELEMENT_BYTES);
    elements.push(readZiplistElement(reader, reader.byte()));
  }
  if (reader.left !== 0) throw badFormat('ziplist end');
  if (count !== 0xffff && count !== elements.length) throw badFormat('ziplist count');
  return elements;
}

function readZiplistElement(reader: RdbReader, first: number): Bytes {
  if (first < 0x40) return reader.raw(first);
  if (first < 0x80) return reader.raw(((first & 0x3f) << 8) | reader.byte());
  if (first === 0x80) return reader.raw(reader.uint32be());
  if (first === 0xc0) return String(reader.int16());
  if (first === 0xd0) return String(reader.int32());
  if (first === 0xe0) return String(reader.int64());
  if (first === 0xf0) return String(reader.int24());
  if (first === 0xfe) return String(reader.int8());
  if (first > 0xf0 && first <= 0xfd) return String((first & 0x0f) - 1);
  throw badFormat('ziplist element');
}

/** Alternating fields and values of a zipmap, the form of small hashes in Redis 2.4. */
export function readZipmap(data: Buffer): Bytes[] {
  const reader = new RdbReader(data);
  const count = reader.byte();
  const elements: Bytes[] = [];
  for (let first = reader.byte(); first !== 0xff; first = reader.byte()) {
    elements.push(reader.raw(zipmapLength(reader, first)));
    const length = zipmapLength(reader, reader.byte());
    const free = reader.byte();
    elements.push(reader.raw(length));
    reader.skip(free);
  }
  if (reader.left !== 0) throw badFormat('zipmap end');
  // 254 stands for a count that does not fit in the byte.
  if (count !== 254 && count * 2 !== elements.length) throw badFormat('zipmap count');
  return elements;
}

function zipmapLength(reader: RdbReader, first: number): number {
  if (first === 0xff) throw badFormat('zipmap length');
  if (first < 254) return first;
  const length = reader.uint32();
  if (length < 254) throw badFormat('zipmap length');
  return length;
}

/** The members of an intset as text, ascending. */
export function readIntset(data: Buffer): Bytes[] {
  const reader = new RdbReader(data);
  const width = reader.uint32();
  const count = reader.uint32();
  if (![2, 4, 8].includes(width) || count * width !== reader.left) throw badFormat('intset size');
  allocate(count * ELEMENT_BYTES);
  const members: Bytes[] = [];
  let previous: number | bigint = -Infinity;
  for (let i = 0; i < count; i++) {
    const value = width === 2 ? reader.int16() : width === 4 ? reader.int32() : reader.int64();
    if (value <= previous) throw badFormat('intset order');
    members.push(String(value));
    previous = value;
  }
  return members;
}

/** An intset of members that are 64-bit integers as text. They must be in ascending order. */
export function writeIntset(members: Iterable<Bytes>): Buffer {
  const integers = Array.from(members, BigInt);
  const fits = (bits: number) => integers.every((value) => BigInt.asIntN(bits, value) === value);
  const width = fits(16) ? 2 : fits(32) ? 4 : 8;
  const out = new RdbWriter();
  const header = Buffer.alloc(8);
  header.writeUInt32LE(width, 0);
  header.writeUInt32LE(integers.length, 4);
  out.rawData(header);
  for (const value of integers) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    out.rawData(bytes.subarray(0, width));
  }
  return out.data();
}
