/** The table of an exploration: in how many worlds each fault struck, and in how many of them each promise broke. */
import type { Coverage } from './report-data.ts';

/** The row of the worlds in which no fault struck. */
export const NO_FAULT = 'no fault';

/** What the table shows. */
export type TableData = Pick<Coverage, 'faults' | 'calm' | 'broken'>;

/** The gap between two columns. */
const GAP = '  ';

/**
 * The table as lines of at most so many characters. Where the names of the promises do not fit, letters stand for them.
 * @param promises the columns
 * @param most how many lines it may have; rows in which nothing broke go first
 */
export function tableLines(
  data: TableData,
  promises: readonly string[],
  width: number,
  most: number = Infinity,
): string[] {
  const wide = withHeads(data, promises, width, most);
  if (wide !== undefined) return wide;
  const letters = promises.map((_, i) => String.fromCharCode(97 + (i % 26)));
  // A letter stays with its name.
  const named = promises.map((name, i) => `${letters[i]}\u00a0${name}`).join(', ');
  const legend = wrapped(named, width).map((line) => line.replaceAll('\u00a0', ' '));
  const left = Math.max(most - legend.length, Math.ceil(most / 2));
  const plain = (): string[] => rowsOf(data, promises, left).map(([name, , count]) => `${count} ${name}`);
  const lines = withHeads(data, promises, width, left, letters) ?? plain();
  return [...lines, ...legend].slice(0, most).map((line) => line.slice(0, width));
}

/** The table with these heads; undefined when it is wider than it may be. */
function withHeads(
  data: TableData,
  promises: readonly string[],
  width: number,
  most: number,
  heads: readonly string[] = promises,
): string[] | undefined {
  // A name of two words takes two lines: mutual-exclusion.
  const split = heads.map((head) => head.split(/(?<=-)/));
  const height = Math.max(1, ...split.map(({ length }) => length));
  const top = Array.from({ length: height }, (_, line) => [
    line === height - 1 ? 'fault' : '',
    line === height - 1 ? 'worlds' : '',
    ...split.map((words) => words[line - height + words.length] ?? ''),
  ]);
  const rows = rowsOf(data, promises, most - height);
  const cells = [...top, ...rows.map(([name, counts, worlds]) => [name, worlds, ...counts])];
  const widths = cells[0]?.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0))) ?? [];
  const lines = cells.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join(GAP)
      .trimEnd(),
  );
  return lines.every(({ length }) => length <= width) ? lines : undefined;
}

type Row = readonly [name: string, counts: readonly string[], worlds: string];

function rowsOf({ faults, calm, broken }: TableData, promises: readonly string[], most: number): Row[] {
  const worlds: [string, number][] = [[NO_FAULT, calm], ...Object.entries(faults)];
  const rows = worlds.map(([name, count]): Row => {
    const counts = promises.map((promise) => broken[name]?.[promise] ?? 0);
    return [name, counts.map((each) => (each > 0 ? String(each) : count > 0 ? '.' : '')), String(count)];
  });
  if (rows.length <= most) return rows;
  const isBroken = ([name]: Row): boolean => broken[name] !== undefined;
  const kept = [...rows.filter(isBroken), ...rows.filter((row) => !isBroken(row))].slice(
    0,
    Math.max(0, most - 1),
  );
  const shown = rows.filter((row) => kept.includes(row));
  return most < 1 ? [] : [...shown, [`and ${rows.length - shown.length} more`, [], '']];
}

/** Text in lines of at most so many characters, broken between words. A longer word is cut. @param indent of all but the first */
export function wrapped(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line === '') line = word;
    else if (line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = `${indent}${word}`;
    }
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = `${indent}${line.slice(width)}`;
      if (indent.length >= width) line = line.trimStart();
    }
  }
  return [...lines, line];
}
