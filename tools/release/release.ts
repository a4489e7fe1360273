/**
 * `npm run release`: checks, packs and publishes the version of package.json, and writes to tools/release/out what a release has:
 * the package with its complete manifest, the software bill of materials, the executable, and checksums.
 * `npm run release -- --dry-run` does all of it but publishing, and names what a real release would refuse.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { reasonsAgainst, releaseManifest } from './manifest.ts';
import owner from './owner.json' with { type: 'json' };

const root = resolve(import.meta.dirname, '../..');
const out = join(root, 'tools/release/out');
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** Runs npm in a folder, shows what it prints, and throws when it fails. */
function run(args: readonly string[], cwd = root): void {
  console.log(`== npm ${args.join(' ')}`);
  execFileSync(npm, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** What a command prints. */
function read(program: string, args: readonly string[], cwd = root): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Packs what npm would publish into tools/release/out/package, with the complete manifest. */
function pack(): void {
  read(npm, ['pack', '--ignore-scripts', '--pack-destination', out]);
  const tarball = join(out, `lostlock-${manifest.version}.tgz`);
  read('tar', ['-xzf', tarball, '-C', out]);
  rmSync(tarball);
  const complete = releaseManifest(manifest, owner);
  writeFileSync(join(out, 'package/package.json'), `${JSON.stringify(complete, undefined, 2)}\n`);
}

/**
 * Writes what npm installs with the package. It is asked in a folder that has the published manifest only: beside the
 * development packages, npm leaves out those dependencies that they share.
 */
function writeBillOfMaterials(): void {
  const folder = join(out, 'lostlock');
  mkdirSync(folder);
  copyFileSync(join(out, 'package/package.json'), join(folder, 'package.json'));
  const lock = [
    'install',
    '--package-lock-only',
    '--legacy-peer-deps',
    '--ignore-scripts',
    '--prefer-offline',
  ];
  read(npm, lock, folder);
  const text = read(npm, ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'], folder);
  rmSync(folder, { recursive: true });
  const { components } = JSON.parse(text) as { components: { name: string }[] };
  const missing = Object.keys(manifest.dependencies).filter(
    (name) => !components.some((each) => each.name === name),
  );
  if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`);
  writeFileSync(join(out, 'sbom.cdx.json'), text);
}

/** Writes the SHA-256 of every file of the release. */
function writeChecksums(): void {
  const files = readdirSync(out, { withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(({ name }) => {
    const hash = createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
    return `${hash}  ${name}\n`;
  });
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
}

const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { 'dry-run': flag, 'skip-checks': flag } });
const isDry = values['dry-run'];
if (values['skip-checks'] && !isDry) throw new Error('--skip-checks works with --dry-run only');
const reasons = reasonsAgainst({
  owner,
  version: manifest.version,
  changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
  uncommitted: read('git', ['status', '--porcelain']).trim(),
});
for (const reason of reasons) console.log(`${isDry ? 'a release would be refused' : 'refused'}: ${reason}`);
if (reasons.length > 0 && !isDry) process.exit(1);

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
run(values['skip-checks'] ? ['run', '--silent', 'build'] : ['run', 'check']);
pack();
writeBillOfMaterials();
if (process.platform === 'linux' && process.arch === 'x64') {
  run(['run', '--silent', 'build:executable']);
  copyFileSync(join(root, 'dist-executable/lostlock'), join(out, `lostlock-${manifest.version}-linux-x64`));
  copyFileSync(join(root, 'dist-executable/THIRD-PARTY.txt'), join(out, 'THIRD-PARTY.txt'));
}
run(['pack', '--ignore-scripts', '--pack-destination', out], join(out, 'package'));
writeChecksums();
const provenance = process.env.GITHUB_ACTIONS === undefined ? [] : ['--provenance'];
const publish = ['publish', '--access', 'public', '--ignore-scripts', ...provenance];
run(isDry ? [...publish, '--dry-run'] : publish, join(out, 'package'));
console.log(isDry ? `everything but publishing is done: ${out}` : `published ${manifest.version}`);
