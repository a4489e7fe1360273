/** The rule that a test on real time, or with processes or real servers, says so in its name. */
import { nameWith, needs } from '../support/retries/needs.ts';
import { resolveFrom } from './imports.ts';
import type { Finding, TreeRule } from './rule.ts';
import type { SourceFile } from './source-text.ts';

const STATEMENT = /^import (?!type\b)([^;'"]*?) from ['"]([^'"\n]+)['"];/gm;
const PROCESSES = /^node:(child_process|cluster|worker_threads)$/;
const REAL_SERVERS = 'test/support/redis-server.ts';
/** What the helpers about real servers export that starts none. */
const STARTS_NOTHING = new Set([
  'INSTALLED',
  'findProgram',
  'hasRedisServer',
  'oracleOf',
  'realServers',
  'removeFolder',
]);
/** In a world, these are the world's clock and its sockets. */
const CLOCK =
  /(?<![.\w])set(Timeout|Interval)\(|\b(Date|performance)\.now\(|\bimport [^;]*\bset(Timeout|Interval)\b[^;]* from/g;
/** What a test imports that plays in a world, and what replaces the clock. */
const WORLD =
  /from '[./]*(explore\/index|lab\/virtual\/\w+|locks\/quiet|quiet|failures\/lab)\.ts'|\bimport '[./]*lab\/router\.ts'|\bvi\.useFakeTimers\b/;
const PORT = /(?<![.\w])start(Server|Lab)\(|\.listen\(0,/g;
const REAL_CLOCK = /\bclock: 'real'/g;

interface Import {
  readonly at: number;
  readonly names: readonly string[];
  readonly target: string;
}

/** The imports of values, with the path or the package that each names. */
function valueImports(file: SourceFile): Import[] {
  return [...file.text.matchAll(STATEMENT)].flatMap(({ 1: clause = '', 2: from = '', index: at }) => {
    const names = [...clause.replace(/\btype \w+( as \w+)?/g, '').matchAll(/(\w+)(?: as \w+)?/g)].map(
      ([, name = '']) => name,
    );
    if (names.length === 0) return [];
    return [{ at, names, target: from.startsWith('.') ? resolveFrom(file.path, from) : from }];
  });
}

/** Why an import starts a process: itself, or what a helper of the tests imports in its turn. */
function startsBy(
  { names, target }: Import,
  byPath: ReadonlyMap<string, SourceFile>,
  seen: Set<string>,
): string | undefined {
  if (PROCESSES.test(target)) return 'starts a process';
  if (names.every((name) => STARTS_NOTHING.has(name))) return undefined;
  if (target === REAL_SERVERS) return 'starts real servers';
  const helper = byPath.get(target);
  if (!target.startsWith('test/') || helper === undefined || seen.has(target)) return undefined;
  seen.add(target);
  for (const each of valueImports(helper)) {
    const why = startsBy(each, byPath, seen);
    if (why !== undefined) return why.includes('through') ? why : `${why}, through ${target}`;
  }
  return undefined;
}

/** Each place of a test file that real time can disturb, and why. */
function* signs(file: SourceFile, byPath: ReadonlyMap<string, SourceFile>): Generator<[number, string]> {
  for (const each of valueImports(file)) {
    const why = startsBy(each, byPath, new Set());
    if (why !== undefined) yield [each.at, why];
  }
  for (const { index } of file.code.matchAll(PORT)) yield [index, 'listens on a port'];
  for (const { index } of file.text.matchAll(REAL_CLOCK)) yield [index, 'plays on the real clock'];
  if (WORLD.test(file.text)) return;
  for (const { index } of file.code.matchAll(CLOCK)) yield [index, 'uses the real clock'];
}

function* check(files: readonly SourceFile[]): Generator<Finding & { path: string }> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  for (const file of files) {
    const { path } = file;
    if (!/^test\/(?!tidy\.).*\.test\.ts$/.test(path) || needs(path, 'realtime') || needs(path, 'beside'))
      continue;
    for (const [at, why] of signs(file, byPath)) {
      const cure = `${why}: call the file ${nameWith(path, 'realtime')}, or ${nameWith(path, 'beside')} when npm run test:beside should run it`;
      yield { path, at, cure };
    }
  }
}

/** Test files whose names lack what they need. */
export const suffixes: TreeRule = { name: 'suffixes', check };
