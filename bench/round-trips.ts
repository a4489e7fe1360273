/**
 * Measures sequential round trips of ioredis: to lostlock in memory and over TCP, to redis-server over TCP, and to
 * other in-process servers.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { startServer } from '../index.ts';
import { median, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

const UNLOCK =
  "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

interface Caller {
  get(key: string): Promise<unknown>;
  eval(script: string, keys: number, ...words: string[]): Promise<unknown>;
}

async function perSecond(count: number, step: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < count; i++) await step();
  return (count * 1000) / (performance.now() - started);
}

async function best(
  rounds: number,
  count: number,
  callers: readonly Caller[],
  step: (caller: Caller) => Promise<unknown>,
) {
  const figures = callers.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [i, caller] of callers.entries()) {
      const rate = await perSecond(count, () => step(caller));
      if (round > 0) figures[i]?.push(rate);
    }
  }
  return figures.map(median);
}

/** ioredis-mock and js-redis-server, if `npm install` was run in bench/peers. */
async function peers(): Promise<{ name: string; caller: Caller; close: () => void }[]> {
  const folder = join(import.meta.dirname, 'peers');
  if (!existsSync(join(folder, 'node_modules'))) return [];
  const require = createRequire(join(folder, 'package.json'));
  const Mock = require('ioredis-mock') as new () => Caller & { disconnect(): void };
  const mock = new Mock();
  const found = [{ name: 'ioredis-mock', caller: mock as Caller, close: () => mock.disconnect() }];
  const { createRedisMock } = (await import(require.resolve('js-redis-server'))) as {
    createRedisMock(): Promise<{ url: string; close(): Promise<void> }>;
  };
  const rival = await createRedisMock();
  const redis = new Redis(rival.url, { protocol: 2 });
  const close = (): void => {
    redis.disconnect();
    void rival.close();
  };
  found.push({ name: 'js-redis-server over TCP', caller: redis as unknown as Caller, close });
  return found;
}

/** The rows of this chapter: GET and the unlock script, sequentially. */
export async function roundTrips(rounds: number, count: number): Promise<Row[]> {
  const ours = await startServer();
  const real = await startReal();
  const memory = new Redis({ Connector: ours.connector });
  const tcp = new Redis(ours.url);
  const redis = new Redis(real.port, '127.0.0.1');
  const others = await peers();
  const callers = [memory, tcp, redis, ...others.map(({ caller }) => caller)] as unknown as Caller[];
  const gets = await best(rounds, count, callers, (caller) => caller.get('key'));
  const evals = await best(rounds, Math.ceil(count / 4), callers, (caller) =>
    caller.eval(UNLOCK, 1, 'lock', 'token'),
  );
  for (const client of [memory, tcp, redis]) client.disconnect();
  for (const { close } of others) close();
  await ours.stop();
  await stop(real);
  const rows: Row[] = [];
  const row = (name: string, mine: number | undefined, other: number | undefined): void => {
    if (mine !== undefined) rows.push({ name, ours: mine, other, unit: 'round trips/s' });
  };
  row('GET in memory, beside redis-server over TCP', gets[0], gets[2]);
  row('GET over TCP in one process, beside redis-server over TCP', gets[1], gets[2]);
  row('EVAL unlock in memory, beside redis-server over TCP', evals[0], evals[2]);
  others.forEach(({ name }, i) => {
    row(`GET in memory, beside ${name}`, gets[0], gets[3 + i]);
    row(`EVAL unlock in memory, beside ${name}`, evals[0], evals[3 + i]);
  });
  return rows;
}
