/** Stopping the TCP transport leaves no handle, whatever state its connections are in. */
import { once } from 'node:events';
import { createConnection, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { Listener, SocketConnection } from '../../../server/host/tcp.ts';
import { RawClient } from '../../support/raw-client.ts';
import { until } from '../../support/until.ts';

const states: Record<string, (server: LostlockServer) => void> = {
  idle: () => {},
  closing: (server) => {
    for (const client of server.node.clients.values()) client.close();
  },
  aborted: (server) => {
    for (const client of server.node.clients.values()) client.abort();
  },
};

for (const [state, bring] of Object.entries(states)) {
  test(`a server stops while a connection is ${state}`, async () => {
    const server = await startServer();
    const client = await RawClient.connect(server);
    await client.ask('PING');
    bring(server);
    await server.stop();
    expect(await client.ended()).toMatch(/^(end|reset)$/);
    expect(server.node.clients.size).toBe(0);
  });
}

test('a server stops while connections are being accepted and an ended one is still open', async () => {
  for (let round = 0; round < 20; round++) {
    const server = await startServer();
    const sockets = [0, 1, 2].map(() => createConnection(server.port, server.host).on('error', () => {}));
    sockets[0]?.end('PING\r\n');
    if (round % 2 === 0) await until(() => server.node.clients.size > 0, { what: 'a connection' });
    await server.stop();
    expect(server.node.clients.size).toBe(0);
    for (const socket of sockets) socket.destroy();
  }
});

test('a connection that is reset while it closes is removed', async () => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const far = createConnection((listener.address() as { port: number }).port, '127.0.0.1').on(
    'error',
    () => {},
  );
  const [socket] = (await once(listener, 'connection')) as [Socket];
  const connection = new SocketConnection(socket);
  const closed = new Promise<void>((resolve) => connection.attach({ receive: () => {}, closed: resolve }));
  connection.close();
  connection.abort(); // Node cannot reset a socket that is already ending.
  await closed;
  expect(socket.destroyed).toBe(true);
  far.destroy();
  await new Promise((resolve) => listener.close(resolve));
});

test.each(['CLIENT KILL TYPE normal', 'CLIENT KILL USER u', 'ACL DELUSER u'])(
  '%s closes another connection without a reset',
  async (line) => {
    await using server = await startServer();
    const [far, other] = [await RawClient.connect(server), await RawClient.connect(server)];
    await other.ask('ACL', 'SETUSER', 'u', 'on', 'nopass', '+@all');
    await far.ask('AUTH', 'u', 'x');
    const [name = '', ...words] = line.split(' ');
    expect((await other.ask(name, ...words)).raw).toBe(':1\r\n');
    expect(await far.ended()).toBe('end');
    expect(server.node.clients.size).toBe(1);
  },
);

/** A connection to a listener that answers every chunk and then does `next`; resolves with what its far end received until it ended. */
async function heardAfter(
  next: (connection: SocketConnection, socket: Socket, listener: Listener) => void,
): Promise<string> {
  const net = createServer();
  net.listen(0, '127.0.0.1');
  await once(net, 'listening');
  const far = createConnection((net.address() as { port: number }).port, '127.0.0.1');
  const [socket] = (await once(net, 'connection')) as [Socket];
  const connection = new SocketConnection(socket);
  connection.attach({
    receive: () => {
      connection.send('+OK\r\n');
      next(connection, socket, listener);
    },
    closed: () => {},
  });
  const listener = new Listener({ accept: () => undefined });
  let heard = '';
  far.on('data', (chunk) => (heard += chunk)).on('error', () => {}); // Node 24 reports a reset, Node 20 does not.
  far.write('PING\r\n');
  await new Promise((resolve) => far.once('close', resolve));
  await new Promise((resolve) => net.close(resolve));
  return heard;
}

test('a reply is written at the end of the turn of the event loop, and counts as output until then', async () => {
  const seen: number[] = [];
  const heard = await heardAfter((connection, socket) => {
    seen.push(socket.bytesWritten, connection.pending);
    setImmediate(() => {
      seen.push(socket.bytesWritten);
      connection.close();
    });
  });
  expect(seen).toEqual([0, 5, 5]);
  expect(heard).toBe('+OK\r\n');
});

test.each<[what: string, next: Parameters<typeof heardAfter>[0]]>([
  ['is closed', (connection) => connection.close()],
  ['is reset', (connection) => connection.abort()],
  ['is ended by its far end', (_connection, socket) => void socket.push(null)],
  [
    'is destroyed with the server',
    (_connection, socket, listener) => {
      void listener.close();
      socket.destroy();
    },
  ],
])('the reply is sent before a connection that %s in the same turn is closed', async (_what, next) => {
  expect(await heardAfter(next)).toBe('+OK\r\n');
});

test('a client that sends without pause does not block other clients', async () => {
  let chunks = 0;
  let heardAfter = -1;
  const listener = new Listener({
    accept: (connection) => ({
      receive(chunk) {
        if (chunk.length === 1) {
          heardAfter = chunks;
          connection.close();
          return;
        }
        // The other client asks while the first chunk is processed; each chunk takes a while.
        if (chunks++ === 0) other.write('x');
        const end = performance.now() + 6;
        while (performance.now() < end);
      },
      closed() {},
    }),
  });
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  const [flood, other] = [createConnection(port, '127.0.0.1'), createConnection(port, '127.0.0.1')];
  await Promise.all([once(flood, 'connect'), once(other, 'connect')]);
  flood.write(Buffer.alloc(4_000_000));
  await until(() => heardAfter >= 0, { what: 'the other one' });
  expect(heardAfter).toBeLessThan(4);
  for (const socket of [flood, other]) socket.destroy();
  await listener.close();
});
