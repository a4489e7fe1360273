/** Programs of other Node versions, which npm fetches. */
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';

/** The version that runs this. */
export const ownVersion = Number(process.versions.node.split('.')[0]);

/** The program of a Node version: this one, or one that npm fetches into its cache. Throws when it cannot be fetched. */
export function nodeProgram(version: number): string {
  if (version === ownVersion) return process.execPath;
  const ask = ['--yes', '-p', `node@${version}`, 'node', '-p', 'process.execPath'];
  return execFileSync('npx', ask, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    cwd: tmpdir(),
  }).trim();
}
