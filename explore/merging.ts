/** Merges the reports of shards and workers. */
import { promises } from './promises/index.ts';
import { ExploreReport } from './report.ts';
import type { Coverage, Finding, ReportData } from './report-data.ts';

/** Merges the reports of shards. Findings with the same fingerprint count as one; the shortest story stays. */
export function mergeReports(reports: readonly ReportData[]): ExploreReport {
  const [first] = reports;
  if (first === undefined) throw new RangeError('there are no reports to merge');
  const played = added(reports.map(({ coverage }) => coverage.faults));
  const strategies = added(reports.map(({ coverage }) => coverage.strategies));
  const struck = Object.values(played).filter((count) => count > 0).length;
  const surveyed = reports.find(({ coverage }) => coverage.scale > 0) ?? first;
  const sum = (of: (report: ReportData) => number): number =>
    reports.reduce((all, report) => all + of(report), 0);
  // A shard that never saw contention proves nothing by itself; all of them together do.
  const contended = sum(({ coverage }) => coverage.contended);
  const totals = { clients: Infinity, faults: Infinity, contended, struck };
  const kept = together(reports.flatMap((report) => report.findings)).filter(({ promise, cause }) => {
    const ofAllWorlds = promises.find(({ name }) => name === promise)?.ofAllWorlds;
    return ofAllWorlds === undefined || [...ofAllWorlds(totals)].some(([known]) => known === cause);
  });
  const unstable = reports.find(({ notRepeatable }) => notRepeatable !== undefined)?.notRepeatable;
  return new ExploreReport({
    name: first.name,
    asked: first.asked,
    findings: kept,
    accepted: together(reports.flatMap(({ accepted }) => accepted)),
    worlds: sum(({ worlds }) => worlds),
    coverage: {
      faults: played,
      calm: sum(({ coverage }) => coverage.calm),
      broken: brokenIn(reports.map(({ coverage }) => coverage.broken)),
      states: Math.max(...reports.map(({ coverage }) => coverage.states)),
      contended,
      strategies,
      singles: {
        all: first.coverage.singles.all,
        played: sum(({ coverage }) => coverage.singles.played),
        cut: first.coverage.singles.cut,
      },
      // A process that has ended early may not have known them.
      leases: surveyed.coverage.leases,
      scale: surveyed.coverage.scale,
      ...(surveyed.coverage.modules !== undefined && { modules: surveyed.coverage.modules }),
      ...(first.coverage.pairs !== undefined && { pairs: sum(({ coverage }) => coverage.pairs ?? 0) }),
    },
    ms: Math.max(...reports.map(({ ms }) => ms)),
    interrupted: reports.some(({ interrupted }) => interrupted),
    output: {
      lines: reports.flatMap(({ output }) => output.lines).slice(0, 200),
      count: sum(({ output }) => output.count),
    },
    ...(unstable !== undefined && { notRepeatable: unstable }),
  });
}

/** The findings, each reason once. */
function together(all: readonly Finding[]): Finding[] {
  const findings = new Map<string, Finding>();
  for (const finding of all) {
    const before = findings.get(finding.fingerprint);
    if (before === undefined) findings.set(finding.fingerprint, { ...finding });
    else {
      const shorter = finding.events.length < before.events.length ? finding : before;
      findings.set(finding.fingerprint, { ...shorter, worlds: before.worlds + finding.worlds });
    }
  }
  return [...findings.values()];
}

/** The sums of counts by their names. */
export function added(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
}

/** The sums of what was broken, by faults and promises. */
export function brokenIn(all: readonly Coverage['broken'][]): Coverage['broken'] {
  const faults = new Set(all.flatMap((broken) => Object.keys(broken)));
  return Object.fromEntries(
    [...faults].map((fault) => [fault, added(all.map((broken) => broken[fault] ?? {}))]),
  );
}
