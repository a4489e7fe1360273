/** A corpus on disk: what it keeps, that it is played first, by shards too, and what of it does not fit. */
import '../../lab/router.ts';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  type ClientSession,
  type ExploreOptions,
  type ExploreReport,
  explore,
  mergeReports,
} from '../../explore/index.ts';

const root = mkdtempSync(join(tmpdir(), 'lostlock-corpus-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Its DEL compares no token: a reply that is lost breaks it. */
const client = async ({ name, redis, resource, signal, sleep }: ClientSession): Promise<void> => {
  for (let round = 0; round < 2 && !signal.aborted; round++) {
    while ((await redis.set('lock', name, 'PX', 1000, 'NX').catch(() => null)) !== 'OK') {
      if (signal.aborted) return;
      await sleep(50);
    }
    const inside = resource('stock').enter();
    await sleep(250);
    inside.write();
    inside.leave();
    await redis.del('lock').catch(() => 0);
  }
};

const options: ExploreOptions = {
  ...{ name: 'blind: DEL', client, topology: { replicas: 0 }, promises: ['mutual-exclusion'] },
  ...{ faults: ['lost-reply', 'delay'], budget: { worlds: 150, ms: Infinity } },
};

/** The names of the files in the one folder of a corpus. */
function filesIn(corpus: string): string[] {
  const [folder = ''] = readdirSync(corpus);
  return readdirSync(join(corpus, folder)).sort();
}

const found = ({ findings }: ExploreReport): string[] => findings.map(({ replay }) => replay);

test('plans that broke a promise or reached new states are kept, and played first in the next run', async () => {
  const corpus = join(root, 'first');
  const first = await explore({ ...options, corpus });
  const kept = filesIn(corpus);
  const plays = first.coverage.corpus!;
  expect(plays).toEqual({ read: 0, unfit: 0, played: 0, kept: kept.length });
  expect(kept.filter((file) => file.startsWith('finding-')).length).toBe(first.findings.length);
  expect(kept.filter((file) => file.startsWith('state-')).length).toBeGreaterThan(10);
  const other = join(root, 'copied');
  cpSync(corpus, other, { recursive: true });

  const second = await explore({ ...options, corpus, budget: { worlds: 12, ms: Infinity } });
  expect(second.findings.length).toBeGreaterThan(0);
  expect(second.findings.map(({ strategy }) => strategy)).toContain('corpus');
  expect(second.coverage.corpus).toMatchObject({ read: kept.length, unfit: 0, played: 5 });
  expect(second.coverage.strategies).toMatchObject({ 'without faults': 1, corpus: 5 });
  expect(String(second)).toContain(`\ncorpus: 5 of ${kept.length} kept plans played; `);
  // The same corpus and the same options give the same worlds.
  const third = await explore({ ...options, corpus: other, budget: { worlds: 12, ms: Infinity } });
  expect(found(third)).toEqual(found(second));
  expect(filesIn(other)).toEqual(filesIn(corpus));

  // With more time, each kept plan is played once, and changed once.
  const fourth = await explore({ ...options, corpus: other, budget: { worlds: 1000, ms: Infinity } });
  const { read, played } = fourth.coverage.corpus!;
  expect(played).toBe(read);
  expect(fourth.coverage.strategies.guided).toBeGreaterThanOrEqual(read);

  // Shards share them. Their reports are one report.
  const shares = [1, 2].map((index) =>
    explore({ ...options, corpus, shard: { index, of: 2 }, budget: { worlds: 300, ms: Infinity } }),
  );
  const [one, two] = await Promise.all(shares);
  const merged = mergeReports([one!, two!]).coverage.corpus!;
  expect(one!.coverage.corpus!.played).toBeGreaterThan(0);
  expect(two!.coverage.corpus!.played).toBeGreaterThan(0);
  expect(merged.played).toBe(one!.coverage.corpus!.played + two!.coverage.corpus!.played);
  expect(merged.played).toBe(one!.coverage.corpus!.read);
}, 240_000);

test('plans of other clients, faults and bounds do not fit; a file without a plan and exhaustive are refused', async () => {
  const corpus = join(root, 'bounds');
  const full = { ...options, corpus, faults: ['client-pause', 'lost-reply'] as const };
  const kept = (await explore({ ...full, clients: 3 })).coverage.corpus!.kept;
  const few = { worlds: 4, ms: Infinity };
  const readBy = async (more: Partial<ExploreOptions>) =>
    (await explore({ ...full, budget: few, ...more })).coverage.corpus!;
  expect(await readBy({})).toMatchObject({ read: kept, unfit: 0 });
  const { read: now } = await readBy({});
  const [others, unstruck, bounded] = [
    await readBy({ clients: 2 }),
    await readBy({ faults: ['lost-reply'] }),
    await readBy({ faults: [{ kind: 'client-pause', longest: 1 }, 'lost-reply'] }),
  ];
  expect([others, unstruck, bounded].every(({ read }) => read >= now)).toBe(true);
  for (const { unfit, read } of [others, unstruck, bounded]) {
    expect(unfit).toBeGreaterThan(0);
    expect(unfit).toBeLessThanOrEqual(read);
  }
  const [folder = ''] = readdirSync(corpus);
  writeFileSync(join(corpus, folder, 'state-0123456789abcdef.txt'), 'no plan');
  await expect(explore({ ...full, budget: few })).rejects.toThrow(
    /allowed: a folder for plans: state-0123456789abcdef.txt has no plan: no plan/,
  );
  await expect(explore({ ...options, corpus, exhaustive: 1 })).rejects.toThrow(
    'allowed: no value together with exhaustive',
  );
}, 240_000);

test('npx lostlock explore --corpus keeps and plays them, with several workers', () => {
  const file = join(root, 'blind.explore.mjs');
  const clientText = readFileSync(new URL(import.meta.url), 'utf8');
  const body = /const client = ([\s\S]*?\n\};)/
    .exec(clientText)?.[1]
    ?.replace(/: (?:ClientSession|Promise<void>)/g, '');
  writeFileSync(
    file,
    `const client = ${body}\nexport const blind = { name: 'blind', client, topology: { replicas: 0 },
      promises: ['mutual-exclusion'], faults: ['lost-reply', 'delay'] };`,
  );
  const corpus = join(root, 'cli');
  const cli = (...args: string[]): string => {
    const { VITEST: _, GITHUB_ACTIONS: __, ...env } = process.env;
    const run = ['--import', 'tsx', resolve('cli/cli.ts'), 'explore', file, '--corpus', corpus, ...args];
    return spawnSync(process.execPath, run, { encoding: 'utf8', env }).stdout;
  };
  expect(cli('--worlds', '80')).toContain('corpus: 0 of 0 kept plans played; ');
  const { length } = filesIn(corpus);
  expect(length).toBeGreaterThan(5);
  expect(cli('--worlds', '200', '--workers', '2')).toMatch(/\ncorpus: (\d+) of \1 kept plans played; /);
}, 240_000);
