/** Advice about sizes. The tests print it, and never fail for it: a file is split by its ideas, not by a number. */
import type { SourceFile } from './source-text.ts';

/** A file with more lines, and a folder with more source files, often hold more than one idea. */
const [LINES, COMMAND_LINES, FILES] = [400, 500, 20];

/** The large files and the crowded folders, one line each, the largest first. */
export function advice(files: readonly SourceFile[]): string[] {
  const folders = new Map<string, number>();
  for (const { path } of files) {
    const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.';
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const long = files
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ path, lines }) => lines > (path.startsWith('server/commands/') ? COMMAND_LINES : LINES))
    .sort((a, b) => b.lines - a.lines);
  const crowded = [...folders].filter(([, count]) => count > FILES).sort(([, a], [, b]) => b - a);
  return [
    ...long.map(({ path, lines }) => `${path}: ${lines} lines; does it hold several ideas?`),
    ...crowded.map(([folder, count]) => `${folder}/: ${count} files; would a theme of its own read better?`),
  ];
}
