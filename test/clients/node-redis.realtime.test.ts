/** node-redis 6, with RESP3 and RESP2: handshake, lock commands, scripts, transactions, pub/sub. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { nodeRedis } from './connections.ts';

const UNLOCK =
  "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

describe.each([2, 3] as const)('RESP%i', (protocol) => {
  let server: LostlockServer;
  let client: Awaited<ReturnType<typeof nodeRedis>>;

  beforeEach(async () => {
    server = await startServer();
    client = await nodeRedis(server, protocol);
  });

  afterEach(async () => {
    client.destroy();
    await server.stop();
  });

  test('a lock is taken, refused, renewed and released by its owner only', async () => {
    expect(await client.set('lock', 'A', { PX: 30_000, NX: true })).toBe('OK');
    expect(await client.set('lock', 'B', { PX: 30_000, NX: true })).toBeNull();
    expect(await client.pExpire('lock', 60_000)).toBe(1);
    expect(await client.pTTL('lock')).toBeGreaterThan(30_000);
    expect(await client.eval(UNLOCK, { keys: ['lock'], arguments: ['B'] })).toBe(0);
    expect(await client.eval(UNLOCK, { keys: ['lock'], arguments: ['A'] })).toBe(1);
  });

  test('a script is loaded once and called by its SHA-1', async () => {
    const sha = await client.scriptLoad(UNLOCK);
    expect(await client.evalSha(sha, { keys: ['none'], arguments: ['A'] })).toBe(0);
    await client.scriptFlush();
    await expect(client.evalSha(sha, { keys: ['none'], arguments: ['A'] })).rejects.toThrow(/^NOSCRIPT/);
  });

  test('hashes, transactions and messages arrive in the form that the client expects', async () => {
    await client.hSet('holders', { 'uuid:1': '2' });
    expect({ ...(await client.hGetAll('holders')) }).toEqual({ 'uuid:1': '2' });
    expect(await client.multi().hIncrBy('holders', 'uuid:1', -1).hExists('holders', 'uuid:1').exec()).toEqual(
      [1, 1],
    );
    const subscriber = client.duplicate();
    await subscriber.connect();
    const message = new Promise((resolve) => void subscriber.subscribe('released', resolve));
    await expect.poll(() => client.publish('released', '0')).toBe(1);
    expect(await message).toBe('0');
    subscriber.destroy();
  });

  test('Redis 7.0 also refuses the commands that were refused here', () => {
    const known = new Set(['client maint_notifications']);
    expect(server.unknownCommands().filter(({ command }) => !known.has(command))).toEqual([]);
  });
});
