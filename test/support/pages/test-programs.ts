/** Runs the programs on the pages of the documentation as a reader would paste them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBuilt } from '../built.ts';
import { programs, promised } from './programs.ts';

const loaders: Record<string, string[]> = {
  js: [],
  ts: ['--import', resolve('node_modules/tsx/dist/esm/index.mjs')],
};

/**
 * Declares tests that run the programs of pages, and compare what they print with what the pages say. Programs that
 * import a package that is not installed here are left to `npm run test:fresh`.
 */
export function testPrograms(
  examples: readonly { readonly page: string; readonly language: string }[],
): void {
  const project = mkdtempSync(join(tmpdir(), 'lostlock-programs-'));
  beforeAll(async () => {
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(resolve('.'), join(project, 'node_modules', 'lostlock'), 'junction');
    symlinkSync(resolve('node_modules', 'ioredis'), join(project, 'node_modules', 'ioredis'), 'junction');
    await ensureBuilt();
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  for (const { page, language } of examples) {
    const all = programs(page, language);
    test(`${page} has ${language} programs`, () => {
      expect(all.length).toBeGreaterThan(0);
    });
    for (const [index, program] of all.entries()) {
      if (program.includes("from 'bullmq'")) continue;
      test(`the ${language} program ${index + 1} of ${page} prints what the page says, and ends`, () => {
        const file = join(project, `program.m${language}`);
        writeFileSync(file, program);
        const run = spawnSync(process.execPath, [...(loaders[language] ?? []), file], {
          cwd: project,
          encoding: 'utf8',
          timeout: 60_000,
        });
        expect(run.stderr).toBe('');
        expect(run.stdout.trim().split('\n')).toEqual(promised(program));
        expect(run.status).toBe(0);
      });
    }
  }
}
