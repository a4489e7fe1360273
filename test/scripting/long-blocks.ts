/** Makes long blocks of statements that are alike, and the same statements in short blocks. */
import { sampleOf } from '../support/long.ts';
import { Dice } from './dice.ts';

/** `#` is a number, `~` a step, `@` a name, and `$` a text; all differ from one statement to the next. Each statement adds to `out`. */
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
  'for i = #, #, ~ do out[#out + 1] = i end',
  'out[#out + 1] = select(2, pcall(function() return # + {}\n\n end))',
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
export function blockScript(seed: number, isLong: boolean): string {
  const dice = new Dice(seed);
  const shapes = Array.from({ length: 1 + dice.roll(6) }, () => dice.pick(SHAPES));
  const name = () => dice.pick(['a', 'bc', 'end_', 'x1', 'call', 'KEYS']);
  const lines = Array.from({ length: 120 }, () =>
    dice
      .pick(shapes)
      .replace(/(?<![\w)])#(?![\w])/g, () => String(dice.pick([0, 1, 2, 3, 7, 12, 255])))
      .replaceAll('~', () => dice.pick(['1', '-1', '2', '-2']))
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

/** The numbers of the scripts that are tested. */
export const blockSeeds = Array.from({ length: sampleOf(2000, 60) }, (_, i) => i);
