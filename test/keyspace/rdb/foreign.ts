/** Builds stored values byte for byte, as other programs and older servers wrote them, with faults too. */
import { crc64 } from '../../../keyspace/format/crc64.ts';

/** The low bytes of a number, least first. */
export function little(value: number | bigint, bytes: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return out.subarray(0, bytes);
}

/** A length, or a count, as RDB stores it. */
export function size(value: number | bigint): Buffer {
  if (value < 64) return Buffer.from([Number(value)]);
  if (value < 16384) return Buffer.from([0x40 | (Number(value) >> 8), Number(value) & 255]);
  const wide = Buffer.alloc(9, 0x81);
  wide.writeBigUInt64BE(BigInt.asUintN(64, BigInt(value)), 1);
  return wide;
}

/** A text with its length. */
export function text(value: string | Buffer): Buffer {
  const bytes = Buffer.isBuffer(value) ? value : Buffer.from(value, 'latin1');
  return Buffer.concat([size(bytes.length), bytes]);
}

/** What a builder is to do wrong. */
export interface Faults {
  /** The number of entries in the header. */
  readonly count?: number;
  /** The number of bytes in the header. */
  readonly bytes?: number;
  /** Bytes behind the end. */
  readonly behind?: number;
}

/** A ziplist of texts; numbers are stored as 64-bit integers. */
export function ziplist(
  entries: readonly (string | number)[],
  { count, bytes, behind = 0 }: Faults = {},
): Buffer {
  const parts: Buffer[] = [];
  let [previous, tail, length] = [0, 10, 10];
  for (const entry of entries) {
    const body =
      typeof entry === 'number'
        ? Buffer.concat([Buffer.from([0xe0]), little(entry, 8)])
        : Buffer.concat([
            entry.length < 64
              ? Buffer.from([entry.length])
              : Buffer.from([0x40 | (entry.length >> 8), entry.length & 255]),
            Buffer.from(entry, 'latin1'),
          ]);
    const head =
      previous < 254 ? Buffer.from([previous]) : Buffer.concat([Buffer.from([254]), little(previous, 4)]);
    const part = Buffer.concat([head, body]);
    tail = length;
    length += part.length;
    previous = part.length;
    parts.push(part);
  }
  const header = [little(bytes ?? length + 1, 4), little(tail, 4), little(count ?? entries.length, 2)];
  return Buffer.concat([...header, ...parts, Buffer.from([255]), Buffer.alloc(behind)]);
}

/** A listpack; numbers are stored as integers of seven or sixteen bits where they fit, else as 64. */
export function listpack(
  entries: readonly (string | number)[],
  { count, bytes, behind = 0 }: Faults = {},
): Buffer {
  const parts = entries.map((entry) => {
    let body: Buffer;
    if (typeof entry === 'number')
      body =
        entry >= 0 && entry < 128
          ? Buffer.from([entry])
          : Buffer.concat([Buffer.from([0xf4]), little(entry, 8)]);
    else
      body = Buffer.concat([
        entry.length < 64
          ? Buffer.from([0x80 | entry.length])
          : Buffer.from([0xe0 | (entry.length >> 8), entry.length & 255]),
        Buffer.from(entry, 'latin1'),
      ]);
    const back =
      body.length < 128
        ? Buffer.from([body.length])
        : Buffer.from([body.length >> 7, (body.length & 127) | 128]);
    return Buffer.concat([body, back]);
  });
  const inner = Buffer.concat(parts);
  return Buffer.concat([
    little(bytes ?? inner.length + 7, 4),
    little(count ?? entries.length, 2),
    inner,
    Buffer.from([255]),
    Buffer.alloc(behind),
  ]);
}

/** A zipmap of alternating fields and values. */
export function zipmap(words: readonly string[], { count, behind = 0 }: Faults = {}, free = 0): Buffer {
  const length = (n: number): Buffer =>
    n < 254 ? Buffer.from([n]) : Buffer.concat([Buffer.from([254]), little(n, 4)]);
  const parts = words.map((word, i) => {
    const bytes = Buffer.from(word, 'latin1');
    const head =
      i % 2 === 0 ? length(bytes.length) : Buffer.concat([length(bytes.length), Buffer.from([free])]);
    return Buffer.concat([head, bytes, Buffer.alloc(i % 2 === 0 ? 0 : free)]);
  });
  return Buffer.concat([
    Buffer.from([count ?? words.length / 2]),
    ...parts,
    Buffer.from([255]),
    Buffer.alloc(behind),
  ]);
}

/** An intset of integers of a width in bytes. */
export function intset(
  members: readonly number[],
  width: number,
  { count, behind = 0 }: Faults = {},
): Buffer {
  const all = members.map((member) => little(member, width));
  return Buffer.concat([little(width, 4), little(count ?? members.length, 4), ...all, Buffer.alloc(behind)]);
}

/** What a stream stores besides its entries. */
export interface StreamFaults {
  /** The stored number of entries. */
  readonly length?: number;
  /** The stored number of entries of the run, and of those that were deleted. */
  readonly live?: number;
  readonly deleted?: number;
  /** The entries that carry the mark of a deleted one. */
  readonly gone?: readonly number[];
  /** The stored size of each entry. */
  readonly entrySize?: number;
  readonly firstId?: number;
  readonly lastId?: number;
  readonly added?: number;
}

/** The body of a stream with entries `1-1`, `2-1` and so on in one run, in the form of a type from 15 to 21. */
export function stream(type: number, entries: number, faults: StreamFaults = {}): Buffer {
  const gone = new Set(faults.gone ?? []);
  const run: (string | number)[] = [
    faults.live ?? entries - gone.size,
    faults.deleted ?? gone.size,
    1,
    'f',
    0,
  ];
  for (let i = 0; i < entries; i++) run.push(gone.has(i) ? 3 : 2, i, 0, `v${i}`, faults.entrySize ?? 4);
  const key = Buffer.alloc(16);
  key.writeBigUInt64BE(1n, 0);
  key.writeBigUInt64BE(1n, 8);
  const id = (ms: number): Buffer => Buffer.concat([size(ms), size(ms === 0 ? 0 : 1)]);
  const nodes = entries === 0 ? [size(0)] : [size(1), text(key), text(listpack(run))];
  return Buffer.concat([
    ...nodes,
    size(faults.length ?? entries - gone.size),
    id(faults.lastId ?? entries),
    ...(type === 15 ? [] : [id(faults.firstId ?? 1), id(0), size(faults.added ?? entries)]),
    size(0),
  ]);
}

/** The payload of RESTORE. */
export function payload(type: number, body: Buffer, version = 6): string {
  const data = Buffer.concat([Buffer.from([type]), body, little(version, 2)]);
  return Buffer.concat([data, crc64(data)]).toString('latin1');
}

/** A stored value: the number of its form, and its bytes. */
export type Stored = readonly [type: number, body: Buffer];

/** A dump file with these keys. Versions before 5 have no checksum. */
export function dumpFile(version: number, values: Iterable<readonly [key: string, value: Stored]>): Buffer {
  const parts: Buffer[] = [Buffer.from(`REDIS${String(version).padStart(4, '0')}`), Buffer.from([0xfe, 0])];
  for (const [key, [type, body]] of values) parts.push(Buffer.from([type]), text(key), body);
  const data = Buffer.concat([...parts, Buffer.from([0xff])]);
  return version < 5 ? data : Buffer.concat([data, crc64(data)]);
}
