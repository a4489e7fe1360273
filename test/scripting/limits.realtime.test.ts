/** Limits of scripts: the compiler's limits, the stack, memory and running time. */
import { expect, test } from 'vitest';
import { encodeReply } from '../../protocol/encode.ts';
import { ReplyError } from '../../protocol/reply.ts';
import { Execution } from '../../scripting/execution.ts';
import { compile } from '../../scripting/registry.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { LuaOracle } from './lua-golden.ts';
import { limitPrograms } from './lua-limits.ts';
import { evaluate, evaluateInSlices, FakeHost, INPUT } from './script-host.ts';

/** Starts a script that runs long enough to pause. */
function begin(source: string, host: FakeHost, fuel: number): Execution {
  const execution = compile(source).start(INPUT, host, fuel);
  if (!(execution instanceof Execution)) throw new Error('the script did not pause');
  return execution;
}

test.skipIf(!hasRedisServer)('the compiler has the limits of Redis (needs redis-server)', async () => {
  const oracle = await LuaOracle.start();
  for (const [name, source] of limitPrograms()) {
    const answer = await oracle.evaluate(source);
    expect(evaluate(source), name).toBe(answer);
    expect(evaluateInSlices(source), name).toBe(answer);
  }
  await oracle.stop();
});

test('an endless loop pauses, and can be killed with its line in the error', () => {
  const host = new FakeHost();
  const execution = begin('local i = 0\nwhile true do\n i = i + 1\nend', host, 1000);
  for (let slice = 0; slice < 10; slice++) expect(execution.step(1000)).toBeUndefined();
  expect(execution.kill('ERR Script killed by user with SCRIPT KILL...').text).toMatch(
    /^ERR Script killed by user with SCRIPT KILL\.\.\. script: [0-9a-f]{40}, on @user_script:2\.$/,
  );
});

test('neither pcall nor a coroutine nor a sort hides an endless loop', () => {
  for (const loop of [
    'while true do pcall(function() while true do end end) end',
    'coroutine.wrap(function() while true do end end)()',
    'table.sort({3, 2, 1}, function(a, b) while true do end end)',
    'string.gsub("abc", "%w", function() while true do end end)',
    'local t = setmetatable({}, {__index = function() while true do end end}) return t.x',
    'for k in function() return 1 end do end',
    'load(function() return " " end)',
    'local function f() return f() end return f()',
    'repeat until false',
    'for i = 1, math.huge do end',
  ]) {
    const execution = begin(loop, new FakeHost(), 5000);
    for (let slice = 0; slice < 5; slice++) expect(execution.step(5000), loop).toBeUndefined();
  }
});

test('a script that is run again does not call its commands again', () => {
  const host = new FakeHost();
  const source = `for i = 1, 50 do redis.call('incr', 'n') redis.log(2, 'turn ' .. i) for j = 1, 10 do end end
    return {redis.call('get', 'n'), tostring(math.random())}`;
  const whole = evaluate(source, new FakeHost());
  const execution = begin(source, host, 200);
  const before = host.calls;
  expect(before).toBeGreaterThan(5);
  let reply = execution.step(50);
  while (reply === undefined) reply = execution.step(50);
  expect(host.calls).toBe(51);
  expect(host.logged.length).toBe(50);
  expect(JSON.stringify(reply)).toBe(JSON.stringify(['50', (JSON.parse(whole) as string[])[1]]));
});

test('a script that is run again after one command gets one reply again, and then calls', () => {
  const host = new FakeHost();
  const source = `local first = redis.call('incr', 'n') for i = 1, 1000 do end
    return {first, redis.call('incr', 'n'), redis.call('get', 'n')}`;
  const execution = begin(source, host, 100);
  expect(host.calls).toBe(1);
  expect(execution.step(10_000)).toEqual([1, 2, '2']);
  expect(host.calls).toBe(3);
});

test('scripts that take turns do not see each other', () => {
  const source = `local t = {} for i = 1, 200 do t[#t + 1] = KEYS[1] .. i KEYS[1] = KEYS[1] end
    redis.setresp(tonumber(ARGV[1])) return {KEYS[1], ARGV[1], #t, t[200]}`;
  const hosts = [new FakeHost(), new FakeHost()];
  const runs = hosts.map(
    (host, i) =>
      compile(source).start({ argv: [`key${i}`, `${i + 2}`], firstKey: 0, keys: 1 }, host, 10) as Execution,
  );
  const replies: unknown[] = [undefined, undefined];
  while (replies.includes(undefined)) {
    for (const [i, run] of runs.entries()) replies[i] ??= run.step(7);
    expect(evaluate('return KEYS[1]')).toBe('"k1"');
  }
  expect(replies).toEqual([
    ['key0', '2', 200, 'key0200'],
    ['key1', '3', 200, 'key1200'],
  ]);
});

test('a command that runs another script does not affect the first', () => {
  class Nesting extends FakeHost {
    override call(argv: string[]): ReturnType<FakeHost['call']> {
      if (argv[0] === 'get')
        return evaluate('local t = {} for i = 1, 50 do t[i] = i end return KEYS[1] .. #t');
      return super.call(argv);
    }
  }
  const source =
    'KEYS[1] = "mine" local r = redis.call("get", "x") local s = {pcall(error, "e", 2)} return {r, KEYS[1], s[2]}';
  expect(evaluate(source, new Nesting())).toBe('["\\"k150\\"", "mine", "user_script:1: e"]');
  expect(evaluateInSlices(source, new Nesting())).toBe('["\\"k150\\"", "mine", "user_script:1: e"]');
});

