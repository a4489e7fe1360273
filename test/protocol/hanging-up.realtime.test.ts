/** Peers that disconnect in the middle of a request, or half-close after one, over real sockets. */
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../index.ts';
import { toBuffer } from '../../protocol/bytes.ts';
import { RawClient } from '../support/raw-client.ts';
import { request } from '../support/reply-text.ts';
import { until } from '../support/until.ts';

let server: LostlockServer;
let fence: RawClient;
beforeAll(async () => {
  server = await startServer();
  fence = await RawClient.connect({ port: server.port });
});
afterAll(async () => {
  fence.close();
  await server.stop();
});

const conversation =
  request('SET', 'k', 'v') + request('BLPOP', 'none', '0') + request('SUBSCRIBE', 'c') + request('PING');

test('a reset after any byte leaves nothing behind and affects no other client', async () => {
  for (let at = 0; at <= conversation.length; at++) {
    const socket = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => socket.write(toBuffer(conversation.slice(0, at) || '\n'), resolve));
    socket.on('error', () => {});
    socket.resetAndDestroy();
  }
  await until(() => server.node.clients.size === 1, { what: 'all but the fence to be gone' });
  expect((await fence.ask('PING')).raw).toBe('+PONG\r\n');
  expect((await fence.ask('PUBLISH', 'c', '')).raw).toBe(':0\r\n');
});

test('what was sent before a half-close is answered', async () => {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  const ended = new Promise((resolve) => socket.once('end', resolve));
  socket.end(request('PING').repeat(3));
  await ended;
  socket.destroy();
  expect(Buffer.concat(received).latin1Slice()).toBe('+PONG\r\n'.repeat(3));
});

test('a peer that disconnects in the middle of an error has no other effect', async () => {
  for (let i = 0; i < 50; i++) {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise((resolve) => socket.write(toBuffer(`*x\r\n${'y'.repeat(200_000)}`), resolve));
    socket.resetAndDestroy();
  }
  await until(() => server.node.clients.size === 1, { what: 'all but the fence to be gone' });
  expect((await fence.ask('PING')).raw).toBe('+PONG\r\n');
});
