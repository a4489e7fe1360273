/** The cjson library: its settings and its encoder; decoding is in cjson-decode.ts. */
import type { Bytes } from '../../../protocol/bytes.ts';
import { formatFloat } from '../../runtime/format.ts';
import { allocateText } from '../../runtime/memory.ts';
import { index, MAX_STRING } from '../../runtime/operations.ts';
import { NATIVE } from '../../runtime/site.ts';
import { type JsonSettings, raise, raiseBare, S } from '../../runtime/state.ts';
import { TextBuilder } from '../../runtime/text-builder.ts';
import { type LuaFunction, LuaTable, type LuaValue, typeName, Userdata } from '../../runtime/values.ts';
import { argumentError, checkInteger, checkString } from '../args.ts';
import type { Module } from '../builder.ts';
import { ARRAY_MARK, decodeJson } from './decode.ts';

const INT_MAX = 2147483647;
/** The limit of a C function's stack. */
const MAX_LEVELS = 7998;

function defaults(): JsonSettings {
  return {
    sparseConvert: false,
    sparseRatio: 2,
    sparseSafe: 10,
    encodeDepth: 1000,
    decodeDepth: 1000,
    precision: 14,
    keepBuffer: true,
    encodeInvalid: 'off',
    decodeInvalid: true,
    marksArrays: false,
  };
}

/** The value for JSON's null. */
export const NULL = new Userdata('userdata: (nil)');

/** The escape sequences of bytes inside JSON strings; bytes without one are left out. */
const ESCAPES = new Map<string, string>(
  [...Array(32).keys(), 127].map((code) => [
    String.fromCharCode(code),
    `\\u00${code.toString(16).padStart(2, '0')}`,
  ]),
);
for (const [letter, coded] of ['""', '\\\\', '//', '\bb', '\tt', '\nn', '\ff', '\rr']) {
  ESCAPES.set(letter as string, `\\${coded}`);
}

/** The same by byte value, as bytes. */
const ESCAPED = Array.from({ length: 256 }, (_, code) => {
  const coded = ESCAPES.get(String.fromCharCode(code));
  return coded === undefined ? undefined : Buffer.from(coded, 'latin1');
});

/** For longer strings, joining pieces costs more than a buffer. */
const LONG = 4096;

