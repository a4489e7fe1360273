/** The recipes of CONTRIBUTING.md: each has a patch that still applies and touches what it names, and following one finds what is wrong. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesOfPatch, follow, patchOf, readRecipes, TreeCopy, unnamed } from './recipe.ts';

const recipes = readRecipes();

test('every recipe has a patch, and every patch a recipe', () => {
  const patches = readdirSync('test/recipes').filter((name) => name.endsWith('.patch'));
  expect(recipes.map(patchOf).sort()).toEqual(patches.map((name) => `test/recipes/${name}`).sort());
  expect(recipes.length).toBeGreaterThan(3);
});

test.each(recipes)(
  'the patch of the recipe $name applies, and touches the files that the recipe names',
  (recipe) => {
    const { stderr } = spawnSync('git', ['apply', '--check', patchOf(recipe)], { encoding: 'utf8' });
    expect(stderr, `${patchOf(recipe)} does not apply any more: make it anew`).toBe('');
    expect(unnamed(recipe, filesOfPatch(readFileSync(patchOf(recipe), 'utf8')))).toEqual([]);
  },
);

test('what a recipe names exists, unless it makes it', () => {
  for (const recipe of recipes) {
    const made = filesOfPatch(readFileSync(patchOf(recipe), 'utf8'));
    const missing = recipe.files.filter(
      (file) => !file.includes('<') && !existsSync(file) && !made.includes(file),
    );
    expect(missing, recipe.name).toEqual([]);
  }
});

test('a file that a recipe does not name is found', () => {
  const recipe = { name: 'x', files: ['server/commands/<group>/', 'docs/a.md'], commands: [] };
  const paths = ['server/commands/string/a.ts', 'docs/a.md', 'docs/a.mdx', 'server/call.ts'];
  expect(unnamed(recipe, paths)).toEqual(['docs/a.mdx', 'server/call.ts']);
});

test('a recipe is followed in a copy of the tree, and what goes wrong is told', () => {
  using copy = new TreeCopy();
  const page = recipes.find(({ name }) => name === 'page')!;
  // The beside tests follow the recipes with the commands that they name, which take minutes.
  expect(follow(copy, { ...page, commands: ['test -e docs/words.md'] })).toEqual([]);
  copy.restore();
  expect(copy.changed()).toEqual([]);
  const wrong = follow(copy, { ...page, files: ['docs/site/pages.ts'], commands: ['exit 3'] });
  expect(wrong).toEqual([
    expect.stringContaining('exit status 3'),
    "the recipe 'page' does not name docs/words.md",
  ]);
});
