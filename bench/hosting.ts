/** Measures what a server costs the process that hosts it, and what a thread of its own costs and saves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { LostlockServer, ThreadedServer } from '../index.ts';
import { type Contestant, median, startOurs, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

/** The built package: a thread cannot load the sources. */
const { startServer } = (await import('../dist/index.js' as string)) as typeof import('../index.ts');

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

/** What idle servers cost: memory of each in KiB, and the share of a core that all of them use. */
async function idle(count: number): Promise<{ kib: number; core: number }> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const servers: LostlockServer[] = [];
  for (let i = 0; i < count; i++) servers.push(await startServer());
  globalThis.gc?.();
  const kib = (process.memoryUsage().rss - before) / 1024 / count;
  const [used, since] = [process.cpuUsage(), performance.now()];
  await wait(2000);
  const { user, system } = process.cpuUsage(used);
  const core = (user + system) / 1000 / (performance.now() - since);
  await Promise.all(servers.map((server) => server.stop()));
  return { kib, core };
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
  const child = spawn(process.execPath, ['-e', PINGS, String(server.port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (text) => {
    printed += text;
  });
  const ended = once(child, 'close');
  const busy = setInterval(() => {
    const until = performance.now() + 10;
    while (performance.now() < until);
  }, 0);
  await ended;
  clearInterval(busy);
  await server.stop();
  return Number(printed);
}

/** The rows of this chapter. */
export async function hosting(rounds: number, servers: number): Promise<Row[]> {
  const times: number[][] = [[], [], [], []];
  await startTime(false); // The first start compiles what later ones use.
  for (let i = 0; i < rounds; i++) {
    times[0]?.push(await startTime(false));
    times[1]?.push(await startTime(true));
    times[2]?.push(await processTime(() => startOurs()));
    times[3]?.push(await processTime(startReal));
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
