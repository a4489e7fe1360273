/** A node that gives up a connection before it is established leaves nothing behind. */
import { once } from 'node:events';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../../index.ts';
import { serverTls as tls } from '../../support/certificates/files.ts';
import { until } from '../../support/until.ts';

/** A peer that accepts connections and never answers, so that no TLS connection is ever established. */
async function mutePeer(): Promise<{ port: number; open: Set<Socket>; accepted: () => number }> {
  const open = new Set<Socket>();
  let accepted = 0;
  const peer: NetServer = createServer((socket) => {
    accepted++;
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    socket.resume();
  }).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  onTestFinished(() => {
    peer.close();
    for (const socket of open) socket.destroy();
  });
  return { port: (peer.address() as { port: number }).port, open, accepted: () => accepted };
}

async function ask(port: number, ...words: string[]): Promise<void> {
  const redis = new Redis(port, '127.0.0.1', { tls: { ca: tls.ca, key: tls.key, cert: tls.cert } });
  try {
    expect(await redis.call(words[0] ?? '', ...words.slice(1))).toBe('OK');
  } finally {
    redis.disconnect();
  }
}

const settings = { 'cluster-node-timeout': 100, 'tls-cluster': true, 'tls-replication': true };

test('a node of a cluster closes the connection to a silent bus when it gives the member up', async () => {
  const peer = await mutePeer();
  const server = await startServer({ tls, settings: { ...settings, 'cluster-enabled': true } });
  onTestFinished(() => server.stop());
  await ask(server.port, 'CLUSTER', 'MEET', '127.0.0.1', '7000', String(peer.port));
  await until(() => peer.accepted() > 0, { what: 'a connection' });
  await until(() => peer.open.size === 0, { what: 'the end of the connection' });
});

test('a replica that follows nobody any more closes the connection that it was dialling', async () => {
  const peer = await mutePeer();
  const server = await startServer({ tls, settings });
  onTestFinished(() => server.stop());
  await ask(server.port, 'REPLICAOF', '127.0.0.1', String(peer.port));
  await until(() => peer.accepted() > 0, { what: 'a connection' });
  await ask(server.port, 'REPLICAOF', 'NO', 'ONE');
  await until(() => peer.open.size === 0, { what: 'the end of the connection' });
});

test('a server that stops closes the connection that it was dialling', async () => {
  const peer = await mutePeer();
  const server = await startServer({ tls, settings, replicaOf: { host: '127.0.0.1', port: peer.port } });
  onTestFinished(() => server.stop());
  await until(() => peer.accepted() > 0, { what: 'a connection' });
  await server.stop();
  expect(await until(() => peer.open.size === 0, { what: 'the end of the connection' })).toBe(true);
});

test('a Sentinel closes its connections to a silent primary that it no longer monitors', async () => {
  const peer = await mutePeer();
  const server = await startServer({ tls, settings, sentinels: 1 });
  onTestFinished(() => server.stop());
  const [sentinel] = server.sentinels;
  await ask(sentinel!.port, 'SENTINEL', 'MONITOR', 'mute', '127.0.0.1', String(peer.port), '1');
  await until(() => peer.accepted() > 0, { what: 'a connection' });
  await ask(sentinel!.port, 'SENTINEL', 'REMOVE', 'mute');
  await until(() => peer.open.size === 0, { what: 'the end of the connections' });
});
