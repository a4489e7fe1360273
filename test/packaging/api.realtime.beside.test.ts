/** The public API is what docs/api says, and all of it is documented. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { readDeclarations } from '../../tools/api/declarations.ts';
import { apiReport, undocumented } from '../../tools/api/report.ts';
import { ensureBuilt } from '../support/built.ts';

beforeAll(() => ensureBuilt(), 120_000);

test('docs/api is what the package exports: if this fails, read docs/stability.md and run `npm run api`', () => {
  const report = apiReport();
  expect(readdirSync('docs/api').sort()).toEqual([...report.keys()].sort());
  for (const [name, text] of report) expect(readFileSync(join('docs/api', name), 'utf8'), name).toBe(text);
});

test('everything public has a docstring, and nothing public leads to the inside of a server', () => {
  expect(undocumented()).toEqual([]);
  const reached = apiReport().get('reached.txt') ?? '';
  expect(reached).toContain('interface Losses {');
  expect(reached).not.toMatch(/^(?:class|interface) (?:Server|Keyspace|Schedule|VirtualHost|LockContext) /m);
});

test('the report has members without their comments, and notices which have a docstring', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lostlock-api-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'a.d.ts');
  writeFileSync(
    path,
    `import type { B as C } from './b.js';
    /** A pair; not "};". */
    export declare class Pair<T extends { a: string; }> extends C {
        #private;
        private own;
        /** The size, in bytes. */
        readonly size: number;
        bare(options?: {
            /** How long. */
            ms: number;
        }): void;
        constructor(inner: C);
    }
    export declare function f(a: string): void;
    export declare function f(a: number): void;
    export type { Pair as Couple };
    export { Pair as default };
    `.replaceAll('\n    ', '\n'),
  );
  const { declared, exported, imported } = readDeclarations(path);
  expect(declared.get('Pair')?.text).toBe(
    `class Pair<T extends { a: string; }> extends C {
    readonly size: number;
    bare(options?: {
        ms: number;
    }): void;
}`,
  );
  expect(declared.get('Pair')?.members).toEqual([
    { name: 'size', hasDoc: true, text: 'readonly size: number;' },
    { name: 'bare', hasDoc: false, text: 'bare(options?: {\n        ms: number;\n    }): void;' },
  ]);
  expect(declared.get('f')?.text).toBe('function f(a: string): void;\nfunction f(a: number): void;');
  expect([...exported.keys()].sort()).toEqual(['Couple', 'Pair', 'default', 'f']);
  expect(imported.get('C')).toEqual({ path: join(folder, 'b.d.ts'), name: 'B', asType: false });
});
