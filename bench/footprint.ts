/** Measures the time from start to the first PONG, and the bytes per key with and without a TTL. */
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { startServer } from '../index.ts';
import { median, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

/** The built package, as a test suite loads it. */
const ENTRY = new URL('../dist/index.js', import.meta.url).href;

/** Connects, and waits for the reply to PING. */
function pong(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
  });
}

async function firstPong(start: typeof startServer): Promise<number> {
  const started = performance.now();
  const server = await start();
  await pong(server.port);
  const taken = performance.now() - started;
  await server.stop();
  return taken;
}

/** The same with a server that has nothing but an answer. */
async function bareFirstPong(): Promise<number> {
  const started = performance.now();
  const server = createServer((socket) => socket.on('data', () => socket.write('+PONG\r\n')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await pong((server.address() as AddressInfo).port);
  const taken = performance.now() - started;
  server.close();
  return taken;
}

async function realFirstPong(): Promise<number> {
  const started = performance.now();
  const real = await startReal();
  const taken = performance.now() - started;
  await stop(real);
  return taken;
}

/** The first server of a process is another row: it loads the code (`entries.ts`). */
async function startUp(rounds: number): Promise<Row[]> {
  const { startServer: start } = (await import(ENTRY)) as typeof import('../index.ts');
  await firstPong(start);
  const ours: number[] = [];
  const bare: number[] = [];
  const real: number[] = [];
  // As many as a suite that starts one for each of its files.
  for (let i = 0; i < 5 * rounds; i++) {
    ours.push(await firstPong(start));
    bare.push(await bareFirstPong());
    if (i < rounds) real.push(await realFirstPong());
  }
  const common = { unit: 'ms', lessIsBetter: true };
  const name = 'startServer() to the first PONG';
  return [
    { ...common, name: `${name}, beside spawning redis-server`, ours: median(ours), other: median(real) },
    {
      ...common,
      name: `${name}: a server of Node that has nothing but an answer`,
      ours: median(bare),
      other: undefined,
    },
  ];
}

/** A kind of key, and the requests that create one. */
interface Kind {
  readonly name: string;
  readonly requests: (key: string, i: number) => readonly (readonly string[])[];
}

const LEASE = 3_600_000;
const OWNER = '0f8fad5b-d9cb-469f-a165-70867728950e:1';

/** A value of 8 bytes that no other key has. It is no number, which redis-server would keep in a pointer. */
const value = (i: number): string => `v${String(i).padStart(7, '0')}`;

const KINDS: readonly Kind[] = [
  {
    name: 'bytes per key (16-byte name, 8-byte value), without a TTL',
    requests: (name, i) => [['SET', name, value(i)]],
  },
  {
    name: 'bytes per key (16-byte name, 8-byte value), with a TTL',
    requests: (name, i) => [['SET', name, value(i), 'PX', `${LEASE + i}`]],
  },
  {
    name: "bytes per lock (16-byte name, a hash with one owner's field and a TTL)",
    requests: (name, i) => [
      ['HSET', name, OWNER, '1'],
      ['PEXPIRE', name, `${LEASE + i}`],
    ],
  },
];

const key = (i: number): string => `key:${String(i).padStart(12, '0')}`;

/** Creates keys. The requests are few at a time, so that they leave little for the collector. */
async function create(redis: Redis, { requests }: Kind, keys: number): Promise<void> {
  for (let from = 0; from < keys; from += 1000) {
    const batch = redis.pipeline();
    for (let i = from; i < Math.min(keys, from + 1000); i++)
      for (const [command = '', ...words] of requests(key(i), i)) batch.call(command, ...words);
    await batch.exec();
  }
}

/** What V8 allocates, and the buffers beside its heap, in bytes. */
function allocated(): number {
  globalThis.gc?.();
  // Buffers are freed on another thread, after the collection that finds them. The next collection waits for that.
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function bytesPerKey(kind: Kind, keys: number): Promise<Row> {
  const server = await startServer();
  const redis = new Redis({ Connector: server.connector });
  await create(redis, kind, 1000);
  await redis.flushall();
  const before = allocated();
  await create(redis, kind, keys);
  const ours = (allocated() - before) / keys;
  redis.disconnect();
  await server.stop();
  const other = await realBytesPerKey(kind, keys);
  return { name: `${kind.name}, at ${keys} keys`, ours, other, unit: 'bytes', lessIsBetter: true };
}

async function realBytesPerKey(kind: Kind, keys: number): Promise<number> {
  const real = await startReal();
  const redis = new Redis(real.port, '127.0.0.1', { protocol: 2 });
  const used = async (): Promise<number> =>
    Number(/used_memory:(\d+)/.exec((await redis.info('memory')) as string)?.[1]);
  const before = await used();
  await create(redis, kind, keys);
  const after = await used();
  redis.disconnect();
  await stop(real);
  return (after - before) / keys;
}

/** What JavaScript itself takes for the keys: their names and values in a Map, without anything else. */
function bytesInMap(keys: number): Row {
  const before = allocated();
  const map = new Map<string, string>();
  for (let i = 0; i < keys; i++) {
    // As a server gets them: flat strings of their own.
    map.set(Buffer.from(key(i), 'latin1').latin1Slice(), Buffer.from(value(i), 'latin1').latin1Slice());
  }
  const ours = (allocated() - before) / keys;
  const name = `the same names and values in a bare Map, at ${map.size} keys`;
  return { name, ours, other: undefined, unit: 'bytes' };
}

/** The rows of this chapter. Memory is measured only where the collector can be called (`--expose-gc`). */
export async function footprint(rounds: number, keys: number): Promise<Row[]> {
  const rows = await startUp(rounds);
  if (globalThis.gc === undefined) return rows;
  for (const kind of KINDS) rows.push(await bytesPerKey(kind, keys));
  return [...rows, bytesInMap(keys)];
}
