/** Writes the table and the plot of the benchmark. */

/** The result of one step in one scenario. */
export interface Run {
  readonly step: string;
  readonly scenario: string;
  /** Units that were sold but never deducted. */
  readonly oversold: number;
  readonly sold: number;
  readonly perSecond: number;
  readonly p99: number;
  /** Requests that were asked to retry, or failed. */
  readonly refused: number;
}

const COLORS = ['#888888', '#4477aa', '#ccbb44', '#ee6677', '#aa3377', '#228833'];

/** Escapes text for an SVG. */
export const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Replaces a chapter between its two comments. A new chapter goes to the end. */
export function replaceChapter(page: string, name: string, text: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const chapter = `${open}\n\n${text.trim()}\n\n${close}`;
  const from = page.indexOf(open);
  if (from < 0) return `${page.trimEnd()}\n\n${chapter}\n`;
  return page.slice(0, from) + chapter + page.slice(page.indexOf(close) + close.length);
}

/** A table with a row per step and a column per scenario: oversold units, sales per second, p99. */
export function table(runs: readonly Run[]): string {
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const steps = [...new Set(runs.map(({ step }) => step))];
  const cell = (step: string, scenario: string): string => {
    const run = runs.find((each) => each.step === step && each.scenario === scenario);
    if (!run) return '-';
    const sales = `${Math.round(run.perSecond)}/s, p99 ${run.p99} ms`;
    return run.oversold > 0
      ? `**${run.oversold} oversold** of ${run.sold}; ${sales}`
      : `0 of ${run.sold}; ${sales}`;
  };
  const rows = steps.map(
    (step) => `| ${step} | ${scenarios.map((scenario) => cell(step, scenario)).join(' | ')} |`,
  );
  return [
    `| step | ${scenarios.join(' | ')} |`,
    `|---|${scenarios.map(() => '---').join('|')}|`,
    ...rows,
  ].join('\n');
}

/** Bars with the share of sales that were oversold, in groups of steps. */
export function plot(runs: readonly Run[]): string {
  const scenarios = [...new Set(runs.map(({ scenario }) => scenario))];
  const steps = [...new Set(runs.map(({ step }) => step))];
  const [left, rowHeight, width, top] = [190, 14 * scenarios.length + 10, 560, 46];
  const height = top + steps.length * rowHeight + 20;
  const parts: string[] = [];
  for (const [index, scenario] of scenarios.entries()) {
    const x = left + index * 130;
    parts.push(`<rect x="${x}" y="14" width="12" height="12" fill="${COLORS[index]}"/>`);
    parts.push(`<text x="${x + 17}" y="24">${scenario}</text>`);
  }
  for (const [row, step] of steps.entries()) {
    const y = top + row * rowHeight;
    parts.push(`<text x="${left - 8}" y="${y + rowHeight / 2}" text-anchor="end">${step}</text>`);
    for (const [index, scenario] of scenarios.entries()) {
      const run = runs.find((each) => each.step === step && each.scenario === scenario);
      if (!run) continue;
      const share = run.sold > 0 ? run.oversold / run.sold : 0;
      const bar = share > 0 ? Math.max(2, share * width) : 0;
      const barY = y + index * 14;
      parts.push(
        `<rect x="${left}" y="${barY}" width="${bar.toFixed(1)}" height="11" fill="${COLORS[index]}"/>`,
      );
      const label = run.oversold > 0 ? `${run.oversold} (${(share * 100).toFixed(1)} %)` : '0';
      parts.push(`<text x="${left + bar + 4}" y="${barY + 10}" class="small">${label}</text>`);
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${left + width + 110}" height="${height}" font-family="sans-serif" font-size="12">`,
    '<title>Share of sales that were oversold, by step and scenario</title>',
    '<style>text{fill:#333}.small{font-size:10px}</style>',
    `<rect width="100%" height="100%" fill="white"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
