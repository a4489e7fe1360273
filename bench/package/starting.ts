/** Measures the CPU time of whole processes that start the command line or a first server, and what Node itself takes for such a file. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { median, pinned, SERVER_CORE } from '../contestants.ts';
import type { Row } from '../report.ts';

const LARGEST = resolve('dist/chunks/server.cjs');

/** Prints the process' CPU time in milliseconds, since a moment if there is one. */
const spent = (since = ''): string => `const used = process.cpuUsage(${since});
  process.stdout.write('\\n' + (used.user + used.system) / 1000);`;
const atEnd = `process.on('exit', () => { ${spent()} });`;

/** Reads and compiles the largest file, with and without code that V8 has compiled before. */
const compiling = (kept: boolean): string => `const { Script } = require('node:vm');
  const { existsSync, readFileSync, writeFileSync } = require('node:fs');
  const since = process.cpuUsage();
  const source = require('node:module').wrap(readFileSync('${LARGEST}', 'utf8'));
  const cachedData = ${kept} && existsSync('./kept') ? readFileSync('./kept') : undefined;
  const script = new Script(source, { filename: '${LARGEST}', cachedData });
  ${spent('since')}
  if (${kept} && cachedData === undefined) writeFileSync('./kept', script.createCachedData());`;

const PROGRAMS = {
  bare: atEnd,
  version: `${atEnd} process.argv[2] = '--version'; require('${resolve('dist/cli.cjs')}');`,
  ready: `const { write } = process.stdout;
    process.stdout.write = function (...given) {
      write.apply(this, given);
      if (!String(given[0]).includes('Ready to accept')) return true;
      ${spent().replace('process.stdout.write(', 'write.call(process.stdout, ')}
      process.exit();
    };
    process.argv.push('--port', '0');
    require('${resolve('dist/cli.cjs')}');`,
  server: `const { startServer } = require('${resolve('dist/index.cjs')}');
    const since = process.cpuUsage();
    startServer().then((server) => { ${spent('since')} return server.stop(); });`,
  listening: `const since = process.cpuUsage();
    require('node:crypto');
    const server = require('node:net').createServer();
    server.listen(0, '127.0.0.1', () => { ${spent('since')} server.close(); });`,
  compiling: compiling(false),
  reading: compiling(true),
};
type Program = keyof typeof PROGRAMS;

/** The CPU times in milliseconds. The programs take turns; the first round, which fills the caches, is not counted. */
function measure(rounds: number): Record<Program, number> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-starting-'));
  const names = Object.keys(PROGRAMS) as Program[];
  const taken = new Map<Program, number[]>(names.map((name) => [name, []]));
  try {
    for (const name of names) writeFileSync(join(folder, `${name}.cjs`), PROGRAMS[name]);
    const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'code') };
    for (let round = 0; round <= rounds; round++)
      for (const name of names) {
        const [command, args] = pinned(SERVER_CORE, process.execPath, [`${name}.cjs`]);
        const printed = execFileSync(command, args, { cwd: folder, encoding: 'utf8', env });
        if (round > 0) taken.get(name)!.push(Number(printed.trim().split('\n').at(-1)));
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return Object.fromEntries(names.map((name) => [name, median(taken.get(name)!)])) as Record<Program, number>;
}

/** The rows about starting. */
export function starting(rounds: number): Row[] {
  const { bare, version, ready, server, listening, compiling: anew, reading } = measure(rounds);
  const common = { unit: 'ms of CPU', lessIsBetter: true };
  return [
    { ...common, name: 'lostlock --version, above a bare Node', ours: version - bare, other: 40 },
    { ...common, name: 'lostlock until it is ready, above a bare Node', ours: ready - bare, other: 40 },
    { ...common, name: "a process' first server", ours: server, other: 30 },
    {
      ...common,
      name: 'platform: Node reads and compiles dist/chunks/server.cjs, and does nothing else',
      ours: anew,
      other: undefined,
    },
    { ...common, name: 'platform: the same with kept code', ours: reading, other: undefined },
    {
      ...common,
      name: 'platform: a bare Node listens on a port, and loads node:crypto',
      ours: listening,
      other: undefined,
    },
  ];
}
