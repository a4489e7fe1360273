/**
 * `npm run bench:targets`: measures every row that has a target three times, or `-- RUNS` times, and says which targets are met.
 * Writes bench/targets.md.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasRedisServer } from '../../test/support/redis-server.ts';
import { allChapters } from '../chapters.ts';
import { machine } from '../machine.ts';
import type { Row } from '../report.ts';
import { TARGETS } from './list.ts';
import { targetsPage } from './page.ts';

const NEEDED = new Set(TARGETS.flatMap(({ row, plain }) => (plain === undefined ? [row] : [row, plain])));

/** One run: every row that the targets need. */
async function measureOnce(): Promise<Row[]> {
  const extent = { rounds: 5, scale: 1, wanted: (name: string) => NEEDED.has(name) };
  const rows: Row[] = [];
  for (const measure of Object.values(allChapters(extent, false))) rows.push(...(await measure()).rows);
  return rows.filter(({ name }) => NEEDED.has(name));
}

/** Runs the file again, in a process of its own: the lab's chapter leaves virtual timers behind. */
function inProcess(file: string): Row[] {
  const program = fileURLToPath(import.meta.url);
  execFileSync(process.execPath, [...process.execArgv, program, '--into', file], { stdio: 'inherit' });
  return JSON.parse(readFileSync(file, 'utf8')) as Row[];
}

const PEERS = join(import.meta.dirname, '..', 'peers');

/** The reason why nothing can be measured, if there is one. */
function complaint(runs: string): string | undefined {
  if (!/^[1-9]\d?$/.test(runs)) return `the number of runs is '${runs}'; allowed: 1 to 99`;
  if (!hasRedisServer) return 'it compares with redis-server, which is not installed';
  if (!existsSync(join(PEERS, 'node_modules')))
    return `it compares with ioredis-mock, which is not installed: (cd ${PEERS} && npm install)`;
  return undefined;
}

const [first = '3', file = ''] = process.argv.slice(2);
if (first === '--into') writeFileSync(file, JSON.stringify(await measureOnce()));
else if (complaint(first) !== undefined) {
  console.error(`bench:targets: ${complaint(first)}`);
  process.exitCode = 1;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-targets-'));
  const runs = Array.from({ length: Number(first) }, (_, i) => inProcess(join(folder, `${i}.json`)));
  const page = targetsPage(runs, machine());
  console.log(page);
  const missing = [...NEEDED].filter((name) => !runs[0]?.some((row) => row.name === name));
  if (missing.length > 0)
    throw new Error(
      `the bench has no row with these names: ${missing.join('; ')}. All figures are in ${folder}`,
    );
  writeFileSync(join(import.meta.dirname, '..', 'targets.md'), page);
  rmSync(folder, { recursive: true });
}
