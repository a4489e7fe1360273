/** Earlier reports: those of other runs that the user names, and the last one of a file, which is kept in a cache. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { playedAgain } from '../../explore/again.ts';
import type { ExploreOptions } from '../../explore/options.ts';
import { REPORT_VERSION, type ReportData } from '../../explore/report-data.ts';
import { sentenceOf } from '../../explore/report-text.ts';
import { UsageError } from '../usage.ts';

/** The reports of a file that --json wrote. Throws UsageError for another file. @param option names the option that needs it */
export function readReports(option: string, file: string): readonly ReportData[] {
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${option} ${file}: ${(error as Error).message}`);
  }
  const isReport =
    Array.isArray(found) && found.every((each) => Array.isArray(each?.findings) && each.coverage);
  if (!isReport) throw new UsageError(`${option} ${file}: not a report that --json wrote`);
  const other = (found as ReportData[]).find(({ version }) => version !== REPORT_VERSION);
  if (other !== undefined)
    throw new UsageError(
      `${option} ${file}: a report of version ${other.version ?? 1}; this lostlock reads version ${REPORT_VERSION}`,
    );
  return found as ReportData[];
}

/** What is new, known and gone, compared with earlier reports, as lines. */
export function comparedLines(reports: readonly ReportData[], earlier: readonly ReportData[]): string[] {
  return reports.flatMap((report) => {
    const before = earlier.filter(({ name }) => name === report.name);
    if (before.length === 0) return [`${report.name}: the earlier report does not have it`];
    const known = new Set(
      before.flatMap(({ findings, accepted }) =>
        [...findings, ...accepted].map(({ fingerprint }) => fingerprint),
      ),
    );
    const now = new Set([...report.findings, ...report.accepted].map(({ fingerprint }) => fingerprint));
    const fresh = report.findings.filter(({ fingerprint }) => !known.has(fingerprint));
    const gone = before
      .flatMap(({ findings }) => findings)
      .filter(({ fingerprint }) => !now.has(fingerprint));
    const same = report.findings.length - fresh.length;
    return [
      `${report.name}: ${fresh.length} new, ${same} known, ${gone.length} not found any more`,
      ...fresh.map((finding) => `  new: ${sentenceOf(finding)}`),
      ...gone.map((finding) => `  not found any more: ${sentenceOf(finding)}`),
    ];
  });
}

/** Where the last report of a file is kept: in the cache of the project that has the file. */
function placeOf(file: string): string | undefined {
  const path = resolve(file);
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules');
    if (existsSync(modules)) {
      const id = createHash('sha256').update(path).digest('hex').slice(0, 12);
      return join(modules, '.cache', 'lostlock', `explored-${basename(path)}-${id}.json`);
    }
    if (folder === dirname(folder)) return undefined;
  }
}

/** Keeps the reports as the last ones of the file. A cache that cannot be written is no failure. */
export function keepLast(file: string, reports: readonly ReportData[]): void {
  const place = placeOf(file);
  if (place === undefined) return;
  try {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, JSON.stringify(reports));
  } catch {
    // The folder is read-only, as in many images of containers.
  }
}

/** The last reports of the file. Throws UsageError when there are none. */
export function lastReports(file: string): readonly ReportData[] {
  const place = placeOf(file);
  if (place === undefined || !existsSync(place))
    throw new UsageError(
      `--last: no report of ${file} is kept yet, or it is in no project with node_modules`,
    );
  return readReports('--last', place);
}

/** Plays the findings of the last report again, and says of each what has become of it, as lines. */
export async function lastLines(options: ExploreOptions, last: readonly ReportData[]): Promise<string[]> {
  const findings = last.filter(({ name }) => name === options.name).flatMap((report) => report.findings);
  const outcomes = await playedAgain(options, findings);
  return outcomes.map(([finding, outcome]) => `last time: ${outcome}: ${sentenceOf(finding)}`);
}
