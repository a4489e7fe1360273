/**
 * The page of the lock libraries on the site: its tables are heat maps. A cell with a finding opens the timeline of its world, unless
 * that world is not repeatable.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { OUTCOMES } from '../../bench/libraries/page.ts';
import { type PlayedRow, textsOf } from '../../bench/libraries/texts.ts';

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
 * The page with links from each repeatable outcome, in its tables and below them, to the timeline of its world.
 * @param address where the timelines are on the site
 */
export function heatMap(markdown: string, address: string): string {
  const found = [...textsOf(markdown)].map((row, at) => ({ ...row, page: `${address}/${at + 1}.html` }));
  // Two rows may have one text: a world can break two promises, or two libraries in the same way. So the rows are taken in their order.
  const rows = found.values();
  let row = rows.next().value;
  const link = (words: string, page: string): string => `[${words}](${page}){target="_self"}`;
  let columns: readonly string[] = [];
  return markdown
    .split('\n')
    .map((line) => {
      if (row !== undefined && line === `| ${row.cause} | ${row.outcome} | \`${row.text}\` |`) {
        const { outcome, page } = row;
        row = rows.next().value;
        return line.replace(`| ${outcome} |`, `| ${link(outcome, page)} |`);
      }
      if (line.startsWith('| | ')) columns = line.split('|').map((cell) => cell.trim());
      if (!/^\| .* \|( [2TFONSWE·–?() ]+ \|)+$/.test(line)) return line;
      const cells = line.split('|');
      const name = cells[1]?.trim();
      return cells
        .map((cell, at) =>
          cell.replace(/\(?[A-Z2]\)?/g, (token) => {
            if (at < 2) return token;
            const finding = found.find((each) => each.name === name && isShownBy(token, columns[at], each));
            const letter = token.replace(/[()]/g, '');
            return finding === undefined ? token : token.replace(letter, link(letter, finding.page));
          }),
        )
        .join('|');
    })
    .join('\n');
}

/** The column of what breaks when faults are bounded, and what the page adds to outcomes of bounded faults, and to limits of leases. */
const [BOUNDED, BY_BOUNDED, LIMIT] = ['bounded', ', by bounded faults', ', a limit of leases'];

/** True when a letter of a column stands for the finding. A limit of leases is in parentheses. */
function isShownBy(token: string, column: string | undefined, { cause, outcome }: PlayedRow): boolean {
  if (outcome.endsWith(BY_BOUNDED) !== (column === BOUNDED)) return false;
  if (column !== BOUNDED && (cause !== column || outcome.endsWith(LIMIT) !== token.startsWith('(')))
    return false;
  return (OUTCOMES[promiseOf(outcome)]?.[0] ?? '?') === token.replace(/[()]/g, '');
}

/** The promise of an outcome's words. */
function promiseOf(outcome: string): string {
  const words = outcome.split(',', 1)[0];
  return Object.keys(OUTCOMES).find((promise) => OUTCOMES[promise]?.[1] === words) ?? '';
}

/** How a cell of the heat map looks: its class, by its text. Undefined for a cell of another table. */
export function heatOf(cell: string): 'broken' | 'limit' | 'held' | 'none' | undefined {
  if (cell === '·') return 'held';
  if (cell === '–') return 'none';
  if (/^\((?:\[[A-Z2]\]|[A-Z2]\))/.test(cell)) return 'limit';
  return /^(?:\[[A-Z2]\]|[A-Z2](?: |$))/.test(cell) ? 'broken' : undefined;
}

/** The styles of the heat map. It fits the page: headings run from top to bottom, columns are narrow, and no outline is beside it. */
export const HEAT_STYLES = `
.${HEAT} .VPDoc.has-sidebar .content, .${HEAT} .VPDoc .content-container { max-width: 960px !important; }
.${HEAT} .vp-doc table:has(th:nth-child(6)) { font-size: 12px; }
.${HEAT} .vp-doc table:has(th:nth-child(6)) th, .${HEAT} .vp-doc table:has(th:nth-child(6)) td { padding: 3px; text-align: center; min-width: 20px; line-height: 18px; }
.${HEAT} .vp-doc table:has(th:nth-child(6)) th { writing-mode: vertical-rl; text-align: left; white-space: nowrap; }
.${HEAT} .vp-doc table:has(th:nth-child(6)) td:first-child { text-align: left; max-width: 190px; }
.${HEAT} .vp-doc td.broken { background: #b3261e; color: #fff; }
.${HEAT} .vp-doc td.broken a { color: #fff; font-weight: 700; text-decoration: none; display: inline-block; min-width: 16px; }
.${HEAT} .vp-doc td.limit { background: var(--vp-c-yellow-soft); }
.${HEAT} .vp-doc td.held { background: var(--vp-c-green-soft); }
`;
