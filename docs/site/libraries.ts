/** The page of the lock libraries on the site: its table is a heat map, and each cell with a finding opens the timeline of its world. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { OUTCOMES } from '../../bench/libraries/page.ts';
import { textsOf } from '../../bench/libraries/texts.ts';

/** The class of the page, by which the site's styles know it. */
export const HEAT = 'heat';

/** Plays the worlds of the page again, and writes their timelines. Throws when one of them does not break its promise any more. */
export function libraryTimelines(root: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync(process.execPath, ['--import', 'tsx', 'bench/libraries/timelines-main.ts', folder], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/**
 * The page with links from each outcome, in its table and below it, to the timeline of its world.
 * @param address where the timelines are on the site
 */
export function heatMap(markdown: string, address: string): string {
  const found = [...textsOf(markdown)].map((row, at) => ({ ...row, page: `${address}/${at + 1}.html` }));
  const link = (words: string, page: string): string => `[${words}](${page}){target="_self"}`;
  let columns: readonly string[] = [];
  return markdown
    .split('\n')
    .map((line) => {
      const own = found.find(({ text }) => line.endsWith(`| \`${text}\` |`));
      if (own !== undefined) return line.replace(`| ${own.outcome} |`, `| ${link(own.outcome, own.page)} |`);
      if (line.startsWith('| | ')) columns = line.split('|').map((cell) => cell.trim());
      if (!/^\| .* \|( [2FONWE·–? ]+ \|)+$/.test(line)) return line;
      const cells = line.split('|');
      const name = cells[1]?.trim();
      return cells
        .map((cell, at) =>
          cell.replace(/[A-Z2]/g, (letter) => {
            if (at < 2) return letter;
            const finding = found.find(
              (each) =>
                each.name === name &&
                each.cause === columns[at] &&
                (OUTCOMES[promiseOf(each.outcome)]?.[0] ?? '?') === letter,
            );
            return finding === undefined ? letter : link(letter, finding.page);
          }),
        )
        .join('|');
    })
    .join('\n');
}

/** The promise of an outcome's words. */
function promiseOf(outcome: string): string {
  return Object.keys(OUTCOMES).find((promise) => OUTCOMES[promise]?.[1] === outcome) ?? '';
}

/** How a cell of the heat map looks: its class, by its text. Undefined for a cell of another table. */
export function heatOf(cell: string): 'broken' | 'held' | 'none' | undefined {
  if (cell === '·') return 'held';
  if (cell === '–') return 'none';
  return /^(?:\[[A-Z2]\]|[A-Z2]$)/.test(cell) ? 'broken' : undefined;
}

/** The styles of the heat map. It fits the page: its headings are upright, and its columns narrow. */
export const HEAT_STYLES = `
.${HEAT} .vp-doc table:first-of-type { font-size: 12px; }
.${HEAT} .vp-doc table:first-of-type th, .${HEAT} .vp-doc table:first-of-type td { padding: 3px; text-align: center; min-width: 20px; line-height: 18px; }
.${HEAT} .vp-doc table:first-of-type th { writing-mode: sideways-lr; writing-mode: vertical-rl; text-align: left; white-space: nowrap; }
.${HEAT} .vp-doc table:first-of-type td:first-child { text-align: left; max-width: 190px; }
.${HEAT} .vp-doc td.broken { background: #b3261e; color: #fff; }
.${HEAT} .vp-doc td.broken a { color: #fff; font-weight: 700; text-decoration: none; display: inline-block; min-width: 16px; }
.${HEAT} .vp-doc td.held { background: var(--vp-c-green-soft); }
`;
