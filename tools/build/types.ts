/**
 * Rolls up the declarations that tsc writes, one file for each source: each entry of the package gets one, and what several entries use
 * is in one file that they share (docs/decisions/0077-a-light-package.md).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type Declaration, endOfSkipped, readDeclarations } from '../api/declarations.ts';
import { type Exported, exportsOf, find } from '../api/find.ts';

/** The file that entries share, without its extension. It describes a CommonJS module, which both module systems can import from. */
const SHARED = 'types';

/** What a word of a declaration stands for: another declaration, or a name of another package. */
type Meaning = Declaration | { readonly module: string; readonly name: string };

const isOwn = (meaning: Meaning): meaning is Declaration => 'sources' in meaning;

/** One file that is written. */
interface Output {
  /** Relative to the folder of the package's code, without an extension: `locks/index`. */
  readonly name: string;
  readonly declarations: Declaration[];
  /** The name of each declaration and of each imported name in this file. */
  readonly names: Map<string, string>;
  readonly taken: Set<string>;
}

/** Same for the same declaration or imported name, in whatever file. */
const keyOf = (meaning: Meaning): string =>
  isOwn(meaning) ? `${meaning.path}#${meaning.name}` : `${meaning.module}#${meaning.name}`;

/** What a word means in a file of declarations; undefined when the file does not know it. */
function meaningOf(path: string, word: string): Meaning | undefined {
  const file = readDeclarations(path);
  if (file.declared.has(word) || file.imported.has(word)) return find(path, word);
  return file.externals.get(word);
}

/** Types that tsc names by their files: `import("./clients/client.js").Client`. */
const inline = /import\("(\.[^"]*)\.[jt]s"\)\.(\w+)/g;

/** Calls back for each word of a declaration that names something, and returns the text with the words that come back. */
function replaceWords(
  declaration: Declaration,
  text: string,
  word: (meaning: Meaning, known: string) => string,
): string {
  const { path, name: own } = declaration;
  const inlined = text.replace(inline, (whole, file: string, name: string) => {
    const meaning = find(join(dirname(path), `${file}.d.ts`), name);
    if (meaning === undefined) throw new Error(`${path}: what is ${whole}?`);
    return word(meaning, name);
  });
  let [result, at] = ['', 0];
  while (at < inlined.length) {
    const end = endOfSkipped(inlined, at);
    if (inlined[at] === '`') {
      // A template: its text names nothing, and what stands in its brackets does.
      const inBrackets = (_: string, inner: string): string =>
        `\${${replaceWords(declaration, inner, word)}}`;
      result += inlined.slice(at, end).replace(/\$\{([^}]*)\}/g, inBrackets);
      at = end;
      continue;
    }
    const [known = ''] = end > at ? [] : (/^[A-Za-z_$][\w$]*/.exec(inlined.slice(at, at + 200)) ?? []);
    const next = end > at ? end : at + (known.length || 1);
    // A name after a dot, or before a colon or a bracket, is a member's.
    const isMember = /[.\w$]$/.test(result) || /^\??[:(]/.test(inlined.slice(next, next + 2));
    const meaning = known === '' || (isMember && known !== own) ? undefined : meaningOf(path, known);
    result += meaning === undefined ? inlined.slice(at, next) : word(meaning, known);
    at = next;
  }
  return result;
}

/** All declarations that a declaration needs, with itself. */
function reachedFrom(starts: readonly Declaration[]): Map<string, Declaration> {
  const reached = new Map(starts.map((each) => [keyOf(each), each]));
  for (const declaration of reached.values())
    for (const source of declaration.sources)
      replaceWords(declaration, source, (meaning, known) => {
        if (isOwn(meaning)) reached.set(keyOf(meaning), meaning);
        return known;
      });
  return reached;
}

/** Reserves a name in a file: the declaration's own if it is free, otherwise with a number. */
function nameIn(output: Output, meaning: Meaning, wanted: string): string {
  const key = keyOf(meaning);
  const known = output.names.get(key);
  if (known !== undefined) return known;
  let name = wanted;
  for (let i = 2; output.taken.has(name); i++) name = `${wanted}_${i}`;
  output.taken.add(name);
  output.names.set(key, name);
  return name;
}

