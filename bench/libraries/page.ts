/** Writes docs/libraries.md from the reports of an exploration of all libraries and queues. */
import { type ExploreReport, FAULTS, type Finding } from '../../explore/index.ts';
import type { Quote } from './quotes.ts';

/** A library with what was found about it. */
export interface Explored {
  readonly name: string;
  /** True for a job queue. */
  readonly isQueue: boolean;
  readonly version: string;
  readonly quotes: readonly Quote[];
  /** Where the quotes come from, before the file's name. */
  readonly source: string;
  /** The reports with all faults and with bounded ones, or why the library could not be explored. */
  readonly reports: readonly ExploreReport[] | Error;
}

/** What a broken promise is called on the page, and its letter in the table. */
export const OUTCOMES: Readonly<Record<string, readonly [letter: string, words: string]>> = {
  'mutual-exclusion': ['2', 'two holders'],
  fencing: ['F', 'a fence that is not larger'],
  'no-orphan': ['O', 'orphan'],
  progress: ['N', 'never again'],
  'everyone-served': ['S', 'a client waits in vain'],
  'released-by-holder': ['W', 'wrong release'],
  once: ['T', 'done twice'],
  'no-error': ['E', 'an error'],
};

type FaultOfPage = (typeof FAULTS)[number];

function all({ reports }: Explored): readonly ExploreReport[] {
  return reports instanceof Error ? [] : reports;
}

/** What was found with all faults; @param kind whether it counts, or is what no lease can keep */
function findingsOf(explored: Explored, kind: 'findings' | 'accepted'): readonly Finding[] {
  return all(explored)[0]?.[kind] ?? [];
}

/** How often a fault struck. */
function struck(explored: Explored, fault: FaultOfPage): number {
  return all(explored)[0]?.coverage.faults[fault] ?? 0;
}

function cell(explored: Explored, fault: FaultOfPage): string {
  const lettersOf = (kind: 'findings' | 'accepted'): string[] => {
    const alone = findingsOf(explored, kind).filter(({ cause }) => cause === fault);
    return [...new Set(alone.map(({ promise }) => OUTCOMES[promise]?.[0] ?? '?'))];
  };
  const [found, limits] = [lettersOf('findings'), lettersOf('accepted')];
  const letters = [...found, ...limits.map((letter) => `(${letter})`)];
  if (letters.length > 0) return letters.join(' ');
  return struck(explored, fault) > 0 ? '·' : '–';
}

function table(list: readonly Explored[], faults: readonly FaultOfPage[]): string {
  const rows = list.map((each) => {
    const bounded = all(each)[1]?.findings ?? [];
    const letters = [...new Set(bounded.map(({ promise }) => OUTCOMES[promise]?.[0] ?? '?'))];
    const kept = each.reports instanceof Error ? '–' : letters.length === 0 ? '·' : letters.join(' ');
    return `| ${each.name} | ${kept} |${faults.map((fault) => ` ${cell(each, fault)} |`).join('')}`;
  });
  return [
    `| | bounded |${faults.map((fault) => ` ${fault} |`).join('')}`,
    `|---|---|${faults.map(() => '---|').join('')}`,
    ...rows,
  ].join('\n');
}

function rowsOf(found: readonly Finding[], what: string): string[] {
  return found.map(
    ({ cause, promise, replay, notRepeatable }) =>
      `| ${cause} | ${OUTCOMES[promise]?.[1] ?? promise}${what} | \`${replay}\`${notRepeatable === undefined ? '' : ' (not repeatable)'} |`,
  );
}

