/** Reads the declarations that the build writes (`dist/**.d.ts`): what a file declares, imports and exports. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A statement, or a member of a class or interface, without its comments. */
interface Statement {
  readonly text: string;
  /** The text with its comments. */
  readonly source: string;
  readonly hasDoc: boolean;
}

/** A member of a class or interface that is not private. */
interface Member {
  readonly name: string;
  /** The declaration of its first overload. */
  readonly text: string;
  readonly hasDoc: boolean;
}

/** A declared type, class, function or constant. The overloads of a function are one declaration. */
export interface Declaration {
  readonly name: string;
  readonly path: string;
  /** The declaration without comments and private members. */
  readonly text: string;
  /** The declaration as the file has it, with comments; the overloads of a function each. */
  readonly sources: readonly string[];
  readonly hasDoc: boolean;
  readonly members: readonly Member[];
  /** For a constant object: the names of its members. */
  readonly keys: readonly string[];
}

/** Where a name comes from: a file of the package, and the name there. */
export interface Origin {
  readonly path: string;
  readonly name: string;
  /** True for `export type { … }`: a class is then known as a type only. */
  readonly asType?: boolean;
}

/** A name that a file has from another package, or from Node. */
export interface External {
  readonly module: string;
  readonly name: string;
}

/** What one file of declarations says. */
export interface DeclarationFile {
  readonly declared: ReadonlyMap<string, Declaration>;
  readonly imported: ReadonlyMap<string, Origin>;
  readonly exported: ReadonlyMap<string, Origin>;
  /** The files that are imported as a whole, by the name of the whole. */
  readonly namespaces: ReadonlyMap<string, string>;
  readonly externals: ReadonlyMap<string, External>;
  /** The files whose exports are all exported here too. */
  readonly stars: readonly string[];
  /** What the file adds to the types of other packages, with comments. */
  readonly additions: readonly Statement[];
}

const external = /^import (?:type )?\{(?<names>[^}]*)\} from '(?<module>[^.'][^']*)';$/s;
const block =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(class|interface|enum|namespace|module|global)\b/;
const naming =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|enum|type|function|const|let|var) (\w+)/;
const memberName = /^(?:(?:readonly|abstract|static|protected|get|set) )*(\w+|\[[\w.]+\])[?!]?\s*[:(<;]/;
const isPrivate = /^(?:#|(?:static )?private\b)/;
const moving =
  /^(?:import|export) (?:type )?(?:\w+,? ?)?(?:\{(?<names>[^}]*)\}|(?<star>\*)(?: as (?<whole>\w+))?)? ?from '(?<from>\.[^']*)';$/s;

