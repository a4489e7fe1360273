/** Commands that belong together: their replies count only when all come from one connection. */
import { EventEmitter } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import type { NodeRedisLike } from '../../../locks/clients/node-redis.ts';
import {
  type AnyClient,
  createLocks,
  fromIoredis,
  fromNodeRedis,
  type IoredisLike,
} from '../../../locks/index.ts';

const PLAIN = { enableReadyCheck: false, disableClientInfo: true };

const outcomes = (settled: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  settled.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as Error).name));

/** A server that answers everything with OK, but on its first connection breaks before it answers a WAIT. */
async function startBreaking(): Promise<{ port: number; waits: string[]; stop(): void }> {
  const waits: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    const breaks = ++connections === 1;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const requests = chunk.toString().split(/(?=\*\d+\r\n)/);
      const wait = requests.findIndex((request) => request.toLowerCase().includes('\r\nwait\r\n'));
      if (wait >= 0) waits.push(breaks ? 'first' : 'again');
      const answered = breaks && wait >= 0 ? wait : requests.length;
      socket.write('+OK\r\n'.repeat(answered));
      if (answered < requests.length) socket.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, waits, stop: () => server.close() };
}

test.each([
  ['ioredis 6', (port: number): IoredisLike => new Redis(port, '127.0.0.1', PLAIN)],
  ['ioredis 5', (port: number): IoredisLike => new Redis5(port, '127.0.0.1', PLAIN)],
])('%s does not repeat a pipeline that was answered in part', async (_, connect) => {
  const server = await startBreaking();
  const redis = connect(server.port);
  redis.on('error', () => {});
  await redis.call('ping');
  const settled = await fromIoredis(redis).sendAll([
    ['set', 'a', '1'],
    ['wait', '1', '1000'],
  ]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await redis.call('ping'); // On the next connection.
  expect(server.waits).toEqual(['first']);
  redis.disconnect();
  server.stop();
});

test('a reply from a second socket proves nothing, whatever ioredis sends again', async () => {
  const replies = { stream: {} as object };
  const redis = {
    get stream() {
      return replies.stream;
    },
    pipeline: (calls: unknown[][]) => ({
      exec: async () =>
        calls.map((call, index) => {
          if (index === 1) replies.stream = {};
          (call.at(-1) as () => void)();
          return [null, index];
        }),
    }),
  };
  const client = fromIoredis(redis as unknown as Redis);
  expect(outcomes(await client.sendAll([['a'], ['b'], ['c']]))).toEqual([
    0,
    'OtherConnection',
    'OtherConnection',
  ]);
  expect(outcomes(await client.sendAll([['a']]))).toEqual([0]);
});

test('commands that node-redis had not written when its connection broke are not kept for the next connection', async () => {
  const events = new EventEmitter();
  const chains = new Set<symbol | undefined>();
  let reconnect = false;
  const redis = {
    isOpen: true,
    on: (event: string, listener: () => void) => events.on(event, listener),
    sendCommand: async ([name]: string[], options?: { chainId?: symbol }) => {
      chains.add(options?.chainId);
      await Promise.resolve();
      if (reconnect && name === 'WAIT') {
        await Promise.resolve();
        await Promise.resolve();
        await Promise.resolve();
        events.emit('connect');
      }
      return name;
    },
  };
  const client = fromNodeRedis(redis as unknown as NodeRedisLike);
  const pair = [['EVALSHA'], ['WAIT']];
  expect(outcomes(await client.sendAll(pair))).toEqual(['EVALSHA', 'WAIT']);
  expect(chains.size).toBe(1); // Of one chain, which node-redis flushes as a whole.
  expect(typeof [...chains][0]).toBe('symbol');
  reconnect = true;
  expect(outcomes(await client.sendAll(pair))).toEqual(['EVALSHA', 'OtherConnection']);
  expect(events.listenerCount('connect')).toBe(1);
  await fromNodeRedis(redis as unknown as NodeRedisLike).sendAll(pair);
  expect(events.listenerCount('connect')).toBe(1); // Counted once for each client, however many locks there are.
});

test('without replicas nothing is sent but the request itself', async () => {
  await using server = await startServer();
  const redis = new Redis({ Connector: server.connector });
  const locks = createLocks(redis as AnyClient);
  await (await locks.simple('lock').acquire()).release(); // The server knows the scripts.
  const before = Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
  const held = await locks.simple('lock').acquire();
  await held.release();
  const after = Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
  // SET, EVALSHA with its four commands and the INFO.
  expect(after - before).toBeLessThanOrEqual(7);
  locks.close();
  redis.disconnect();
});
