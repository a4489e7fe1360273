/** Programs in processes of their own, explored: what is found, that it repeats, and that nothing is left behind. (needs python3) */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { explore, type ProgramOptions } from '../../../explore/index.ts';
import { ensureBuilt } from '../../support/built.ts';
import { findProgram } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { brokenBy } from './broken-by.ts';

const WORKER = join(import.meta.dirname, 'worker.py');
const CLI = join(import.meta.dirname, '../../../dist/cli.js');
const python = findProgram('python3');

const program = (kind: string): ProgramOptions => ({ name: kind, program: ['python3', WORKER, kind] });
const LIMIT = 240_000;

/** The processes whose command line has this text, by their ids. */
function processesWith(text: string): number[] {
  const listed = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return listed.filter((line) => line.includes(text)).map((line) => Number.parseInt(line, 10));
}

describe.skipIf(python === undefined)('programs (needs python3)', () => {
  beforeAll(() => ensureBuilt(), LIMIT);

  test('a pause of a client is found, repeats, and its story names the cause', {
    timeout: LIMIT,
  }, async () => {
    const report = await explore({
      ...program('stock'),
      ...{ faults: ['client-pause'], promises: ['mutual-exclusion'], budget: { worlds: 30, ms: 120_000 } },
      lease: 600,
    });
    const [finding] = report.findings;
    expect(report.toString()).toContain('mutual-exclusion is broken (client-pause)');
    expect(finding?.repeats?.times).toBeGreaterThan(0);
    expect(finding?.story).toMatch(/is paused for \d+ ms[\s\S]*the lease of \w's lock ends/);
    expect(finding?.replay).toMatch(/client-pause@\w+\.[\w-]+\.stock/);
    expect(report.coverage.programs).toMatchObject({ unable: [], perSecond: expect.any(Number) });
  });

  test('a fence that comes twice after a restart without data is no fault of a client that gave its lock back', {
    timeout: LIMIT,
  }, async () => {
    const options = { ...program('fenced'), lease: 600, promises: ['fencing' as const] };
    const broken = await brokenBy(options, 'restart-empty@B.enters.stock.1/redis-1/20');
    expect(broken[0]).toMatch(
      /^A and \w+ both got fence 1 for stock: the counter of fences was lost by the restart/,
    );
  });

  test.each([
    ['updates', 'no-lost-update', 'both updated the value 0'],
    ['adds', 'linearizable(counter)', 'fits into no order'],
  ] as const)(
    'a program that %s without a lock breaks %s: its values are JSON',
    { timeout: LIMIT },
    async (...row) => {
      const [kind, promise, told] = row;
      const [sentence] = await brokenBy(
        { ...program(kind), promises: [promise] },
        'client-pause@A.GET.counter.1.executed/A/1000',
      );
      expect(sentence).toContain(told);
    },
  );

  test('a newcomer that finds nothing to do is not waited for', { timeout: 50_000 }, async () => {
    const budget = { worlds: 2, ms: 20_000 };
    const report = await explore({ ...program('once'), faults: ['delay'], promises: ['once'], budget });
    expect(report.findings).toEqual([]);
    expect(report.worlds).toBe(2);
  });

  test('a lease of a minute is not waited for, the report says so, and a client that dies with it is no orphan', {
    timeout: LIMIT,
  }, async () => {
    const budget = { worlds: 3, ms: LIMIT - 30_000 };
    const report = await explore({ ...program('long'), faults: ['client-death'], budget });
    expect(report.findings).toEqual([]);
    expect(report.coverage.faults['client-death']).toBeGreaterThan(0);
    expect(report.toString()).toContain('the lease of stock:lock (60000 ms) is too long to wait for');
  });

  test('what is wrong with a program is said', { timeout: LIMIT }, async () => {
    await expect(explore(program('ends'))).rejects.toThrow(
      /it ended with status 1[\s\S]*this program ends at once/,
    );
    await expect(explore(program('raises'))).rejects.toThrow(/never takes its lock.*no client entered/);
    await expect(explore({ ...program('stock'), program: ['no-such-program'] })).rejects.toThrow('ENOENT');
  });

  test('what cannot be explored is refused by name', async () => {
    const topology = { sentinels: 3 };
    await expect(explore({ ...program('stock'), topology })).rejects.toThrow(/sentinels.*leave the links/);
    await expect(explore({ ...program('stock'), faults: ['misconf'] })).rejects.toThrow(
      /misconf cannot: the disk/,
    );
    await expect(explore({ ...program('stock'), threads: true, faults: ['client-death'] })).rejects.toThrow(
      'a thread cannot be killed',
    );
  });

  test.skipIf(findProgram('redis-server') === undefined)(
    'real servers take the place of the nodes, and the cause is told there too (needs redis-server)',
    { timeout: LIMIT },
    async () => {
      const on = 'redis-server';
      const report = await explore({
        ...{ ...program('stock'), on, lease: 1500, sideBySide: 2 },
        ...{ faults: ['client-pause'], promises: ['mutual-exclusion'], budget: { worlds: 100, ms: 150_000 } },
        stopAtFirst: true, // Which world shows it first depends on real time.
      });
      expect(report.findings.map(({ sentence }) => sentence).join('\n')).toMatch(/lease (had )?ended at/);
      expect(report.worlds).toBeLessThan(100);
      const absent = explore({ ...program('stock'), on: 'no-such-server' });
      await expect(absent).rejects.toThrow(/option on is 'no-such-server'.*arguments of redis-server/);
      const refused = explore({ ...program('stock'), on, faults: ['server-clock-jump'] });
      await expect(refused).rejects.toThrow(/server-clock-jump cannot: a program has the clock/);
    },
  );

  test('clients that are threads share one process', { timeout: LIMIT }, async () => {
    const report = await explore({
      ...program('threads'),
      ...{ threads: true, clients: 3, faults: ['connection-reset'], promises: ['mutual-exclusion'] },
      ...{ lease: 1500, sideBySide: 1, budget: { worlds: 2 } },
    });
    const lines = report.output?.lines ?? [];
    expect(lines.length).toBeGreaterThan(5);
    expect(new Set(lines.map((line) => /process (\d+)/.exec(line)?.[1])).size).toBe(1);
  });

  test('the command finds it, and plays the world again', { timeout: LIMIT }, () => {
    const run = (...flags: string[]) =>
      spawnSync(process.execPath, [CLI, 'explore', ...flags, '--', 'python3', WORKER, 'stock'], {
        encoding: 'utf8',
      });
    const replay = '2:1:0:A,B::000000000000'.replace('A,B:', 'A,B:client-pause@A.enters.stock.1/A/1800');
    // The lease is long, so that it also ends within the pause on a slow machine, and B enters before A goes on.
    const found = run('--clients', '2', '--lease', '1200', '--replay', replay);
    expect([found.stdout, found.status]).toEqual([expect.stringContaining('is paused for 1800 ms'), 1]);
    const refused = run('--faults', 'client-paus');
    expect([refused.stderr, refused.status]).toEqual([expect.stringContaining('client-pause'), 2]);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'after %s nothing is left, not even what a program has started',
    { timeout: LIMIT },
    async (sign) => {
      const mark = `starts-others ${sign}`;
      const child = spawn(
        process.execPath,
        [CLI, 'explore', '--ms', '100000', '--', 'python3', WORKER, 'starts-others', sign],
        { stdio: 'ignore' },
      );
      const ended = once(child, 'exit');
      await until(() => processesWith(mark).length > 3);
      const groups = processesWith(`worker.py ${mark}`);
      child.kill(sign);
      await ended;
      const left = (): number[] =>
        groups.filter((group) => {
          try {
            process.kill(-group, 0);
            return true;
          } catch {
            return false;
          }
        });
      await until(() => left().length === 0);
      expect(processesWith(`worker.py ${mark}`)).toEqual([]);
    },
  );
});