function quote(text: Bytes): Bytes {
  allocateText(text.length);
  if (!/["\\/\x00-\x1f\x7f]/.test(text)) return `"${text}"`;
  if (text.length > LONG) return quoteLong(text);
  const body = text.replace(/["\\/\x00-\x1f\x7f]/g, (letter) => ESCAPES.get(letter) as string);
  return `"${body}"`;
}

function quoteLong(text: Bytes): Bytes {
  let length = 2;
  for (let i = 0; i < text.length; i++) length += ESCAPED[text.charCodeAt(i)]?.length ?? 1;
  if (length > MAX_STRING) raiseBare('not enough memory');
  allocateText(2 * length);
  const out = Buffer.allocUnsafe(length);
  let at = 0;
  out[at++] = 34;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const coded = ESCAPED[code];
    if (coded === undefined) out[at++] = code;
    else for (let k = 0; k < coded.length; k++) out[at++] = coded[k] as number;
  }
  out[at] = 34;
  return out.latin1Slice();
}

function refuse(value: LuaValue, reason: Bytes): never {
  raise(`Cannot serialise ${typeName(value)}: ${reason}`);
}

/** True if a table's metatable says that the table is an array. */
function isMarked({ meta }: LuaTable): boolean {
  const mark = meta === undefined ? undefined : index(meta, ARRAY_MARK, NATIVE);
  return mark !== undefined && mark !== false;
}

class Encoder {
  readonly #settings: JsonSettings;
  readonly #seesMarks: boolean;
  readonly #out = new TextBuilder();

  /** @param seesMarks whether a metatable can say that its table is an array */
  constructor(settings: JsonSettings, seesMarks: boolean) {
    this.#settings = settings;
    this.#seesMarks = seesMarks;
  }

  /** Ends the text and returns it. */
  take(): Bytes {
    return this.#out.take();
  }

  value(value: LuaValue, depth: number): void {
    switch (typeof value) {
      case 'string':
        this.#out.add(quote(value));
        break;
      case 'number':
        this.#out.add(this.#number(value));
        break;
      case 'boolean':
        this.#out.add(value ? 'true' : 'false');
        break;
      case 'undefined':
        this.#out.add('null');
        break;
      default:
        if (value instanceof LuaTable) this.#table(value, depth + 1);
        else if (value === NULL) this.#out.add('null');
        else refuse(value, 'type not supported');
    }
  }

  #number(value: number): Bytes {
    if (!Number.isFinite(value)) {
      if (this.#settings.encodeInvalid === 'off') refuse(value, 'must not be NaN or Inf');
      if (this.#settings.encodeInvalid === 'null') return 'null';
      return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
    }
    if (Number.isInteger(value) && Math.abs(value) < 1e3 && value !== 0) return `${value}`;
    return formatFloat(value, 'g', { flags: '', width: 0, precision: this.#settings.precision });
  }

  #table(table: LuaTable, depth: number): void {
    S.fuel--;
    if (depth > this.#settings.encodeDepth || depth >= MAX_LEVELS)
      raise(`Cannot serialise, excessive nesting (${depth})`);
    const marked = this.#seesMarks && isMarked(table);
    const size = marked ? table.length() : this.#listSize(table);
    if (size > 0 || marked) this.#list(table, size, depth);
    else this.#object(table, depth);
  }

  /** The size of the list that a table represents; -1 when the table is not a list. */
  #listSize(table: LuaTable): number {
    let largest = 0;
    let count = 0;
    for (let at = table.advance(0); at > 0; at = table.advance(at)) {
      const key = table.keyAt(at);
      if (typeof key !== 'number' || key < 1 || !Number.isInteger(key)) return -1;
      if (key > largest) largest = key;
      count++;
    }
    const { sparseRatio, sparseSafe, sparseConvert } = this.#settings;
    if (sparseRatio > 0 && largest > count * sparseRatio && largest > sparseSafe) {
      if (!sparseConvert) refuse(table, 'excessively sparse array');
      return -1;
    }
    return largest;
  }

  #list(table: LuaTable, size: number, depth: number): void {
    this.#out.add('[');
    for (let i = 1; i <= size; i++) {
      if (i > 1) this.#out.add(',');
      this.value(table.get(i), depth);
    }
    this.#out.add(']');
  }

  #object(table: LuaTable, depth: number): void {
    this.#out.add('{');
    let first = true;
    for (let at = table.advance(0); at > 0; at = table.advance(at)) {
      const key = table.keyAt(at);
      if (!first) this.#out.add(',');
      first = false;
      if (typeof key === 'number') this.#out.add(`"${this.#number(key)}":`);
      else if (typeof key === 'string') this.#out.add(`${quote(key)}:`);
      else refuse(key, 'table key must be a number or string');
      this.value(table.valueAt(at), depth);
    }
    this.#out.add('}');
  }
}

type SettingsOf = () => JsonSettings;

function onlyArgument(args: readonly LuaValue[]): void {
  if (args.length !== 1) argumentError(0, 'expected 1 argument');
}

function atMost(args: readonly LuaValue[], count: number): void {
  if (args.length > count) argumentError(count, 'found too many arguments');
}

function integerOption(
  args: readonly LuaValue[],
  at: number,
  present: number,
  low: number,
  high: number,
): number {
  if (args[at] === undefined) return present;
  const value = checkInteger(args, at);
  if (value < low || value > high) argumentError(at, `expected integer between ${low} and ${high}`);
  return value;
}

function choice<T extends string>(args: readonly LuaValue[], present: T, options: readonly T[]): T {
  const value = args[0];
  if (value === undefined) return present;
  if (typeof value === 'boolean') return options[value ? 1 : 0]!;
  const text = checkString(args, 0);
  const found = options.find((option) => option === text);
  return found ?? argumentError(0, `invalid option '${text}'`);
}

function shown(option: Bytes): LuaValue {
  return option === 'off' ? false : option === 'on' ? true : option;
}

const SWITCH = ['off', 'on'] as const;

function configuration(settingsOf: SettingsOf, marks: boolean): (readonly [Bytes, LuaFunction])[] {
  const integer = (name: 'encodeDepth' | 'decodeDepth' | 'precision', high: number): LuaFunction => {
    return (...args) => {
      atMost(args, 1);
      const settings = settingsOf();
      settings[name] = integerOption(args, 0, settings[name], 1, high);
      return settings[name];
    };
  };
  const flag = (name: 'keepBuffer' | 'decodeInvalid' | 'marksArrays'): LuaFunction => {
    return (...args) => {
      atMost(args, 1);
      const settings = settingsOf();
      settings[name] = choice(args, settings[name] ? 'on' : 'off', SWITCH) === 'on';
      return settings[name];
    };
  };
  return [
    [
      'encode_sparse_array',
      (...args) => {
        atMost(args, 3);
        const settings = settingsOf();
        settings.sparseConvert = choice(args, settings.sparseConvert ? 'on' : 'off', SWITCH) === 'on';
        settings.sparseRatio = integerOption(args, 1, settings.sparseRatio, 0, INT_MAX);
        settings.sparseSafe = integerOption(args, 2, settings.sparseSafe, 0, INT_MAX);
        return [settings.sparseConvert, settings.sparseRatio, settings.sparseSafe];
      },
    ],
    ['encode_max_depth', integer('encodeDepth', INT_MAX)],
    ['decode_max_depth', integer('decodeDepth', INT_MAX)],
    ['encode_number_precision', integer('precision', 14)],
    ['encode_keep_buffer', flag('keepBuffer')],
    [
      'encode_invalid_numbers',
      (...args) => {
        atMost(args, 1);
        const settings = settingsOf();
        settings.encodeInvalid = choice(args, settings.encodeInvalid, ['off', 'on', 'null']);
        return shown(settings.encodeInvalid);
      },
    ],
    ['decode_invalid_numbers', flag('decodeInvalid')],
    ...(marks ? [['decode_array_with_array_mt', flag('marksArrays')] as const] : []),
  ];
}

function library(settingsOf: SettingsOf, marks: boolean): Module['entries'] {
  return [
    [
      'encode',
      (...args) => {
        onlyArgument(args);
        const encoder = new Encoder(settingsOf(), marks);
        encoder.value(args[0], 0);
        return encoder.take();
      },
    ],
    [
      'decode',
      (...args) => {
        onlyArgument(args);
        return decodeJson(checkString(args, 0), settingsOf(), NULL);
      },
    ],
    ...configuration(settingsOf, marks),
    ['new', () => instance(marks)],
    ['null', NULL],
    ['_NAME', 'cjson'],
    ['_VERSION', '2.1.0'],
  ];
}

/** A new library with its own settings. */
function instance(marks: boolean): LuaTable {
  const settings = defaults();
  const table = new LuaTable();
  for (const [name, value] of library(() => settings, marks)) table.set(name, value);
  return table;
}

/** The settings of the current script. They last for one script, so that no script can affect another one. */
function settingsOfRun(): JsonSettings {
  S.json ??= defaults();
  return S.json;
}

/**
 * The table `cjson`.
 * @param marks whether arrays can be marked as such
 */
export function cjson(marks: boolean): Module {
  return { entries: library(settingsOfRun, marks), single: ['encode', 'decode'] };
}
