/** The API on the site: a page for each name that the package exports, which its search leaves out. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { described, summary } from './summary.ts';

/** An entry of the menu. */
export interface ApiEntry {
  readonly text: string;
  readonly link: string;
}

/** What the folders of TypeDoc are called here. */
const KINDS: Readonly<Record<string, string>> = {
  classes: 'class',
  functions: 'function',
  interfaces: 'interface',
  'type-aliases': 'type',
  variables: 'constant',
};

/** The files of types that the package exports, each with the names to import it by. Two names may have one file. */
function entryPoints(): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const [name, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string' || name === './router') continue;
    const { types } = target.import;
    names.set(types, [...(names.get(types) ?? []), name.replace('.', manifest.name)]);
  }
  return names;
}

/** What a page is about: its name, its kind, and the entries that export it. */
function titleOf(file: string): string {
  for (const [types, names] of entryPoints()) {
    const folder = types.replace(/^\.\/dist\//, '').replace(/(\/index)?\.d\.ts$/, '/');
    if (!file.startsWith(folder)) continue;
    const module = names.join(' and ');
    const [kind = '', name] = file.slice(folder.length).replace(/\.md$/, '').split('/');
    return name === undefined ? module : `${name}, ${KINDS[kind] ?? kind} of ${module}`;
  }
  return 'The API of lostlock';
}

/**
 * Writes the API as Markdown with TypeDoc. Members that classes inherit from Node's own are left out.
 * @param root the repository @param here the folder that TypeDoc is installed in @param out where the pages go
 * @returns the entries of the menu
 */
export function apiPages(root: string, here: string, out: string): ApiEntry[] {
  const options = {
    entryPoints: [...entryPoints().keys()].map((path) => join(root, path)),
    tsconfig: join(here, 'tsconfig.typedoc.json'),
    plugin: ['typedoc-plugin-markdown'],
    out,
    readme: 'none',
    router: 'member',
    entryFileName: 'index.md',
    hidePageHeader: true,
    skipErrorChecking: true,
    disableSources: true,
    hideBreadcrumbs: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    logLevel: 'Error',
    validation: false,
  };
  writeFileSync(join(here, 'typedoc.json'), JSON.stringify(options));
  try {
    const args = ['node_modules/typedoc/bin/typedoc', '--options', 'typedoc.json'];
    execFileSync(process.execPath, args, { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
  } finally {
    rmSync(join(here, 'typedoc.json'));
  }
  const files = readdirSync(out, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.replaceAll('\\', '/'))
    .sort();
  for (const file of files) {
    const path = join(out, file);
    // TypeDoc counts the names of types among the headings; VitePress counts headings only.
    const text = readFileSync(path, 'utf8').replace(/\]\(([^)\s]*#[\w-]+?)-\d+\)/g, ']($1)');
    const title = titleOf(file);
    const about = summary(text);
    const more = { title, search: false };
    writeFileSync(path, described(`${title}${about === '' ? '.' : `: ${about}`}`, text, more));
  }
  const ofEntry = files.filter((file) => /^(?:(?:runners|adapters)\/)?[\w-]+\/index\.md$/.test(file));
  const menu = ofEntry.map((file) => ({
    text: titleOf(file),
    link: `/api/${file.replace(/index\.md$/, '')}`,
  }));
  return [{ text: 'All entries', link: '/api/' }, ...menu.sort((a, b) => (a.text < b.text ? -1 : 1))];
}
