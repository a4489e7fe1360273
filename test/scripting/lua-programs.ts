/** Random Lua programs from a seed: they use most of the language and of its libraries, bound each loop and print each value. */
import { Dice } from './dice.ts';
import { edgeCalls } from './lua-edges.ts';
import { FORMATS, JSON_TEXTS, NUMBERS, PATTERNS, REPLACEMENTS, STRINGS, STRUCTS } from './lua-ingredients.ts';

/** The names of a program's variables. Every program declares all of them. */
const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** Prints any value. A table's fields come in the order of pairs. */
const PRELUDE = `local function show(v, d)
  d = d or 0
  local t = type(v)
  if t == 'string' then return string.format('%q', v) end
  if t ~= 'table' then return t == 'function' and t or tostring(v) end
  if d > 3 then return '{...}' end
  local s = '{'
  for k, x in pairs(v) do s = s .. show(k, d + 1) .. '=' .. show(x, d + 1) .. ';' end
  return s .. '}'
end
local out = {}
local function try(f, ...)
  local r = {pcall(f, ...)}
  for i = 1, math.min(5, #r) do out[#out + 1] = show(r[i]) end
end
local a, b, c, d, e = 1, 'two', {3, 4, x = 5}, function(x, y) return y, x end
local mt = {__index = function(t, k) return k end, __add = function(x, y) return 'add' end,
  __concat = function(x, y) return 'cat' end, __call = function(self, x) return x, self.n end,
  __eq = function() return true end, __lt = function() return true end, __unm = function() return 'unm' end}`;

/** One program: statements between a fixed head and tail. Each statement can be left out. */
export interface Program {
  readonly statements: readonly string[];
}

/** The text to run. */
export function textOf({ statements }: Program): string {
  return [PRELUDE, ...statements, 'return {show(a), show(b), show(c), show(d), show(e), out}'].join('\n');
}

type Rule = (depth: number) => string;

/** Generates programs. */
export class Generator {
  readonly #dice: Dice;
  readonly #edges: readonly Rule[];
  readonly #calls: readonly Rule[];
  readonly #statements: readonly Rule[];
  #loops = 0;

  constructor(seed: number) {
    this.#dice = new Dice(seed);
    this.#edges = edgeCalls(this.#dice);
    this.#calls = this.#libraryCalls();
    this.#statements = this.#statementRules();
  }

  /** The next program. */
  program(): Program {
    const count = 1 + this.#dice.roll(6);
    return { statements: Array.from({ length: count }, () => this.#statement(0)) };
  }

  #name(): string {
    return this.#dice.pick(NAMES);
  }

  #expression(depth: number): string {
    const { roll } = { roll: (sides: number) => this.#dice.roll(sides) };
    if (depth > 3) return this.#leaf();
    switch (roll(12)) {
      case 0:
      case 1:
      case 2:
        return this.#leaf();
      case 3:
      case 4:
        return `(${this.#expression(depth + 1)} ${this.#dice.pick(['+', '-', '*', '/', '%', '^'])} ${this.#number(depth + 1)})`;
      case 5:
        return `(${this.#expression(depth + 1)} .. ${this.#expression(depth + 1)})`;
      case 6:
        return `(${this.#expression(depth + 1)} ${this.#dice.pick(['==', '~=', '<', '<=', '>', '>='])} ${this.#expression(depth + 1)})`;
      case 7:
        return `(${this.#expression(depth + 1)} ${this.#dice.pick(['and', 'or'])} ${this.#expression(depth + 1)})`;
      case 8:
        return `${this.#dice.pick(['not ', '-', '#'])}${this.#leaf()}`;
      case 9:
        return this.#table(depth + 1);
      default:
        return this.#dice.pick(this.#dice.roll(3) === 0 ? this.#edges : this.#calls)(depth + 1);
    }
  }

  #leaf(): string {
    switch (this.#dice.roll(9)) {
      case 0:
      case 1:
        return this.#dice.pick(NUMBERS);
      case 2:
      case 3:
        return this.#dice.pick(STRINGS);
      case 4:
        return this.#dice.pick(['nil', 'true', 'false']);
      case 5:
        return `c.${this.#dice.pick(['x', 'y', 'n'])}`;
      case 6:
        return `c[${this.#dice.pick(['1', '2', '3', '"x"', 'a'])}]`;
      default:
        return this.#name();
    }
  }

