/** The script of the GitHub Action starts the built package, and says where it listens. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-action-'));
const started: number[] = [];
const canRun = process.platform === 'linux';

/** Runs the script with the inputs. Returns its status, what it printed, and its outputs. */
function start(inputs: Record<string, string>): {
  status: number | null;
  said: string;
  outputs: Record<string, string>;
} {
  const files = { GITHUB_OUTPUT: join(folder, 'output'), GITHUB_ENV: join(folder, 'env') };
  for (const file of Object.values(files)) writeFileSync(file, '');
  const env = {
    ...process.env,
    ...files,
    RUNNER_TEMP: folder,
    LOSTLOCK: `${process.execPath} ${resolve('dist/cli.js')}`,
    ...inputs,
  };
  const run = spawnSync('bash', ['tools/release/action.sh'], { env, encoding: 'utf8' });
  const lines = readFileSync(files.GITHUB_OUTPUT, 'utf8').trim().split('\n');
  const outputs = Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2)));
  if (outputs.pid !== undefined) started.push(Number(outputs.pid));
  return { status: run.status, said: run.stdout + run.stderr, outputs };
}

beforeAll(() => ensureBuilt());
afterAll(() => {
  for (const pid of started) process.kill(pid, 'SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!canRun)(
  'it starts a server, whose address is an output and an environment variable (needs Linux)',
  async () => {
    const { status, said, outputs } = start({ PORT: '0', FLAGS: '--databases 3 --maxclients 50' });
    expect(said).toBe('');
    expect(status).toBe(0);
    expect(readFileSync(join(folder, 'env'), 'utf8')).toBe(`REDIS_URL=${outputs.url}\n`);
    expect(outputs.url).toBe(`redis://${outputs.host}:${outputs.port}`);
    const redis = new Redis(outputs.url ?? '');
    expect(await redis.config('GET', 'databases')).toEqual(['databases', '3']);
    redis.disconnect();
  },
);

/** What the runner keeps out of the log for these lines, as its documentation of workflow commands says. */
function masked(said: string): string[] {
  const plain = (data: string): string =>
    data.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
  return [...said.matchAll(/^::add-mask::(.*)$/gm)].map(([, data = '']) => plain(data));
}

/** Where a password comes from, and how the inputs name it. */
const PASSWORDS: readonly [string, (word: string) => Record<string, string>, string][] = [
  ['the input', (word) => ({ PASSWORD: word }), 'pass@wörd/%41'],
  ['flags', (word) => ({ FLAGS: `--maxclients 9 --requirepass ${word}` }), 's3cr?t'],
  ['a flag with =', (word) => ({ FLAGS: `--requirepass=${word} --maxclients 9` }), 'a+b'],
];

test.skipIf(!canRun).each(PASSWORDS)(
  'a password from %s is hidden in the log, in the form that the URL has too (needs Linux)',
  (_, inputs, word) => {
    const { status, said, outputs } = start({ PORT: '0', ...inputs(word) });
    expect(status).toBe(0);
    const hidden = masked(said);
    expect(new Set(hidden)).toEqual(new Set([word, encodeURIComponent(word)]));
    const shown = `${said.replaceAll(/^::add-mask::.*\n/gm, '')}REDIS_URL=${outputs.url}`;
    const log = hidden.reduce((text, secret) => text.replaceAll(secret, '***'), shown);
    expect(log).toBe(`REDIS_URL=redis://:***@${outputs.host}:${outputs.port}`);
  },
);

test.skipIf(!canRun)('a wrong password is hidden in the error of the step (needs Linux)', () => {
  const { status, said } = start({ PORT: '0', FLAGS: '--requirepass two words' });
  expect(status).toBe(1);
  expect(masked(said)[0]).toBe('two');
  expect(said.indexOf('::add-mask::')).toBeLessThan(said.indexOf('::error::'));
});

test.skipIf(!canRun)(
  'it runs the version of the commit that it is pinned to, or the one it is told (needs Linux)',
  () => {
    // What stands in for npx prints what it was asked for, and ends.
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'npx'), '#!/bin/sh\necho "asked for $2"\n', { mode: 0o755 });
    const asked = (inputs: Record<string, string>): string =>
      start({ LOSTLOCK: '', PATH: `${bin}:${process.env.PATH}`, ...inputs }).said;
    expect(asked({})).toContain(`asked for lostlock@${manifest.version} `);
    expect(asked({ VERSION: '' })).toContain(`asked for lostlock@${manifest.version} `);
    expect(asked({ VERSION: '9.8.7' })).toContain('asked for lostlock@9.8.7 ');
  },
);

test.skipIf(!canRun)(
  'a server that does not start is an error of the step with its reason (needs Linux)',
  () => {
    const { status, said } = start({ PORT: '0', DIALECT: 'redis-1.0' });
    expect(status).toBe(1);
    expect(said).toMatch(/::error::lostlock did not start: .*redis-1\.0/);
    expect(start({ KIND: 'cloud' }).said).toContain(
      "::error::kind is 'cloud': must be server, sentinel or cluster",
    );
  },
);
