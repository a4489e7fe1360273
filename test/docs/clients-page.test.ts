/** docs/clients.md says what the tests run. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clientsPage, clientTests } from '../../tools/docs/clients-page.ts';

test('docs/clients.md has the versions of the manifests: if this fails, run `npm run docs`', () => {
  expect(readFileSync('docs/clients.md', 'utf8') === clientsPage()).toBe(true);
});

test('each test that docs/clients.md names is there', () => {
  expect(clientTests.filter((path) => !existsSync(path))).toEqual([]);
});
