/** A stopped server accepts no client, and each of its methods throws an error that says so. */
import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { connectInMemory } from '../../server/host/in-memory.ts';

async function stopped(): Promise<LostlockServer> {
  const server = await startServer();
  await server.stop();
  return server;
}

const calls: [what: string, call: (server: LostlockServer) => unknown][] = [
  ['connect()', (server) => server.connect().on('error', () => {})],
  ['seed()', (server) => server.seed({ k: 'v' })],
  ['dump()', (server) => server.dump()],
  ['flush()', (server) => server.flush()],
  ['intercept()', (server) => server.intercept({ command: 'get' }, 'disconnect')],
  ['scripts.register()', (server) => server.scripts.register('return 1', () => 1)],
];

test.each(calls)('%s on a stopped server throws an error that says so', async (what, call) => {
  const server = await stopped();
  expect(() => call(server)).toThrow(
    `lostlock: ${what} on a server that has stopped (127.0.0.1:${server.port})`,
  );
});

test.each(calls)('%s works until stop()', async (_what, call) => {
  await using server = await startServer();
  expect(() => call(server)).not.toThrow();
});

test('an in-memory ioredis client of a stopped server gets an error, and its commands fail', async () => {
  const server = await stopped();
  const errors: Error[] = [];
  const redis = new Redis({
    Connector: server.connector,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', (error) => errors.push(error));
  await expect(redis.ping()).rejects.toThrow();
  expect(errors.map((error) => error.message).join()).toContain(
    `connect ECONNREFUSED 127.0.0.1:${server.port}`,
  );
});

test('a connected client loses its connection and cannot reconnect', async () => {
  const server = await startServer();
  const redis = new Redis({ Connector: server.connector, retryStrategy: () => 1 });
  const refused = new Promise<void>((resolve) => {
    redis.on('error', (error) => {
      if (error.message.includes('ECONNREFUSED')) resolve();
    });
  });
  expect(await redis.ping()).toBe('PONG');
  await server.stop();
  await refused;
  await expect(redis.ping()).rejects.toThrow();
  redis.disconnect();
});

test('a stopped node accepts no connection and leaves no timer behind', async () => {
  const server = await startServer({
    seed: [{ key: 'k', type: 'string', value: 'v', expiresAt: Date.now() + 1e6 }],
  });
  const redis = new Redis({ Connector: server.connector });
  await redis.get('k');
  redis.on('error', () => {});
  const { clock } = server.node.host;
  const armed = vi.spyOn(clock, 'at');
  await server.stop();
  const stream = connectInMemory(server.node.connections);
  const closed = new Promise((resolve) => stream.on('close', resolve).on('error', () => {}));
  stream.resume().write('PING\r\n');
  await closed;
  expect(server.node.clients.size).toBe(0);
  expect(armed).not.toHaveBeenCalled();
  armed.mockRestore();
  redis.disconnect();
});

test("every call of stop() waits for connections, and the server's properties stay readable", async () => {
  const server = await stopped();
  await server.stop();
  expect([server.getHost(), server.unknownCommands()]).toEqual(['127.0.0.1', []]);
});
