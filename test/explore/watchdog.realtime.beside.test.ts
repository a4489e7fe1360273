/** Code that never returns to its event loop is ended with its process, and blamed by name. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-watchdog-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An exploration in which B, when it runs for the second time, loops for ever. A short budget makes the watchdog impatient. */
const exploration = (loop: string): string => `
  import { writeFileSync } from 'node:fs';
  // Each client loads this file anew, with a number of its own.
  globalThis.real ??= process.pid;
  globalThis.runs ??= 0;
  writeFileSync(${JSON.stringify(join(folder, 'pid'))}, String(globalThis.real));
  export const stuck = {
    name: 'stuck', clients: 2, topology: { replicas: 0 }, faults: ['client-pause'], budget: { worlds: 50, ms: 2000 },
    async client({ name, redis, sleep, resource, signal }) {
      while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(20);
      const inside = resource('stock').enter();
      await sleep(40);
      inside.write();
      inside.leave();
      if (name === 'B' && ++globalThis.runs === 2) ${loop}
      await redis.del('lock');
    },
  };
`;
const MICROTASKS = 'for (;;) await undefined;';

/** Runs Node on the sources. */
function node(...args: string[]): { readonly child: ChildProcess; readonly told: () => string } {
  // A test runner that runs in a test of another one would take the settings of that one.
  const { NODE_TEST_CONTEXT: _, VITEST: __, GITHUB_ACTIONS: ___, ...env } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], { env });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      told += text;
    });
  return { child, told: () => told };
}

function write(name: string, source: string): string {
  const path = join(folder, name);
  writeFileSync(path, source);
  return path;
}

test('npx lostlock explore ends the worker, blames the client, and keeps what was known by then', async () => {
  const file = write('stuck.explore.mjs', exploration(MICROTASKS));
  const { child, told } = node(resolve('cli/cli.ts'), 'explore', file);
  const [status] = await once(child, 'close');
  expect(told()).toContain(
    'no-error is broken: this world was not played to its end: client B does not return to its event loop',
  );
  expect(told()).toMatch(/\nreplay: \d:1:0:A,B::/);
  expect(told()).toMatch(/^stuck: 1 finding in 1 world .*, stopped early$/m);
  expect(status).toBe(1);
}, 120_000);

test('a process that explores by itself is ended, and the message names the client and the world', async () => {
  const stuck = write('loop.mjs', exploration('for (;;);'));
  const lostlock = JSON.stringify(resolve('explore/index.ts'));
  const file = write(
    'main.mjs',
    `import { explore } from ${lostlock};\nimport { stuck } from ${JSON.stringify(stuck)};\nawait explore(stuck);`,
  );
  const { child, told } = node(file);
  const [, signal] = await once(child, 'close');
  expect(told()).toMatch(
    /\nlostlock: client B does not return to its event loop: .*\. This process is ended\. Its world: \d:1:0:A,B::/,
  );
  expect(signal).toBe('SIGKILL');
}, 120_000);

test('a worker whose parent is gone does not spin on', async () => {
  const file = write('orphan.explore.mjs', exploration(MICROTASKS).replace('ms: 2000', 'ms: Infinity'));
  rmSync(join(folder, 'pid'), { force: true });
  const { child } = node(resolve('cli/cli.ts'), 'explore', file);
  // The command loads the file first, and then its worker does.
  const worker = (): number =>
    existsSync(join(folder, 'pid')) ? Number(readFileSync(join(folder, 'pid'), 'utf8')) : 0;
  await until(() => worker() !== 0 && worker() !== child.pid, { limitMs: 60_000 });
  const pid = worker();
  child.kill('SIGKILL');
  await once(child, 'close');
  await until(() => !isAlive(pid), { limitMs: 60_000 });
  expect(isAlive(pid)).toBe(false);
}, 120_000);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
