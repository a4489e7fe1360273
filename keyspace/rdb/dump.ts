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
import { type RdbFormat, REDIS_7_0, REDIS_7_4, REDIS_8_8, takesVersion, VALKEY_9 } from './formats.ts';
import { SECTION, VALUE } from './types.ts';

/** Two bytes of version and eight bytes of checksum. */
const FOOTER = 10;

/**
 * The payload of a value, for RESTORE here or on a server with this format or a later one. A hash with field TTLs
 * and a vector set are written in Redis 7.4's format if this format has no form for them.
 */
export function dumpValue(value: Value, format = REDIS_7_0): Bytes {
  const own = isExpressible(value, format) ? format : REDIS_7_4;
  const out = new RdbWriter();
  const type = valueType(value, own);
  out.byte(type);
  writeBody(out, value, type, own);
  return closed(out, own);
}

/** False for field TTLs and vector sets if the format has no form for them. */
function isExpressible(value: Value, format: RdbFormat): boolean {
  if (typeof value === 'string') return true;
  if (value.type === 'vectorset') return format.types.has(VALUE.module);
  return value.type !== 'hash' || (value.times?.size ?? 0) === 0 || format.fieldTimes !== 'beside';
}

/** The payload of the code of libraries, as FUNCTION DUMP returns it. */
export function dumpLibraries(codes: Iterable<Bytes>, format = REDIS_7_0): Bytes {
  const out = new RdbWriter();
  for (const code of codes) {
    out.byte(SECTION.library);
    out.string(code);
  }
  return closed(out, format);
}

/** The format of the server that made a payload, however new: a replica takes what its primary took. */
export function formatOfPayload(payload: Bytes): RdbFormat {
  const end = payload.length - FOOTER;
  const version = end < 0 ? 0 : payload.charCodeAt(end) | (payload.charCodeAt(end + 1) << 8);
  return version === VALKEY_9.version ? VALKEY_9 : REDIS_8_8;
}

function closed(out: RdbWriter, { version }: RdbFormat): Bytes {
  out.byte(version);
  out.byte(0);
  out.rawData(crc64(out.data()));
  return fromBuffer(out.data());
}

/**
 * The value of a payload that a server with this format accepts. Throws RdbError of kind 'checksum' for a wrong version or
 * checksum (Redis replies `ERR DUMP payload version or checksum are wrong`), and of kind 'format' otherwise (`ERR Bad data
 * format`).
 * @param timed true: hashes with field TTLs are accepted in the form of Redis 7.4, whatever the format is
 */
export function restoreValue(
  payload: Bytes,
  limits: Readonly<EncodingLimits> = DEFAULT_LIMITS,
  format = REDIS_7_0,
  timed = true,
): Value {
  const data = opened(payload, format, timed);
  // Redis accepts data after the value, and a value that reaches into the footer.
  const input = new RdbReader(data);
  const type = input.byte();
  const value = readBody(input, type, limits, timed && isTimed(type) ? REDIS_7_4 : format);
  if (isEmptied(value)) throw badFormat('empty value');
  return value;
}

/**
 * The code of the libraries in a payload of FUNCTION DUMP. Throws RdbError as restoreValue does, with Redis' text for a
 * wrong format.
 */
export function restoreLibraries(payload: Bytes, format = REDIS_7_0): Bytes[] {
  const data = opened(payload, format, false);
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

function opened(payload: Bytes, format: RdbFormat, timed: boolean): Buffer {
  const data = toBuffer(payload);
  const end = data.length - FOOTER;
  if (end < 0 || !isValid(data, timed && isTimed(data[0]!) ? REDIS_7_4 : format, format)) {
    throw new RdbError('checksum', 'payload version or checksum');
  }
  return data;
}

function isValid(data: Buffer, own: RdbFormat, format: RdbFormat): boolean {
  if (!takes(data.readUInt16LE(data.length - FOOTER), own, format)) return false;
  const checksum = data.subarray(data.length - 8);
  const lacks = format.mayLackChecksum === true && checksum.every((byte) => byte === 0);
  return lacks || crc64(data, 0, data.length - 8).equals(checksum);
}

/** A server refuses the payloads of later servers. Of those, only hashes with field TTLs may be accepted. */
function takes(version: number, own: RdbFormat, format: RdbFormat): boolean {
  return takesVersion(format, version) || version === own.version;
}

/** True for Redis 7.4's forms of hashes with field TTLs. */
function isTimed(type: number): boolean {
  return type === VALUE.hashTimed || type === VALUE.hashTimedListpack;
}
