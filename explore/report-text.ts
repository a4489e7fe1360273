/** A report as text: the stories, the table of faults and promises, and a sentence for each finding. */
import { NO_ERROR } from './promises/broken.ts';
import { promises } from './promises/index.ts';
import type { Finding, ProgramCoverage, ReportData } from './report-data.ts';
import { type LeaseScale, scalesText } from './search/leases.ts';
import { sharedCures } from './story/cures.ts';
import { seeText } from './story/text.ts';
import { tableLines, wrapped } from './table.ts';
import { reasonsOf } from './verdict.ts';

/** A number of things: `1 world`, `2 worlds`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** What has broken, in a sentence, with its fingerprint. */
export function sentenceOf({ promise, cause, sentence, fingerprint }: Finding): string {
  return `${promise} (${cause}): ${sentence} [${fingerprint}]`;
}

/** The columns of the table: the promises that single worlds can break. */
export function columnsOf(asked: readonly string[]): string[] {
  const ofAll = promises.filter(({ isOfReport }) => isOfReport === true).map(({ name }) => name as string);
  return [...asked.filter((name) => !ofAll.includes(name)), NO_ERROR];
}

/** How many findings there are, in how many worlds. */
export function headOf({ name, findings, worlds, ms, interrupted, ...rest }: ReportData): string {
  const reasons = reasonsOf({ worlds, interrupted, ...rest });
  const isOpen = findings.length === 0 && reasons.length > 0;
  const found = `${counted(findings.length, 'finding')} in ${counted(worlds, 'world')}`;
  return `${name}: ${found} (${(ms / 1000).toFixed(1)} s)${interrupted ? ', stopped early' : ''}${isOpen ? ', inconclusive' : ''}`;
}

/** What was covered, as lines. @param width the longest line of the table */
export function coverageLines(report: ReportData, width: number): string[] {
  const { coverage, asked, notRepeatable } = report;
  const { singles, pairs, pairsCut = 0, states, contended, strategies } = coverage;
  const played = `${strategies['two faults'] ?? 0} of ${pairs} worlds, ${pairsCut} more cut off as seen before`;
  const two = pairs === undefined ? '' : ` two faults: ${played};`;
  const cut = coverage.exhaustive === undefined ? `, ${singles.cut} more cut off as seen before` : '';
  return [
    ...tableLines(coverage, columnsOf(asked.promises), width),
    '',
    ...wrapped(
      `one fault: ${singles.played} of ${singles.all} worlds${cut};${two} states: ${states}; contended: ${contended} worlds`,
      width,
    ),
    ...exhaustiveLines(coverage, width),
    ...corpusLines(coverage, width),
    ...happenedLines(report, width),
    ...wrapped(scalesText(coverage.leases, coverage.scale), width),
    ...(coverage.modules === undefined ? [] : wrapped(coverage.modules, width)),
    ...(notRepeatable === undefined ? [] : [`not repeatable: ${notRepeatable}`]),
    ...(coverage.programs === undefined
      ? []
      : [...programLines(coverage.programs), ...longLeaseLines(coverage.leases)].flatMap((line) =>
          wrapped(line, width),
        )),
  ];
}

/** The promises of the defaults that are not checked, because the user named others. */
export function unchecked(asked: ReportData['asked']): string[] {
  return promises
    .filter(({ name, onRequest }) => onRequest !== true && !asked.promises.includes(name))
    .map(({ name }) => name);
}

/** What was different because the clients are programs in real time, as lines. */
function programLines(programs: ProgramCoverage): string[] {
  const { struck, missed, discarded, perSecond, sideBySide, cpuMs, unable, outlived } = programs;
  const cpu = cpuMs === undefined ? '' : `, with ${cpuMs} ms of CPU for each world`;
  return [
    `in real time: the planned fault struck in ${counted(struck, 'world')} (${perSecond.toFixed(1)} a second${cpu}), ${sideBySide} side by side; it did not strike in ${missed}; ${discarded} more were discarded, because the machine stood still`,
    ...(unable.length === 0 ? [] : [`could not strike: ${unable.join('; ')}`]),
    ...(outlived === undefined ? [] : [`state has outlived a world: ${outlived}`]),
  ];
}

/** The lease of a lock that no world of programs waits for, as a line. */
function longLeaseLines(leases: readonly LeaseScale[]): string[] {
  const long = leases.find(({ holds, used }) => holds && !used);
  if (long === undefined) return [];
  return [
    `the lease of ${long.key} (${long.ms} ms) is too long to wait for in real time: no world shows what happens when it ends. Let the program use the lease that it is told, or give a longer --lease`,
  ];
}

