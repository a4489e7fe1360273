/** Follows each recipe of CONTRIBUTING.md in a copy of the tree: its patch, its commands, and the files that changed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLongRun } from '../support/long.ts';
import { follow, readRecipes, TreeCopy } from './recipe.ts';

/** What must be green after a recipe, beside its own commands. It takes minutes, so only a long run does it. */
const EVERYTHING: readonly string[] = isLongRun
  ? [
      'npm run check',
      "npm test -- --exclude 'test/recipes/**'", // A patch does not apply to a tree that has it.
    ]
  : [];

let copy: TreeCopy;

beforeAll(() => {
  copy = new TreeCopy();
});

afterAll(() => copy[Symbol.dispose]());

test.each(readRecipes())('the recipe $name, followed to its end', { timeout: 3_600_000 }, (recipe) => {
  copy.restore();
  const commands = [...recipe.commands, ...EVERYTHING];
  expect(follow(copy, { ...recipe, commands })).toEqual([]);
});
