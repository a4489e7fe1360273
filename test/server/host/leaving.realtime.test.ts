/** A client that has left gets nothing more: not the element that another client pushes next, nor a message, nor a line in CLIENT LIST. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { connect as connectSecurely } from 'node:tls';
import { createClient } from 'redis';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { type LostlockServer, startPair, startServer } from '../../../index.ts';
import { serverTls } from '../../support/certificates/files.ts';
import { RawClient } from '../../support/raw-client.ts';
import { request } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';

/** How often each case is tried. Before, most of the tries gave the element to a client that had left. */
const TRIES = 10;

async function opened<S extends Socket>(socket: S, event = 'connect'): Promise<S> {
  await once(socket, event);
  return socket.setNoDelay(true).on('error', () => {});
}

const { ca, ...own } = serverTls;
const folder = mkdtempSync(join(tmpdir(), 'lostlock-leaving-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Stage {
  dial(): Promise<Duplex>;
  stop(): Promise<void>;
}

const served = async (options: object, dial: (server: LostlockServer) => Promise<Duplex>): Promise<Stage> => {
  const server = await startServer(options);
  return { dial: () => dial(server), stop: () => server.stop() };
};

const path = join(folder, 'redis.sock');

/** Servers whose clients are found to have left before anything else that arrives then. */
const direct: Record<string, () => Promise<Stage>> = {
  TCP: () => served({}, ({ port }) => opened(connect(port, '127.0.0.1'))),
  'a unix socket': () => served({ unixSocket: path }, () => opened(connect(path))),
  TLS: () => served({ tls: own }, ({ port }) => opened(connectSecurely({ port, ca }), 'secureConnect')),
  memory: () => served({}, async (server) => server.connect()),
  'a pair on the real clock': async () => {
    const pair = await startPair({ clock: 'real' });
    return { dial: () => opened(connect(pair.primary.port, '127.0.0.1')), stop: () => pair.close() };
  },
};

/** Here everything passes another socket first. */
const forwarded = async (): Promise<Stage> => {
  const pair = await startPair({ clock: 'real' });
  const dial = (): Promise<Socket> => opened(connect(Number(new URL(pair.url).port), '127.0.0.1'));
  return { dial, stop: () => pair.close() };
};

const ways: Record<string, (stream: Duplex) => void> = {
  'is destroyed': (stream) => void stream.destroy(),
  'is reset': (stream) => void (stream as Socket).resetAndDestroy(),
};

/** Node resets TCP connections only. */
const waysOver = (stage: string): typeof ways =>
  /TCP|pair|primary/.test(stage) ? ways : { 'is destroyed': ways['is destroyed']! };

async function tries(count: number, attempt: (name: string) => Promise<boolean>): Promise<number> {
  let failures = 0;
  for (let i = 0; i < count; i++) if (!(await attempt(`key:${i}`))) failures++;
  return failures;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

for (const [stage, start] of Object.entries({ ...direct, 'the address of a primary': forwarded })) {
  test(`over ${stage}, what is pushed after a waiting client has left stays in the list`, async () => {
    const { dial, stop } = await start();
    onTestFinished(stop);
    const producer = new RawClient(await dial());
    const pushed = async (key: string): Promise<boolean> => {
      await producer.ask('RPUSH', key, 'job');
      return (await producer.ask('LLEN', key)).raw === ':1\r\n';
    };
    /** A connection that the server has accepted. */
    const worker = async (): Promise<Duplex> => {
      const stream = await dial();
      await new RawClient(stream).ask('PING');
      return stream;
    };
    const isWaiting = async (): Promise<boolean> =>
      (await producer.ask('INFO', 'clients')).raw.includes('blocked_clients:1');
    const lost: Record<string, number> = {};
    for (const [way, leave] of Object.entries(waysOver(stage))) {
      lost[way] = await tries(TRIES, async (key) => {
        const stream = await worker();
        stream.write(request('BLPOP', `${way} ${key}`, '0'));
        await until(isWaiting);
        leave(stream);
        return pushed(`${way} ${key}`);
      });
      lost[`${way} with its request`] = await tries(TRIES, async (key) => {
        const stream = await worker();
        stream.write(request('BLPOP', `${way}: ${key}`, '0'));
        leave(stream);
        return pushed(`${way}: ${key}`);
      });
    }
    expect(lost).toEqual(Object.fromEntries(Object.keys(lost).map((name) => [name, 0])));
  });
}

for (const [stage, start] of Object.entries(direct)) {
  test(`over ${stage}, a subscriber that has left receives no message, and CLIENT LIST does not show it`, async () => {
    const { dial, stop } = await start();
    onTestFinished(stop);
    const other = new RawClient(await dial());
    for (const leave of Object.values(waysOver(stage))) {
      const found = await tries(TRIES, async () => {
        const stream = await dial();
        const subscriber = new RawClient(stream);
        await subscriber.ask('CLIENT', 'SETNAME', 'leaver');
        await subscriber.ask('SUBSCRIBE', 'channel');
        leave(stream);
        const counted = (await other.ask('PUBLISH', 'channel', 'x')).raw;
        return counted === ':0\r\n' && !(await other.ask('CLIENT', 'LIST')).raw.includes('leaver');
      });
      expect(found).toBe(0);
    }
  });
}

test('the order in which the kernel lists sockets does not matter', async () => {
  await using server = await startServer();
  const producer = await RawClient.connect(server);
  await producer.ask('PING');
  const lost = await tries(TRIES, async (key) => {
    const stream = await opened(connect(server.port, '127.0.0.1'));
    await new RawClient(stream).ask('PING');
    // Both have something to read, the producer first, and stay in this order while nobody looks again.
    const pinged = producer.ask('PING');
    stream.write(request('BLPOP', key, '0'));
    await nextTurn();
    while (server.node.blocking.count === 0) await nextTurn();
    stream.destroy();
    const pushed = producer.ask('RPUSH', key, 'job');
    await pinged;
    await pushed;
    return (await producer.ask('LLEN', key)).raw === ':1\r\n';
  });
  expect(lost).toBe(0);
});

test('no job is lost when a worker of node-redis is destroyed before the push', async () => {
  await using server = await startServer();
  const { url } = server;
  const producer = await createClient({ url }).connect();
  const lost = await tries(TRIES, async (key) => {
    const worker = await createClient({ url })
      .on('error', () => {})
      .connect();
    worker.blPop(key, 0).catch(() => {});
    await until(() => server.node.blocking.count === 1);
    worker.destroy();
    await producer.lPush(key, 'job');
    return (await producer.lLen(key)) === 1;
  });
  producer.destroy();
  expect(lost).toBe(0);
});

test('requests that arrive with the end of their connection run and are answered in order, while others wait too', async () => {
  await using server = await startServer();
  const waiter = await RawClient.connect(server);
  await waiter.send(request('BLPOP', 'never', '0'));
  await until(() => server.node.blocking.count === 1);
  for (const other of [1, 2]) {
    const socket = await opened(connect({ port: server.port, allowHalfOpen: true }));
    const client = new RawClient(socket);
    socket.end(request('INCR', 'n') + request('INCR', 'n'));
    expect([(await client.read()).raw, (await client.read()).raw]).toEqual([
      `:${2 * other - 1}\r\n`,
      `:${2 * other}\r\n`,
    ]);
    expect(await client.ended()).toBe('end');
  }
});

test('requests of one turn run in the order of their arrival when one of them begins to wait', async () => {
  await using server = await startServer();
  const [waiter, one, two] = await Promise.all([1, 2, 3].map(() => RawClient.connect(server)));
  await Promise.all([waiter, one, two].map((client) => client!.ask('PING')));
  void waiter!.send(request('BLPOP', 'q', '0'));
  void one!.send(request('RPUSH', 'q', 'a', 'b') + request('LRANGE', 'q', '0', '-1'));
  void two!.send(request('RPUSH', 'q', 'c'));
  expect((await two!.read()).raw).toBe(':2\r\n');
  expect((await waiter!.read()).raw).toBe('*2\r\n$1\r\nq\r\n$1\r\na\r\n');
  expect((await one!.read()).raw).toBe(':2\r\n');
  expect((await one!.read()).raw).toBe('*1\r\n$1\r\nb\r\n');
});

test('requests that wait for a slow script run although their client has left, as in redis-server, which reads them later', async () => {
  await using server = await startServer();
  const [slow, gone, other] = await Promise.all([1, 2, 3].map(() => RawClient.connect(server)));
  await slow!.send(request('EVAL', 'for i = 1, 2500000 do end return 1', '0'));
  await until(() => server.node.slowScript.active);
  await gone!.send(
    request('INCR', 'n') + request('INCR', 'n') + request('BLPOP', 'q', '0') + request('INCR', 'n'),
  );
  gone!.close();
  expect((await slow!.read()).raw).toBe(':1\r\n');
  expect((await other!.ask('GET', 'n')).raw).toBe('$1\r\n2\r\n');
  expect([server.node.blocking.count, server.node.clients.size]).toEqual([0, 2]);
});
