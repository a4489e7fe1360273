/**
 * `npm run bench:locks`: our locks, as built, beside redlock and redis-semaphore, on redis-server and on lostlock.
 * Measures acquisitions per second alone and among fifty clients, the time from release to the next grant, and commands
 * per acquisition. All take turns, so that a busy moment of the machine affects all of them. redis-semaphore runs
 * twice, which shows the noise. Writes bench/locks.md.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Mutex } from 'redis-semaphore';
import { Redlock5 as Redlock } from '../test/clients/lock-libraries.ts';
import { startRedisServer } from '../test/support/redis-server.ts';
import { median } from './contestants.ts';

/** The built package, as users get it. tsx would slow down our sources, but not the others'. */
const dist = join(import.meta.dirname, '..', 'dist');
const { createLocks } = (await import(join(dist, 'locks', 'index.js'))) as typeof import('../locks/index.ts');
const { startServer } = (await import(join(dist, 'index.js'))) as typeof import('../index.ts');

type Release = () => Promise<unknown>;

interface Contender {
  readonly name: string;
  acquire(key: string): Promise<Release>;
  close(): void;
}

const ROUNDS = 18;
const ALONE_MS = 200;
const AMONG = 50;
const AMONG_MS = 300;
const WAKES = 20;

function contenders(connect: () => Redis): Contender[] {
  const redlockClient = connect();
  const redlock = new Redlock([redlockClient], { retryCount: -1, retryDelay: 10, retryJitter: 10 });
  const [semaphoreClient, again] = [connect(), connect()];
  const ours = connect();
  const locks = createLocks(ours);
  const lockBy = (
    name: string,
    acquire: (key: string) => Promise<{ release(): Promise<unknown> }>,
  ): Contender => ({
    name,
    acquire: async (key) => {
      const held = await acquire(key);
      return () => held.release();
    },
    close: () => {
      locks.close();
      ours.disconnect();
    },
  });
  return [
    lockBy('ours, simple', (key) => locks.simple(key).acquire()),
    lockBy('ours, reentrant', (key) => locks.reentrant(key).acquire()),
    lockBy('ours, fair', (key) => locks.fair(key).acquire()),
    {
      ...lockBy('redlock 5', (key) => redlock.acquire([key], 30_000)),
      close: () => redlockClient.disconnect(),
    },
    semaphore('redis-semaphore 5', semaphoreClient),
    semaphore('the same again', again),
  ];
}

function semaphore(name: string, redis: Redis): Contender {
  return {
    name,
    acquire: async (key) => {
      const mutex = new Mutex(redis, key, { lockTimeout: 30_000, retryInterval: 10, acquireTimeout: 60_000 });
      await mutex.acquire();
      return () => mutex.release();
    },
    close: () => redis.disconnect(),
  };
}

/** Acquisitions and releases per second, one after another. */
async function alone({ acquire }: Contender, ms = ALONE_MS): Promise<number> {
  let count = 0;
  const startedAt = performance.now();
  while (performance.now() - startedAt < ms) {
    await (await acquire('alone'))();
    count++;
  }
  return (count * 1000) / (performance.now() - startedAt);
}

let sent = 0;
const { sendCommand } = Redis.prototype;
/** Counts what the clients send, including repeated commands. */
Redis.prototype.sendCommand = function (this: Redis, ...args) {
  sent++;
  return sendCommand.apply(this, args);
};

/** Fifty clients that want the same lock: acquisitions per second, and requests per acquisition. */
async function among({ acquire }: Contender): Promise<{ perSecond: number; requests: number }> {
  let count = 0;
  const before = sent;
  const startedAt = performance.now();
  const work = async (): Promise<void> => {
    while (performance.now() - startedAt < AMONG_MS) {
      await (await acquire('among'))();
      count++;
    }
  };
  await Promise.all(Array.from({ length: AMONG }, work));
  const seconds = (performance.now() - startedAt) / 1000;
  return { perSecond: count / seconds, requests: (sent - before) / count };
}

/** The median time in milliseconds from one client's release to the other's grant. Each has its own connection. */
async function wakeUp(one: Contender, other: Contender): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < WAKES; i++) {
    const release = await one.acquire('wake');
    const waiting = other.acquire('wake').then((next) => ({ next, at: performance.now() }));
    // tidy sleeps: spreads the releases over time
    await new Promise((resolve) => setTimeout(resolve, 5 + (i % 7)));
    const at = performance.now();
    await release();
    const { next, at: grantedAt } = await waiting;
    times.push(grantedAt - at);
    await next();
  }
  return median(times);
}

