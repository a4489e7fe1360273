/** Formats rows of the bench as a table with ratios, for the terminal and for bench/results.md. */

/** One comparison. */
export interface Row {
  readonly name: string;
  readonly ours: number;
  /** The figure to compare with; undefined if there is none. */
  readonly other: number | undefined;
  readonly unit: string;
  /** True for times and sizes, where less is better. */
  readonly lessIsBetter?: boolean;
  /** The difference of our largest and smallest figure, as a share of the median. */
  readonly spread?: number;
  /** CPU time per request in microseconds, of our server and of the other. */
  readonly cpu?: readonly [ours: number, other: number];
}

/** A chapter of the report. */
export interface Chapter {
  readonly title: string;
  /** What `other` is. */
  readonly beside: string;
  readonly rows: readonly Row[];
}

/** How many times better our figure is: above 1 is better, for any unit. */
export function ratio(row: Row): number | undefined {
  if (row.other === undefined) return undefined;
  return row.lessIsBetter ? row.other / row.ours : row.ours / row.other;
}

/** The same for CPU time per request, or of the figures where that is not known. */
export function cpuRatio(row: Row): number | undefined {
  const [ours, other] = row.cpu ?? [];
  return ours === undefined || other === undefined || !Number.isFinite(ours) ? ratio(row) : other / ours;
}

function figure(value: number | undefined): string {
  if (value === undefined) return '';
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toPrecision(3);
}

function share(value: number | undefined): string {
  return value === undefined ? '' : `${Math.round(value * 100)} %`;
}

function cpuCell(cpu: Row['cpu']): string {
  if (cpu === undefined || !Number.isFinite(cpu[0])) return '';
  return `${figure(cpu[0])} / ${figure(cpu[1])} µs: ${(cpu[1] / cpu[0]).toFixed(2)}`;
}

/** The chapter as a Markdown table. */
export function table(chapter: Chapter): string {
  const head = ['', 'lostlock', chapter.beside, 'unit', 'ratio (above 1: lostlock is ahead)'];
  const isSpread = chapter.rows.some(({ spread }) => spread !== undefined);
  if (isSpread) head.push('spread', 'CPU per request');
  const rows = chapter.rows.map((row) => {
    const times = ratio(row);
    const cells = [
      row.name,
      figure(row.ours),
      figure(row.other),
      row.unit,
      times === undefined ? '' : times.toFixed(2),
    ];
    return isSpread ? [...cells, share(row.spread), cpuCell(row.cpu)] : cells;
  });
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `## ${chapter.title}\n\n${lines.join('\n')}\n`;
}
