/**
 * The values of modules in RDB: a number that names the module, then numbers and strings, each behind a code for its kind
 * (https://redis.io/docs/latest/develop/reference/modules/modules-native-types/).
 */
import { approximate, type Bytes, narrow } from '../../protocol/bytes.ts';
import { badFormat } from '../format/errors.ts';
import type { RdbReader } from '../format/reader.ts';
import type { RdbWriter } from '../format/writer.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** A module's type has a name of nine letters, of six bits each, above ten bits of version. */
const NAME_LENGTH = 9n;
const LETTER_BITS = 6n;
const VERSION_BITS = 10n;
/** The codes of the end of a value, of a number, and of a string. */
const END = 0;
const UNSIGNED = 2;
const STRING = 5;

/** A module's type, as the number before a value names it. */
export interface ModuleType {
  readonly name: Bytes;
  readonly version: number;
}

/** Reads the number of a module's type. */
export function readModuleType(input: RdbReader): ModuleType {
  const id = BigInt(input.size());
  let name = '';
  for (let i = NAME_LENGTH - 1n; i >= 0n; i--) {
    const letter = narrow((id >> (VERSION_BITS + i * LETTER_BITS)) & 63n);
    name += LETTERS[letter as number];
  }
  return { name, version: approximate(id & ((1n << VERSION_BITS) - 1n)) };
}

/** Reads the number of a module's type and returns its name. */
export function moduleOf(input: RdbReader): Bytes {
  return readModuleType(input).name;
}

/** Reads the parts of a module's value. Its methods throw RdbError for a part of another kind. */
export class ModuleReader {
  readonly #input: RdbReader;

  constructor(input: RdbReader) {
    this.#input = input;
  }

  /** A number: an unsigned integer of 64 bits. */
  unsigned(): number | bigint {
    this.#expect(UNSIGNED);
    return this.#input.size();
  }

  /** A number that counts or numbers something. Throws RdbError above 2^53. */
  count(): number {
    const value = this.unsigned();
    if (typeof value === 'bigint') throw badFormat('number');
    return value;
  }

  /** A number of parts that follow. Throws RdbError when it is too large for the rest of the data. */
  length(): number {
    const value = this.count();
    if (value > this.#input.left) throw badFormat('length');
    return value;
  }

  string(): Bytes {
    this.#expect(STRING);
    return this.#input.string();
  }

  /** A string that holds binary data. */
  blob(): Buffer {
    this.#expect(STRING);
    return this.#input.blob();
  }

  /** Reads the end of the value. */
  end(): void {
    this.#expect(END);
  }

  #expect(code: number): void {
    if (this.#input.size() !== code) throw badFormat('part of a module value');
  }
}

/** Writes the parts of a module's value. */
export class ModuleWriter {
  readonly #out: RdbWriter;

  constructor(out: RdbWriter, { name, version }: ModuleType) {
    this.#out = out;
    let id = 0n;
    for (const letter of name) id = (id << LETTER_BITS) | BigInt(LETTERS.indexOf(letter));
    out.size((id << VERSION_BITS) | BigInt(version));
  }

  unsigned(value: number | bigint): void {
    this.#out.size(UNSIGNED);
    this.#out.size(value);
  }

  string(value: Bytes): void {
    this.#out.size(STRING);
    this.#out.string(value);
  }

  /** A string of binary data. */
  blob(data: Uint8Array): void {
    this.#out.size(STRING);
    this.#out.blob(data);
  }

  /** Ends the value. */
  end(): void {
    this.#out.size(END);
  }
}
