/** Native scripts: a TypeScript function answers for a Lua script, by text and by SHA-1. */
import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startServer } from '../../index.ts';

const UNLOCK =
  "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

test('a function replaces a script sent as text or as SHA-1, and survives SCRIPT FLUSH', async () => {
  await using server = await startServer({ seed: { lock: 'häß' } });
  const seen: unknown[] = [];
  server.scripts.register(UNLOCK, ([key = ''], [token], call) => {
    seen.push(key, token);
    return call('GET', key) === token ? call('DEL', key) : 0;
  });
  const redis = new Redis({ Connector: server.connector });
  expect(await redis.eval(UNLOCK, 1, 'lock', 'other')).toBe(0);
  await redis.script('FLUSH');
  const sha = createHash('sha1').update(UNLOCK).digest('hex');
  expect(await redis.evalsha(sha, 1, 'lock', 'häß')).toBe(1);
  expect(seen).toEqual(['lock', 'other', 'lock', 'häß']);
  expect(server.dump()).toEqual([]);
  redis.disconnect();
});

test('a failing command throws in the function, and fails the script unless it is caught', async () => {
  await using server = await startServer({ seed: { text: 'x' } });
  server.scripts.register('return 1', ([key = ''], _argv, call) => call('HGET', key, 'f'));
  server.scripts.register('return 2', ([key = ''], _argv, call) => {
    try {
      call('HGET', key, 'f');
      return 'no error';
    } catch (error) {
      return (error as Error).message;
    }
  });
  const redis = new Redis({ Connector: server.connector });
  await expect(redis.eval('return 1', 1, 'text')).rejects.toThrow('WRONGTYPE');
  expect(await redis.eval('return 2', 1, 'text')).toMatch(/^WRONGTYPE/);
  redis.disconnect();
});
