/**
 * Measures sequential round trips of ioredis: to lostlock in memory and over TCP, to redis-server over TCP, to a stream that
 * answers by itself, and to other in-process servers. Each has a process of its own, and they take turns.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { startServer } from '../index.ts';
import { LOAD_CORE, median, pin, SERVER_CORE, startReal, stop } from './contestants.ts';
import { answered, answeredBy } from './platform/answering.ts';
import { storing } from './platform/bare-answers.ts';
import { values } from './platform/bare-stores.ts';
import type { Row } from './report.ts';

const UNLOCK =
  "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

interface Caller {
  get(key: string): Promise<unknown>;
  eval(script: string, keys: number, ...words: string[]): Promise<unknown>;
}

/** What a process measures, and for how long, in milliseconds. */
interface Task {
  readonly command: 'get' | 'eval';
  readonly ms: number;
}

/** How many round trips there are between two looks at the clock. */
const BATCH = 50;

const PEERS = join(import.meta.dirname, 'peers');
const require = createRequire(join(PEERS, 'package.json'));

const MOCK = 'ioredis-mock';
const JS_SERVER = 'js-redis-server over TCP';

/** What the processes call, by name. `port` is that of a redis-server. */
const CALLERS: Record<string, (port: number) => Promise<Caller>> = {
  memory: async () => new Redis({ Connector: (await startServer()).connector }),
  tcp: async () => new Redis((await startServer()).url),
  redis: async (port) => new Redis(port, '127.0.0.1'),
  nobody: async () => new Redis(answered),
  map: async () => {
    const answer = storing(values());
    return new Redis(
      answeredBy(
        (request) => Buffer.from(answer(Buffer.from(request as string)), 'latin1'),
        process.nextTick,
      ),
    );
  },
  [MOCK]: async () => new (require('ioredis-mock') as new () => Caller)(),
  [JS_SERVER]: async () => {
    const { createRedisMock } = (await import(require.resolve('js-redis-server'))) as {
      createRedisMock(): Promise<{ url: string }>;
    };
    return new Redis((await createRedisMock()).url, { protocol: 2 });
  },
};

/** The processes' part: measures what it is told to, and answers with round trips per second. */
async function serve(name: string, port: number): Promise<void> {
  const caller = await (CALLERS[name] as (typeof CALLERS)[string])(port);
  process.on('message', async ({ command, ms }: Task) => {
    const started = performance.now();
    let count = 0;
    let passed = 0;
    while (passed < ms) {
      for (let i = 0; i < BATCH; i++)
        await (command === 'get' ? caller.get('key') : caller.eval(UNLOCK, 1, 'lock', 'token'));
      count += BATCH;
      passed = performance.now() - started;
    }
    process.send?.((count * 1000) / passed);
  });
  process.send?.('ready');
}

async function start(name: string, port = 0): Promise<ChildProcess> {
  const child = fork(fileURLToPath(import.meta.url), [name, String(port)]);
  await once(child, 'message');
  pin(child.pid as number, LOAD_CORE);
  return child;
}

/** The medians of the processes' rates, by their names. The first round warms them up. */
async function rates(
  rounds: number,
  task: Task,
  children: ReadonlyMap<string, ChildProcess>,
): Promise<Record<string, number>> {
  const figures = new Map([...children.keys()].map((name): [string, number[]] => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const [name, child] of children) {
      child.send(task);
      const [rate] = (await once(child, 'message')) as [number];
      if (round > 0) figures.get(name)?.push(rate);
    }
  }
  return Object.fromEntries([...figures].map(([name, list]) => [name, median(list)]));
}

/**
 * The rows of this chapter: GET and the unlock script, sequentially.
 * @param ms how long each process calls in each round, in milliseconds. In eight processes, a GET in memory took 2.5 to 4.2
 *   microseconds in rounds of 50 ms, because V8 was still optimising, and 2.5 to 2.7 in rounds of half a second
 */
export async function roundTrips(rounds: number, ms: number): Promise<Row[]> {
  // One at a time, answers of another process come up to five times as fast when it runs on the same core.
  const [far, near] = [await startReal(SERVER_CORE), await startReal(LOAD_CORE)];
  const peers = existsSync(join(PEERS, 'node_modules')) ? [MOCK, JS_SERVER] : [];
  const children = new Map<string, ChildProcess>();
  for (const name of ['memory', 'tcp', 'nobody', 'map', ...peers]) children.set(name, await start(name));
  children.set('far', await start('redis', far.port));
  children.set('near', await start('redis', near.port));
  const gets = await rates(rounds, { command: 'get', ms }, children);
  const evals = await rates(rounds, { command: 'eval', ms }, children);
  for (const child of children.values()) child.kill();
  await Promise.all([far, near].map(stop));
  const rows: Row[] = [];
  const row = (name: string, mine: number | undefined, other: number | undefined): void => {
    if (mine !== undefined) rows.push({ name, ours: mine, other, unit: 'round trips/s' });
  };
  row('GET in memory, beside redis-server over TCP, on its own core', gets.memory, gets.far);
  row(
    'GET of ioredis on a stream that answers from a Map, beside redis-server over TCP, on its own core',
    gets.map,
    gets.far,
  );
  row('GET in memory, beside redis-server over TCP, on the same core', gets.memory, gets.near);
  row('GET in memory, beside ioredis on a stream that answers by itself', gets.memory, gets.nobody);
  row('GET in memory, beside ioredis on a stream that answers from a Map', gets.memory, gets.map);
  row('GET over TCP in one process, beside redis-server over TCP, on its own core', gets.tcp, gets.far);
  row('EVAL unlock in memory, beside redis-server over TCP, on its own core', evals.memory, evals.far);
  for (const name of peers) {
    row(`GET in memory, beside ${name}`, gets.memory, gets[name]);
    row(`EVAL unlock in memory, beside ${name}`, evals.memory, evals[name]);
  }
  if (peers.length > 0)
    row(`GET of ioredis on a stream that answers from a Map, beside ${MOCK}`, gets.map, gets[MOCK]);
  return rows;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await serve(process.argv[2] as string, Number(process.argv[3]));
