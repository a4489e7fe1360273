/** Writes docs/libraries.md from the reports of an exploration of all libraries. */
import { type ExploreReport, FAULTS, type Finding } from '../../explore/index.ts';
import type { Quote } from './quotes.ts';

/** A library with what was found about it. */
export interface Explored {
  readonly name: string;
  readonly version: string;
  readonly quotes: readonly Quote[];
  /** Where the quotes come from, before the file's name. */
  readonly source: string;
  /** The reports, or why the library could not be explored. */
  readonly reports: readonly ExploreReport[] | Error;
}

/** What a broken promise is called on the page, and its letter in the table. */
export const OUTCOMES: Readonly<Record<string, readonly [letter: string, words: string]>> = {
  'mutual-exclusion': ['2', 'two holders'],
  fencing: ['F', 'a fence that is not larger'],
  'no-orphan': ['O', 'orphan'],
  progress: ['N', 'never again'],
  'wrong-release': ['W', 'wrong release'],
  'no-error': ['E', 'an error'],
};

function findingsOf({ reports }: Explored): Finding[] {
  return reports instanceof Error
    ? []
    : reports.flatMap(({ findings }) => findings).filter(({ promise }) => promise !== 'contended');
}

/** How often a fault struck, in all reports. */
function struck({ reports }: Explored, fault: (typeof FAULTS)[number]): number {
  return reports instanceof Error
    ? 0
    : reports.reduce((sum, { coverage }) => sum + (coverage.faults[fault] ?? 0), 0);
}

function cell(explored: Explored, fault: (typeof FAULTS)[number]): string {
  const alone = findingsOf(explored).filter(({ cause }) => cause === fault);
  if (alone.length > 0)
    return [...new Set(alone.map(({ promise }) => OUTCOMES[promise]?.[0] ?? '?'))].join(' ');
  return struck(explored, fault) > 0 ? '·' : '–';
}

function section(explored: Explored): string {
  const { name, version, quotes, source, reports } = explored;
  const lines = quotes.map(({ text, file }) => `> "${text}" (${source}${file})`);
  const head = [`### ${name}`, '', `Version ${version}.`, '', lines.join('\n>\n'), ''];
  if (reports instanceof Error)
    return [...head, `It could not be explored: ${reports.message.split('\n')[0]}`, ''].join('\n');
  const worlds = reports.reduce((sum, report) => sum + report.worlds, 0);
  const found = findingsOf(explored);
  if (found.length === 0) return [...head, `It holds in all ${worlds} worlds.`, ''].join('\n');
  return [
    ...head,
    `| Fault | Outcome | Replay, of ${worlds} worlds |`,
    '|---|---|---|',
    ...found.map(
      ({ cause, promise, replay, notRepeatable }) =>
        `| ${cause} | ${OUTCOMES[promise]?.[1] ?? promise} | \`${replay}\`${notRepeatable === undefined ? '' : ' (not repeatable)'} |`,
    ),
    '',
  ].join('\n');
}

/** The page. */
export function pageOf(all: readonly Explored[], worlds: number, releases: number, minutes: number): string {
  const columns = FAULTS.map((fault) => ` ${fault} |`).join('');
  const rows = all.map(
    (each) => `| ${each.name} |${FAULTS.map((fault) => ` ${cell(each, fault)} |`).join('')}`,
  );
  return `# The lock libraries of npm, explored

\`npm run explore:libraries -- --worlds ${worlds}\` made this page, in ${minutes} minutes. It installs the libraries unmodified, at pinned
versions, and explores each: two clients acquire, work for 250 ms under a lease of 1000 ms, and release, in ${worlds} worlds with
all promises, and in ${releases} more that look for wrong releases only. There is one primary with one replica, unless the name
says otherwise. [explore.md](explore.md) says what each fault is and what each promise means.

A library is not wrong because it is in this table. Every lock with a lease lets two clients in when a holder stalls for longer
than its lease and the resource does not check a fence. Nearly every lock on one primary does so when a failover loses its key.
The table shows which, and the replay text plays that world again.

- \`2\` two holders: a client entered while another was inside, and both acted
- \`O\` orphan: nobody was inside, and a new client did not get the lock within twice the lease
- \`N\` never again: nobody got the lock when the faults were over
- \`W\` wrong release: a client deleted the key that another one held
- \`E\` an error: something failed that no client caught, or the world did not end
- \`F\` the fence of a later holder was not larger than one that had been in use
- \`·\` it held in every world of this budget in which this fault struck; a larger budget strikes at more moments, and finds more
- \`–\` the fault had nothing to strike, or no world of this budget had it

| |${columns}
|---|${FAULTS.map(() => '---|').join('')}
${rows.join('\n')}

Where a library stops working when it learns that its lock is lost, the client here does so too. The outcomes of several faults
together are in the sections below. The sentences are quoted from the documentation that each package ships. The text of a wrong
release plays again with that promise alone (\`bench/libraries/wrong-release.ts\`).

## What each promises, and what was found

${all.map(section).join('\n')}`;
}