function section(explored: Explored): string {
  const { name, version, quotes, source, reports } = explored;
  const lines = quotes.map(({ text, file }) => `> "${text}" (${source}${file})`);
  const head = [`### ${name}`, '', `Version ${version}.`, '', lines.join('\n>\n'), ''];
  if (reports instanceof Error)
    return [...head, `It could not be explored: ${reports.message.split('\n')[0]}`, ''].join('\n');
  const worlds = reports.reduce((sum, report) => sum + report.worlds, 0);
  const rows = [
    ...rowsOf(findingsOf(explored, 'findings'), ''),
    ...rowsOf(findingsOf(explored, 'accepted'), ', a limit of leases'),
    ...rowsOf(reports[1]?.findings ?? [], ', by bounded faults'),
  ];
  if (rows.length === 0) return [...head, `It holds in all ${worlds} worlds.`, ''].join('\n');
  return [...head, `| Fault | Outcome | Replay, of ${worlds} worlds |`, '|---|---|---|', ...rows, ''].join(
    '\n',
  );
}

/** Which jobs run twice, and by what: one line for each queue. */
function twiceOf(explored: Explored): string {
  const { name, reports } = explored;
  if (reports instanceof Error) return `- ${name} could not be explored.`;
  const found = [...findingsOf(explored, 'findings'), ...findingsOf(explored, 'accepted')];
  const causes = [...new Set(found.filter(({ promise }) => promise === 'once').map(({ cause }) => cause))];
  const sentences = found.filter(({ promise }) => promise === 'once').map(({ sentence }) => sentence);
  if (causes.length === 0) return `- ${name}: no job ran twice in ${reports[0]?.worlds} worlds.`;
  return `- ${name}: a job runs twice by ${causes.join(', ')}. ${[...new Set(sentences)].join(' ')}`;
}

/** The page. */
export function pageOf(
  explored: readonly Explored[],
  worlds: number,
  bounded: number,
  minutes: number,
): string {
  const faults = FAULTS.filter((fault) => explored.some((each) => struck(each, fault) > 0));
  const [locks, queues] = [false, true].map((isQueue) => explored.filter((each) => each.isQueue === isQueue));
  return `# The lock libraries and job queues of npm, explored

\`npm run explore:libraries -- --worlds ${worlds}\` made this page, in ${minutes} minutes. It installs the libraries unmodified, at pinned
versions, and explores each with two clients, in ${worlds} worlds with all faults that strike by default, and in ${bounded} with
bounded ones. There is one primary with one replica, unless the name says otherwise. [explore.md](explore.md) says what each fault is
and what each promise means.

A library is not wrong because it is in this table. A letter in parentheses is what no lease can keep
(\`accept: ['lease-limits']\`): the lease ended, the data were lost or a server's clock was set while a client was inside, and nothing
else was wrong. A resource that checks a fence survives it. A letter without parentheses is something that the code could have
prevented. The column \`bounded\` has what breaks when no fault lasts longer than half a lease, loses data, or sets a server's clock: a
lock with a lease should survive these.

- \`2\` two holders: a client entered while another was inside, and both acted
- \`T\` done twice: a job that had been done was done again
- \`O\` orphan: nobody was inside, and a new client did not get the lock within twice the lease
- \`N\` never again: nobody got the lock when the faults were over
- \`S\` a client that lives and waits was not served when the faults were over
- \`W\` wrong release: a client released a lock that another one held
- \`E\` an error: something failed that no client caught, or the world did not end
- \`F\` the fence of a later holder was not larger than one that had been in use
- \`·\` it held in every world of this budget in which this fault struck; a larger budget strikes at more moments, and finds more
- \`–\` the fault had nothing to strike, or no world of this budget had it

The outcomes of several faults together are in the sections below. The sentences are quoted from the documentation that each package ships.

## Locks

Two clients acquire, work for 250 ms under a lease of 1000 ms, and release. Where a library stops working when it learns that its lock
is lost, the client here does so too.

${table(locks ?? [], faults)}

## Job queues

Two workers take three jobs of 250 ms each. A worker's lock on its job lasts for 1000 ms and is renewed, and stalled jobs are looked for
every 500 ms. Each job must be done once. The queues promise less than that: at least once.

${table(queues ?? [], faults)}

${(queues ?? []).map(twiceOf).join('\n')}

## What each promises, and what was found

${explored.map(section).join('\n')}`;
}
