/** Protected mode: without a password, connections from other machines are refused with Redis' message. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { refusal } from '../../../server/clients/admission.ts';
import { freshServerForEachTest, server } from '../../support/fresh.ts';
import { hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { Talk } from '../../support/talk.ts';

freshServerForEachTest();

const near = [
  '127.0.0.1:1',
  '127.8.9.1:1',
  '::1:1',
  '::ffff:127.0.0.1:1',
  '/tmp/redis.sock:0',
  'redis.sock:0',
];
const far = ['192.0.2.7:1', '10.0.0.1:1', 'fd00::2:1', '::ffff:192.0.2.7:1', '1::1:1'];

test.each(near)('%s is accepted', (remote) => {
  expect(refusal(server, remote)).toBe(undefined);
});

test.each(far)('%s is refused until a password is set or protected mode is off', async (remote) => {
  const talk = new Talk(server);
  expect(refusal(server, remote)).toMatch(/^-DENIED /);
  await talk.ask('CONFIG SET maxclients 1');
  expect(refusal(server, remote)).toMatch(/^-ERR max number of clients/); // Checked first, as in Redis.
  await talk.ask('CONFIG SET protected-mode no');
  expect(refusal(server, remote)).toMatch(/^-ERR max number of clients/);
  await talk.ask('CONFIG SET maxclients 100');
  expect(refusal(server, remote)).toBe(undefined);
  await talk.ask('CONFIG SET protected-mode yes');
  expect(refusal(server, remote)).toMatch(/^-DENIED /);
  await talk.ask('ACL SETUSER default >secret');
  expect(refusal(server, remote)).toBe(undefined);
});

const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

async function heardFrom(address: string, port: number): Promise<string> {
  let heard = '';
  const socket = createConnection(port, address).on('data', (chunk) => (heard += chunk));
  await once(socket, 'end');
  socket.destroy();
  return heard;
}

test.skipIf(!hasRedisServer || outside === undefined)(
  'the refusal over the network is that of redis-server (needs redis-server and an address besides loopback)',
  async () => {
    await using real = await startRedisServer({ tcp: true, args: ['--bind', '0.0.0.0'] });
    await using ours = await startServer({ host: '0.0.0.0' });
    const theirs = await heardFrom(outside!, real.port);
    expect(theirs).toMatch(/^-DENIED .*\r\n$/);
    expect(await heardFrom(outside!, ours.port)).toBe(theirs);
    expect(ours.node.stats.rejected).toBe(1);
  },
);
