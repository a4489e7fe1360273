/** The payloads of DUMP and RESTORE, for one value or for libraries of functions: data, version and checksum. */
import { type Bytes, fromBuffer, toBuffer } from '../../protocol/bytes.ts';
import { DEFAULT_LIMITS, type EncodingLimits } from '../collections/encoding.ts';
import { crc64 } from '../format/crc64.ts';
import { badFormat, RdbError } from '../format/errors.ts';
import { RdbReader } from '../format/reader.ts';
import { RdbWriter } from '../format/writer.ts';
import { isEmptied, type Value } from '../value.ts';
import { readBody } from './decode.ts';
import { valueType, writeBody } from './encode.ts';
import { writeTimedHash } from './field-times.ts';
import { RDB_VERSION, RDB_VERSION_MAX, SECTION, VALUE } from './types.ts';

/** Two bytes of version and eight bytes of checksum. */
const FOOTER = 10;

/** The payload of a value, for RESTORE here or in redis-server 7.0 and later (7.4 for hashes with field TTLs). */
export function dumpValue(value: Value): Bytes {
  const out = new RdbWriter();
  if (typeof value !== 'string' && value.type === 'hash' && value.times?.size) {
    writeTimedHash(out, value);
    return closed(out, RDB_VERSION_MAX);
  }
  out.byte(valueType(value));
  writeBody(out, value);
  return closed(out);
}

/** The payload of the code of libraries, as FUNCTION DUMP returns it. */
export function dumpLibraries(codes: Iterable<Bytes>): Bytes {
  const out = new RdbWriter();
  for (const code of codes) {
    out.byte(SECTION.library);
    out.string(code);
  }
  return closed(out);
}

function closed(out: RdbWriter, version = RDB_VERSION): Bytes {
  out.byte(version);
  out.byte(0);
  out.rawData(crc64(out.data()));
  return fromBuffer(out.data());
}

/**
 * The value of a payload. Throws RdbError of kind 'checksum' for a wrong version or checksum (Redis replies `ERR DUMP
 * payload version or checksum are wrong`), and of kind 'format' otherwise (`ERR Bad data format`).
 */
export function restoreValue(payload: Bytes, limits: Readonly<EncodingLimits> = DEFAULT_LIMITS): Value {
  const data = opened(payload);
  // Redis accepts data after the value, and a value that reaches into the footer.
  const input = new RdbReader(data);
  const value = readBody(input, input.byte(), limits);
  if (isEmptied(value)) throw badFormat('empty value');
  return value;
}

/**
 * The code of the libraries in a payload of FUNCTION DUMP. Throws RdbError as restoreValue does, with Redis' text for a
 * wrong format.
 */
export function restoreLibraries(payload: Bytes): Bytes[] {
  const data = opened(payload);
  const codes: Bytes[] = [];
  const input = new RdbReader(data);
  while (data.length - input.position > FOOTER) {
    if (input.byte() !== SECTION.library) throw new RdbError('format', 'given type is not a function');
    codes.push(readCode(input));
  }
  return codes;
}

function readCode(input: RdbReader): Bytes {
  try {
    return input.string();
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    throw new RdbError('format', 'Failed loading library payload');
  }
}

function opened(payload: Bytes): Buffer {
  const data = toBuffer(payload);
  const end = data.length - FOOTER;
  if (end < 0 || data.readUInt16LE(end) > latestFor(data[0]!) || !checksumHolds(data)) {
    throw new RdbError('checksum', 'payload version or checksum');
  }
  return data;
}

/** Redis 7.0 refuses the payloads of later servers. Of those, only hashes with field TTLs are accepted. */
function latestFor(type: number): number {
  return type === VALUE.hashTimed || type === VALUE.hashTimedListpack ? RDB_VERSION_MAX : RDB_VERSION;
}

/** A checksum of zeros means that there is none. */
function checksumHolds(data: Buffer): boolean {
  const stored = data.subarray(data.length - 8);
  return stored.every((byte) => byte === 0) || crc64(data, 0, data.length - 8).equals(stored);
}
