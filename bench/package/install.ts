/** Measures the CPU time of `npm install`, beside js-redis-server's, and what npm itself takes for so many files and bytes. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { median } from '../contestants.ts';
import type { Row } from '../report.ts';
import { serveRegistry } from './registry.ts';

const run = promisify(execFile);

/** What is installed beside ours, and what it depends on. */
const OTHER = 'js-redis-server';
const PACKED = ['js-redis-server@0.3.0', 'lua-redis-wasm@1.5.0', 'cluster-key-slot@1.1.2'];
/** A package with as many files and bytes as ours, which say nothing: what npm takes for them. */
const BLANK = 'as-many-files';

/** Packs the contestants into a folder. Needs the npm registry, or its cache. */
function pack(folder: string): void {
  const npm = (...args: string[]): string =>
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const ours = npm().trim();
  npm(...PACKED);
  npm('./node_modules/denque', './node_modules/sorted-btree');
  // The same files, each with the code of another program: no text compresses as well as the same letter again and again.
  const blank = join(folder, BLANK);
  execFileSync('tar', ['-xf', join(folder, ours), '-C', folder]);
  mkdirSync(blank);
  const files = (readdirSync(join(folder, 'package'), { recursive: true }) as string[]).filter((path) =>
    statSync(join(folder, 'package', path)).isFile(),
  );
  for (const [at, path] of files.entries()) cpSync(join(folder, 'package', path), join(blank, `${at}.txt`));
  writeFileSync(join(blank, 'package.json'), JSON.stringify({ name: BLANK, version: '1.0.0' }));
  npm(blank);
}

/** The CPU time of one installation in milliseconds, of npm and of the processes that it starts. */
async function installation(name: string | undefined, registry: string, cache: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-install-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    const args = ['install', ...(name === undefined ? [] : [name]), ...options, '--cache', cache];
    const script = 'npm "$@" >&2 && times';
    const { stdout } = await run('bash', ['-c', script, 'bash', ...args, '--registry', registry], {
      cwd: folder,
    });
    // The second line is that of the processes that the shell has started.
    const [, line = ''] = stdout.trim().split('\n');
    const parts = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
    return parts.reduce(
      (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
      0,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The rows about the installation. The contestants take turns; the first round, which fills the cache, is not counted. */
export async function installing(rounds: number): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-packed-'));
  const taken = new Map<string | undefined, number[]>();
  try {
    pack(folder);
    const { url, close } = await serveRegistry(folder);
    for (let round = 0; round <= rounds; round++)
      for (const name of ['lostlock', OTHER, BLANK, undefined]) {
        const ms = await installation(name, url, join(folder, 'cache'));
        if (round > 0) taken.set(name, [...(taken.get(name) ?? []), ms]);
      }
    close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [ours, other, blank, empty] = ['lostlock', OTHER, BLANK, undefined].map((name) =>
    median(taken.get(name)!),
  ) as [number, number, number, number];
  const common = { unit: 'ms of CPU', lessIsBetter: true };
  return [
    { ...common, name: `npm install from a warm cache, beside ${OTHER}`, ours, other },
    {
      ...common,
      name: 'platform: npm install of a package with as many files and bytes and no dependencies, beside an empty project',
      ours: blank,
      other: empty,
    },
  ];
}