/** `a, b as c`, with `type ` where that is asked for. */
const listed = (pairs: readonly (readonly [name: string, known: string])[]): string =>
  pairs.map(([name, known]) => (name === known ? name : `${name} as ${known}`)).join(', ');

/** A comment for readers of the declarations, at the beginning of a text. */
const comment = /^\/\*\*(?:(?!\*\/)[\s\S])*\*\//;

/** The comments of a statement but for the last, which describes it, are about the file. */
function withoutFileComment(source: string): string {
  const rest = source.replace(comment, '').trimStart();
  return comment.test(rest) ? rest : source;
}

/** What stands before a declaration that is exported. */
const modifiers = /^((?:\/\*(?:(?!\*\/)[\s\S])*\*\/\s*|\/\/.*\n)*)export (?:default )?(?:declare )?(?=(\w+))/;

/** The declaration as one that is not exported. */
const unexported = (source: string): string =>
  source.replace(
    modifiers,
    (_, comments: string, kind: string) => comments + (/^(?:interface|type)$/.test(kind) ? '' : 'declare '),
  );

/** Where a file finds the file that entries share. */
function sharedFrom(name: string): string {
  const path = posix.join(posix.relative(posix.dirname(name), '.') || '.', `${SHARED}.cjs`);
  return path.startsWith('.') ? path : `./${path}`;
}

/** An entry with what it exports and all that this needs. */
interface Surface {
  readonly name: string;
  readonly path: string;
  readonly exports: ReadonlyMap<string, Exported>;
  readonly reached: ReadonlyMap<string, Declaration>;
}

/** Names that a file has from others, by module. */
type Imports = Map<string, Map<string, string>>;

/** Writes the lines of a file that hold something. */
function write(path: string, lines: readonly string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  // The compiler indents with four spaces. Tabs make the package smaller.
  const text = lines.filter((line) => line !== '').join('\n');
  writeFileSync(path, `${text.replaceAll(/^(?: {4})+/gm, (spaces) => '\t'.repeat(spaces.length / 4))}\n`);
}

/** The declarations of the package, on their way into fewer files. */
class Roll {
  /** How many entries need each declaration. */
  readonly #uses = new Map<string, number>();
  readonly #shared = emptyOutput(SHARED);
  readonly #sharedExports = new Set<string>();

