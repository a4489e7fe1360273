/** The recipes of CONTRIBUTING.md: what each says, and a copy of the tree in which its patch is applied and its commands run. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A recipe as CONTRIBUTING.md has it. */
export interface Recipe {
  /** What it makes, such as `lock-kind`; its patch has the same name. */
  readonly name: string;
  /** The files that it names: paths, folders that end with `/`, and `<words>` for a part of a path. */
  readonly files: readonly string[];
  /** The commands that it ends with. */
  readonly commands: readonly string[];
}

/** Reads the recipes: the sections below `## Recipes`. */
export function readRecipes(text = readFileSync('CONTRIBUTING.md', 'utf8')): Recipe[] {
  const [, recipes = ''] = text.split(/^## Recipes$/m);
  const sections = (recipes.split(/^## /m)[0] ?? '').split(/^### An? /m).slice(1);
  return sections.map((section) => {
    const name = (section.split('\n')[0] ?? '').trim().replaceAll(' ', '-');
    const [, files = ''] = /^Files: (.*?)\n\n/ms.exec(section) ?? [];
    const [, block = ''] = /^```sh\n(.*?)^```/ms.exec(section) ?? [];
    return {
      name,
      files: [...files.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
      commands: block.split('\n').filter((line) => line !== ''),
    };
  });
}

export function patchOf({ name }: Recipe): string {
  return `test/recipes/${name}.patch`;
}

/** The files that a patch changes or adds. */
export function filesOfPatch(patch: string): string[] {
  return [...patch.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path = '']) => path);
}

/** Those of the paths that the recipe does not name. */
export function unnamed({ files }: Recipe, paths: readonly string[]): string[] {
  const patterns = files.map((file) => {
    const source = file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/<[^>]+>/g, '[^/]+');
    return new RegExp(`^${source}${file.endsWith('/') ? '' : '$'}`);
  });
  return paths.filter((path) => !patterns.some((pattern) => pattern.test(path)));
}

/** What a copy does not have: what is installed, built, or git's, and what another test writes meanwhile. */
const LEFT_OUT =
  /^(node_modules|\.git|dist|dist-executable|\.dist|\.building|coverage|target|out|workers-\w+)$/;
const COMPILED = 'node_modules/.cache/lostlock-tests';

/** A copy of the tree that uses the packages of this one. */
export class TreeCopy implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'lostlock-recipes-'));
  readonly #made: ReadonlyMap<string, Buffer>;

  constructor() {
    cpSync('.', this.folder, {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !path.split(/[\\/]/).some((part) => LEFT_OUT.test(part)),
    });
    this.#made = this.#files();
    const modules = join(this.folder, 'node_modules');
    mkdirSync(modules);
    for (const name of readdirSync('node_modules'))
      if (name !== '.cache') symlinkSync(resolve('node_modules', name), join(modules, name));
    // The copy compiles for itself, so that its sources do not end up in the cache of this tree. It begins with what is compiled here.
    if (existsSync(COMPILED))
      cpSync(COMPILED, join(this.folder, COMPILED), { recursive: true, preserveTimestamps: true });
  }

  /** Applies the patch of a recipe. Returns what went wrong; an empty string if nothing did. */
  apply(recipe: Recipe): string {
    return this.#run('git', ['apply', resolve(patchOf(recipe))]).stderr;
  }

  /** Runs a command. Returns what it printed when it failed; an empty string if it succeeded. */
  run(command: string): string {
    const { status, stdout, stderr } = this.#run('sh', ['-c', command]);
    return status === 0 ? '' : `${command}: exit status ${status}\n${stdout}${stderr}`;
  }

  /** The files that are not what they were when the copy was made. */
  changed(): string[] {
    const now = this.#files();
    const paths = new Set([...now.keys(), ...this.#made.keys()]);
    return [...paths].filter((path) => {
      const made = this.#made.get(path);
      return made === undefined || now.get(path)?.equals(made) !== true;
    });
  }

  /** Makes every file what it was. */
  restore(): void {
    for (const path of this.changed()) {
      const made = this.#made.get(path);
      if (made === undefined) rmSync(join(this.folder, path));
      else writeFileSync(join(this.folder, path), made);
    }
  }

  /** The files of the copy with their contents, without those that it does not have from the tree. */
  #files(): Map<string, Buffer> {
    const entries = readdirSync(this.folder, { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(this.folder.length + 1))
      .filter((path) => !path.split(/[\\/]/).some((part) => LEFT_OUT.test(part)));
    return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(this.folder, path))]));
  }

  #run(program: string, args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    const {
      LOSTLOCK_LONG: _long,
      LOSTLOCK_TEST_MODE: _mode,
      LOSTLOCK_REPORT: _report,
      NODE_OPTIONS: _options,
      ...env
    } = process.env;
    const own = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('VITEST')));
    return spawnSync(program, args, { cwd: this.folder, env: own, encoding: 'utf8' });
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Follows a recipe in a copy of the tree: applies its patch, and runs its commands. Returns what went wrong. */
export function follow(copy: TreeCopy, recipe: Recipe): string[] {
  return finish(copy, recipe, [copy.apply(recipe)]);
}

const RUN = 'npx vitest run ';

/** Follows recipes as someone does who adds everything at once: applies all patches, and runs each command and each test file once. */
export function followAll(copy: TreeCopy, recipes: readonly Recipe[]): string[] {
  const [tests, others] = [new Set<string>(), new Set<string>()];
  for (const command of recipes.flatMap(({ commands }) => commands))
    if (command.startsWith(RUN)) for (const file of command.slice(RUN.length).split(' ')) tests.add(file);
    else others.add(command);
  const all: Recipe = {
    name: recipes.map(({ name }) => name).join(', '),
    files: recipes.flatMap(({ files }) => files),
    commands: [...others, `${RUN}${[...tests].join(' ')}`],
  };
  return finish(
    copy,
    all,
    recipes.map((recipe) => copy.apply(recipe)),
  );
}

function finish(copy: TreeCopy, recipe: Recipe, applied: readonly string[]): string[] {
  const wrong = applied.filter((text) => text !== '');
  if (wrong.length === 0) wrong.push(...recipe.commands.map((command) => copy.run(command)));
  const others = unnamed(recipe, copy.changed());
  if (others.length > 0) wrong.push(`the recipe '${recipe.name}' does not name ${others.join(', ')}`);
  return wrong.filter((text) => text !== '');
}