/** What an exhaustive exploration covers, as lines. */
function exhaustiveLines({ exhaustive }: ReportData['coverage'], width: number): string[] {
  if (exhaustive === undefined) return [];
  const { moments, events, deadlines, forms, late, orders } = exhaustive;
  const beside = late.besideFault === 0 ? 'none' : `up to ${late.besideFault}`;
  return wrapped(
    `exhaustive: ${forms} forms of faults at ${moments} moments, before and after ${counted(events, 'event')} and ` +
      `1 ms around ${counted(deadlines, 'deadline')}; other orders of messages: ${orders.played} of ${orders.all} worlds, ` +
      `with up to ${counted(late.alone, 'late message')} without a fault, and ${beside} beside a fault`,
    width,
  );
}

/** What became of the plans of earlier runs, as lines. */
function corpusLines({ corpus }: ReportData['coverage'], width: number): string[] {
  if (corpus === undefined) return [];
  const { read, unfit, played, kept } = corpus;
  const left = unfit === 0 ? '' : `, ${unfit} do not fit`;
  return wrapped(
    `corpus: ${played} of ${counted(read, 'kept plan')} played${left}; ${kept} new ones kept`,
    width,
  );
}

/** What did not happen, what went wrong with clients, and why the report proves nothing, as lines. */
function happenedLines(report: ReportData, width: number): string[] {
  const { coverage, asked, worlds } = report;
  const { faults, errors, gaveUp, waiting, fenced, triedAgain, leaseEnded, singles, leases } = coverage;
  const idle = Object.keys(faults).filter((kind) => faults[kind as keyof typeof faults] === 0);
  const left = unchecked(asked);
  const unjudged = asked.promises.filter(
    (name) => coverage.judged[name] === 0 && !asked.namedPromises.includes(name),
  );
  const lines = [
    idle.length > 0 && `never struck: ${idle.join(', ')}`,
    singles.played < singles.share && `not played: ${singles.share - singles.played} worlds with one fault`,
    triedAgain === 0 && asked.clients.length > 1 && 'no client asked again before it went in',
    leaseEnded === 0 &&
      leases.length > 0 &&
      'each holder left before its lease ended: that case was not seen',
    waiting > 0 && `in ${counted(waiting, 'world')} a client still waited at the end`,
    fenced === 0 && 'fences: none seen',
    unjudged.length > 0 && `nothing to judge: ${unjudged.join(', ')}`,
    isUnjudged(report) &&
      'no promise judges the operations that clients record: linearizable(object) does, and no-lost-update judges updates',
    gaveUp > 0 && `in ${counted(gaveUp, 'world')} of ${worlds} an error ended a client:`,
    ...Object.entries(errors).map(([text, count]) => `  ${count} x ${text}`),
    coverage.calmRefusals.length > 0 && 'without any fault, servers answered with errors:',
    ...coverage.calmRefusals.map((text) => `  ${text}`),
    left.length > 0 &&
      `not checked, because \`promises\` names others ('defaults' in it adds these): ${left.join(', ')}`,
    report.hint !== undefined && report.hint,
    ...reasonsOf(report).map(({ kind, what }) => `inconclusive (${kind}): ${what}`),
  ];
  return lines.filter((line) => line !== false).flatMap((line) => wrapped(line, width, '  '));
}

/** True when clients record operations that none of the promises is about. */
function isUnjudged({ asked, coverage: { recorded, judged } }: ReportData): boolean {
  const own = asked.promises.filter((name) => promises.every((each) => each.name !== name));
  return recorded > 0 && own.length === 0 && (judged['no-lost-update'] ?? 0) === 0;
}

/**
 * The whole report.
 * @param width the longest line of what is not a story
 * @param file the file that exports the exploration, for the lines that play worlds again, or what makes these lines; without it, they
 * are code
 */
export function reportText(
  report: ReportData,
  width: number,
  file?: string | ((replay: string) => string),
): string {
  const see = typeof file === 'function' ? file : (replay: string): string => seeText(replay, file);
  const stories = report.findings.map(
    ({ story, replay, worlds }) =>
      `\n${story}\n${''.padStart(15)}(in ${counted(worlds, 'world')})${replay === '' ? '' : `\n${see(replay)}`}`,
  );
  const sentences = report.findings.flatMap((finding, i) =>
    wrapped(`${i + 1} ${sentenceOf(finding)}`, width, '  '),
  );
  return [
    headOf(report),
    ...stories,
    '',
    ...coverageLines(report, width),
    ...(sentences.length === 0 ? [] : ['', ...sentences]),
    ...sharedCures(report.findings.map(({ story }) => story)).flatMap((line) => wrapped(line, width, '  ')),
    ...report.accepted.flatMap((finding) =>
      wrapped(`accepted: ${sentenceOf(finding)}; in ${counted(finding.worlds, 'world')}`, width, '  '),
    ),
  ].join('\n');
}
