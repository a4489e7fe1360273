/** Clients of any library by name, and the address that follows the primary, on both clocks. */
import '../../../lab/router.ts';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { until } from '../../support/until.ts';

const connection = (url: string) => ({
  url,
  maintNotifications: 'disabled' as const,
  disableOfflineQueue: false,
  socket: { reconnectStrategy: () => 20 },
});

test("an actor's node-redis client stops with the actor, and its link has the actor's name", async () => {
  await using pair = await startPair();
  const actor = pair.actor('N');
  const client = await actor.run(async () => {
    const made = createClient(connection(pair.url));
    made.on('error', () => {});
    await made.connect();
    return { made };
  });
  const renewing = actor.run(() => {
    setInterval(() => void client.made.set('my:lock', 'N', { PX: 100 }), 50);
  });
  await renewing;
  const b = pair.client('B');
  await pair.advance(200);
  expect(await b.get('my:lock')).toBe('N');
  pair.pause('N');
  await pair.advance(200);
  expect(await b.exists('my:lock')).toBe(0);
  pair.resume('N');
  await pair.advance(60);
  expect(await b.get('my:lock')).toBe('N');
  pair.clientLink('N').out.hold();
  await pair.advance(200);
  expect(await b.exists('my:lock')).toBe(0);
  pair.clientLink('N').out.release();
  await pair.advance(60);
  pair.link.hold();
  await pair.advance(60);
  const { lost } = await pair.failover({ crash: true });
  expect(new Set(lost.map(({ client: who }) => who))).toEqual(new Set(['N']));
  await pair.advance(200);
  expect(await b.get('my:lock'), 'it has followed the primary').toBe('N');
  expect(pair.primary.name).toBe('redis-2');
  pair.kill('N');
  await pair.advance(300);
  expect(await b.exists('my:lock')).toBe(0);
  expect(
    [...pair.primary.server.clients.values()].filter(({ connection: end }) => end !== undefined),
  ).toHaveLength(1);
});

test('a node can be killed by name, and the error for an unknown name lists the known ones', async () => {
  await using pair = await startPair();
  pair.actor('A');
  pair.kill('redis-2');
  expect(pair.node('redis-2').up).toBe(false);
  expect(() => pair.kill('C')).toThrow("no node is called 'C'; there are redis-1, redis-2");
});

test('the address of a pair on the real clock leads to the primary, and breaks with it', async () => {
  await using pair = await startPair({ clock: 'real' });
  const { url } = pair;
  const redis = new Redis(url, { retryStrategy: () => 5 });
  redis.on('error', () => {});
  await redis.set('k', '1');
  await redis.wait(1, 0);
  let closes = 0;
  redis.on('close', () => closes++);
  const { link } = pair;
  link.hold();
  await redis.set('k', '2');
  const { lost } = await pair.failover({ crash: true });
  expect(lost).toMatchObject([{ key: 'k', client: 'client' }]);
  expect(await redis.get('k')).toBe('1');
  expect([closes > 0, pair.url]).toEqual([true, url]);
  link.release();
  await pair.restart('redis-1');
  await pair.synchronize();
  const before = closes;
  await pair.failover({ to: 'redis-1' });
  await until(() => closes > before, { what: 'the connection to break with the demoted primary' });
  expect(await redis.get('k')).toBe('1');
  redis.disconnect();
});

test("an actor on the real clock has its own address, and its link has the actor's name", async () => {
  await using pair = await startPair({ clock: 'real' });
  const { url } = await pair.actor('N');
  const client = createClient(connection(url));
  client.on('error', () => {});
  await client.connect();
  pair.link.hold();
  await client.set('my:lock', 'N');
  const link = pair.clientLink('N');
  link.out.hold();
  let answered = false;
  const late = client.set('late', '1').then(() => {
    answered = true;
  });
  await until(() => link.out.waiting > 0);
  expect([answered, pair.primary.server.db(0).size]).toEqual([false, 1]);
  link.out.release();
  await late;
  const { lost } = await pair.failover({ crash: true });
  expect(lost.map(({ key, client: who }) => [key, who])).toEqual([
    ['my:lock', 'N'],
    ['late', 'N'],
  ]);
  await until(async () => (await client.get('my:lock').catch(() => 'x')) === null);
  client.destroy();
  expect(() => pair.pause('N')).toThrow("option pause is 'N'");
});
