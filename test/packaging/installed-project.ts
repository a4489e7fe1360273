/** An empty project into which npm installs the packed package and others, as a user's project has them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { ensureBuilt } from '../support/built.ts';

/** True where tests may download packages. */
export const mayDownload: boolean = process.env.LOSTLOCK_NETWORK === '1';

/** A project in a folder for temporary files. */
export class InstalledProject {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'lostlock-installed-'));

  /** Installs the packed package and those that are named. Throws when npm fails. */
  async install(...packages: readonly string[]): Promise<void> {
    await ensureBuilt();
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', this.folder], { stdio: 'ignore' });
    writeFileSync(join(this.folder, 'package.json'), '{ "private": true }');
    const ours = `./lostlock-${manifest.version}.tgz`;
    this.run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ours, ...packages);
  }

  /** Runs a program in the folder. Returns what it prints; throws when it fails. */
  run(command: string, ...args: string[]): string {
    return execFileSync(command, args, {
      cwd: this.folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Runs a program as `run` does. Returns what it prints on both streams, and throws that when it fails. */
  runBoth(command: string, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: this.folder, encoding: 'utf8' });
    if (status !== 0)
      throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
    return stripVTControlCharacters(stdout + stderr);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
