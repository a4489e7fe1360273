/** A machine that had vanished starts again: its old connections break, and the replicas catch up. */
import { expect, test } from 'vitest';
import { startPair } from '../../../lab/start.ts';
import { until } from '../../support/until.ts';

test('the connections of a machine that had vanished break when it starts again', async () => {
  await using pair = await startPair({ clock: 'real' });
  const client = pair.client('A', { retryStrategy: () => 5, maxRetriesPerRequest: 50 });
  await client.set('k', '1');
  const replica = pair.node('redis-2').server;
  const before = replica.primary?.connection;
  await pair.primary.crash({ silent: true, keep: 'everything' });
  const hangs = client.get('k');
  expect(replica.primary?.linkUp).toBe(true);
  await pair.restart('redis-1');
  await pair.synchronize();
  expect(replica.primary?.connection).not.toBe(before);
  expect(await hangs).toBe('1');
});

test('a replica that had vanished follows again when it starts', async () => {
  await using pair = await startPair({ clock: 'real' });
  const client = pair.client('A');
  await pair.node('redis-2').crash({ silent: true });
  await client.set('k', '1');
  await pair.restart('redis-2');
  await pair.synchronize();
  const { followers } = pair.primary.server.replication;
  // The primary has forgotten the connection that hung.
  expect(await until(() => followers.size === 1, { what: 'the end of the old link' })).toBe(true);
});

test('after a crash of the process alone, a reply that was under way arrives, although the node has started again', async () => {
  await using pair = await startPair({ clock: 'real' });
  // It does not connect again, so that the reply is that of the first request.
  const client = pair.client('A', { retryStrategy: () => null });
  await client.ping();
  const { back } = pair.clientLink('A');
  back.hold();
  const reply = client.set('k', '1');
  await until(() => back.waiting > 0, { what: 'the reply on the link' });
  await pair.primary.crash({ keep: 'everything' });
  await pair.restart('redis-1');
  back.release();
  expect(await reply).toBe('OK');
});
