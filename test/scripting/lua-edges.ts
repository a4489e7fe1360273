/** Parts of random Lua programs that are drawn anew for each use: patterns, formats, struct formats, bytes, and calls with them. */
import type { Dice } from './dice.ts';
import { JSON_TEXTS, NUMBERS, STRINGS } from './lua-ingredients.ts';

function some(dice: Dice, most: number, draw: () => string): string {
  return Array.from({ length: 1 + dice.roll(most) }, draw).join('');
}

const CLASSES = [
  '.',
  '%a',
  '%d',
  '%s',
  '%w',
  '%p',
  '%A',
  '%x',
  'a',
  'b',
  ',',
  'x',
  '=',
  '%%',
  '[a-c]',
  '[^%s,]',
  '[%w_]',
  '[]x]',
];

/** A pattern, which is valid in most cases. */
export function patternOf(dice: Dice): string {
  const item = (): string => {
    switch (dice.roll(12)) {
      case 0:
        return `(${dice.pick(CLASSES)}${dice.pick(['', '+', '*', '-', '?'])})`;
      case 1:
        return dice.pick(['()', '%1', '%f[%w]', '%b()', '(', ')', '[', '%', '$', '^']);
      default:
        return dice.pick(CLASSES) + dice.pick(['', '', '+', '*', '-', '?']);
    }
  };
  return `"${dice.pick(['', '', '^'])}${some(dice, 4, item)}${dice.pick(['', '', '$'])}"`;
}

/** A format with flags, width and precision, which is valid in most cases. */
export function formatOf(dice: Dice): string {
  const flags = dice.pick(['', '', '-', '+', ' ', '#', '0', '-0', '+#', '-+ #0']);
  const width = dice.pick(['', '', '1', '5', '12', '99', '100']);
  const precision = dice.pick(['', '', '.', '.0', '.2', '.10', '.20']);
  const letter = dice.pick(['d', 'i', 'u', 'o', 'x', 'X', 'c', 'e', 'E', 'f', 'g', 'G', 's', 'q', 'p', 'a']);
  return `"${dice.pick(['', '<', '%%'])}%${flags}${width}${precision}${letter}${dice.pick(['', '>'])}"`;
}

/** A format of struct. */
export function structOf(dice: Dice): string {
  const item = (): string =>
    dice.pick([
      'b',
      'B',
      'h',
      'H',
      'i',
      'I',
      'l',
      'L',
      'T',
      'f',
      'd',
      's',
      'x',
      'c0',
      'c1',
      'c4',
      'i1',
      'i2',
      'I3',
      'i8',
      'I16',
      '<',
      '>',
      '=',
      '!',
      '!2',
      '!4',
      ' ',
      'y',
    ]);
  return `"${some(dice, 4, item)}"`;
}

/** A string of random bytes. */
export function bytesOf(dice: Dice): string {
  return `"${some(dice, 12, () => `\\${dice.pick([0, 1, 2, 65, 127, 128, 129, 130, 145, 146, 161, 192, 194, 195, 202, 203, 204, 205, 208, 211, 217, 220, 222, 255])}`)}"`;
}

const ONE = [
  'sin',
  'cos',
  'tan',
  'asin',
  'acos',
  'atan',
  'exp',
  'log',
  'log10',
  'sinh',
  'cosh',
  'tanh',
  'deg',
  'rad',
];

