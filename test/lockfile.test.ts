/** Holds package-lock.json complete: `npm ci` refuses a lock that leaves out another platform's optional package. */
import { readFileSync } from 'node:fs';
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

test('every dependency is pinned, including those of other platforms', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  expect(unpinned(lock.packages)).toEqual([]);
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
