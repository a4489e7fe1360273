/**
 * `npm run lines`: counts the lines of code by room, without comments and blank lines. `npm run lines -- COMMIT` counts those
 * of another commit beside them. A room is a folder at the top; `.` has the files beside them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sourceFile } from '../test/tidy/source-text.ts';

const SOURCE = /\.[cm]?ts$/;

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
}

/** The sources of the working tree, by path. */
function present(): Map<string, string> {
  const paths = git('ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate').split('\n');
  const deleted = new Set(git('ls-files', '--deleted').split('\n'));
  const sources = paths.filter((path) => SOURCE.test(path) && !deleted.has(path));
  return new Map(sources.map((path) => [path, readFileSync(path, 'utf8')]));
}

/** The sources of a commit, by path. Throws for what is not a commit. */
function sourcesOf(commit: string): Map<string, string> {
  const rows = git('ls-tree', '-r', commit).split('\n');
  const blobs = rows.flatMap((row) => {
    const [, id = '', path = ''] = /^\d+ blob (\w+)\t(.*)$/.exec(row) ?? [];
    return SOURCE.test(path) ? [{ id, path }] : [];
  });
  const input = blobs.map(({ id }) => `${id}\n`).join('');
  const output = execFileSync('git', ['cat-file', '--batch'], { input, maxBuffer: 2 ** 30 });
  const sources = new Map<string, string>();
  let at = 0;
  for (const { path } of blobs) {
    const end = output.indexOf('\n', at);
    const size = Number(output.toString('utf8', at, end).split(' ')[2]);
    sources.set(path, output.toString('utf8', end + 1, end + 1 + size));
    at = end + 2 + size;
  }
  return sources;
}

/** The lines that hold code. */
function linesOf(path: string, text: string): number {
  const { comments } = sourceFile(path, text);
  const lines = text.split('\n');
  const notes = comments.split('\n');
  return lines.filter((line, i) => line.trim() !== '' && line.trim() !== (notes[i] ?? '').trim()).length;
}

/** The number of lines in each room. */
function rooms(sources: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [path, text] of sources) {
    const room = path.includes('/') ? path.slice(0, path.indexOf('/')) : '.';
    counts.set(room, (counts.get(room) ?? 0) + linesOf(path, text));
  }
  return counts;
}

const { positionals } = parseArgs({ allowPositionals: true });
const tables = [...positionals.map((commit) => rooms(sourcesOf(commit))), rooms(present())];
const names = [...new Set(tables.flatMap((table) => [...table.keys()]))].sort();
const heads = [...positionals.map((commit) => commit.slice(0, 10)), 'now'];
const row = (name: string, cells: readonly (string | number)[]): string =>
  name.padEnd(14) + cells.map((cell) => String(cell).padStart(11)).join('');

console.log(row('room', heads));
for (const name of names)
  console.log(
    row(
      name,
      tables.map((table) => table.get(name) ?? 0),
    ),
  );
console.log(
  row(
    'all',
    tables.map((table) => [...table.values()].reduce((sum, count) => sum + count, 0)),
  ),
);
