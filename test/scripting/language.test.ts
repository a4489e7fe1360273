/** The parts of Lua that lock scripts use. */
import { expect, test } from 'vitest';
import { evaluate, FakeHost } from './script-host.ts';

test("an unlock script deletes its own lock and leaves another client's", () => {
  const host = new FakeHost();
  const unlock =
    'if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end';
  host.store.set('k1', 'a1');
  expect(evaluate(unlock, host)).toBe(':1');
  host.store.set('k1', 'other');
  expect(evaluate(unlock, host)).toBe(':0');
  expect(host.store.get('k1')).toBe('other');
});

test('an error has the line and the name of what failed', () => {
  expect(evaluate('local a\n\nreturn a.b')).toBe(
    "-ERR user_script:3: attempt to index local 'a' (a nil value) script: <sha>, on @user_script:3.",
  );
});

test('a syntax error reads as in Redis', () => {
  expect(evaluate('return 1 1')).toBe(
    "-ERR Error compiling script (new function): user_script:1: '<eof>' expected near '1'",
  );
});

test('names and strings of a script are never run as JavaScript', () => {
  const nasty =
    'local constructor, __proto__, V, S, R, k0 = 1, 2, 3, 4, 5, 6 return constructor+__proto__+V+S+R+k0';
  expect(evaluate(nasty)).toBe(':21');
  expect(evaluate(`return "\`\${process.exit(1)}'\\"//"`)).toBe(JSON.stringify('`${process.exit(1)}\'"//'));
  expect(
    evaluate(
      'local t = {} t.__proto__ = 1 t.constructor = 2 return {t.__proto__, t.constructor, t.toString}',
    ),
  ).toBe('[:1, :2]');
});

test('a lazy item of a pattern ends where the rest of the pattern fits, as on redis-server', () => {
  const script = String.raw`
    local cases = {{'aXbXc', '.-X', 3}, {'[[a]]', '%[(.-)%]'}, {'aab', 'a-b'}, {'abc', '.-d'}, {'a.b', '.-%.'},
      {'key = v', '(%w-)%s-=%s-(%w)'}, {'aaa', 'a-$'}, {'a', 'x-'}, {'aab', '.-b-a'}, {'xaab', '(x-)(a-)b'},
      {'aab', '[^b]-b'}, {'a1b2', '%a-2'}, {'', '.-x'}, {'a\0bxc', '.-x'}, {'ab', '.-b?c-$'}, {'a^b', '.-^'}, {'ac', 'a-b-c'}}
    local out = {}
    for i, case in ipairs(cases) do
      local found = {string.find(unpack(case))}
      for j = 1, #found do found[j] = tostring(found[j]) end
      out[i] = table.concat(found, ' ')
    end
    return table.concat(out, '; ')`;
  const found = '3 4; 1 4 [a; 1 3; ; 1 2; 1 7 key v; 1 3; 1 0; 1 1; 1 4 x aa; 1 3; 3 4; ; 1 4; 1 2; 1 2; 1 2';
  expect(evaluate(script)).toBe(JSON.stringify(found));
});

test('table.sort leaves equal items in the order in which redis-server leaves them', () => {
  const sorted = (items: string, before: string): string =>
    `local t = {} for w in string.gmatch('${items}', '%S+') do t[#t + 1] = w end table.sort(t, ${before}) return table.concat(t, ' ')`;
  const byLetter = 'function(a, b) return a:sub(1, 1) < b:sub(1, 1) end';
  expect(evaluate(sorted('b1 a1 c1 b2 a2 c2 b3 a3 c3 a4', byLetter))).toBe(
    JSON.stringify('a4 a3 a2 a1 b2 b3 b1 c2 c3 c1'),
  );
});
