/** The packed package's types under each TypeScript, way of resolving modules and @types/node, with and without the peers. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';
import { PEERS, USER } from './types-user.ts';

const mayDownload = process.env.LOSTLOCK_NETWORK === '1';
const whole = process.env.LOSTLOCK_LONG === '1';

const COMPILERS = ['5.4.5', '5.6.3', '5.9.3', '6.0.3', '7.0.2'];
const NODE_TYPES = ['20', '22', '24'];
/** What to compile under each way of resolving modules: user.mts is an ES module, user.cts CommonJS. */
const RESOLUTIONS: Record<string, { readonly flags: string; readonly files: readonly string[] }> = {
  node10: { flags: '--module commonjs --moduleResolution node10', files: ['user.ts'] },
  node16: { flags: '--module node16', files: ['user.mts', 'user.cts'] },
  nodenext: { flags: '--module nodenext', files: ['user.mts', 'user.cts'] },
  bundler: { flags: '--module esnext --moduleResolution bundler', files: ['user.ts'] },
};

interface Case {
  readonly compiler: string;
  readonly resolution: string;
  readonly types: string;
  readonly peers: boolean;
}

/** Whether a case is in the sample: each compiler with each resolution once, the others in turn. */
function isSampled({ compiler, resolution, types, peers }: Case): boolean {
  const turn = COMPILERS.indexOf(compiler) + Object.keys(RESOLUTIONS).indexOf(resolution);
  return types === NODE_TYPES[turn % NODE_TYPES.length] && peers === (turn % 2 === 0);
}

/** Every case under LOSTLOCK_LONG. TypeScript 7 has no node10. */
const cases = COMPILERS.flatMap((compiler) =>
  Object.keys(RESOLUTIONS)
    .filter((resolution) => resolution !== 'node10' || !compiler.startsWith('7'))
    .flatMap((resolution) =>
      NODE_TYPES.flatMap((types) => [true, false].map((peers) => ({ compiler, resolution, types, peers }))),
    ),
).filter((each) => whole || isSampled(each));

describe.skipIf(!mayDownload)('types (needs the registry: LOSTLOCK_NETWORK=1)', () => {
  const root = mkdtempSync(join(tmpdir(), 'lostlock-types-'));
  const folderOf = ({ types, peers }: Pick<Case, 'types' | 'peers'>): string =>
    join(root, `node-${types}-${peers ? 'with' : 'without'}-peers`);
  const install = (folder: string, packages: readonly string[]): void => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const options = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--legacy-peer-deps'];
    execFileSync('npm', ['install', ...options, ...packages], { cwd: folder, stdio: 'ignore' });
  };

  beforeAll(async () => {
    await ensureBuilt();
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', root], { stdio: 'ignore' });
    const tarball = join(root, `lostlock-${manifest.version}.tgz`);
    const compilers = COMPILERS.map((version) => `typescript-${version}@npm:typescript@${version}`);
    install(join(root, 'compilers'), compilers);
    const { ioredis, vitest } = manifest.devDependencies;
    for (const peers of [true, false]) {
      const packages = peers ? [`ioredis@${ioredis}`, `vitest@${vitest}`] : [];
      const [first, ...others] = NODE_TYPES.map((types) => ({ types, peers }));
      install(folderOf(first!), [tarball, `@types/node@${first!.types}`, ...packages]);
      for (const other of others) {
        cpSync(folderOf(first!), folderOf(other), { recursive: true });
        install(folderOf(other), [tarball, `@types/node@${other.types}`, ...packages]);
      }
      for (const { types } of [first!, ...others]) {
        const folder = folderOf({ types, peers });
        for (const name of ['user.ts', 'user.mts', 'user.cts']) writeFileSync(join(folder, name), USER);
        if (peers) writeFileSync(join(folder, 'peers.mts'), PEERS);
        if (peers) writeFileSync(join(folder, 'peers.ts'), PEERS);
      }
    }
  }, 600_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  for (const each of cases) {
    const { compiler, resolution, types, peers } = each;
    test(`TypeScript ${compiler}, ${resolution}, @types/node ${types}, ${peers ? 'with' : 'without'} ioredis and vitest`, () => {
      const { flags, files } = RESOLUTIONS[resolution]!;
      const checked = [...files, ...(peers ? [files.length > 1 ? 'peers.mts' : 'peers.ts'] : [])];
      const options = `--noEmit --strict --pretty false --target es2022 --lib es2022,esnext.disposable --types node ${flags}`;
      const deprecated =
        compiler.startsWith('6') && resolution === 'node10' ? ['--ignoreDeprecations', '6.0'] : [];
      const tsc = join(root, 'compilers', 'node_modules', `typescript-${compiler}`, 'bin', 'tsc');
      const run = spawnSync(process.execPath, [tsc, ...options.split(' '), ...deprecated, ...checked], {
        cwd: folderOf(each),
        encoding: 'utf8',
      });
      const complaints = run.stdout.split('\n').filter((line) => / error |^error /.test(line));
      // Other packages' declarations may be too new for an old compiler; ours, and our users' code, may not.
      const foreign = (line: string): boolean => /^node_modules\/(?!lostlock\/)/.test(line);
      expect(complaints.filter((line) => !foreign(line))).toEqual([]);
      expect(run.stderr).toBe('');
      expect(run.status === 0 || complaints.some(foreign)).toBe(true);
    }, 300_000);
  }

  test('each compiler reports a wrong use', () => {
    const folder = folderOf({ types: '22', peers: true });
    const wrong = `import { startPair, startServer } from 'lostlock';
      export const port: string = (await startServer({ port: 'x' })).port;
      export const answer: number = await (await startPair({ clock: 'virtual' })).client('A').get('k');`;
    writeFileSync(join(folder, 'wrong.mts'), wrong);
    for (const compiler of COMPILERS) {
      const tsc = join(root, 'compilers', 'node_modules', `typescript-${compiler}`, 'bin', 'tsc');
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--types', 'node', '--target', 'es2022'];
      const run = spawnSync(process.execPath, [tsc, ...options, '--module', 'nodenext', 'wrong.mts'], {
        cwd: folder,
        encoding: 'utf8',
      });
      // TS2769: startServer has two overloads, and neither takes the option.
      expect(run.stdout.match(/wrong\.mts\(\d+,\d+\): error TS(2322|2769)/g), compiler).toHaveLength(3);
    }
  }, 300_000);
});
