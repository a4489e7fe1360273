/** The menu of the documentation site has every page of docs/, once. */
import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages } from '../../docs/site/pages.ts';

const sources = pages.map(({ source }) => source);

test('every page of docs/ is on the site', () => {
  const written = ['docs', 'docs/start'].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  );
  expect(written.length).toBeGreaterThan(20);
  expect(written.filter((path) => !sources.includes(path))).toEqual([]);
});

test('every page of the menu exists, and has an address of its own', () => {
  expect(sources.filter((path) => !existsSync(path))).toEqual([]);
  expect(new Set(pages.map(({ address }) => address)).size).toBe(pages.length);
});