test('an allocation that is too large is refused, and the script may continue', () => {
  expect(evaluate('return {pcall(string.rep, "x", 2^31 - 1)}')).toBe(
    '[:1, "not enough memory"]'.replace(':1', 'nil'),
  );
  expect(evaluate('local s = "xxxxxxxx" while true do s = s .. s end')).toMatch(/^-ERR not enough memory/);
  expect(evaluate('local s = ("x"):rep(2^28) return {pcall(table.concat, {s, s, s})}')).toBe(
    '[nil, "not enough memory"]',
  );
  expect(evaluate('local s = ("x"):rep(2^20) return {pcall(string.gsub, s, ".", s)}')).toBe(
    '[nil, "not enough memory"]',
  );
});

test('a pattern that kills a real Redis is matched', () => {
  expect(evaluate('return {string.find(("a"):rep(3e5), ("a?"):rep(3e5) .. "a")}')).toBe('[:1, :300000]');
  expect(evaluate('return string.find(("a"):rep(3e5), ("(a"):rep(40))')).toMatch(/too many captures/);
});

test.each([
  'string.find(("a"):rep(60), ".-.-b")',
  'string.find(("a"):rep(300) .. "b", "(a*)b$")',
  'string.match(("ab"):rep(50), "(a)(b)()%1%2(.-)%1b$")',
  'string.find(("("):rep(50) .. (")"):rep(50), "%b()")',
  'string.find("the end", "%f[%a]%a+", 4)',
  'string.gsub(("x y "):rep(40), "(%w) (%w)", "%2 %1")',
  'string.gsub(("a1b2"):rep(20), "%a%d?", function(s) return s:upper():match("%d") end)',
  'string.gsub(("a"):rep(40), "a-", "<%0>")',
  '(function() local t = {} for k, v in ("a=1, b=22, =3"):gmatch("(%w*)=(%w+)") do t[#t + 1] = k .. v end return unpack(t) end)()',
  '(function() local n = 0 for _ in ("abc"):gmatch("") do n = n + 1 end return n end)()',
  'pcall(string.find, ("a"):rep(100), "a*[")',
  'pcall(string.find, ("a"):rep(100), ".-%1")',
  'string.find(("a"):rep(100), "[" .. ("b"):rep(1000) .. "]")',
  'string.find(("a"):rep(24), ("a?"):rep(12) .. ("a"):rep(24))',
])('a pattern pauses wherever its fuel ends, with the same result: %s', (call) => {
  const source = `return {${call}}`;
  const whole = evaluate(source);
  for (const fuel of [1, 2, 7, 50]) expect(evaluateInSlices(source, new FakeHost(), fuel)).toBe(whole);
});

test.each([
  'string.find(("a"):rep(30), ("a?"):rep(30) .. ("a"):rep(30))',
  'string.find(("a"):rep(5000), ".-.-.-b")',
  'string.match(("a"):rep(3e5), ".-b")',
  'string.gsub(("a"):rep(3e5), "a-b", "")',
  'string.find(("a"):rep(3e5), "[" .. ("b"):rep(3e5) .. "]")',
  'string.find(("a"):rep(3e5), "(a*)%1b")',
  '("a"):rep(3e5):gmatch(".-b")()',
])('a pattern that takes too long lets other clients run, and can be killed: %s', (call) => {
  const execution = begin(`return ${call}`, new FakeHost(), 1000);
  for (let i = 0; i < 5; i++) expect(execution.step(1000)).toBeUndefined();
  expect(execution.kill('ERR killed').text).toContain('ERR killed script: ');
});

test('recursion ends at the same depth as in Redis, and earlier writes are executed once', () => {
  const host = new FakeHost();
  const source = `local function f(n) redis.call('incr', 'n') return 1 + f(n + 1) end
    local ok, message = pcall(f, 1) return {redis.call('get', 'n'), message}`;
  expect(evaluate(source, host)).toBe('["19997", "user_script:1: stack overflow"]');
  expect(host.calls).toBe(19998);
});

test('a table that contains itself is cut off at the same depth as in Redis', () => {
  const text = encodeReply(compile('local t = {} t[1] = t return t').run(INPUT, new FakeHost()), 2);
  expect(text).toBe(`${'*1\r\n'.repeat(7995)}-ERR reached lua stack limit\r\n`);
  const map = encodeReply(compile('local t = {} t.map = t return t').run(INPUT, new FakeHost()), 2);
  expect(map.split('map').length - 1).toBe(2664);
});

test('an error in a script is reported without internal details', () => {
  expect(() => compile('return +')).toThrow(ReplyError);
  expect(evaluate(`return ${'('.repeat(100_000)}`)).toMatch(/chunk has too many syntax levels/);
  expect(evaluate(`return ${'x.'.repeat(100_000)}x`)).toMatch(/chunk has too many syntax levels/);
  expect(evaluate(`return '${'x'.repeat(1_000_000)}'`).length).toBe(1_000_002);
});
