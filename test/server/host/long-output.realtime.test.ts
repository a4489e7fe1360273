/** Long output over real sockets: complete and in order for clients that read late, and at the ends of connections. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectWithTls } from 'node:tls';
import { expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { LongOutput } from '../../../server/host/long-output.ts';
import { serverTls } from '../../support/certificates/files.ts';
import { until } from '../../support/until.ts';

const { ca, ...own } = serverTls;

/** Values around the sizes at which output takes another way: 4 KiB, 64 KiB, 128 KiB. Every byte differs from its neighbours. */
const SIZES = [1, 15, 16, 4095, 4096, 4097, 65_535, 65_536, 131_071, 131_072, 131_073, 400_000];
const KEYS = [...SIZES.keys()].map((i) => `k${i}`);
const CONTENTS = SIZES.map((size, i) =>
  Buffer.from(Uint8Array.from({ length: size }, (_, at) => (at * 7 + i) & 255)),
);

async function filled(options: Parameters<typeof startServer>[0] = {}): Promise<LostlockServer> {
  const server = await startServer(options);
  const client = server.connect();
  for (const [i, key] of KEYS.entries()) {
    const value = CONTENTS[i]!;
    client.write(`*3\r\n$3\r\nSET\r\n$${key.length}\r\n${key}\r\n$${value.length}\r\n`);
    client.write(Buffer.concat([value, Buffer.from('\r\n')]));
  }
  let heard = '';
  client.on('data', (chunk) => (heard += chunk));
  await until(() => heard.length === KEYS.length * '+OK\r\n'.length, { what: 'the values' });
  client.destroy();
  return server;
}

/** Requests for all values, several times and mixed with short replies, and the replies. */
function exchange(rounds: number): { requests: string; replies: Buffer } {
  const requests: string[] = [];
  const replies: Buffer[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [i, key] of KEYS.entries()) {
      requests.push(`GET ${key}\r\n`, `ECHO ${round}\r\n`, `MGET ${key} nothing\r\n`);
      const value = Buffer.concat([Buffer.from(`$${SIZES[i]}\r\n`), CONTENTS[i]!, Buffer.from('\r\n')]);
      const echo = Buffer.from(`$${String(round).length}\r\n${round}\r\n`);
      replies.push(value, echo, Buffer.from('*2\r\n'), value, Buffer.from('$-1\r\n'));
    }
  }
  return { requests: requests.join(''), replies: Buffer.concat(replies) };
}

/** What the socket receives until it ends. */
async function all(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.resume();
  await once(socket, 'close');
  return Buffer.concat(chunks);
}

/** Waits until the node has executed the requests and the output of its only client does not fit the kernel. */
const stuck = (server: LostlockServer): Promise<unknown> =>
  until(
    () => [...server.node.clients.values()].some(({ connection }) => (connection?.pending ?? 0) > 1_000_000),
    { what: 'output that the client does not read' },
  );

// 30 rounds are 50 MB: more than the kernel keeps for a client that does not read.
const LATE = 30;

const ends: Record<string, (socket: Socket) => void> = {
  'half-closes': (socket) => void socket.end(),
  quits: (socket) => void socket.write('QUIT\r\n'),
};
for (const [ending, end] of Object.entries(ends)) {
  test(`a client that reads late and ${ending} receives everything in order`, async () => {
    await using server = await filled();
    const { requests, replies } = exchange(LATE);
    const socket = connect(server.port, server.host);
    socket.pause();
    socket.write(requests);
    await stuck(server);
    end(socket);
    const heard = await all(socket);
    expect(heard.subarray(0, replies.length).equals(replies)).toBe(true);
    expect(heard.subarray(replies.length).toString()).toBe(ending === 'quits' ? '+OK\r\n' : '');
    await until(() => server.node.clients.size === 0, { what: 'the end of the connection' });
  });
}

