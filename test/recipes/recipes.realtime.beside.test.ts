/** Follows the recipes of CONTRIBUTING.md in a copy of the tree: their patches, their commands, and the files that changed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isLongRun } from '../support/long.ts';
import { follow, followAll, readRecipes, TreeCopy } from './recipe.ts';

let copy: TreeCopy;

beforeAll(() => {
  copy = new TreeCopy();
});

afterAll(() => copy[Symbol.dispose]());

/** What must be green after a recipe, beside its own commands. It takes minutes, so only a long run does it. */
const EVERYTHING: readonly string[] = [
  'npm run check',
  "npm test -- --exclude 'test/recipes/**'", // A patch does not apply to a tree that has it.
];

const recipes = readRecipes();
const alone = recipes.map((recipe) => ({
  name: `the recipe ${recipe.name}, and all tests after it`,
  followed: () => follow(copy, { ...recipe, commands: [...recipe.commands, ...EVERYTHING] }),
}));
const together = { name: 'all recipes in one tree', followed: () => followAll(copy, recipes) };

test.each(isLongRun ? alone : [together])('$name', { timeout: 3_600_000 }, ({ followed }) => {
  copy.restore();
  expect(followed()).toEqual([]);
});
