/** `npm run test:clients`: a real Redisson through every kind of lock, and Redisson and our locks on the same keys. */
import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { startServer } from '../../../index.ts';
import { createLocks, type HeldLock, type Lock, type Locks } from '../../../locks/index.ts';
import type { LockKind } from '../../../locks/kinds/index.ts';
import { INSTALLED } from '../../support/oracles.ts';
import { findProgram, hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { onRealTime } from '../attempts.ts';
import { buildProject, resolveProject } from '../maven.ts';
import { redissonBehindSentinels, redissonOnClusters } from './behind.ts';

const here = dirname(fileURLToPath(import.meta.url));
const COUNT = Number(process.env.COUNT ?? 10_000);
const THREADS = 4;
/** What Contend.java calls the kinds that Redisson has too. */
const javaNames = {
  reentrant: 'reentrant',
  fair: 'fair',
  fenced: 'fenced',
  readWrite: 'read-write',
  semaphore: 'semaphore',
  expirablePermits: 'permits',
  latch: 'latch',
} as const satisfies Partial<Record<LockKind, string>>;
type Kind = (typeof javaNames)[keyof typeof javaNames];
const kinds = Object.values(javaNames);

/** Runs the Java side; gives what it printed. */
function java(classpath: string, ...args: string[]): Promise<{ code: number; out: string }> {
  return new Promise((resolve) => {
    const child = spawn('java', ['-cp', classpath, 'lostlock.Main', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.on('close', (code) => resolve({ code: code ?? 1, out }));
  });
}

/** Our side of the contention: the same turns as Contend.java, with the same witnesses. */
class Contender {
  readonly #redis: Redis;
  readonly #locks: Locks;
  readonly #name: string;
  overlaps = 0;
  done = 0;

  constructor(url: string, name: string) {
    this.#redis = new Redis(url);
    this.#locks = createLocks(this.#redis);
    this.#name = name;
  }

  async run(kind: Kind, count: number, tasks: number): Promise<void> {
    const work = async (task: number): Promise<void> => {
      for (let i = task; i < count; i += tasks) {
        await this.#turn(kind, i);
        this.done++;
      }
    };
    await Promise.all(Array.from({ length: tasks }, (_, task) => work(task)));
  }

  close(): void {
    this.#locks.close();
    this.#redis.disconnect();
  }

  async #turn(kind: Kind, i: number): Promise<void> {
    const name = this.#name;
    const locks = this.#locks;
    switch (kind) {
      case 'reentrant':
      case 'fair':
        return this.#locked(locks[kind](name), i % 3 === 0);
      case 'fenced':
        return this.#locked(locks.fenced(name), false);
      case 'read-write':
        return i % 4 === 0 ? this.#write() : this.#read(i % 3 === 0);
      case 'semaphore':
        return locks.semaphore(name).using(() => this.#inside(3));
      case 'permits':
        return locks.expirablePermits(name).using(() => this.#inside(3));
      case 'latch': {
        const latch = locks.latch(`${name}:${i}`);
        await latch.countDown();
        return latch.await({ waitMs: 60_000 });
      }
    }
  }

  #locked(lock: Lock<HeldLock>, twice: boolean): Promise<void> {
    return lock.using(() => (twice ? lock.using(() => this.#inside(1)) : this.#inside(1)));
  }

  #write(): Promise<void> {
    return this.#locks.readWrite(this.#name).write.using(async () => {
      await this.#enter(1);
      if (Number(await this.#redis.get(`witness:${this.#name}:readers`)) !== 0) this.overlaps++;
      await this.#redis.decr(`witness:${this.#name}`);
    });
  }

  /** `twice`: the owner has a second hold, and releases the first one, with its short lease, before it reads. */
  async #read(twice: boolean): Promise<void> {
    const { read } = this.#locks.readWrite(this.#name);
    await this.#locks.run(async () => {
      const first = twice ? await read.acquire({ leaseMs: 10_000 }) : undefined;
      await using _second = await read.acquire();
      await first?.release();
      await this.#redis.incr(`witness:${this.#name}:readers`);
      if (Number(await this.#redis.get(`witness:${this.#name}`)) !== 0) this.overlaps++;
      await this.#redis.decr(`witness:${this.#name}:readers`);
    });
  }

  async #inside(most: number): Promise<void> {
    await this.#enter(most);
    await this.#redis.decr(`witness:${this.#name}`);
  }

  async #enter(most: number): Promise<void> {
    if ((await this.#redis.incr(`witness:${this.#name}`)) > most) this.overlaps++;
  }
}

async function contend(classpath: string, url: string, kind: Kind): Promise<boolean> {
  const name = `interop:${kind}`;
  const count = COUNT / 2;
  const redis = new Redis(url);
  if (kind === 'semaphore' || kind === 'permits') await redis.set(name, 3);
  if (kind === 'latch') for (let i = 0; i < count; i++) await redis.set(`${name}:${i}`, 2);
  const ours = new Contender(url, name);
  const startedAt = Date.now();
  const [theirs] = await Promise.all([
    java(classpath, 'contend', url, kind, name, String(count), String(THREADS)),
    ours.run(kind, count, THREADS),
  ]);
  ours.close();
  const left = kind === 'semaphore' || kind === 'permits' ? await redis.get(name) : '3';
  redis.disconnect();
  const good = theirs.code === 0 && ours.overlaps === 0 && ours.done === count && left === '3';
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(
    `${good ? 'ok  ' : 'FAIL'} ${kind}: ours ${ours.done} done, ${ours.overlaps} overlaps; Redisson ${theirs.out.trim()}; ${seconds} s`,
  );
  return good;
}

/** Everything against one server. */
async function against(
  label: string,
  url: string,
  classpath: string,
  only: readonly Kind[],
): Promise<boolean> {
  console.log(`\n${label} at ${url}`);
  const smoke = await java(classpath, 'smoke', url);
  console.log(smoke.out.trim());
  let good = smoke.code === 0;
  for (const kind of only) good = (await contend(classpath, url, kind)) && good;
  return good;
}

/**
 * `COUNT=n` sets the acquisitions of each kind, half of them by Redisson; `KINDS=fair,latch` chooses kinds; an argument is
 * the URL of a server to use in place of redis-server and lostlock. Missing Java or Redisson is reported, and is no failure.
 */
async function main(): Promise<void> {
  if (!findProgram('java') || !findProgram('mvn')) {
    console.log('skipped: java and mvn are needed to run Redisson, and at least one is not installed');
    return;
  }
  try {
    resolveProject(here);
  } catch (error) {
    console.log(`skipped: Maven could not resolve Redisson (${(error as Error).message.split('\n')[0]})`);
    return;
  }
  const classpath = buildProject(here);
  const only = kinds.filter((kind) => !process.env.KINDS || process.env.KINDS.split(',').includes(kind));
  let good = true;
  if (process.argv[2]) good = await against('the given server', process.argv[2], classpath, only);
  else {
    if (hasRedisServer) {
      await using real = await startRedisServer({ tcp: true });
      // Both wait for failovers most of the time.
      const groups = await Promise.all([
        onRealTime('Redisson behind Sentinels', () => redissonBehindSentinels(classpath)),
        onRealTime('Redisson on a cluster', () => redissonOnClusters(classpath)),
      ]);
      good = !groups.includes(false);
      good = (await against('redis-server', `redis://127.0.0.1:${real.port}`, classpath, only)) && good;
    }
    await using ours = await startServer({ dialect: INSTALLED });
    good = (await against('lostlock', ours.url, classpath, only)) && good;
  }
  process.exitCode = good ? 0 : 1;
}

process.setMaxListeners(100); // Each real server is killed when this process exits.

await main();
