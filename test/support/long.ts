/** Chooses between the sample that `npm test` runs and the whole that `npm run test:long` runs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** True under `npm run test:long`. */
export const isLongRun = process.env.LOSTLOCK_LONG === '1';

/** The number of cases to try: a sample in `npm test`, the whole in `npm run test:long`. */
export function sampleOf(whole: number, sample: number): number {
  return isLongRun ? whole : sample;
}

/** Those of the test files that `npm test` runs only in part: they import this file, some through helpers. @param names all files in test/ */
export function sampledFiles(names: readonly string[]): string[] {
  const imports = names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => {
      const found = readFileSync(name, 'utf8').matchAll(/ from '(\.[^']+)'/g);
      return { name, from: [...found].map(([, path = '']) => join(name, '..', path)) };
    });
  const sampled = new Set(['test/support/long.ts']);
  for (let before = 0; before < sampled.size; ) {
    before = sampled.size;
    for (const { name, from } of imports) if (from.some((each) => sampled.has(each))) sampled.add(name);
  }
  return [...sampled].filter((name) => name.endsWith('.test.ts')).sort();
}
