/** Installs the lock libraries of npm at pinned versions, in a folder of their own. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';

const HERE = 'bench/libraries';

/** The folder that the libraries are installed in. */
export const folder = `${process.cwd()}/node_modules/.cache/lostlock-libraries`;

/** Installs the pinned libraries once, apart from the project's own packages. */
export function install(): void {
  mkdirSync(folder, { recursive: true });
  const lock = `${folder}/package-lock.json`;
  const isSame =
    existsSync(`${folder}/node_modules`) &&
    existsSync(lock) &&
    readFileSync(lock, 'utf8') === readFileSync(`${HERE}/package-lock.json`, 'utf8');
  if (isSame) return;
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(`${HERE}/${file}`, `${folder}/${file}`);
  const done = spawnSync('npm', ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  if (done.status !== 0) process.exit(1);
}