  #number(depth: number): string {
    return this.#dice.roll(3) === 0 ? this.#expression(depth) : this.#dice.pick([...NUMBERS, 'a', '#c']);
  }

  #string(depth: number): string {
    return this.#dice.roll(4) === 0 ? this.#expression(depth) : this.#dice.pick([...STRINGS, 'b']);
  }

  #table(depth: number): string {
    const items = Array.from({ length: this.#dice.roll(6) }, () => {
      const value = this.#expression(depth + 1);
      switch (this.#dice.roll(5)) {
        case 0:
          return `${this.#dice.pick(['x', 'y', 'z', 'name', 'k1'])} = ${value}`;
        case 1:
          return `[${this.#dice.pick(['1', '2', '5', '-1', '1.5', '"1"', '"k"', 'true'])}] = ${value}`;
        default:
          return value;
      }
    });
    return `{${items.join(', ')}}`;
  }

  #libraryCalls(): Rule[] {
    const d = this.#dice;
    const n: Rule = (depth) => this.#number(depth);
    const s: Rule = (depth) => this.#string(depth);
    const x: Rule = (depth) => this.#expression(depth);
    const small = (): string => d.pick(['-1', '0', '1', '2', '3', '-3', '10', '1.7', '"2"']);
    return [
      (k) => `string.sub(${s(k)}, ${small()}, ${small()})`,
      (k) => `string.find(${s(k)}, ${d.pick(PATTERNS)}${d.pick(['', `, ${small()}`, ', 1, true'])})`,
      (k) => `string.match(${s(k)}, ${d.pick(PATTERNS)})`,
      (k) =>
        `string.gsub(${s(k)}, ${d.pick(PATTERNS)}, ${d.pick(REPLACEMENTS)}${d.pick(['', ', 1', ', 0'])})`,
      (k) => `string.format(${d.pick(FORMATS)}, ${n(k)}, ${x(k)})`,
      () =>
        `string.format(${d.pick(FORMATS)}, ${d.pick(['a', 'b', '-5', '3.14159', '1e20', '0', '"abc"', '1e15+0.5'])})`,
      () => `string.rep(${d.pick(STRINGS)}, ${small()})`,
      (k) => `string.byte(${s(k)}, ${small()}, ${small()})`,
      (k) => `string.${d.pick(['upper', 'lower', 'reverse', 'len'])}(${s(k)})`,
      () => `string.char(${d.pick(['65', '0', '255', '256', '-1', '"66"'])}, 97)`,
      (k) => `(${s(k)}):${d.pick(['upper()', 'len()', 'sub(2)', 'rep(2)', 'byte()', 'find("a")', 'nope()'])}`,
      (k) => `tonumber(${x(k)}${d.pick(['', '', ', 10', ', 16', ', 2'])})`,
      (k) => `tostring(${n(k)})`,
      (k) => `type(${x(k)})`,
      (k) => `select(${d.pick(['1', '2', '-1', '"#"', '0', '9'])}, ${x(k)}, ${x(k)})`,
      () =>
        `table.concat(${d.pick(['c', this.#table(2)])}${d.pick(['', ', ","', ', "-", 2', ', "", 1, 2'])})`,
      () => `unpack(${d.pick(['c', '{1, 2, nil, 4}', '{}'])}${d.pick(['', ', 2', ', 2, 3', ', 0, 2'])})`,
      () => `#${d.pick(['c', 'b', '{1, nil, 3}', '{n = 1}', '{nil, nil, 3}', '{1, 2, nil}'])}`,
      (k) => `math.${d.pick(['floor', 'ceil', 'abs', 'sqrt'])}(${n(k)})`,
      (k) => `math.${d.pick(['max', 'min', 'fmod', 'pow'])}(${n(k)}, ${n(k)})`,
      () =>
        `math.${d.pick(['modf(3.75)', 'modf(-1.5)', 'frexp(10)', 'frexp(0.1)', 'ldexp(3, 4)', 'random()', 'random(10)', 'random(3, 9)'])}`,
      (k) =>
        `bit.${d.pick(['band', 'bor', 'bxor', 'lshift', 'rshift', 'arshift', 'rol', 'ror'])}(${n(k)}, ${n(k)})`,
      (k) => `bit.${d.pick(['tobit', 'bnot', 'bswap', 'tohex'])}(${n(k)})`,
      (k) => `cjson.encode(${d.pick(['c', this.#table(2), x(k)])})`,
      () => `cjson.decode(${d.pick(JSON_TEXTS)})`,
      (k) => `cmsgpack.unpack(cmsgpack.pack(${x(k)}))`,
      (k) => `cmsgpack.pack(${n(k)}, ${d.pick(STRINGS)})`,
      // The sign of 0/0 shows in its bytes.
      (k) => `struct.pack(${d.pick(STRUCTS)}, ${d.pick([n(k), s(k)])}, ${n(k)})`.replaceAll('0/0', '1/0'),
      () => `struct.unpack(${d.pick(STRUCTS)}, "\\3abcdefghijklmnop\\0q"${d.pick(['', ', 2', ', 20'])})`,
      (k) => `redis.call('set', 'k', ${d.pick([n(k), s(k)])})`,
      () => `redis.call('get', ${d.pick(["'k'", "'none'", 'KEYS[1]'])})`,
      (k) => `redis.${d.pick(['call', 'pcall'])}(${d.pick(["'incr', 'k'", "'nope'", "'get'", x(k)])})`,
      (k) => `redis.${d.pick(['error_reply', 'status_reply', 'sha1hex'])}(${s(k)})`,
      () => `setmetatable(${d.pick(['{}', '{n = 1}', this.#table(2)])}, mt)`,
      (k) => `rawget(${d.pick(['c', x(k)])}, ${x(k)})`,
      (k) => `rawequal(${x(k)}, ${x(k)})`,
      (k) => `next(${d.pick(['c', '{}', x(k)])})`,
      (k) => `d(${x(k)}, ${x(k)})`,
      (k) =>
        `pcall(${d.pick(['d', 'tostring', 'string.rep', 'function(...) return ... end'])}, ${s(k)}, ${small()})`,
      (k) =>
        `(function(...) return ${d.pick(['...', 'select("#", ...)', '(...)', '{...}'])} end)(${x(k)}, ${x(k)})`,
      (k) => `loadstring(${d.pick(["'return 1 + 1'", "'return +'", "'local x = ... return x'", s(k)])})`,
    ];
  }

  #statement(depth: number): string {
    return this.#dice.pick(this.#statements)(depth);
  }

  #block(depth: number): string {
    if (depth > 2) return `${this.#name()} = ${this.#expression(2)}`;
    return Array.from({ length: 1 + this.#dice.roll(3) }, () => this.#statement(depth + 1)).join(' ');
  }

  #statementRules(): Rule[] {
    const x: Rule = (depth) => this.#expression(depth);
    const d = this.#dice;
    const assign: Rule = (k) => `${this.#name()} = ${x(k)};`;
    return [
      assign,
      assign,
      (k) => `${this.#name()}, ${this.#name()} = ${x(k)}${d.pick([`, ${x(k)}`, ''])};`,
      (k) => `try(function() return ${x(k)} end);`,
      (k) => `try(function() return ${x(k)} end);`,
      (k) => `try(function() ${this.#block(k + 1)} end);`,
      (k) => `out[#out + 1] = show((${x(k)}));`,
      (k) => `if ${x(k)} then ${this.#block(k)} ${d.pick(['', `else ${this.#block(k)}`])} end;`,
      (k) =>
        `for i = ${d.pick(['1', '3', '"2"', '0.5', '#c'])}, ${d.pick(['3', '0', '#b', '2.6', '"3"'])}${d.pick(['', ', 1', ', -1', ', 0.4'])} do ${this.#block(k)} a = i end;`,
      () =>
        `for k, v in pairs(${d.pick(['c', this.#table(2)])}) do out[#out + 1] = show(k) .. show(v) ${d.pick(['', 'if v == 4 then break end', `e = ${x(3)}`])} end;`,
      () =>
        `for i, v in ipairs(${d.pick(['c', '{1, 2, nil, 4}', this.#table(2)])}) do out[#out + 1] = show(v) end;`,
      (k) => this.#while(k),
      (k) => `local function f(x, ...) ${this.#block(k + 1)} return x, ${x(k)}, ... end try(f, ${x(k)}, 5);`,
      (k) => `d = function(x, y) return ${d.pick(['x', 'y', 'x, y', 'c', x(k)])} end;`,
      (k) =>
        `c[${d.pick(['1', '2', '#c + 1', '"x"', '"y"', '4', 'nil', `type(${this.#number(2)})`])}] = ${x(k)};`,
      (k) => `c.${d.pick(['x', 'y', 'z'])} = ${x(k)};`,
      (k) => `try(table.insert, c, ${d.pick(['', '1, ', '2, ', '9, '])}${x(k)});`,
      () => `try(table.remove, c${d.pick(['', ', 1', ', 2', ', 9'])});`,
      () =>
        `try(table.sort, c${d.pick(['', ', function(x, y) return type(x) < type(y) end', ', function() return true end'])});`,
      (k) =>
        `for w${d.pick(['', ', v'])} in string.gmatch(${this.#string(k)}, ${d.pick(PATTERNS.slice(0, 12))}) do out[#out + 1] = show(w) end;`,
      () => `try(table.foreach, c, function(k, v) ${d.pick(['out[#out + 1] = show(k)', 'return v'])} end);`,
      (k) =>
        `do local co = coroutine.wrap(function(x) local y = coroutine.yield(x) ${this.#block(k + 1)} return y end) try(co, 1) try(co, ${x(k)}) end;`,
      (k) => `c = ${this.#table(1)}${d.pick(['', ` c.n = ${x(k)}`])};`,
      (k) => `try(error, ${this.#string(k)}${d.pick(['', ', 0', ', 1', ', 2'])});`,
    ];
  }

  #while(depth: number): string {
    const name = `n${++this.#loops}`;
    const stop = `${name} = ${name} + 1 if ${name} > 3 then break end`;
    return this.#dice.roll(2) === 0
      ? `do local ${name} = 0 while ${this.#expression(depth)} do ${stop} ${this.#block(depth + 1)} end end;`
      : `do local ${name} = 0 repeat ${stop} ${this.#block(depth + 1)} until ${this.#expression(depth)} end;`;
  }
}

/** Leaves out statements while the program still fails. */
export async function shrink(
  program: Program,
  fails: (candidate: Program) => boolean | Promise<boolean>,
): Promise<Program> {
  let best = program;
  for (let i = best.statements.length - 1; i >= 0; i--) {
    const candidate = { statements: best.statements.filter((_, at) => at !== i) };
    if (await fails(candidate)) best = candidate;
  }
  return best;
}