interface Figures {
  readonly alone: number[];
  readonly among: number[];
  readonly requests: number[];
  readonly wakes: number[];
}

/**
 * The order of a round. Everyone is first in some rounds, and nobody always follows the same contender, whose garbage
 * it would have to collect.
 */
function orderOf(round: number, contenders: number): number[] {
  const order = Array.from({ length: contenders }, (_, index) => (index + round) % contenders);
  return round % 2 === 0 ? order : order.reverse();
}

/** The median over all rounds of the first figure divided by the second. */
const quotient = (one: readonly number[], other: readonly number[]): string =>
  median(one.map((figure, round) => figure / other[round]!)).toFixed(2);

/** Ours compared with the others of its kind, alone and among many, and how much one contender differs from itself. */
function compare(label: string, [simple, reentrant, , redlock, semaphores, again]: Figures[]): string {
  const pairs = [
    [simple, semaphores],
    [simple, redlock],
    [reentrant, redlock],
    [again, semaphores],
  ] as const;
  const both = pairs.map(
    ([one, other]) => `${quotient(one!.alone, other!.alone)}, ${quotient(one!.among, other!.among)}`,
  );
  return `| ${label} | ${both.join(' | ')} |`;
}

async function measure(label: string, connect: () => Redis): Promise<{ rows: string[]; quotients: string }> {
  const [first, second] = [contenders(connect), contenders(connect)];
  const figures = first.map((): Figures => ({ alone: [], among: [], requests: [], wakes: [] }));
  for (const contender of first) await alone(contender, 300);
  for (let round = 0; round < ROUNDS; round++) {
    for (const index of orderOf(round, first.length)) {
      const contender = first[index]!;
      const { alone: ours, among: crowd, requests, wakes } = figures[index]!;
      ours.push(await alone(contender));
      const many = await among(contender);
      crowd.push(many.perSecond);
      requests.push(many.requests);
      wakes.push(await wakeUp(contender, second[index]!));
    }
  }
  for (const contender of [...first, ...second]) contender.close();
  const rows = first.map(({ name }, index) => {
    const { alone: ours, among: crowd, requests, wakes } = figures[index]!;
    const rates = `${Math.round(median(ours))} | ${Math.round(median(crowd))}`;
    const row = `| ${label} | ${name} | ${rates} | ${median(requests).toFixed(1)} | ${median(wakes).toFixed(2)} |`;
    console.log(row);
    return row;
  });
  return { rows, quotients: compare(label, figures) };
}

async function main(): Promise<void> {
  await using real = await startRedisServer();
  await using ours = await startServer();
  const measured = [
    await measure('redis-server', () => new Redis({ path: real.path })),
    await measure('lostlock, TCP', () => new Redis(ours.url)),
    await measure('lostlock, in memory', () => new Redis({ Connector: ours.connector })),
  ];
  const quotients = measured.map((each) => each.quotients);
  console.log(quotients.join('\n'));
  const text = `# Locks beside others

\`npm run bench:locks\`, ${cpus().length} cores for everything, one process. Alone: acquire and release one after the other. Among
${AMONG}: all want the same lock at once (the others poll every 10 to 20 ms). Requests: how many requests the server received per
acquisition, including the release. Wake-up: from one client's release to the grant of a waiting client. Figures are medians of ${ROUNDS} rounds,
in which the libraries take turns.

| server | library | alone, per s | among ${AMONG}, per s | requests | wake-up, ms |
|---|---|---|---|---|---|
${measured.flatMap(({ rows }) => rows).join('\n')}

Ratios, alone and among fifty: the median over all rounds. The last column shows the noise.

| server | simple / redis-semaphore | simple / redlock | reentrant / redlock | redis-semaphore / itself |
|---|---|---|---|---|
${quotients.join('\n')}

Alone, the simple lock and redis-semaphore's send the same requests: a plain SET, and a script that compares and deletes.
Ours also notifies waiters in other processes of the release (S70), measures its lease on its own clock, limits how long
each reply may take, and distinguishes a lost reply from a refusal. It saves that cost elsewhere (docs/decisions/0016). The
re-entrant lock stores a hash with its owner's count, as Redisson does, where redlock stores a string, so its scripts have
one more command. Among fifty clients of one process, our locks pass from one holder to the next in one request, and every
tenth release is published to all processes. With the other libraries, the client that has just released the lock can take
it again at once while 49 sleep.
`;
  writeFileSync(join(import.meta.dirname, 'locks.md'), text);
}

await main();
