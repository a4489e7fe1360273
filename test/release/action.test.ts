/** The script of the GitHub Action starts the built package, and says where it listens. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
  const run = spawnSync('bash', ['release/action.sh'], { env, encoding: 'utf8' });
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
