/** The API report: the declarations that each entry of the package exports, and those that these use, as plain text. */
import manifest from '../../package.json' with { type: 'json' };
import { memberNeedsDocstring, needsDocstring } from '../../test/tidy/docstrings.ts';
import { type Declaration, readDeclarations } from './declarations.ts';
import { exportsOf, find } from './find.ts';

/** What an entry exports, and what its users can reach from there. */
interface Surface {
  /** The entry as users import it, such as `lostlock/locks`. */
  readonly name: string;
  readonly exported: ReadonlyMap<string, Declaration>;
  readonly additions: readonly string[];
}

/** The entries of the package with the files of their types. `lostlock/router` exports nothing. */
const entries = Object.entries(manifest.exports).flatMap(([name, target]) =>
  typeof target === 'string'
    ? []
    : [{ name: name.replace('.', 'lostlock'), path: target.import.types.slice(2) }],
);

function surfaceOf({ name, path }: (typeof entries)[number]): Surface {
  const exported = new Map([...exportsOf(path)].map(([known, { declaration }]) => [known, declaration]));
  return { name, exported, additions: readDeclarations(path).additions.map(({ text }) => text) };
}

/** What a declaration names. */
interface Use {
  readonly declaration: Declaration;
  /** False for a constant or a type of which only the names of the members are used: `keyof typeof DIALECTS`. */
  readonly isWhole: boolean;
}

/** The declarations of the package that a declaration names. */
function* usesOf({ path, name, text }: Declaration): Generator<Use> {
  const file = readDeclarations(path);
  for (const [, operator = '', word = ''] of text.matchAll(
    /((?:keyof |typeof )*)(?<![.'"\w])([A-Za-z_]\w*)/g,
  )) {
    if (word === name || !(file.declared.has(word) || file.imported.has(word))) continue;
    const declaration = find(path, word);
    if (declaration !== undefined) yield { declaration, isWhole: operator === '' };
  }
}

/** The exports of all entries, and the declarations that users can reach from them without a name of their own. */
function surfaces(): {
  entries: readonly Surface[];
  reached: readonly Declaration[];
  named: readonly Declaration[];
} {
  const all = entries.map(surfaceOf);
  const whole = new Set(all.flatMap(({ exported }) => [...exported.values()]));
  const exported = new Set(whole);
  const named = new Set<Declaration>();
  for (const each of whole)
    for (const { declaration, isWhole } of usesOf(each)) (isWhole ? whole : named).add(declaration);
  return {
    entries: all,
    reached: [...whole].filter((each) => !exported.has(each)),
    named: [...named].filter((each) => !whole.has(each)),
  };
}

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A file of the report. */
function page(opening: string, parts: readonly string[]): string {
  return `${[`${opening} \`npm run api\` writes this file; docs/stability.md says what it is for.`, ...parts].join('\n\n')}\n`;
}

/** The report: for each file of docs/api/, its text. */
export function apiReport(): Map<string, string> {
  const { entries: all, reached, named } = surfaces();
  const report = new Map<string, string>();
  for (const { name, exported, additions } of all) {
    const parts = [...exported]
      .sort(([a], [b]) => byName(a, b))
      .map(([as, { name: own, text }]) => (as === own ? text : `// Exported as ${as}:\n${text}`));
    report.set(`${name.replace('/', '-')}.txt`, page(`What ${name} exports.`, [...parts, ...additions]));
  }
  const order = (a: Declaration, b: Declaration): number => byName(a.name, b.name) || byName(a.path, b.path);
  const parts = [...reached].sort(order).map(({ text }) => text);
  const keys = [...named].sort(order).map((each) => `keyof ${each.name}:\n    ${each.keys.join('\n    ')}`);
  const opening = 'The types that the exports of lostlock use, and that have no export of their own.';
  report.set('reached.txt', page(opening, [...parts, ...keys]));
  return report;
}

/** Whether a class or interface that this one extends or implements says what the member is for. */
function inheritsDoc({ path, text }: Declaration, member: string): boolean {
  const head = text.slice(0, text.indexOf('{'));
  return [...head.matchAll(/\b[A-Z]\w+/g)].slice(1).some(([base]) => {
    const declaration = find(path, base);
    if (declaration === undefined || declaration.text === text) return false;
    const own = declaration.members.find(({ name }) => name === member);
    return own?.hasDoc === true || inheritsDoc(declaration, member);
  });
}

/**
 * The public declarations and members that need a docstring and have none, such as `dist/lab/pair.d.ts: Pair.world`. The members of types
 * that describe another library (`IoredisLike`) are that library's, and those that the language names, such as
 * `[Symbol.asyncDispose]`, are the language's.
 */
export function undocumented(): string[] {
  const { entries: all, reached } = surfaces();
  const whole = new Set([...all.flatMap(({ exported }) => [...exported.values()]), ...reached]);
  return [...whole].flatMap((declaration) => {
    const { name, path, hasDoc, members } = declaration;
    const bare = members.filter(
      (member) =>
        memberNeedsDocstring(name, member.text) &&
        !member.hasDoc &&
        !member.name.startsWith('[') &&
        !inheritsDoc(declaration, member.name),
    );
    const lines = name.endsWith('Like') ? [] : bare.map((member) => `${path}: ${name}.${member.name}`);
    return hasDoc || !needsDocstring(declaration.text) ? lines : [`${path}: ${name}`, ...lines];
  });
}
