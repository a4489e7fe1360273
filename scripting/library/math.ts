/** Lua's math library, with Redis' deterministic random numbers. */
import { raise, S } from '../runtime/state.ts';
import { type LuaFunction, power } from '../runtime/values.ts';
import { argumentError, checkInt32, checkNumber } from './args.ts';
import type { Module } from './builder.ts';

const RANDOM_MAX = 2147483647;

function unary(compute: (x: number) => number): LuaFunction {
  return (...args) => compute(checkNumber(args, 0));
}

function binary(compute: (x: number, y: number) => number): LuaFunction {
  return (...args) => {
    // C evaluates the last argument first, which is visible in the error.
    const y = checkNumber(args, 1);
    return compute(checkNumber(args, 0), y);
  };
}

const fmod = binary((x, y) => x % y);

const modf: LuaFunction = (...args) => {
  const x = checkNumber(args, 0);
  const whole = Math.trunc(x);
  return [whole, Number.isFinite(x) ? x - whole : Number.isNaN(x) ? x : 0];
};

const frexp: LuaFunction = (...args) => {
  const x = checkNumber(args, 0);
  if (x === 0 || !Number.isFinite(x)) return [x, 0];
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(x))) + 1);
  let fraction = x * 2 ** -exponent;
  while (Math.abs(fraction) < 0.5) {
    fraction *= 2;
    exponent--;
  }
  while (Math.abs(fraction) >= 1) {
    fraction /= 2;
    exponent++;
  }
  return [fraction, exponent];
};

const ldexp: LuaFunction = (...args) => {
  let exponent = Math.max(-2200, Math.min(2200, checkInt32(args, 1)));
  let x = checkNumber(args, 0);
  for (; exponent > 1000; exponent -= 1000) x *= 2 ** 1000;
  for (; exponent < -1000; exponent += 1000) x *= 2 ** -1000;
  return x * 2 ** exponent;
};

const max: LuaFunction = (...args) => {
  let best = checkNumber(args, 0);
  for (let i = 1; i < args.length; i++) {
    const value = checkNumber(args, i);
    if (value > best) best = value;
  }
  return best;
};

const min: LuaFunction = (...args) => {
  let best = checkNumber(args, 0);
  for (let i = 1; i < args.length; i++) {
    const value = checkNumber(args, i);
    if (value < best) best = value;
  }
  return best;
};

const random: LuaFunction = (...args) => {
  const fraction = (S.host!.random.next() % RANDOM_MAX) / RANDOM_MAX;
  if (args.length === 0) return fraction;
  if (args.length === 1) {
    const high = checkInt32(args, 0);
    if (high < 1) argumentError(0, 'interval is empty');
    return Math.floor(fraction * high) + 1;
  }
  if (args.length > 2) raise('wrong number of arguments');
  const low = checkInt32(args, 0);
  const high = checkInt32(args, 1);
  if (low > high) argumentError(1, 'interval is empty');
  return Math.floor(fraction * (high - low + 1)) + low;
};

const randomSeed: LuaFunction = (...args) => {
  S.host!.random.seed(checkInt32(args, 0));
  return [];
};

const functions: (readonly [string, LuaFunction])[] = [
  ['abs', unary(Math.abs)],
  ['acos', unary(Math.acos)],
  ['asin', unary(Math.asin)],
  ['atan2', binary(Math.atan2)],
  ['atan', unary(Math.atan)],
  ['ceil', unary(Math.ceil)],
  ['cosh', unary(Math.cosh)],
  ['cos', unary(Math.cos)],
  ['deg', unary((x) => x / (Math.PI / 180))],
  ['exp', unary(Math.exp)],
  ['floor', unary(Math.floor)],
  ['fmod', fmod],
  ['frexp', frexp],
  ['ldexp', ldexp],
  ['log10', unary(Math.log10)],
  ['log', unary(Math.log)],
  ['max', max],
  ['min', min],
  ['modf', modf],
  ['pow', binary(power)],
  ['rad', unary((x) => x * (Math.PI / 180))],
  ['random', random],
  ['randomseed', randomSeed],
  ['sinh', unary(Math.sinh)],
  ['sin', unary(Math.sin)],
  ['sqrt', unary(Math.sqrt)],
  ['tanh', unary(Math.tanh)],
  ['tan', unary(Math.tan)],
];

/** The table `math`. */
export const MATH: Module = {
  entries: [...functions, ['pi', Math.PI], ['huge', Infinity], ['mod', fmod]],
  announced: functions.length,
  single: functions.map(([name]) => name).filter((name) => !['frexp', 'modf', 'randomseed'].includes(name)),
};
