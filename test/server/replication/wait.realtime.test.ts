/** Which of a client's requests WAIT waits for: by the rule of each dialect. */
import '../../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { startPair, startServer } from '../../../index.ts';
import type { Pair } from '../../../lab/pair.ts';
import { type DialectName, dialectNames } from '../../../server/dialects/index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { request } from '../../support/reply-text.ts';
import { answers, expectedOf } from './wait-cases.ts';

describe.each(dialectNames)('%s', (dialect) => {
  test('WAIT counts the replicas with the writes that the dialect says', async () => {
    await using pair = await startPair({
      clock: 'virtual',
      seed: 1,
      dialect,
      network: { latency: 1, jitter: 0 },
      settings: { 'enable-debug-command': 'yes' },
    });
    const { primary, link } = pair;
    const stage = { port: primary.port, hold: () => link.hold(), release: () => link.release() };
    await pair.run(async () => {
      const operator = pair.client('operator');
      const ready = async (): Promise<void> => {
        await operator.set('ready', '1');
        expect(await operator.wait(1, 0)).toBe(1);
      };
      expect(await answers(stage, ready)).toEqual(expectedOf(dialect));
    });
  });

  test('WAIT waits for the DEL of a key that MIGRATE has moved', async () => {
    await using pair = await startPair({ clock: 'virtual', seed: 1, dialect, replicas: 2 });
    await pair.run(async () => {
      const a = pair.client('A');
      const target = await RawClient.connect({ port: pair.node('redis-3').port });
      await target.ask('REPLICAOF', 'NO', 'ONE');
      await a.set('moved', '1');
      expect(await a.wait(1, 0)).toBe(1);
      pair.linkTo('redis-2').hold();
      expect(
        await a.call('MIGRATE', '127.0.0.1', String(pair.node('redis-3').port), 'moved', '0', '1000'),
      ).toBe('OK');
      expect(await a.wait(1, 20)).toBe(0);
    });
  });
});

/** Plays `code` with a raw client of a primary with one replica, and one that asks for the offset. */
async function withOffset(
  dialect: DialectName,
  replicas: 0 | 1,
  code: (pair: Pair, client: () => Promise<RawClient>, grown: () => Promise<number>) => Promise<void>,
): Promise<void> {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 1,
    dialect,
    network: { latency: 1, jitter: 0 },
  });
  await pair.run(async () => {
    const { port } = pair.primary;
    const client = () => RawClient.connect({ port });
    const observer = await client();
    let before = 0;
    const grown = async (): Promise<number> => {
      const { raw } = await observer.ask('INFO', 'replication');
      const offset = Number(/master_repl_offset:(\d+)/.exec(raw)?.[1]);
      const more = offset - before;
      before = offset;
      return more;
    };
    if (replicas === 0) {
      const replica = await RawClient.connect({ port: pair.node('redis-2').port });
      await replica.ask('REPLICAOF', 'NO', 'ONE');
    }
    await grown();
    await code(pair, client, grown);
  });
}

/** The bytes of REPLCONF GETACK * in the stream. */
const QUESTION = 37;

// Measured on each of the servers.
describe.each(['redis-7.0', 'redis-8.2', 'valkey-8.1'] as const)('%s', (dialect) => {
  test('WAIT asks the replicas once for all clients that begin to wait in one event', async () => {
    await withOffset(dialect, 1, async (_pair, client, grown) => {
      const [a, b, c] = [await client(), await client(), await client()];
      await c.ask('SET', 's', '1'); // The stream has selected the database.
      await grown();
      for (const [waiter, key] of [
        [a, 'a'],
        [b, 'b'],
      ] as const)
        await waiter.send(request('BLPOP', key, '0') + request('WAIT', '2', '0'));
      while (!/blocked_clients:2\r/.test((await c.ask('INFO', 'clients')).raw));
      await c.send(
        ['MULTI', 'RPUSH a x', 'RPUSH b x', 'EXEC'].map((line) => request(...line.split(' '))).join(''),
      );
      for (const waiter of [a, b]) await waiter.read();
      // MULTI, two RPUSH, EXEC and two LPOP have 129 bytes.
      expect(await grown()).toBe(129 + QUESTION);
    });
  });

  test('WAIT asks nothing while the node is paused, and then asks', async () => {
    await withOffset(dialect, 1, async (_pair, client, grown) => {
      const a = await client();
      await a.ask('SET', 'k', '1');
      await grown();
      await a.ask('CLIENT', 'PAUSE', '100000', 'WRITE');
      expect((await a.ask('WAIT', '2', '5')).raw).toMatch(/^:[01]\r\n$/);
      expect(await grown()).toBe(0);
      await a.ask('CLIENT', 'UNPAUSE');
      expect(await grown()).toBe(QUESTION);
    });
  });

  test('WAIT asks into the backlog even if no replica is left', async () => {
    await withOffset(dialect, 0, async (_pair, client, grown) => {
      const a = await client();
      expect((await a.ask('WAIT', '1', '5')).raw).toBe(':0\r\n');
      expect(await grown()).toBe(QUESTION);
    });
  });

  test('WAIT moves the offset by 1 without a backlog, but not on Redis 7', async () => {
    await using server = await startServer({ dialect });
    const client = await RawClient.connect({ port: server.port });
    expect((await client.ask('WAIT', '1', '1')).raw).toBe(':0\r\n');
    const { raw } = await client.ask('INFO', 'replication');
    expect(raw).toContain(`master_repl_offset:${dialect === 'redis-7.0' ? 0 : 1}\r\n`);
    client.close();
  });
});
