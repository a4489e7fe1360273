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