  constructor(surfaces: readonly Surface[]) {
    for (const { reached } of surfaces)
      for (const key of reached.keys()) this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
    // What is exported takes its name first.
    const exported = surfaces.flatMap(({ exports }) =>
      [...exports.values()].map(({ declaration }) => declaration),
    );
    const reached = surfaces.flatMap((surface) => [...surface.reached.values()]);
    const shared = [...exported, ...reached].filter((each) => this.#isShared(each));
    for (const each of new Map(shared.map((each) => [keyOf(each), each])).values()) {
      this.#shared.declarations.push(each);
      nameIn(this.#shared, each, each.name);
    }
  }

  #isShared(declaration: Declaration): boolean {
    return (this.#uses.get(keyOf(declaration)) ?? 0) > 1;
  }

  /** The name of a shared declaration, which is then exported by the file that entries share. */
  #sharedName(declaration: Declaration): string {
    const name = nameIn(this.#shared, declaration, declaration.name);
    this.#sharedExports.add(name);
    return name;
  }

  /** The text of a file's declarations, and what they need of other files. */
  #bodyOf(output: Output): { readonly body: string; readonly imports: Imports } {
    const imports: Imports = new Map();
    const word = (meaning: Meaning, known: string): string => {
      const home = isOwn(meaning) && this.#isShared(meaning) ? this.#shared : output;
      if (isOwn(meaning) && home === output) return nameIn(output, meaning, meaning.name);
      const [module, name] = isOwn(meaning)
        ? [sharedFrom(output.name), this.#sharedName(meaning)]
        : [meaning.module, meaning.name];
      const own = nameIn(output, meaning, known);
      imports.set(module, (imports.get(module) ?? new Map<string, string>()).set(name, own));
      return own;
    };
    const texts = output.declarations.flatMap((declaration) =>
      declaration.sources.map((source) =>
        unexported(replaceWords(declaration, withoutFileComment(source), word)),
      ),
    );
    return { body: texts.join('\n'), imports };
  }

  /** The lines that export what an entry exports. */
  #exportLines({ name, exports }: Surface, output: Output): string[] {
    const lists = new Map<string, (readonly [name: string, known: string])[]>();
    for (const [known, { declaration, asType }] of exports) {
      const isShared = this.#isShared(declaration);
      const own = isShared ? this.#sharedName(declaration) : nameIn(output, declaration, declaration.name);
      const kind = /^(?:interface|type)\b/.test(declaration.text) || asType ? 'export type' : 'export';
      const key = `${kind} {}${isShared ? ` from '${sharedFrom(name)}'` : ''};`;
      lists.set(key, [...(lists.get(key) ?? []), [own, known]]);
    }
    if (lists.size === 0) return ['export {};'];
    return [...lists].map(([key, pairs]) => key.replace('{}', `{ ${listed(pairs)} }`));
  }

  /** The lines of an entry's file. */
  linesOf(surface: Surface): string[] {
    const output = emptyOutput(surface.name);
    for (const each of surface.reached.values()) {
      if (this.#isShared(each)) continue;
      output.declarations.push(each);
      nameIn(output, each, each.name);
    }
    const { body, imports } = this.#bodyOf(output);
    const [opening = ''] = comment.exec(readFileSync(surface.path, 'utf8')) ?? [];
    const additions = readDeclarations(surface.path).additions.map(({ source }) => source.trim());
    return [opening, ...importLines(imports), ...additions, body, ...this.#exportLines(surface, output)];
  }

  /** The lines of the file that entries share. Throws when its readers would need a package of their own. */
  linesOfShared(): string[] {
    const { body, imports } = this.#bodyOf(this.#shared);
    for (const module of imports.keys())
      if (module !== 'ioredis' && !module.startsWith('node:'))
        throw new Error(`each user would need ${module}: declare what uses it in one entry only`);
    const exported = listed([...this.#sharedExports].map((name) => [name, name] as const));
    return [
      '/** What several entries of the package declare. It has no code: import the entries. */',
      ...importLines(imports),
      body,
      `export { ${exported} };`,
    ];
  }
}

const emptyOutput = (name: string): Output => ({
  name,
  declarations: [],
  names: new Map(),
  taken: new Set(),
});

function importLines(imports: Imports): string[] {
  return [...imports].map(([module, names]) => {
    const line = `import { ${listed([...names])} } from '${module}';`;
    // An optional peer: where it is missing, its types become `any` (lab/ioredis-types.ts).
    return module === 'ioredis' ? `// @ts-ignore\n${line.replace('import', 'import type')}` : line;
  });
}

/**
 * True where the types of the ES module may be those of the CommonJS module. Not with a default export, which would be the whole module,
 * and not with additions to another package's types, which the CommonJS form of that package would get.
 */
function canExportAll({ path, exports }: Surface): boolean {
  return exports.size > 0 && !exports.has('default') && readDeclarations(path).additions.length === 0;
}

/** The lines of an ES module's types that are those of the CommonJS module. */
function exportingAll({ name, path }: Surface): string[] {
  const [opening = ''] = comment.exec(readFileSync(path, 'utf8')) ?? [];
  return [opening, `export * from './${posix.basename(name)}.cjs';`];
}

/**
 * Writes the declarations of the entries, and of what they share.
 * @param folder where tsc has written `.d.ts` files @param entries as `locks/index` @param target the folder to write to
 */
export function rollUpTypes(folder: string, entries: readonly string[], target: string): void {
  const surfaces = entries.map((name) => {
    const path = join(folder, `${name}.d.ts`);
    const exports = exportsOf(path);
    const starts = [...exports.values()].map(({ declaration }) => declaration);
    return {
      name,
      path,
      exports,
      reached: reachedFrom([...starts, ...readDeclarations(path).declared.values()]),
    };
  });
  const roll = new Roll(surfaces);
  for (const surface of surfaces) {
    const lines = roll.linesOf(surface);
    write(join(target, `${surface.name}.d.cts`), lines);
    write(join(target, `${surface.name}.d.ts`), canExportAll(surface) ? exportingAll(surface) : lines);
  }
  write(join(target, `${SHARED}.d.cts`), roll.linesOfShared());
}
