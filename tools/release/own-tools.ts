/** Tools that only some commands need: a folder with a manifest and a lock file of its own has them. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs what the lock file of a folder names, unless it is there. Throws when npm fails.
 * @param folder the folder of the lock file @param tool a package of it, or a file in one, that shows that it is installed
 */
export function ensureInstalled(folder: string, tool: string): void {
  if (existsSync(join(folder, 'node_modules', tool))) return;
  const args = ['ci', '--no-audit', '--no-fund', '--prefer-offline'];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
}
