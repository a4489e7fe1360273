/** The rule that what a user can import has a docstring where its name does not say everything. */
import { resolveFrom } from './imports.ts';
import type { Finding, TreeRule } from './rule.ts';
import type { SourceFile } from './source-text.ts';

/** The sources of the package's entries. */
const ENTRIES = [
  'index.ts',
  'locks/index.ts',
  'explore/index.ts',
  'lab/router.ts',
  'runners/vitest.ts',
  'runners/jest.ts',
  'runners/mocha.ts',
  'runners/node-test.ts',
  'runners/wrapped-test.ts',
  'adapters/ioredis-mock.ts',
  'adapters/redis-memory-server.ts',
  'adapters/testcontainers.ts',
];

const reExport = /^export (?:type )?(\*|\{[^}]*\}) from '(\.[^']+)';/gm;
const declaration =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(class|interface|type|function|const|enum) (\w+)/gm;
const member = /^ {2}(?:(?:readonly|abstract|override|static|async|get|set) )*(\w+)[?!]?[:(<=;]/;
/** Members that users do not call, and those that the base class documents. */
const hidden = /^ {2}(?:private|protected|override)\b|^ {2}constructor\b/;

/** The declarations that the entry exports, by file: directly, or from other files. */
function exportedFrom(
  path: string,
  byPath: ReadonlyMap<string, SourceFile>,
): Map<string, Set<string> | 'all'> {
  const found = new Map<string, Set<string> | 'all'>([[path, 'all']]);
  for (const [, names = '', specifier = ''] of byPath.get(path)?.text.matchAll(reExport) ?? []) {
    const target = resolveFrom(path, specifier);
    if (names === '*') {
      found.set(target, 'all');
      continue;
    }
    const known = found.get(target) ?? new Set<string>();
    if (known === 'all') continue;
    for (const [, name = ''] of names.matchAll(/(?:type )?(\w+)(?: as \w+)?\s*[,}]/g)) known.add(name);
    found.set(target, known);
  }
  return found;
}

/** True when a docstring ends right above the line. The comment that opens the file is not one. */
function hasDocstring(lines: readonly string[], line: number): boolean {
  let above = line - 1;
  while (/^\s*\/\/ biome-ignore /.test(lines[above] ?? '')) above--;
  if (!/\*\/\s*$/.test(lines[above] ?? '')) return false;
  while (above > 0 && !/^\s*\/\*\*/.test(lines[above]!)) above--;
  return above > 0;
}

/** Whether a declaration needs a docstring: what a class is for, or what a function does, its name seldom says. */
export function needsDocstring(declaration: string): boolean {
  return /^(?:default |declare |abstract |async )*(?:class|function)\b/.test(declaration);
}

/**
 * Whether a member needs a docstring: a call has effects and errors, a number a unit, an option a default.
 * @param owner the name of its class or interface @param text its declaration
 */
export function memberNeedsDocstring(owner: string, text: string): boolean {
  return owner.endsWith('Options') || /\w\??(?:<[^>]*>)?\((?!\))|\bnumber\b/.test(text);
}

/** The names in the body of a class or interface that lack a docstring and need one. Only the first overload needs one. */
function* bareMembers(
  file: SourceFile,
  start: number,
  owner: string,
): Generator<{ line: number; name: string }> {
  const code = file.code.split('\n');
  const lines = file.text.split('\n');
  const seen = new Set<string>();
  for (let line = start + 1; line < lines.length && !code[line]!.startsWith('}'); line++) {
    const name = member.exec(code[line]!)?.[1];
    if (name === undefined || hidden.test(code[line]!) || seen.has(name)) continue;
    seen.add(name);
    const text = `${code[line]}${code[line]!.endsWith('(') ? code[line + 1] : ''}`;
    if (memberNeedsDocstring(owner, text) && !hasDocstring(lines, line)) yield { line, name };
  }
}

function* check(files: readonly SourceFile[]): Generator<Finding & { path: string }> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reported = new Set<string>();
  for (const [path, names] of ENTRIES.flatMap((entry) => [...exportedFrom(entry, byPath)])) {
    const file = byPath.get(path);
    if (file === undefined) continue;
    const lines = file.text.split('\n');
    const offset = (line: number): number => lines.slice(0, line).join('\n').length + Math.min(line, 1);
    for (const [, kind, name = ''] of file.code.matchAll(declaration)) {
      if ((names !== 'all' && !names.has(name)) || reported.has(`${path} ${name}`)) continue;
      reported.add(`${path} ${name}`);
      const line = lines.findIndex((text) => new RegExp(`^export .*\\b${kind} ${name}\\b`).test(text));
      if (needsDocstring(`${kind} `) && !hasDocstring(lines, line)) {
        yield { path, at: offset(line), cure: `${name} is public: say in a docstring what it is for` };
      }
      // The members of `IoredisLike` and its kind are another library's.
      if ((kind !== 'class' && kind !== 'interface') || name.endsWith('Like')) continue;
      for (const bare of bareMembers(file, line, name)) {
        const cure = `${name}.${bare.name} is public: say in a docstring what it means, with its unit and default`;
        yield { path, at: offset(bare.line), cure };
      }
    }
  }
}

/** Exports reachable from the package's entries. */
export const docstrings: TreeRule = { name: 'docstrings', check };
