/** Holds each package-lock.json complete: `npm ci` refuses a lock that leaves out another platform's optional package. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

/** The dependencies, optional ones included, that the lock names but does not pin, as `package needs name@range`. */
function unpinned(packages: Record<string, LockedPackage>): string[] {
  const missing: string[] = [];
  for (const [path, { dependencies, devDependencies, optionalDependencies }] of Object.entries(packages)) {
    const wanted = { ...dependencies, ...devDependencies, ...optionalDependencies };
    for (const [name, range] of Object.entries(wanted)) {
      if (!isPinned(packages, path, name)) missing.push(`${path || 'lostlock'} needs ${name}@${range}`);
    }
  }
  return missing;
}

/** Whether Node's walk up the node_modules folders finds the package. */
function isPinned(packages: Record<string, LockedPackage>, from: string, name: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, folder.lastIndexOf('/node_modules/'))) {
    if (packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
    if (!folder.includes('/node_modules/')) return packages[`node_modules/${name}`] !== undefined;
  }
}

/** The lock files of a folder and of the folders in it: tools that are installed when they are needed have their own. */
function lockFiles(folder: string, depth = 3): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'package-lock.json') return [join(folder, entry.name)];
    const isOurs = entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.');
    return isOurs && depth > 0 ? lockFiles(join(folder, entry.name), depth - 1) : [];
  });
}

const all = lockFiles('.');

test('the lock files of all folders are found', () => {
  expect(all).toEqual(
    expect.arrayContaining([join('package-lock.json'), join('docs', 'site', 'package-lock.json')]),
  );
});

test.each(all)('%s pins every dependency, including those of other platforms', (file) => {
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockedPackage> };
  expect(Object.keys(packages).length).toBeGreaterThan(1);
  expect(unpinned(packages)).toEqual([]);
});

test('a missing optional package is found', () => {
  const packages = {
    '': { devDependencies: { a: '1.0.0' } },
    'node_modules/a': {
      version: '1.0.0',
      dependencies: { b: '1.0.0' },
      optionalDependencies: { 'a-win32': '1.0.0' },
    },
    'node_modules/a/node_modules/b': { version: '1.0.0', dependencies: { a: '1.0.0' } },
  };
  expect(unpinned(packages)).toEqual(['node_modules/a needs a-win32@1.0.0']);
});
