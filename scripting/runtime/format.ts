/** C's printf conversions, exact to the last digit. Ties round to even, where JavaScript rounds them up. */
import { approximate, type Bytes } from '../../protocol/bytes.ts';

const view = new DataView(new ArrayBuffer(8));

/** A conversion's flags, width and precision. */
export interface Conversion {
  readonly flags: string;
  readonly width: number;
  /** Undefined if none is given. */
  readonly precision: number | undefined;
}

/** A finite number as an integer times a power of two. */
function parts(value: number): { mantissa: bigint; exponent: number } {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const raw = approximate((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  return raw === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: raw - 1075 };
}

/** round(|value| * 10^places), ties to even. */
function scaled(value: number, places: number): bigint {
  const { mantissa, exponent } = parts(value);
  let top = mantissa;
  let bottom = 1n;
  if (exponent >= 0) top <<= BigInt(exponent);
  else bottom <<= BigInt(-exponent);
  if (places >= 0) top *= 10n ** BigInt(places);
  else bottom *= 10n ** BigInt(-places);
  const quotient = top / bottom;
  const twice = (top % bottom) * 2n;
  if (twice > bottom || (twice === bottom && (quotient & 1n) === 1n)) return quotient + 1n;
  return quotient;
}

/** %f of a finite number's magnitude. */
function fixedPoint(value: number, precision: number, point: boolean): string {
  const digits = scaled(value, precision)
    .toString()
    .padStart(precision + 1, '0');
  const whole = digits.slice(0, digits.length - precision);
  if (precision === 0) return point ? `${whole}.` : whole;
  return `${whole}.${digits.slice(digits.length - precision)}`;
}

/** The digits and the decimal exponent of %e. */
function scientific(value: number, precision: number): { digits: string; exponent: number } {
  if (value === 0) return { digits: '0'.repeat(precision + 1), exponent: 0 };
  let exponent = +value.toExponential().split('e')[1]!;
  let digits = scaled(value, precision - exponent).toString();
  if (digits.length > precision + 1) {
    exponent++;
    digits = scaled(value, precision - exponent).toString();
  }
  return { digits, exponent };
}

function exponential(value: number, precision: number, point: boolean): string {
  const { digits, exponent } = scientific(value, precision);
  const rest = digits.slice(1);
  const mantissa = rest === '' ? `${digits}${point ? '.' : ''}` : `${digits.charAt(0)}.${rest}`;
  return `${mantissa}${exponentText(exponent)}`;
}

function exponentText(exponent: number): string {
  const size = Math.abs(exponent);
  return `e${exponent < 0 ? '-' : '+'}${size < 10 ? '0' : ''}${size}`;
}

function general(value: number, precision: number, keepZeros: boolean): string {
  const wanted = precision === 0 ? 1 : precision;
  // Most numbers are short integers, such as those of cjson.
  const size = Math.abs(value);
  if (!keepZeros && Number.isInteger(size) && size < 2 ** 53 && size < 10 ** wanted) return String(size);
  const { exponent } = scientific(value, wanted - 1);
  const plain = exponent >= -4 && exponent < wanted;
  const text = plain
    ? fixedPoint(value, wanted - 1 - exponent, keepZeros)
    : exponential(value, wanted - 1, keepZeros);
  if (keepZeros) return text;
  const [mantissa = '', tail] = text.split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return tail === undefined ? short : `${short}e${tail}`;
}

function pad(sign: string, body: string, spec: Conversion, zeros: boolean): Bytes {
  const missing = spec.width - sign.length - body.length;
  if (missing <= 0) return sign + body;
  if (spec.flags.includes('-')) return sign + body + ' '.repeat(missing);
  return zeros && spec.flags.includes('0')
    ? sign + '0'.repeat(missing) + body
    : ' '.repeat(missing) + sign + body;
}

function signOf(negative: boolean, flags: string): string {
  if (negative) return '-';
  return flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
}

/** %e %E %f %g %G */
export function formatFloat(value: number, conversion: Bytes, spec: Conversion): Bytes {
  const precision = spec.precision ?? 6;
  const upper = conversion === 'E' || conversion === 'G';
  if (Number.isNaN(value)) return pad('-', upper ? 'NAN' : 'nan', spec, false);
  const sign = signOf(value < 0 || Object.is(value, -0), spec.flags);
  if (!Number.isFinite(value)) return pad(sign, upper ? 'INF' : 'inf', spec, false);
  const point = spec.flags.includes('#');
  let body: string;
  if (conversion === 'f') body = fixedPoint(value, precision, point);
  else if (conversion === 'e' || conversion === 'E') body = exponential(value, precision, point);
  else body = general(value, precision, point);
  return pad(sign, upper ? body.replace('e', 'E') : body, spec, true);
}

/** A double cast to a 64-bit integer, as x86 does it. */
function cast(value: number): bigint {
  return Math.abs(value) < 2 ** 63 ? BigInt(Math.trunc(value)) : -(1n << 63n);
}

/** %d %i %u %o %x %X */
export function formatInteger(value: number, conversion: Bytes, spec: Conversion): Bytes {
  const signed = conversion === 'd' || conversion === 'i';
  let integer = signed || !(value >= 2 ** 63) ? cast(value) : value < 2 ** 64 ? BigInt(value) : 0n;
  const sign = signed ? signOf(integer < 0n, spec.flags) : '';
  if (signed && integer < 0n) integer = -integer;
  const base = conversion === 'o' ? 8 : conversion === 'x' || conversion === 'X' ? 16 : 10;
  const unsigned = BigInt.asUintN(64, integer);
  let body = unsigned.toString(base);
  if (spec.precision !== undefined) {
    body = unsigned === 0n && spec.precision === 0 ? '' : body.padStart(spec.precision, '0');
  }
  let prefix = '';
  if (spec.flags.includes('#')) {
    if (base === 16 && unsigned !== 0n) prefix = '0x';
    else if (base === 8 && !body.startsWith('0')) body = `0${body}`;
  }
  const text = pad(sign + prefix, body, spec, spec.precision === undefined);
  return conversion === 'X' ? hexUpper(text) : text;
}

function hexUpper(text: Bytes): Bytes {
  return text.replace(/[a-fx]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 32));
}

/** %s and %c: text that C would print, cut at the precision. */
export function formatText(text: Bytes, spec: Conversion): Bytes {
  return pad('', spec.precision === undefined ? text : text.slice(0, spec.precision), spec, false);
}
