/** Merges the reports of shards and workers. */
import { limitsLast } from './found.ts';
import { ExploreReport } from './report.ts';
import type { Coverage, Finding, ReportData } from './report-data.ts';

/**
 * Merges the reports of shards. Findings with the same fingerprint count as one; the shortest story stays. Throws RangeError for
 * reports that do not belong together: of other options, seeds or versions, or of a shard that is there twice or missing.
 */
export function mergeReports(reports: readonly ReportData[]): ExploreReport {
  const [first] = reports;
  if (first === undefined) throw new RangeError('there are no reports to merge');
  checkTogether(reports);
  const played = added(reports.map(({ coverage }) => coverage.faults));
  const strategies = added(reports.map(({ coverage }) => coverage.strategies));
  const surveyed = reports.find(({ coverage }) => coverage.scale > 0) ?? first;
  const sum = (of: (report: ReportData) => number): number =>
    reports.reduce((all, report) => all + of(report), 0);
  const unstable = reports.find(({ notRepeatable }) => notRepeatable !== undefined)?.notRepeatable;
  return new ExploreReport({
    name: first.name,
    versions: first.versions,
    asked: { ...first.asked, shard: shardOf(reports) },
    findings: together(reports.flatMap(({ findings }) => findings)),
    accepted: together(reports.flatMap(({ accepted }) => accepted)),
    worlds: sum(({ worlds }) => worlds),
    coverage: {
      faults: played,
      calm: sum(({ coverage }) => coverage.calm),
      broken: brokenIn(reports.map(({ coverage }) => coverage.broken)),
      states: Math.max(...reports.map(({ coverage }) => coverage.states)),
      contended: sum(({ coverage }) => coverage.contended),
      judged: added(reports.map(({ coverage }) => coverage.judged)),
      errors: added(reports.map(({ coverage }) => coverage.errors)),
      gaveUp: sum(({ coverage }) => coverage.gaveUp),
      waiting: sum(({ coverage }) => coverage.waiting),
      fenced: sum(({ coverage }) => coverage.fenced),
      recorded: sum(({ coverage }) => coverage.recorded),
      triedAgain: sum(({ coverage }) => coverage.triedAgain),
      leaseEnded: sum(({ coverage }) => coverage.leaseEnded),
      calmErrors: [...new Set(reports.flatMap(({ coverage }) => coverage.calmErrors))],
      calmRefusals: [...new Set(reports.flatMap(({ coverage }) => coverage.calmRefusals))],
      labErrors: reports.flatMap(({ coverage }) => coverage.labErrors),
      strategies,
      singles: {
        all: surveyed.coverage.singles.all,
        share: sum(({ coverage }) => coverage.singles.share),
        played: sum(({ coverage }) => coverage.singles.played),
        cut: surveyed.coverage.singles.cut,
      },
      // A process that has ended early may not have known them.
      leases: surveyed.coverage.leases,
      scale: surveyed.coverage.scale,
      ...(surveyed.coverage.modules !== undefined && { modules: surveyed.coverage.modules }),
      ...exhaustiveIn(reports, surveyed),
      ...corpusIn(reports),
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

/** What became of the kept plans in all shards, which have read the same ones. */
function corpusIn(reports: readonly ReportData[]): Pick<Coverage, 'corpus'> {
  const all = reports.flatMap(({ coverage }) => coverage.corpus ?? []);
  if (all.length === 0) return {};
  const most = (of: 'read' | 'unfit'): number => Math.max(...all.map((each) => each[of]));
  const sum = (of: 'played' | 'kept'): number => all.reduce((count, each) => count + each[of], 0);
  return { corpus: { read: most('read'), unfit: most('unfit'), played: sum('played'), kept: sum('kept') } };
}

/** What the shards of an exhaustive exploration cover together. @param surveyed one that knows its moments */
function exhaustiveIn(
  reports: readonly ReportData[],
  { coverage: known }: ReportData,
): Pick<Coverage, 'pairs' | 'pairsCut' | 'exhaustive'> {
  const sum = (of: (coverage: Coverage) => number | undefined): number =>
    reports.reduce((all, { coverage }) => all + (of(coverage) ?? 0), 0);
  const orders = {
    all: sum(({ exhaustive }) => exhaustive?.orders.all),
    played: sum(({ exhaustive }) => exhaustive?.orders.played),
  };
  return {
    ...(known.pairs !== undefined && { pairs: sum(({ pairs }) => pairs) }),
    ...(known.pairs !== undefined && { pairsCut: sum(({ pairsCut }) => pairsCut) }),
    ...(known.exhaustive !== undefined && { exhaustive: { ...known.exhaustive, orders } }),
  };
}

/** Throws RangeError for reports that do not belong together. */
function checkTogether(reports: readonly ReportData[]): void {
  const [first] = reports as readonly [ReportData];
  for (const { name, asked, versions } of reports) {
    const differs =
      name !== first.name
        ? `is of ${name}`
        : asked.hash !== first.asked.hash
          ? 'has other options, or other code of the client'
          : asked.shard.of !== first.asked.shard.of
            ? `is a part of ${asked.shard.of}, and the first one of ${first.asked.shard.of}`
            : versions.lostlock !== first.versions.lostlock
              ? `was made by lostlock ${versions.lostlock}, and the first one by ${first.versions.lostlock}`
              : undefined;
    if (differs !== undefined)
      throw new RangeError(`the reports of ${first.name} do not belong together: one ${differs}`);
  }
  const indices = reports.map(({ asked }) => asked.shard.index);
  const twice = indices.find((index, i) => indices.indexOf(index) !== i);
  if (twice !== undefined)
    throw new RangeError(`${first.name}: shard ${twice} of ${first.asked.shard.of} is there twice`);
  shardOf(reports);
}

/** The part that the parts are together: all of them, or what a machine with several processes has played. */
function shardOf(reports: readonly ReportData[]): { readonly index: number; readonly of: number } {
  const of = reports[0]?.asked.shard.of ?? 1;
  const indices = reports.map(({ asked }) => asked.shard.index).sort((a, b) => a - b);
  const [least = 1] = indices;
  const { length } = indices;
  const isBlock =
    of % length === 0 && (least - 1) % length === 0 && indices.every((each, i) => each === least + i);
  if (isBlock) return { index: (least - 1) / length + 1, of: of / length };
  const missing = Array.from({ length: of }, (_, i) => i + 1).filter((index) => !indices.includes(index));
  throw new RangeError(`${reports[0]?.name}: shard ${missing.join(', ')} of ${of} is missing`);
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
  return [...findings.values()].sort(limitsLast);
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
