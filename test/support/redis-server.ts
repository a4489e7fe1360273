/** Starts the real redis-server (the oracle) and finds the other programs that some tests need. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The full path of a program on PATH; undefined where it is not installed. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return undefined;
}

/** False where the oracle is missing: `test.skipIf(!hasRedisServer)('… (needs redis-server)', …)`. */
export const hasRedisServer = findProgram('redis-server') !== undefined;

/** A running redis-server. */
export interface RealRedis {
  /** Its unix socket, for ioredis' `path`, node-redis' `socket.path` and redis-cli -s. */
  readonly path: string;
  /** Its TCP port on 127.0.0.1; 0 where it was not asked for. */
  readonly port: number;
  /** A scratch directory of its own, removed by `stop`. */
  readonly dir: string;
  /** For a server that has hung up: how it ended, and its report of a crash. Waits a few seconds for its end. */
  obituary(): Promise<string>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How many characters of a server's output are kept. */
const LAST_WORDS = 3000;

/**
 * Starts redis-server (or another `program` that takes its arguments) without persistence on a unix socket, and with
 * `tcp` on a free port too. `args` are added to its command line. Rejects with what it printed when it does not come up.
 */
export async function startRedisServer({
  tcp = false,
  args = [] as string[],
  program = findProgram('redis-server') ?? 'redis-server',
} = {}): Promise<RealRedis> {
  const dir = mkdtempSync(join(tmpdir(), 'lostlock-redis-'));
  const path = join(dir, 'redis.sock');
  const port = tcp ? await freePort() : 0;
  const quiet = ['--save', '', '--appendonly', 'no', '--dir', dir, '--bind', '127.0.0.1'];
  const child = spawn(program, [...quiet, '--port', String(port), '--unixsocket', path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    process.off('exit', kill);
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      kill();
      await gone;
    }
    await removeFolder(dir);
  };
  let printed = '';
  const keep = (chunk: Buffer): void => {
    printed += chunk.toString('latin1');
    // A report of a crash is long, and tells what matters first.
    const report = printed.indexOf('BUG REPORT START');
    printed = report < 0 ? printed.slice(-LAST_WORDS) : printed.slice(report, report + LAST_WORDS);
  };
  try {
    await ready(child);
  } catch (error) {
    await stop();
    throw error;
  }
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return {
    path,
    port,
    dir,
    async obituary() {
      for (let i = 0; i < 50 && child.exitCode === null && child.signalCode === null; i++) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const ended = child.exitCode ?? child.signalCode;
      return ended === null ? `${program} runs on` : `${program} ended with ${ended}:\n${printed}`;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Removes a folder that a child of a killed server, such as a background save, may still put a file into. */
export function removeFolder(dir: string): Promise<void> {
  return rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

/** Resolves once the server prints that it accepts connections. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const read = (chunk: Buffer): void => {
      printed += chunk.toString('latin1');
      if (/eady to accept connections|server is now ready/i.test(printed)) resolve();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server exited with ${code}:\n${printed}`)));
  });
}

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}

/** The first of `count` consecutive ports that are free, as are those of their buses. */
export async function freeRow(count: number): Promise<number> {
  for (let first = 21_000; first < 30_000; first += count) {
    const ports = Array.from({ length: count }, (_, i) => [first + i, first + i + 10_000]).flat();
    const free = await Promise.all(ports.map(isFree));
    if (free.every((each) => each)) return first;
  }
  throw new Error('no free ports');
}

/** Whether nobody listens on a TCP port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