test.each(Object.entries(ends))('a client that %s and reads nothing gets no more output', async (_, end) => {
  await using server = await filled({ settings: { 'client-output-buffer-limit': 'pubsub 0 0 0' } });
  const socket = connect(server.port, server.host).on('error', () => {});
  socket.pause();
  socket.write('SUBSCRIBE c\r\n');
  // A socket too: a publisher in memory would not let this process look at its sockets.
  const publisher = connect(server.port, server.host);
  /** Publishes a message, and returns how many clients received it. */
  const publish = async (message: string): Promise<string> => {
    publisher.write(`*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$${message.length}\r\n${message}\r\n`);
    return String((await once(publisher, 'data'))[0]);
  };
  await until(() => server.node.pubsub.channels.has('c'), { what: 'the subscription' });
  // 20 MB are more than the kernel keeps.
  for (let i = 0; i < 20; i++) expect(await publish('x'.repeat(1_000_000))).toBe(':1\r\n');
  await stuck(server);
  end(socket);
  let receivers = ':1\r\n';
  for (let i = 0; i < 400 && receivers !== ':0\r\n'; i++) receivers = await publish('more');
  expect(receivers).toBe(':0\r\n');
  publisher.destroy();
  socket.destroy();
});

test('a message that follows long output arrives behind it', async () => {
  await using server = await filled({ settings: { 'client-output-buffer-limit': 'pubsub 0 0 0' } });
  const { requests, replies } = exchange(LATE);
  const socket = connect(server.port, server.host);
  socket.pause();
  socket.write(`${requests}SUBSCRIBE c\r\n`);
  await stuck(server);
  await until(() => server.node.pubsub.channels.has('c'), { what: 'the subscription' });
  const publisher = server.connect();
  publisher.write('PUBLISH c here\r\n');
  await once(publisher, 'data');
  publisher.destroy();
  const message =
    '*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$4\r\nhere\r\n';
  let heard = Buffer.alloc(0);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    if (chunk.includes('here')) heard = Buffer.concat(chunks);
  });
  socket.resume();
  await until(() => heard.length > 0, { what: 'the message' });
  expect(heard.equals(Buffer.concat([replies, Buffer.from(message)]))).toBe(true);
  socket.destroy();
});

test('what a client does not read counts as its output, and a limit closes it', async () => {
  await using server = await filled({ settings: { 'client-output-buffer-limit': 'normal 9mb 0 0' } });
  const socket = connect(server.port, server.host).on('error', () => {});
  socket.pause();
  socket.write(exchange(LATE).requests);
  await until(() => server.node.stats.outputBufferDisconnections > 0, { what: 'the limit' });
  await until(() => server.node.clients.size === 0, { what: 'the end of the connection' });
  expect(server.node.stats.outputBufferDisconnections).toBe(1);
  socket.destroy();
});

test('a server stops while a client does not read long output', async () => {
  const server = await filled();
  const socket = connect(server.port, server.host).on('error', () => {});
  socket.pause();
  socket.write(exchange(LATE).requests);
  await stuck(server);
  await server.stop();
  expect(server.node.clients.size).toBe(0);
  socket.destroy();
});

test('long output arrives over TLS, complete and in order', async () => {
  await using server = await filled({ tls: own });
  const { requests, replies } = exchange(5);
  const socket = connectWithTls({ port: server.port, host: server.host, ca });
  await once(socket, 'secureConnect');
  socket.write(`${requests}QUIT\r\n`);
  expect((await all(socket)).equals(Buffer.concat([replies, Buffer.from('+OK\r\n')]))).toBe(true);
});

test('long output arrives in memory, complete and in order', async () => {
  await using server = await filled();
  const { requests, replies } = exchange(1);
  const socket = server.connect() as Socket;
  const heard = all(socket);
  socket.write(`${requests}QUIT\r\n`);
  expect((await heard).equals(Buffer.concat([replies, Buffer.from('+OK\r\n')]))).toBe(true);
});

test('short output that a socket holds takes memory of its own size, and long output whole blocks', () => {
  const written: number[] = [];
  const socket = {
    destroyed: false,
    writableLength: 1,
    write: (bytes: Uint8Array) => void written.push(bytes.buffer.byteLength),
  };
  const output = new LongOutput(socket, false);
  for (const length of [5000, 200_000]) {
    output.add('x'.repeat(length));
    output.write();
  }
  expect(written).toEqual([5000, 131_072, 200_000 - 131_072]);
});
