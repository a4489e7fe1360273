/** Follows each recipe of CONTRIBUTING.md in a copy of the tree: its patch, its commands, and the files that changed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { follow, readRecipes, TreeCopy } from './recipe.ts';

let copy: TreeCopy;

beforeAll(() => {
  copy = new TreeCopy();
});

afterAll(() => copy[Symbol.dispose]());

test.each(readRecipes())('the recipe $name, followed to its end', { timeout: 600_000 }, (recipe) => {
  copy.restore();
  expect(follow(copy, recipe)).toEqual([]);
});
