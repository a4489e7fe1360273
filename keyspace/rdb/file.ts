/** Whole datasets as RDB: what a full sync sends, what SAVE writes, and what a node loads at startup. */
import { approximate, type Bytes, fromBuffer, type Millis, toBuffer } from '../../protocol/bytes.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from '../collections/encoding.ts';
import { crc64 } from '../format/crc64.ts';
import { badFormat, RdbError } from '../format/errors.ts';
import { RdbReader } from '../format/reader.ts';
import { RdbWriter } from '../format/writer.ts';
import { isEmptied, type Value } from '../value.ts';
import { readBody } from './decode.ts';
import { valueType, writeBody } from './encode.ts';
import { applyFieldTimes, FIELD_TIMES, writeFieldTimes } from './field-times.ts';
import { formatOfFile, type RdbFormat, REDIS_7_0, REDIS_8_8, VALKEY_9 } from './formats.ts';
import { moduleOf } from './modules.ts';
import { SECTION } from './types.ts';

/** The length of the header: the magic word, and the version in as many digits as are left. */
const HEADER_LENGTH = 9;
/** A byte of at least this value names a section; a smaller one is the type of a value. */
const SECTIONS = 240;

/** Sections that are not read, by what they have. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [SECTION.keyMetadata, 'metadata that modules attach to keys'],
  [SECTION.libraryDraft, 'functions of a release candidate of Redis 7.0'],
]);

/** A key to write. */
export interface RdbEntry {
  readonly key: Bytes;
  readonly value: Value;
  readonly expiresAt?: Millis | undefined;
}

/** A database to write. A database without entries is left out. */
export interface RdbDatabase {
  readonly index: number;
  readonly entries: Iterable<RdbEntry>;
}

/** Data beside the keys: auxiliary fields (redis-ver, repl-id, …) and the code of FUNCTION libraries. */
export interface RdbExtras {
  readonly aux?: Iterable<readonly [name: Bytes, value: Bytes]>;
  readonly libraries?: Iterable<Bytes>;
}

/** An item of a file. */
export type RdbItem =
  | { readonly kind: 'aux'; readonly name: Bytes; readonly value: Bytes }
  | { readonly kind: 'library'; readonly code: Bytes }
  | ({ readonly kind: 'entry'; readonly database: number } & RdbEntry);

/** The databases as an RDB file in this format. */
export function writeRdb(
  databases: Iterable<RdbDatabase>,
  extras: RdbExtras = {},
  format = REDIS_7_0,
): Bytes {
  const out = new RdbWriter();
  const { magic, version } = format;
  out.raw(magic + String(version).padStart(HEADER_LENGTH - magic.length, '0'));
  for (const [name, value] of extras.aux ?? []) {
    out.byte(SECTION.aux);
    out.string(name);
    out.string(value);
  }
  for (const code of extras.libraries ?? []) {
    out.byte(SECTION.library);
    out.string(code);
  }
  for (const database of databases) writeDatabase(out, database, format);
  out.byte(SECTION.end);
  out.rawData(crc64(out.data()));
  return fromBuffer(out.data());
}

function writeDatabase(out: RdbWriter, { index, entries }: RdbDatabase, format: RdbFormat): void {
  let named = false;
  for (const { key, value, expiresAt } of entries) {
    if (!named) {
      out.byte(SECTION.database);
      out.size(index);
      named = true;
    }
    if (format.fieldTimes === 'beside') writeFieldTimes(out, SECTION.aux, value);
    if (expiresAt !== undefined) {
      out.byte(SECTION.expiresMillis);
      out.int64(expiresAt);
    }
    const type = valueType(value, format);
    out.byte(type);
    out.string(key);
    writeBody(out, value, type, format);
  }
}

/**
 * The items of a file, read lazily. The generator returns the position after the end of the file. Throws RdbError; a
 * wrong checksum is found only at the end, so nothing may be used before everything was read.
 * @param triesNewer a version that is not known yet is read as if it were the latest
 */
