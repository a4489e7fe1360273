/** Scripts that try to break the server. Each ends with redis-server's reply or with an error of our own, and the server keeps working. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { encodeReply } from '../../protocol/encode.ts';
import { ReplyError } from '../../protocol/reply.ts';
import { Execution } from '../../scripting/execution.ts';
import { compile } from '../../scripting/registry.ts';
import { isLongRun } from '../support/long.ts';
import { RawClient } from '../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts';
import { request } from '../support/reply-text.ts';
import { evaluate, FakeHost, INPUT, withoutSha } from './script-host.ts';

/** One script per line. None of them crashes redis-server or runs there for ever. */
const scripts = readFileSync(new URL('../golden/hostile-scripts.txt', import.meta.url), 'latin1')
  .split('\n')
  .filter((line) => line !== '');

/** Scripts that keep redis-server busy for seconds: only `npm run test:long` plays them. */
const SLOW: ReadonlySet<string> = new Set([
  "local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(1000) end return #table.concat(t)",
  "return #string.rep('', 1e9)",
  "local s = '' for i = 1, 2e4 do s = s .. 'x' end return #s",
]);
/** The sample: every third script, without the slow ones. */
const played = isLongRun ? scripts : scripts.filter((line, index) => index % 3 === 0 && !SLOW.has(line));

/** Our reply as bytes. undefined: the script is still running after that many slices. */
function answer(source: string, slices = 2000): string {
  try {
    const result = compile(source).start(INPUT, new FakeHost(), 2_000_000);
    if (!(result instanceof Execution)) return withoutSha(encodeReply(result, 2));
    for (let i = 0; i < slices; i++) {
      const reply = result.step(200_000);
      if (reply !== undefined) return withoutSha(encodeReply(reply, 2));
    }
    return 'runs on';
  } catch (thrown) {
    if (!(thrown instanceof ReplyError)) throw thrown;
    return withoutSha(encodeReply(thrown, 2));
  }
}

/** Long replies, shortened to their length, start and end. */
function brief(text: string): string {
  return text.length > 400 ? `${text.length}: ${text.slice(0, 200)} … ${text.slice(-100)}` : text;
}

test.skipIf(!hasRedisServer)(
  `${played.length} hostile scripts are answered as by redis-server (needs redis-server)`,
  { timeout: 240_000 },
  async () => {
    await using redis = await startRedisServer();
    const client = await RawClient.connect({ path: redis.path });
    for (const line of played) {
      await client.send(request('EVAL', line, '1', 'k1', 'a1', 'a2'));
      const theirs = withoutSha((await client.read()).raw);
      expect(`${line}\n${brief(answer(line))}`).toBe(`${line}\n${brief(theirs)}`);
    }
    client.close();
  },
);

describe('scripts that crash redis-server, or that it runs for ever, end here with an error', () => {
  test.each([
    ["return #string.rep('x', 1e10)", '-ERR not enough memory script: <sha>, on @user_script:1.'],
    ["local s = 'x' for i = 1, 40 do s = s .. s end return #s", '-ERR not enough memory'],
    [
      "return #(('x'):rep(1e5):gsub('x', ('y'):rep(1e4)))",
      '-ERR not enough memory script: <sha>, on @user_script:1.',
    ],
    [
      "local t = {} for i = 1, 700 do t[i] = ('x'):rep(1000000) end return #table.concat(t)",
      '-ERR not enough memory script: <sha>, on @user_script:1.',
    ],
    ["return string.find('x', ('x-'):rep(2e5))", ':1'],
    ['return {string.find(("a"):rep(3e5), ("a?"):rep(3e5) .. "a")}', '[:1, :300000]'],
    ['error({})', '-ERR unknown error script: <sha>, on @user_script:1.'],
    ["error({ok = 'x'})", '-ERR unknown error script: <sha>, on @user_script:1.'],
    [
      "error(setmetatable({}, {__index = function() error('inner') end}))",
      '-ERR unknown error script: <sha>, on @user_script:1.',
    ],
    [
      'error(setmetatable({}, {__index = function() while true do end end}))',
      '-ERR unknown error script: <sha>, on @user_script:1.',
    ],
  ])('%s', (source, expected) => {
    expect(evaluate(source)).toBe(expected);
  });
});

test('an error that is a function shows its address, not its source', () => {
  expect(evaluate('error(function() end)')).toMatch(/^-ERR function: 0x[0-9a-f]+ script: <sha>, on/);
});

test('a number of a hundred thousand digits is parsed quickly in any base', () => {
  const digits = (count: string): string => answer(`return tostring(tonumber(('z'):rep(${count}), 36))`);
  expect(digits('1e5')).toBe(digits('100'));
});

test('a reader function whose text can never be a chunk is not called for ever', () => {
  expect(answer("local f, e = load(function() return 'return 1' end) return {tostring(f), e}")).toBe(
    "*2\r\n$3\r\nnil\r\n$41\r\n(load):1: malformed number near '1return'\r\n",
  );
});
