/** Measures the time from start to the first PONG, and the bytes per key with and without a TTL. */
import { createConnection } from 'node:net';
import { Redis } from 'ioredis';
import { startServer } from '../index.ts';
import { median, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

async function firstPong(): Promise<number> {
  const started = performance.now();
  const server = await startServer();
  await new Promise<void>((resolve) => {
    const socket = createConnection(server.port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
  });
  const taken = performance.now() - started;
  await server.stop();
  return taken;
}

async function realFirstPong(): Promise<number> {
  const started = performance.now();
  const real = await startReal();
  const taken = performance.now() - started;
  await stop(real);
  return taken;
}

async function startUp(rounds: number): Promise<Row> {
  await firstPong();
  const ours: number[] = [];
  const real: number[] = [];
  for (let i = 0; i < rounds; i++) {
    ours.push(await firstPong());
    real.push(await realFirstPong());
  }
  const name = 'startServer() to the first PONG, beside spawning redis-server';
  return { name, ours: median(ours), other: median(real), unit: 'ms', lessIsBetter: true };
}

const key = (i: number): string => `key:${String(i).padStart(12, '0')}`;

async function bytesPerKey(keys: number, ttl: boolean): Promise<Row | undefined> {
  const collect = globalThis.gc;
  if (collect === undefined) return undefined;
  // What V8 allocates, and the buffers beside its heap.
  const used = (): number => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const server = await startServer();
  const before = used();
  const db = server.node.db(0);
  server.node.unit(() => {
    for (let i = 0; i < keys; i++) {
      // As the decoder makes them: flat strings of their own.
      const name = Buffer.from(key(i), 'latin1').latin1Slice();
      const entry = db.put(name, Buffer.from('12345678', 'latin1').latin1Slice());
      if (ttl) db.expireAt(name, entry, Date.now() + 3_600_000 + i);
    }
  });
  const ours = (used() - before) / keys;
  await server.stop();
  const other = await realBytesPerKey(keys, ttl);
  const name = `bytes per key (16-byte name, 8-byte value), ${ttl ? 'with' : 'without'} a TTL, at ${keys} keys`;
  return { name, ours, other, unit: 'bytes', lessIsBetter: true };
}

async function realBytesPerKey(keys: number, ttl: boolean): Promise<number> {
  const real = await startReal();
  const redis = new Redis(real.port, '127.0.0.1', { protocol: 2 });
  const used = async (): Promise<number> =>
    Number(/used_memory:(\d+)/.exec((await redis.info('memory')) as string)?.[1]);
  const before = await used();
  for (let i = 0; i < keys; i += 10_000) {
    const batch = redis.pipeline();
    for (let k = i; k < Math.min(keys, i + 10_000); k++) {
      if (ttl) batch.set(key(k), '12345678', 'PX', 3_600_000 + k);
      else batch.set(key(k), '12345678');
    }
    await batch.exec();
  }
  const after = await used();
  redis.disconnect();
  await stop(real);
  return (after - before) / keys;
}

/** The rows of this chapter. */
export async function footprint(rounds: number, keys: number): Promise<Row[]> {
  const rows = [await startUp(rounds), await bytesPerKey(keys, false), await bytesPerKey(keys, true)];
  return rows.filter((row) => row !== undefined);
}
