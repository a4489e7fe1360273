/** Proves that the oracle starts, answers and leaves nothing behind. */
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { findProgram, hasRedisServer, startRedisServer } from './redis-server.ts';
import { until } from './until.ts';

test('a program that is not installed is not found', () => {
  expect(findProgram('no-such-program-of-lostlock')).toBeUndefined();
});

test('until returns the first truthy result and names what did not come', async () => {
  let asked = 0;
  expect(await until(() => (asked++ < 3 ? 0 : asked))).toBe(4);
  await expect(until(() => false, { what: 'the moon', limitMs: 5 })).rejects.toThrow('the moon');
});

test.skipIf(!hasRedisServer)('the oracle answers on both of its doors (needs redis-server)', async () => {
  const server = await startRedisServer({ tcp: true, args: ['--requirepass', 'x'] });
  for (const where of [{ path: server.path }, { port: server.port, host: '127.0.0.1' }]) {
    const socket = connect(where);
    const reply = new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())));
    socket.write('PING\r\n');
    expect(await reply).toBe('-NOAUTH Authentication required.\r\n');
    socket.destroy();
  }
  await server.stop();
  expect(existsSync(server.dir)).toBe(false);
  await expect(startRedisServer({ args: ['--no-such-option', '1'] })).rejects.toThrow('exited with');
});
