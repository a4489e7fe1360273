/** Functions with very many local variables: they do what shorter ones do, and give V8 only a few registers. */
import { expect, test } from 'vitest';
import type { Form } from '../../scripting/compiler/emitter.ts';
import { MANY_VARIABLES } from '../../scripting/compiler/slots.ts';
import { StatementEmitter } from '../../scripting/compiler/statements.ts';
import { fastRealm, resumableRealm } from '../../scripting/library/realms.ts';
import { parse } from '../../scripting/syntax/parser.ts';
import { sampleOf } from '../support/long.ts';
import { Generator, textOf } from './lua-programs.ts';
import { evaluate, evaluateInSlices, FakeHost, withoutSha } from './script-host.ts';

/** Statements that declare so many variables that all those of their function are kept in slots. */
const CROWD = 'do local q = 1 end '.repeat(MANY_VARIABLES + 1);

test('a program does the same when its variables are kept in slots, in both forms', () => {
  const generator = new Generator(77);
  for (let i = 0; i < sampleOf(20_000, 100); i++) {
    const source = textOf(generator.program());
    const plain = withoutSha(evaluate(source, new FakeHost()));
    expect(withoutSha(evaluate(CROWD + source, new FakeHost())), source).toBe(plain);
    expect(withoutSha(evaluateInSlices(CROWD + source, new FakeHost(), 3)), source).toBe(plain);
  }
});

test.each([
  [
    'an unset variable is nil in each round',
    'local n = 0 for i = 1, 3 do local a if a == nil then n = n + 1 end a = i end return n',
    ':3',
  ],
  [
    'several at once',
    'local n = 0 for i = 1, 3 do local a, b = i if b == nil then n = n + 1 end b = a end return n',
    ':3',
  ],
  [
    'values of a call',
    'local f = function() return 1, 2 end local n = 0 for i = 1, 2 do local a, b, c = f() n = n + a * 10 + b if c then n = 0 end c = 1 end return n',
    ':24',
  ],
  [
    'values of a call, one of them captured',
    'local function f(x) return x, x + 1 end local g = {} for i = 1, 2 do local a, b = f(i) g[i] = function() return b end end return g[1]() * 10 + g[2]()',
    ':23',
  ],
  ['names after `...`', 'local a, b = ... if a == nil and b == nil then return 7 end', ':7'],
  [
    'a loop whose variable is assigned to',
    'local n = 0 for i = 1, 3 do n = n + i i = 100 end return n',
    ':6',
  ],
  [
    'a loop whose variable is captured',
    'local g = {} for i = 1, 3 do g[i] = function() return i end end return g[1]() * 100 + g[2]() * 10 + g[3]()',
    ':123',
  ],
  [
    'a loop with a step that is computed',
    'local s, n = 2, 0 for i = 1, 5, s do for j = i, 1, -1 do n = n + j end end return n',
    ':22',
  ],
  [
    'loops inside loops over tables',
    'local n = 0 for i, v in ipairs({1, 2}) do for k, w in pairs({a = v}) do n = n + i * w end end return n',
    ':5',
  ],
  [
    'a function of its own as iterator',
    'local n = 0 for a, b in function(_, x) x = (x or 0) + 1 if x < 4 then return x, x * 2 end end do n = n + b end return n',
    ':12',
  ],
  ['a condition that sees the body', 'local n = 0 repeat local m = n n = n + 1 until m == 4 return n', ':5'],
  [
    'a function that calls itself, and one that does not',
    'local function f(x) if x == 0 then return 0 end return 1 + f(x - 1) end local function g() return 1 end return f(3) + g()',
    ':4',
  ],
])('%s', (_, source, reply) => {
  expect(evaluate(CROWD + source)).toBe(reply);
  expect(evaluateInSlices(CROWD + source, new FakeHost(), 2)).toBe(reply);
});

test.each<Form>(['fast', 'resumable'])(
  'in the %s form, variables of blocks are no variables of JavaScript',
  (form) => {
    const realm = form === 'fast' ? fastRealm() : resumableRealm();
    const declared = (count: number): number => {
      const text = Array.from(
        { length: count },
        (_, i) =>
          `do local a, b = f${i}() for i = 1, b do a = a .. f${i}(a) end for k, v in f${i}() do a = k end end `,
      );
      const code = new StatementEmitter(form, realm, '@user_script').functionCode(
        parse(text.join(''), 'user_script'),
      );
      return [...code.matchAll(/(?:let|const) ([^;]*);/g)].reduce(
        (sum, [, names = '']) => sum + names.split(',').length,
        0,
      );
    };
    expect(declared(3000)).toBe(declared(1000));
  },
);
