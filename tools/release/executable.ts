/**
 * `npm run build:executable`: writes dist-executable/lostlock, the command-line server in one file with Node.js inside, and
 * THIRD-PARTY.txt beside it. It runs on Linux x64 without Node. `explore` is left out, because it loads the user's code.
 *
 * The executable is the Node.js that runs this script plus a bundle of dist/cli.js
 * (https://nodejs.org/docs/latest-v20.x/api/single-executable-applications.html).
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { ensureBuilt } from '../../test/support/built.ts';
import { ensureInstalled } from './own-tools.ts';

/** Node looks for this text to find out whether a bundle was added. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const root = resolve(import.meta.dirname, '../..');
const out = join(root, 'dist-executable');
const program = join(out, 'lostlock');

/** Runs a program, and throws with what it printed when it fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (done.status === 0) return done.stdout;
  throw new Error(`${command} ${args.join(' ')} failed:\n${done.stdout}${done.stderr}${done.error ?? ''}`);
}

/** The packages in a bundle, with their licences, in the order of their names. */
function licences(metafile: Metafile): string {
  const names = new Set(
    Object.keys(metafile.inputs).flatMap(
      (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
    ),
  );
  return [...names]
    .sort()
    .map((name) => {
      const folder = join(root, 'node_modules', name);
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        string
      >;
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      const text =
        file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error(`build:executable works on linux x64; this is ${process.platform} ${process.arch}`);
  process.exit(2);
}
await ensureBuilt();
ensureInstalled(join(root, 'tools/release'), 'postject');
const postject = join(root, 'tools/release/node_modules/postject/dist/cli.js');

rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const { metafile } = await build({
  entryPoints: [join(root, 'dist/cli.js')],
  outfile: join(out, 'cli.cjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  metafile: true,
  logLevel: 'error',
});
writeFileSync(
  join(out, 'THIRD-PARTY.txt'),
  `The executable contains Node.js ${process.version} (its LICENSE: https://github.com/nodejs/node/blob/${process.version}/LICENSE)\nand these packages.\n\n${licences(metafile)}`,
);
const config = {
  main: 'cli.cjs',
  output: 'cli.blob',
  disableExperimentalSEAWarning: true,
  useCodeCache: true,
};
writeFileSync(join(out, 'sea.json'), JSON.stringify(config));
run(process.execPath, ['--experimental-sea-config', 'sea.json'], out);
copyFileSync(process.execPath, program);
run(process.execPath, [postject, program, 'NODE_SEA_BLOB', 'cli.blob', '--sentinel-fuse', FUSE], out);
for (const file of ['cli.cjs', 'cli.blob', 'sea.json']) rmSync(join(out, file));
console.log(`${program}: ${run(program, ['--version'], out).trim()}`);