/** Calls of library functions with edge cases. */
export function edgeCalls(d: Dice): (() => string)[] {
  const n = (): string =>
    d.pick([...NUMBERS, 'a', '#c', '-0', '1/0', '0/0', '2^31', '-2^31', '2^63', '"7"', 'nil', '{}']);
  const s = (): string => d.pick([...STRINGS, 'b', '12', 'nil', 'c', '("ab"):rep(40)']);
  const i = (): string =>
    d.pick(['-1', '0', '1', '2', '5', '-3', '1e10', '-1e10', '0.5', '"2"', 'nil', '2^31']);
  return [
    () => `string.find(${s()}, ${patternOf(d)}${d.pick(['', `, ${i()}`, `, ${i()}, true`])})`,
    () => `string.match(${s()}, ${patternOf(d)}${d.pick(['', `, ${i()}`])})`,
    () =>
      `string.gsub(${s()}, ${patternOf(d)}, ${d.pick(['"<%0>"', '"%1%2"', '"%"', 'c', 'string.upper', 'function(...) return select("#", ...) end'])}${d.pick(['', `, ${i()}`])})`,
    () => `string.format(${formatOf(d)}, ${d.pick([n(), s()])})`,
    () => `string.format(${formatOf(d)} .. ${formatOf(d)}, ${n()}, ${s()})`,
    () => `string.${d.pick(['sub', 'byte'])}(${s()}, ${i()}, ${i()})`,
    () => `string.${d.pick(['len', 'reverse', 'upper', 'lower'])}(${d.pick([s(), bytesOf(d)])})`,
    () => `#string.rep(${s()}, ${d.pick(['3', '-1', '0', '"2"', '2.9', 'nil'])})`,
    () => `string.char(${d.pick([n(), '65, 66'])}, 97)`,
    () => `string.format("%.10g", math.${d.pick(ONE)}(${n()}))`,
    () => `math.${d.pick(['modf', 'frexp', 'floor', 'ceil', 'abs', 'sqrt'])}(${n()})`,
    () => `math.${d.pick(['fmod', 'ldexp', 'pow', 'max', 'min'])}(${n()}, ${i()})`,
    () => `string.format("%.10g", math.atan2(${n()}, ${n()}))`,
    () => `math.random(${d.pick(['', '0', '1', '5, 3', '-5, 5', '1, 2, 3', '1e6'])})`,
    () => `bit.${d.pick(['band', 'bor', 'bxor'])}(${n()}${d.pick(['', `, ${n()}`, `, ${n()}, ${n()}`])})`,
    () => `bit.${d.pick(['lshift', 'rshift', 'arshift', 'rol', 'ror', 'tohex'])}(${n()}, ${i()})`,
    () => `bit.${d.pick(['bnot', 'bswap', 'tobit', 'tohex'])}(${n()})`,
    () => `struct.pack(${structOf(d)}, ${n()}, ${s()}, ${n()})`,
    () =>
      `struct.unpack(${structOf(d)}, ${d.pick([bytesOf(d), '"\\4abcdefghijklmnopqrstuvw\\0"'])}${d.pick(['', `, ${i()}`])})`,
    () => `struct.size(${structOf(d)})`,
    () => `cmsgpack.${d.pick(['unpack', 'unpack_one'])}(${bytesOf(d)}${d.pick(['', `, ${i()}`])})`,
    () =>
      `cmsgpack.unpack_limit(${bytesOf(d)}, ${d.pick(['0', '1', '2', '-1'])}, ${d.pick(['0', '1', '3', '99', '-1'])})`,
    () => `cmsgpack.unpack(cmsgpack.pack(${n()}, ${s()}, {${n()}, ${s()}, x = ${s()}}))`,
    () => `cjson.decode(${d.pick([...JSON_TEXTS, bytesOf(d), s()])})`,
    () =>
      `cjson.encode({${d.pick([n(), s()])}, ${s()}, ${d.pick(['nil', '[5] = 1', '[50] = 1', 'x = 1', '[1.5] = 2', '[true] = 1'])}})`,
    () => `cjson.decode(cjson.encode({${s()}, x = ${n()}}))`,
    () =>
      `tonumber(${d.pick([s(), n(), bytesOf(d), '" 0x10 "', '"1e"', '"0x"', '"1e1"', '"7z"', '"-7"'])}${d.pick(['', `, ${d.pick(['2', '8', '16', '36', '1', '37', 'nil'])}`])})`,
    () =>
      `tostring(${d.pick([n(), s(), 'setmetatable({}, {__tostring = function() return "T" end})', 'setmetatable({}, {__tostring = function() return 1 end})'])})`,
    () =>
      `table.${d.pick(['maxn', 'getn', 'concat'])}(${d.pick(['c', '{}', '{1, nil, 3}', '{[10] = 1}', s()])})`,
    () =>
      `table.concat(${d.pick(['c', '{1, 2, "x"}'])}, ${s()}, ${i()}, ${d.pick(['1', '2', '3', '9', 'nil'])})`,
    () => `select(${i()}, ${n()}, ${s()})`,
    () => `unpack({${n()}, ${s()}, 3}, ${i()}, ${d.pick(['1', '3', '9', '-1', 'nil'])})`,
    () =>
      `xpcall(function() ${d.pick(['error(b)', 'error(c)', 'return 1, 2', 'local z = nil + 1'])} end, ${d.pick(['function(m) return show(m) end', 'error', 'tostring', 'nil'])})`,
    () =>
      `loadstring(${d.pick(["'return ...'", "'x = 1'", "'return KEYS, ARGV'", "'goto x'", "'return 1'"])}, ${d.pick(['"=n"', '"@f"', '"t"', 'nil', 'b'])})`,
    () => `getmetatable(${d.pick(['""', 'c', 'nil', 'setmetatable({}, {__metatable = 7})'])})`,
    () => `os.${d.pick(['clock', 'time', 'exit'])}`,
    () =>
      `redis.${d.pick(['setresp(3)', 'setresp(2)', 'setresp(4)', 'log(1)', 'log(9, "x")', 'sha1hex()', 'status_reply()', 'error_reply("-X y")', 'acl_check_cmd("get", "k")', 'breakpoint()', 'debug(1)'])}`,
    () => `rawset({}, ${d.pick([n(), s()])}, 1)`,
    () => `(${n()} ${d.pick(['%', '^', '/', '-', '*'])} ${n()})`,
    () => `(${d.pick([n(), s()])} ${d.pick(['<', '<=', '==', '..', '+'])} ${d.pick([n(), s()])})`,
  ];
}
