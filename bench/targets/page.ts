/** Compares several runs of the bench with the targets, as a page. */
import { median } from '../contestants.ts';
import { type Row, ratio } from '../report.ts';
import { TARGETS, type Target } from './list.ts';

/** What the runs say about a target. */
export type Verdict = 'met' | 'missed by plain code too' | 'missed' | 'not measured';

/** A target, and the figures of each run. */
export interface Judged extends Target {
  readonly ours: readonly number[];
  /** The figures of plain code. */
  readonly others: readonly number[];
  readonly verdict: Verdict;
}

/** The figure of a row that is compared with the target. */
function figureOf(row: Row, of: Target['of']): number | undefined {
  if (of === 'figure') return row.ours;
  if (of === 'ratio') return ratio(row);
  const [ours, other] = row.cpu ?? [];
  return ours === undefined || other === undefined || Number.isNaN(ours) ? undefined : other / ours;
}

/** Judges a target by the medians of the runs. */
export function judge(target: Target, runs: readonly (readonly Row[])[]): Judged {
  const { of } = target;
  const figures = (name: string | undefined): number[] =>
    runs.flatMap((rows) => {
      const row = rows.find((each) => each.name === name);
      return (row && figureOf(row, of)) ?? [];
    });
  const [ours, others] = [figures(target.row), figures(target.plain)];
  const row = runs.flat().find(({ name }) => name === target.row);
  const isLess = of === 'figure' && row?.lessIsBetter === true;
  const meets = (list: readonly number[]): boolean =>
    isLess ? median(list) <= target.target : median(list) >= target.target;
  let verdict: Verdict = 'missed';
  if (ours.length < runs.length) verdict = 'not measured';
  else if (meets(ours)) verdict = 'met';
  else if (others.length > 0 && !meets(others)) verdict = 'missed by plain code too';
  return { ...target, ours, others, verdict };
}

function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toPrecision(3);
}

/** The page about all targets. @param machine what the runs ran on */
export function targetsPage(runs: readonly (readonly Row[])[], machine: string): string {
  const judged = TARGETS.map((target) => judge(target, runs));
  const cell = (figures: readonly number[]): string => figures.map(shown).join(', ');
  const table = [
    ['row of the bench', 'compared', 'target', 'each run', 'plain code', ''],
    ['---', '---', '---', '---', '---', '---'],
    ...judged.map(({ row, of, target, ours, others, verdict }) => [
      ...[row.replace(': lostlock', ''), of, shown(target), cell(ours), cell(others)],
      verdict === 'met' ? verdict : `**${verdict}**`,
    ]),
  ].map((cells) => `| ${cells.join(' | ')} |`);
  const counts = (['met', 'missed by plain code too', 'missed', 'not measured'] as const).map(
    (verdict) => `${judged.filter((each) => each.verdict === verdict).length} ${verdict}`,
  );
  return `# Targets of the bench

Printed by \`npm run bench:targets\` ${machine}: ${runs.length === 1 ? 'one run' : `${runs.length} runs`}.
${counts.join(', ')}.

Ratios compare with redis-server in the same run: above 1, lostlock is ahead. The median of the runs decides; fewer than three decide
nothing that is close to a target. Plain code does no more than lostlock, and mostly less:
[decision 33](../docs/decisions/0033-what-node-itself-takes.md) says what it is. Figures that are not ratios are milliseconds, times real
time or worlds a second, and depend on the machine.

${table.join('\n')}
`;
}
