/**
 * The servers that the bench compares: ours and redis-server, each in its own process, and on its own core if possible.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort } from '../test/support/redis-server.ts';
import { until } from '../test/support/until.ts';

/** A server under load. */
export interface Contestant {
  readonly name: string;
  readonly port: number;
  readonly process: ChildProcess;
}

const canPin = findProgram('taskset') !== undefined && cpus().length > 1;
/** The core that servers run on. */
export const SERVER_CORE = 0;
/** The core that creates the load. */
export const LOAD_CORE = 1;

/** The command that runs on the given core only, on systems that allow it. */
export function pinned(core: number, command: string, args: readonly string[]): [string, string[]] {
  return canPin ? ['taskset', ['-c', String(core), command, ...args]] : [command, [...args]];
}

/**
 * Starts a server on a free port, and waits until it answers PING.
 * @param args the arguments for that port
 */
export async function launch(
  name: string,
  command: string,
  args: (port: string) => readonly string[],
  core: number = SERVER_CORE,
): Promise<Contestant> {
  const port = await freePort();
  const [program, words] = pinned(core, command, args(String(port)));
  const child = spawn(program, words, { stdio: 'ignore' });
  await until(() => answers(port), { what: `the first PONG of ${name}`, limitMs: 60_000 });
  return { name, port, process: child };
}

async function answers(port: number): Promise<boolean> {
  const { Socket } = await import('node:net');
  return new Promise((resolve) => {
    const socket = new Socket();
    socket.once('error', () => resolve(false));
    socket.connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/**
 * Starts our server as users do, from the built package.
 * @param profile a folder for a profile of its CPU time
 * @param options more of its command line
 */
export async function startOurs(profile?: string, options: readonly string[] = []): Promise<Contestant> {
  const cli = join(import.meta.dirname, '..', 'dist', 'cli.js');
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  return launch('lostlock', process.execPath, (port) => [...flags, cli, '--port', port, ...options]);
}

/** Starts redis-server without persistence. */
export async function startReal(core: number = SERVER_CORE): Promise<Contestant> {
  const args = ['--save', '', '--appendonly', 'no'];
  return launch('redis-server', 'redis-server', (port) => ['--port', port, ...args], core);
}

/** Ends the server's process. It gets the time to write a profile. */
export async function stop({ process: child }: Contestant): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await ended;
}

/** Lets a process run on the given core only, on systems that allow it. */
export function pin(pid: number, core: number): void {
  if (canPin) execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/** The CPU time of all threads of a server's process so far, in microseconds; NaN on systems that do not tell. */
export function cpuOf({ process: child }: Contestant): number {
  try {
    const tasks = `/proc/${child.pid}/task`;
    const times = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
    );
    return times.reduce((sum, each) => sum + each, 0) / 1000;
  } catch {
    return Number.NaN;
  }
}

/** How far apart the figures are: the difference of the largest and the smallest, as a share of the median. */
export function spreadOf(figures: readonly number[]): number {
  return (Math.max(...figures) - Math.min(...figures)) / median(figures);
}

/** The median. */
export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
