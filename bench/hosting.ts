/** Measures what a server costs the process that hosts it, and what a thread of its own costs and saves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { LostlockServer, ThreadedServer } from '../index.ts';
import { type Contestant, median, startOurs, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

/** The built package: a thread cannot load the sources. */
const ENTRY = new URL('../dist/index.js', import.meta.url).href;
const { startServer } = (await import(ENTRY)) as typeof import('../index.ts');

/** How long it takes to start a server, in milliseconds. */
async function startTime(thread: boolean): Promise<number> {
  const started = performance.now();
  const server = thread ? await startServer({ thread: true }) : await startServer();
  const taken = performance.now() - started;
  await server.stop();
  return taken;
}

async function processTime(start: () => Promise<Contestant>): Promise<number> {
  const started = performance.now();
  const contestant = await start();
  const taken = performance.now() - started;
  await stop(contestant);
  return taken;
}

/**
 * A process that starts servers beside a first one, and prints what each takes of its memory in KiB, and the share of a
 * core that all of them use.
 */
const IDLE = `
  const [, entry, count] = process.argv;
  import(entry).then(async ({ startServer }) => {
    await startServer();
    gc();
    const before = process.memoryUsage().rss;
    for (let i = 0; i < count; i++) await startServer();
    gc();
    const kib = (process.memoryUsage().rss - before) / 1024 / count;
    const [used, since] = [process.cpuUsage(), performance.now()];
    setTimeout(() => {
      const { user, system } = process.cpuUsage(used);
      console.log(JSON.stringify({ kib, core: (user + system) / 1000 / (performance.now() - since) }));
      process.exit();
    }, 2000);
  });`;

/** What idle servers cost. They have a process of their own: in the bench's, the collector frees what others have left. */
async function idle(count: number): Promise<{ kib: number; core: number }> {
  return JSON.parse(await output(['--expose-gc', '-e', IDLE, ENTRY, String(count)]));
}

/** What a Node process with these arguments prints. */
async function output(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  await once(child, 'close');
  return printed;
}

/** A process that sends PING for a while, and prints the median time of an answer in milliseconds. */
const PINGS = `
  const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1').setNoDelay();
  const times = [];
  let sent;
  const ping = () => { sent = performance.now(); socket.write('PING\\r\\n'); };
  socket.on('connect', ping);
  socket.on('data', () => { times.push(performance.now() - sent); setTimeout(ping, 1); });
  setTimeout(() => {
    console.log(times.sort((a, b) => a - b)[times.length >> 1]);
    process.exit();
  }, 1500);`;

/** The median time of a PING from another process while this one computes for 10 ms at a time, in milliseconds. */
async function whileBusy(server: LostlockServer | ThreadedServer): Promise<number> {
  const printed = output(['-e', PINGS, String(server.port)]);
  const busy = setInterval(() => {
    const until = performance.now() + 10;
    while (performance.now() < until);
  }, 0);
  const millis = Number(await printed);
  clearInterval(busy);
  await server.stop();
  return millis;
}

/** The rows of this chapter. */
export async function hosting(rounds: number, servers: number): Promise<Row[]> {
  const times: number[][] = [[], [], [], []];
  await startTime(false); // The first start compiles what later ones use.
  for (let i = 0; i < rounds; i++) {
    times[0]?.push(await startTime(false));
    times[1]?.push(await startTime(true));
    times[2]?.push(await processTime(() => startOurs()));
    times[3]?.push(await processTime(() => startReal()));
  }
  const [here, thread, ours, real] = times.map(median);
  const { kib, core } = await idle(servers);
  const ping = await whileBusy(await startServer());
  const threaded = await whileBusy(await startServer({ thread: true }));
  return [
    { name: 'the command line, to the first PONG', ours: ours!, other: real, unit: 'ms', lessIsBetter: true },
    { name: 'startServer()', ours: here!, other: undefined, unit: 'ms' },
    { name: 'startServer({ thread: true })', ours: thread!, other: undefined, unit: 'ms' },
    { name: `memory of one of ${servers} idle servers`, ours: kib, other: undefined, unit: 'KiB' },
    {
      name: `share of a core that ${servers} idle servers use`,
      ours: core * 100,
      other: undefined,
      unit: '%',
    },
    { name: 'PING while the host computes for 10 ms at a time', ours: ping, other: undefined, unit: 'ms' },
    { name: 'the same with thread: true', ours: threaded, other: undefined, unit: 'ms' },
  ];
}
