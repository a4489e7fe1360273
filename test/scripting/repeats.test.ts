/** Long blocks, whose statements are kept as tables: they do what the same statements do in short blocks, and take little room. */
import { expect, test } from 'vitest';
import { StatementEmitter } from '../../scripting/compiler/statements.ts';
import { fastRealm } from '../../scripting/library/realms.ts';
import { parse } from '../../scripting/syntax/parser.ts';
import { sampleOf } from '../support/long.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { Dice } from './dice.ts';
import { LuaOracle } from './lua-golden.ts';
import { evaluate, evaluateInSlices, FakeHost, withoutSha } from './script-host.ts';

/** `#` is a number, `@` a name, and `$` a text; all differ from one statement to the next. Each statement adds to `out`. */
const SHAPES = [
  'out[#out + 1] = #',
  "out[#out + 1] = '$' .. # .. '$'",
  't.@ = #',
  "t['$'] = -# out[#out + 1] = t['$']",
  't[#] = {#, @ = #, [#] = "$", {#}}  out[#out + 1] = cjson.encode(t[#] or 0)',
  't.@, n, t[#] = #, #, "$"  out[#out + 1] = n',
  'n = n + # - 0 * -0  out[#out + 1] = 1 / (0 * -1)',
  'f = function(a) return a + # end out[#out + 1] = f(#)',
  'out[#out + 1] = (function(a, ...) local b, c = #, ... return a * b + (c or #) end)(#, #)',
  'do local x = # local function g(d) if d == 0 then return x end return g(d - 1) + # end out[#out + 1] = g(3) end',
  'for i = #, # + 5, 2 do if i > # + 2 then break end out[#out + 1] = i end',
  'for i = # + 5, #, -2 do out[#out + 1] = i end',
  'for i, v in ipairs({#, "$"}) do out[#out + 1] = i .. v end',
  'while n < # do n = n + 1 if n == # then break end end out[#out + 1] = n',
  'repeat local m = n n = n + # until m > # or m == n  out[#out + 1] = n',
  'if n % 3 == 0 then n = # elseif n > # then n = n - 1 else out[#out + 1] = "$" end',
  "out[#out + 1] = redis.call('set', '$', #) and redis.call('get', '$')",
  'out[#out + 1] = ("$"):rep(#)',
  'out[#out + 1] = select(2, pcall(function() return nope_@ end))',
  'out[#out + 1] = select(2, pcall(function() @ = # end))',
  'out[#out + 1] = select(2, pcall(function()\n return # + {} end))',
  'out[#out + 1] = select(2, pcall(function() local y = "$" return y.@.z end))',
  'out[#out + 1] = select(2, pcall(error, "$"))  out[#out + 1] = select(2, pcall(function() error("$", 1) end))',
  'fs[#fs + 1] = function() return select(2, pcall(function()\n\n error(#) end)) end',
  'out[#out + 1] = KEYS[#] or ARGV[#] or #',
  'out[#out + 1] = # == #  out[#out + 1] = # < #  out[#out + 1] = not #',
];

/** Statements of a few shapes, on lines of their own, in one block or in blocks of a hundred. */
function script(seed: number, isLong: boolean): string {
  const dice = new Dice(seed);
  const shapes = Array.from({ length: 1 + dice.roll(6) }, () => dice.pick(SHAPES));
  const name = () => dice.pick(['a', 'bc', 'end_', 'x1', 'call', 'KEYS']);
  const lines = Array.from({ length: 120 }, () =>
    dice
      .pick(shapes)
      .replace(/(?<![\w)])#(?![\w])/g, () => String(dice.pick([0, 1, 2, 3, 7, 12, 255])))
      .replaceAll('@', name)
      .replaceAll('$', () => dice.pick(['', 'a', 'text', 'a longer text than the others'])),
  );
  // More statements than a block keeps as they are, on the first line. In short blocks there is none of them.
  const text = isLong
    ? `${'do end '.repeat(300)}${lines.join('\n')}`
    : `do ${lines.slice(0, 60).join('\n')} end do\n${lines.slice(60).join('\n')} end`;
  // The texts of SHAPES are keys too.
  return `for _, k in ipairs({'', 'a', 'text', 'a longer text than the others'}) do redis.call('del', k) end local out, t, fs, n, f = {}, {}, {}, 1, nil ${text}
    for _, g in ipairs(fs) do out[#out + 1] = g() end
    for i = 1, #out do out[i] = tostring(out[i]) end return out`;
}

const seeds = Array.from({ length: sampleOf(2000, 60) }, (_, i) => i);

test('statements of a long block do what they do in short blocks, in both forms', () => {
  for (const seed of seeds) {
    const long = script(seed, true);
    const short = evaluate(script(seed, false), new FakeHost());
    expect(withoutSha(evaluate(long, new FakeHost())), long).toBe(withoutSha(short));
    expect(withoutSha(evaluateInSlices(long, new FakeHost(), 3)), long).toBe(withoutSha(short));
  }
});

test.skipIf(!hasRedisServer)('long blocks answer as redis-server does (needs redis-server)', async () => {
  const oracle = await LuaOracle.start();
  for (const seed of seeds) {
    const source = script(seed, true);
    expect(evaluate(source, new FakeHost()), source).toBe(await oracle.evaluate(source));
  }
  await oracle.stop();
});

/** What a script compiles to: the length of the source, and how many constants it has. */
function compiled(source: string): { length: number; constants: number } {
  const emitter = new StatementEmitter('fast', fastRealm(), '@user_script');
  const code = emitter.functionCode(parse(source, 'user_script'));
  return { length: code.length, constants: emitter.constants.length };
}

test.each([
  ['assignments', (i: number) => `x${i} = ${i} `],
  ['calls', (i: number) => `redis.call('SET', 'k${i}', ${i})\n`],
  [
    'functions',
    (i: number) => `t.f${i} = function(a)\n if a > ${i} then return a end\n return f(a) + ${i} end\n`,
  ],
])('the source and the constants of a script do not grow with its %s', (_, statement) => {
  const script = (count: number) =>
    `local t, f = {} ${Array.from({ length: count }, (_, i) => statement(i + 1)).join('')}`;
  const [few, many] = [compiled(script(1000)), compiled(script(20_000))];
  expect(many.constants).toBe(few.constants);
  expect(many.length).toBeLessThan(few.length + 10);
});

test('statements in turns take a place in the source for each shape', () => {
  const turn = (i: number) => `a = ${i} b.x = f(${i}) if a then g(${i}) end `;
  const script = (count: number) =>
    `local a, b, f, g ${Array.from({ length: count }, (_, i) => turn(i + 1)).join('')}`;
  const [few, many] = [compiled(script(200)), compiled(script(5000))];
  expect(many.constants).toBe(few.constants);
  expect(many.length).toBeLessThan(few.length + 10);
});