export function* readRdb(
  source: Bytes | Uint8Array,
  limits: Readonly<EncodingLimits> = DEFAULT_LIMITS,
  triesNewer = false,
): Generator<RdbItem, number> {
  const data = typeof source === 'string' ? toBuffer(source) : view(source);
  const input = new RdbReader(data);
  const { version, format } = readHeader(input, triesNewer);
  let origin = `RDB version ${version}`;
  let database = 0;
  let expiresAt: Millis | undefined;
  let fieldTimes: Bytes | undefined;
  for (;;) {
    const section = input.byte();
    if (section === SECTION.end) return finish(input, version);
    if (section === SECTION.database) database = databaseNumber(input);
    else if (section === SECTION.expiresMillis) expiresAt = approximate(input.int64());
    else if (section === SECTION.expiresSeconds) expiresAt = input.int32() * 1000;
    else if (section === SECTION.library) yield { kind: 'library', code: input.string() };
    else if (section === SECTION.aux) {
      const name = input.string();
      const value = input.string();
      if (/^\w+-ver$/.test(name)) origin += `, ${name} ${value}`;
      if (name === FIELD_TIMES) fieldTimes = value;
      else yield { kind: 'aux', name, value };
    } else if (!skipHint(input, section)) {
      if (section >= SECTIONS) throw unknown(input, section, origin);
      const key = input.string();
      const value = readNamed(input, section, limits, format, key, origin);
      if (fieldTimes !== undefined) applyFieldTimes(fieldTimes, value);
      fieldTimes = undefined;
      // Redis also drops empty collections, which some of its versions wrote.
      if (!isEmptied(value)) {
        yield { kind: 'entry', database, key, value, expiresAt };
      }
      expiresAt = undefined;
    }
  }
}

/** Reads a key's value. Throws RdbError that names the place for invalid data. */
function readNamed(
  input: RdbReader,
  type: number,
  limits: Readonly<EncodingLimits>,
  format: RdbFormat,
  key: Bytes,
  origin: string,
): Value {
  try {
    return readBody(input, type, limits, format);
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    throw new RdbError(error.kind, `${error.message} (key '${key}', ${origin})`);
  }
}

function view(source: Uint8Array): Buffer {
  return Buffer.from(source.buffer, source.byteOffset, source.byteLength);
}

function readHeader(input: RdbReader, triesNewer: boolean): { version: number; format: RdbFormat } {
  const header = input.raw(HEADER_LENGTH);
  const [, magic = '', digits = ''] = /^(REDIS|VALKEY)(\d+)$/.exec(header) ?? [];
  if (magic === '') throw badFormat(`wrong signature '${header}'`);
  const version = +digits;
  const format = formatOfFile(magic, version, triesNewer);
  if (format !== undefined) return { version, format };
  const known = magic === REDIS_8_8.magic ? `1 to ${REDIS_8_8.version}` : `${VALKEY_9.version}`;
  const whose = magic === REDIS_8_8.magic ? '' : `${magic} `;
  throw new RdbError('checksum', `${whose}RDB version ${version}, known are ${known}`);
}

/** The error for a section that cannot be skipped. */
function unknown(input: RdbReader, section: number, origin: string): RdbError {
  if (section === SECTION.module) {
    return badFormat(`data of the module type '${moduleOf(input)}', which is not known here (${origin})`);
  }
  const what = NAMES.get(section);
  return badFormat(`unknown section ${section}${what === undefined ? '' : `: ${what}`} (${origin})`);
}

/**
 * Skips sections that only help Redis to plan: table sizes, also those of a cluster's slots, and the last use of keys.
 */
function skipHint(input: RdbReader, section: number): boolean {
  if (section === SECTION.sizes) {
    input.size();
    input.size();
  } else if (section === SECTION.slot) {
    for (let i = 0; i < 3; i++) input.size();
  } else if (section === SECTION.idle) input.size();
  else if (section === SECTION.frequency) input.byte();
  else return false;
  return true;
}

function databaseNumber(input: RdbReader): number {
  const number = input.size();
  if (typeof number === 'bigint') throw badFormat('database');
  return number;
}

function finish(input: RdbReader, version: number): number {
  if (version < 5) return input.position;
  const end = input.position;
  const stored = input.rawData(8);
  if (stored.some((byte) => byte !== 0) && !crc64(input.data, 0, end).equals(stored)) {
    throw new RdbError('checksum', 'RDB checksum');
  }
  return input.position;
}