/** Where the string or comment ends that starts at this place; the place itself when none starts there. */
export function endOfSkipped(text: string, at: number): number {
  const two = text.slice(at, at + 2);
  if (two === '/*') return text.indexOf('*/', at) + 2;
  if (two === '//') return text.indexOf('\n', at) + 1 || text.length;
  const quote = text[at] ?? '';
  if (!`'"\``.includes(quote)) return at;
  let end = at + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** The statements of a file or of the body of a class, and whether a docstring stands right before each. */
function* statementsOf(text: string, isBody: boolean): Generator<Statement> {
  let [at, start, depth, current, hasDoc] = [0, 0, 0, '', false];
  while (at < text.length) {
    const end = endOfSkipped(text, at);
    if (end > at) {
      const piece = text.slice(at, end);
      at = end;
      if (!piece.startsWith('/')) current += piece;
      else if (current.trim() === '') hasDoc = piece.startsWith('/**');
      continue;
    }
    const char = text[at++] as string;
    current += char;
    if ('{[('.includes(char)) depth++;
    if ('}])'.includes(char)) depth--;
    // A brace in the head of a class is not followed by the end of the line.
    const endsLine = char === '}' && (text[at] === '\n' || at === text.length);
    const endsBlock = endsLine && !isBody && block.test(current.trimStart());
    if (depth > 0 || (char !== ';' && !endsBlock)) continue;
    yield { text: withoutGaps(current), source: text.slice(start, at), hasDoc };
    [start, current, hasDoc] = [at, '', false];
  }
}

/** The text without empty lines and without blanks at the ends of its lines. */
function withoutGaps(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .trim();
}

/** Where the last braces of a text open that stand in no other brackets: those of the body of a class. */
function openingOfBody(text: string): number {
  let [depth, found] = [0, -1];
  for (let at = 0; at < text.length; at++) {
    const end = endOfSkipped(text, at);
    if (end > at) at = end - 1;
    else if ('{[('.includes(text[at] as string)) {
      if (depth++ === 0 && text[at] === '{') found = at;
    } else if ('}])'.includes(text[at] as string)) depth--;
  }
  return found;
}

/** The head of a class or interface, and its members that are not private. Constructors without a docstring are left out. */
function partsOf({ text, source }: Statement): { head: string; members: Statement[] } {
  const body = source.slice(openingOfBody(source) + 1, source.lastIndexOf('}'));
  const isPublic = ({ text: own, hasDoc }: Statement): boolean =>
    !isPrivate.test(own) && (hasDoc || !own.startsWith('constructor('));
  return {
    head: text.slice(0, openingOfBody(text) + 1),
    members: [...statementsOf(body, true)].filter(isPublic),
  };
}

function declarationOf(name: string, path: string, statements: readonly Statement[]): Declaration {
  const hasDoc = statements.some((statement) => statement.hasDoc);
  const sources = statements.map(({ source }) => source.trim());
  const [first] = statements as [Statement];
  const kind = block.exec(first.text)?.[1];
  if (kind !== 'class' && kind !== 'interface') {
    const text = statements.map((statement) =>
      statement.text.replace(/^(?:export )?(?:default )?(?:declare )?/, ''),
    );
    const keys = [...first.text.matchAll(/^ {4}(?:readonly )?('[^']+'|\w+):/gm)].map(([, key = '']) => key);
    return { name, path, text: text.join('\n'), sources, hasDoc, members: [], keys };
  }
  const { head, members } = partsOf(first);
  const named = new Map<string, Member>();
  for (const member of members) {
    const own = memberName.exec(member.text)?.[1];
    if (own === undefined) continue;
    const first = named.get(own) ?? { name: own, text: member.text, hasDoc: false };
    named.set(own, { ...first, hasDoc: first.hasDoc || member.hasDoc });
  }
  const body = members.map((member) => `    ${member.text}\n`).join('');
  const text = `${head.replace(/^(?:export )?(?:default )?(?:declare )?/, '')}\n${body}}`;
  return { name, path, text, sources, hasDoc, members: [...named.values()], keys: [...named.keys()] };
}

/** The names in braces: `type A, B as C` is A, known as A, and B, known as C. */
function* namesIn(braces: string): Generator<{ name: string; known: string; asType: boolean }> {
  for (const [, type, name = '', known = name] of braces.matchAll(/(type )?(\w+)(?: as (\w+))?\s*(?:,|$)/g))
    yield { name, known, asType: type !== undefined };
}

const files = new Map<string, DeclarationFile>();

/** Reads a file of declarations. Its path is relative to the working directory. */
export function readDeclarations(path: string): DeclarationFile {
  const known = files.get(path);
  if (known !== undefined) return known;
  const groups = new Map<string, Statement[]>();
  const [imported, exported] = [new Map<string, Origin>(), new Map<string, Origin>()];
  const namespaces = new Map<string, string>();
  const externals = new Map<string, External>();
  const [stars, additions]: [string[], Statement[]] = [[], []];
  // The build indents them with tabs.
  const declarations = readFileSync(path, 'utf8').replaceAll('\t', '    ');
  for (const statement of statementsOf(declarations, false)) {
    const { text } = statement;
    const move = moving.exec(text)?.groups;
    const foreign = external.exec(text)?.groups;
    const name = naming.exec(text)?.[1];
    if (move !== undefined) {
      const target = join(dirname(path), move.from as string).replace(/\.(c?)[jt]s$/, '.d.$1ts');
      if (move.whole !== undefined) namespaces.set(move.whole, target);
      else if (move.star !== undefined) stars.push(target);
      const names = text.startsWith('import') ? imported : exported;
      const asType = text.startsWith('export type');
      for (const each of namesIn(move.names ?? ''))
        names.set(each.known, { path: target, name: each.name, asType: asType || each.asType });
    } else if (foreign !== undefined) {
      for (const { name, known } of namesIn(foreign.names ?? ''))
        externals.set(known, { module: foreign.module as string, name });
    } else if (text.startsWith('declare module')) {
      additions.push(statement);
    } else if (name !== undefined) {
      groups.set(name, [...(groups.get(name) ?? []), statement]);
      if (text.startsWith('export default ')) exported.set('default', { path, name });
      else if (text.startsWith('export ')) exported.set(name, { path, name });
    } else if (/^export (?:type )?\{/.test(text)) {
      const asType = text.startsWith('export type');
      for (const each of namesIn(text.slice(text.indexOf('{') + 1, -2)))
        exported.set(each.known, { path, name: each.name, asType: asType || each.asType });
    } else if (/^export default \w+;$/.test(text)) {
      exported.set('default', { path, name: text.slice(15, -1) });
    }
  }
  const declared = new Map(
    [...groups].map(([name, statements]) => [name, declarationOf(name, path, statements)]),
  );
  const file = { declared, imported, exported, namespaces, externals, stars, additions };
  files.set(path, file);
  return file;
}
