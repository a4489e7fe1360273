/** Measures scripts inside the server: CPU-bound ones, and how long it takes to compile long ones. */
import { Redis } from 'ioredis';
import { startServer } from '../index.ts';
import { median, startReal, stop } from './contestants.ts';
import type { Row } from './report.ts';

const SCRIPTS: Record<string, string> = {
  'fib(24) by recursion': `
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
return fib(24)`,
  'a loop of 1,000,000 additions': `
local sum = 0
for i = 1, 1000000 do sum = sum + i % 7 end
return sum`,
  'a table of 100,000: insert, sort, concat': `
local t, seed = {}, 42
for i = 1, 100000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  table.insert(t, seed)
end
table.sort(t)
return #table.concat(t, ',')`,
};

/** Texts that are compiled, not run. */
const COMPILED: Record<string, string> = {
  'SCRIPT LOAD of 4 MB of statements': 'y=1;'.repeat(1_000_000),
  'SCRIPT LOAD of 20,000 functions': `local t = {} ${Array.from({ length: 20_000 }, (_, i) => `t[${i}] = function(a) return a + ${i} end\n`).join('')}`,
};

/** Loads a text that no round has loaded before, because known scripts are not compiled again. */
async function millisecondsToLoad(redis: Redis, text: string, round: number): Promise<number> {
  const started = performance.now();
  await redis.script('LOAD', `${text} return ${round}`);
  return performance.now() - started;
}

async function milliseconds(redis: Redis, script: string): Promise<number> {
  const started = performance.now();
  await redis.eval(script, 0);
  return performance.now() - started;
}

/** The rows of this chapter. Both servers must return the same results. */
export async function lua(rounds: number): Promise<Row[]> {
  const ours = await startServer();
  const real = await startReal();
  const clients = [new Redis({ Connector: ours.connector }), new Redis(real.port, '127.0.0.1')];
  const rows: Row[] = [];
  for (const [name, script] of Object.entries(SCRIPTS)) {
    const results = await Promise.all(clients.map((client) => client.eval(script, 0)));
    if (results[0] !== results[1])
      throw new Error(`${name}: lostlock says ${results[0]}, redis-server ${results[1]}`);
    const times: number[][] = [[], []];
    for (let round = 0; round < rounds; round++) {
      for (const [i, client] of clients.entries()) times[i]?.push(await milliseconds(client, script));
    }
    const [mine = 0, other = 0] = times.map(median);
    rows.push({ name, ours: mine, other, unit: 'ms', lessIsBetter: true });
  }
  for (const [name, text] of Object.entries(COMPILED)) {
    const times: number[][] = [[], []];
    for (let round = 0; round < rounds; round++) {
      for (const [i, client] of clients.entries())
        times[i]?.push(await millisecondsToLoad(client, text, round));
    }
    const [mine = 0, other = 0] = times.map(median);
    rows.push({ name, ours: mine, other, unit: 'ms', lessIsBetter: true });
  }
  for (const client of clients) client.disconnect();
  await ours.stop();
  await stop(real);
  return rows;
}
