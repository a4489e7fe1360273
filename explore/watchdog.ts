/**
 * Watches from a thread of its own that client code returns to its event loop. Code that never does, such as a loop of
 * microtasks, cannot be stopped from within: the watchdog says whose it is and in which world, and ends the process.
 */

import { isMainThread, Worker } from 'node:worker_threads';
import { beats, CELL } from '../lab/time/beats.ts';
import { isDebugged, isNode } from '../start/running/runtime.ts';
import { shareMemory, TEXT } from './watched.ts';

/** How long code may run without returning, in milliseconds of CPU time. */
const LIMIT = 10_000;

/**
 * Starts the watchdog of this process, unless there is one or it cannot have one.
 * @param newsTo the file descriptor that hears of it too
 */
export function startWatchdog(budgetMs: number, newsTo?: number): void {
  // With a debugger, code may stand still for as long as its user likes.
  if (!isNode || isDebugged()) return;
  if (beats.cells === undefined) {
    const buffer = shareMemory();
    const workerData = { buffer, CELL, TEXT, newsTo, ends: isMainThread, parent: process.ppid };
    const thread = new Worker(SOURCE, { eval: true, workerData, env: {}, execArgv: [], stdout: false });
    // It must not keep the process alive.
    thread.unref();
    thread.on('error', () => {});
  }
  // A shorter budget is worth no longer wait.
  const limit = Math.max(2000, Math.min(LIMIT, budgetMs));
  (beats.cells as Int32Array)[CELL.limit] = limit;
}

/** What a process that the watchdog ends tells the one that started it. */
export interface StuckNews {
  /** The client that does not return to its event loop; undefined when none of them runs. */
  readonly client: string | undefined;
}

/** What is wrong with a client whose code does not return. */
export function stuckText(client: string | undefined): string {
  const who = client === undefined ? 'code' : `client ${client}`;
  return `${who} does not return to its event loop: a loop of promises or ticks, or one that never ends`;
}

/** The code of the thread. It is text, since a bundler moves files, and works without the lab. */
const SOURCE = `
const { writeSync } = require('node:fs');
const { workerData } = require('node:worker_threads');
const { buffer, CELL, TEXT, newsTo, ends, parent } = workerData;
const cells = new Int32Array(buffer, 0, TEXT / 4);
const text = (${stuckText.toString()});
let beat = -1;
let since = process.cpuUsage();
let told = false;
const write = (to, line) => {
  try { writeSync(to, line); } catch {}
};
setInterval(() => {
  // Nobody else can end a process that spins and whose parent is gone.
  if (newsTo !== undefined && process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
  const now = Atomics.load(cells, CELL.beat);
  const length = Atomics.load(cells, CELL.text);
  if (now !== beat || length === 0 || Atomics.load(cells, CELL.inside) === 0) {
    beat = now;
    since = process.cpuUsage();
    told = false;
    return;
  }
  const { user, system } = process.cpuUsage(since);
  if (told || (user + system) / 1000 < cells[CELL.limit]) return;
  told = true;
  const world = JSON.parse(Buffer.from(new Uint8Array(buffer, TEXT, length)).toString());
  const client = world.clients[cells[CELL.running]];
  const what = ends ? 'This process is ended' : 'This thread cannot be ended from here';
  write(2, '\\nlostlock: ' + text(client) + '. ' + what + '. Its world: ' + world.replay + '\\n');
  if (newsTo !== undefined) write(newsTo, JSON.stringify({ client }) + '\\n');
  if (ends) process.kill(process.pid, 'SIGKILL');
}, 250);
`;
