/** The interceptor answers, delays or breaks the n-th request that matches, and no other. */
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';

let server: LostlockServer;
let redis: Redis;

beforeEach(async () => {
  server = await startServer();
  redis = new Redis({ Connector: server.connector, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on('error', () => {});
});

afterEach(async () => {
  redis.disconnect();
  await server.stop();
});

test('the second SET is answered with an error and not executed', async () => {
  const rule = server.intercept({ command: 'SET', nth: 2 }, { error: 'OOM command not allowed' });
  await redis.set('a', '1');
  await expect(redis.set('b', '1')).rejects.toThrow('OOM command not allowed');
  await redis.set('c', '1');
  expect(server.dump().map(({ key }) => key)).toEqual(['a', 'c']);
  expect([rule.matches, rule.hits]).toEqual([3, 1]);
});

test('a rule may name a subcommand, or a command of a missing module', async () => {
  for (const command of ['CLIENT SETNAME', 'client|setname']) {
    const rule = server.intercept({ command }, { error: 'ERR not now' });
    await expect(redis.client('SETNAME', 'me')).rejects.toThrow('not now');
    expect(await redis.client('GETNAME')).toBeNull();
    rule.remove();
  }
  server.intercept({ command: 'json.get' }, { reply: '{}' });
  expect(await redis.call('JSON.GET', 'k')).toBe('{}');
});

test("a rule's reply is sent until the rule is removed", async () => {
  const rule = server.intercept({ command: 'get', argument: 'k' }, { reply: 'made up' });
  expect(await redis.get('k')).toBe('made up');
  expect(await redis.get('other')).toBeNull();
  rule.remove();
  expect(await redis.get('k')).toBeNull();
});

test('a dropped reply leaves the write executed and the client without a reply', async () => {
  server.intercept({ command: 'set', nth: 1 }, 'drop-reply');
  const answered: string[] = [];
  const lost = redis.set('lock', 'A', 'PX', 60_000, 'NX').then(
    () => answered.push('lost'),
    () => {},
  );
  const observer = new Redis({ Connector: server.connector });
  await expect.poll(() => observer.get('lock')).toBe('A');
  observer.disconnect();
  expect(answered).toEqual([]);
  redis.disconnect();
  await lost;
});

test('a delayed request also delays the ones behind it', async () => {
  server.intercept({ command: 'set', nth: 1 }, { delayMs: 20 });
  const order: string[] = [];
  const observer = new Redis({ Connector: server.connector });
  const slow = redis.set('k', 'slow').then(() => order.push('slow'));
  const behind = redis.get('k').then((value) => order.push(`behind ${value}`));
  await observer.ping().then(() => order.push('observer'));
  await Promise.all([slow, behind]);
  observer.disconnect();
  expect(order).toEqual(['observer', 'slow', 'behind slow']);
});

test('a rule can break the connection before or after the request is executed', async () => {
  server.intercept({ command: 'set', argument: 'before' }, 'disconnect');
  server.intercept({ command: 'set', argument: 'after' }, 'disconnect-after');
  await expect(redis.set('before', '1')).rejects.toThrow();
  const second = new Redis({
    Connector: server.connector,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  second.on('error', () => {});
  await expect(second.set('after', '1')).rejects.toThrow();
  second.disconnect();
  expect(server.dump().map(({ key }) => key)).toEqual(['after']);
});
