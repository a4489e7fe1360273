/** What an exploration has found. */
import type { Captured } from './capture.ts';
import type { FaultName } from './faults/index.ts';
import { keyOf } from './promises/broken.ts';
import { promises } from './promises/index.ts';
import { type LeaseScale, scalesText } from './search/leases.ts';
import type { FindingEvent } from './story.ts';

/** One way in which a promise breaks, with the shortest story of it. */
export interface Finding {
  /** The broken promise: one of the known ones, the name of the user's function, or `no-error` when something failed. */
  readonly promise: string;
  /** What breaks it: the kinds of faults of the shortest story, or `no fault`. */
  readonly cause: string;
  /** What was observed. */
  readonly what: string;
  /** The events of the shortest story; 12 at most. */
  readonly events: readonly FindingEvent[];
  /** The story as text. */
  readonly story: string;
  /** Plays this world again: `replay(options, finding.replay)`. Empty when there is no single world to play. */
  readonly replay: string;
  /** In how many worlds the promise was broken by this cause. */
  worlds: number;
  /** The number of the first of them. */
  readonly firstIn: number;
  /** Set when the world did not repeat: the first event that differs, and what usually causes that. */
  readonly notRepeatable: string | undefined;
}

/** What an exploration has covered. */
export interface Coverage {
  /** In how many worlds each kind of fault struck. */
  readonly faults: Partial<Record<FaultName, number>>;
  /** How many different states were seen. */
  readonly states: number;
  /** In how many worlds clients waited for each other. */
  readonly contended: number;
  /** How many worlds each strategy played. */
  readonly strategies: Readonly<Record<string, number>>;
  /** How many worlds there are with one fault, how many of them were played, and how many more were cut off as seen before. */
  readonly singles: { readonly all: number; readonly played: number; readonly cut: number };
  /** The leases that the lengths of faults follow: first that of the lock whose holder is inside. */
  readonly leases: readonly LeaseScale[];
  /** The first of them, or what stands for a lease when there is none, in milliseconds. */
  readonly scale: number;
  /** With `exhaustive: 2`, how many worlds there are with two faults. */
  readonly pairs?: number;
}

/** The version of the format of reports. Those without a version are older than 2. */
export const REPORT_VERSION = 2;

/** The parts of a report that can be written to a file and merged. */
export interface ReportData {
  /** The version of this format: 2. It grows when a reader of an older version would misread the report. */
  readonly version: typeof REPORT_VERSION;
  /** What was explored. */
  readonly name: string;
  /** The broken promises. */
  readonly findings: readonly Finding[];
  /** How many worlds were played, without those that shortened stories. */
  readonly worlds: number;
  /** What was covered. */
  readonly coverage: Coverage;
  /** How long it took, in milliseconds of real time. */
  readonly ms: number;
  /** True when it was stopped before its budget was used up. */
  readonly interrupted: boolean;
  /** What the code under test printed: its first lines, and how many there were. */
  readonly output: Captured;
  /**
   * Set when a world did not repeat: the first event that differs, and the likely source. Findings are played twice, so are
   * some of the worlds that break nothing, and the world without faults.
   */
  readonly notRepeatable?: string;
}

/** The result of an exploration. */
export class ExploreReport implements ReportData {
  /** The version of the format. */
  readonly version: typeof REPORT_VERSION = REPORT_VERSION;
  /** What was explored. */
  readonly name: string;
  /** The broken promises. */
  readonly findings: readonly Finding[];
  /** How many worlds were played, without those that shortened stories. */
  readonly worlds: number;
  /** What was covered. */
  readonly coverage: Coverage;
  /** How long it took, in milliseconds of real time. */
  readonly ms: number;
  /** True when it was stopped before its budget was used up. */
  readonly interrupted: boolean;
  /** What the code under test printed. */
  readonly output: Captured;
  /** Set when a world did not repeat: the first event that differs, and the likely source. */
  readonly notRepeatable?: string;

  /** @internal */
  constructor(data: Omit<ReportData, 'version'>) {
    this.name = data.name;
    this.findings = data.findings;
    this.worlds = data.worlds;
    this.coverage = data.coverage;
    this.ms = data.ms;
    this.interrupted = data.interrupted;
    this.output = data.output;
    if (data.notRepeatable !== undefined) this.notRepeatable = data.notRepeatable;
  }

  /** Throws an error with the stories of all findings, if there are any. */
  assertNone(): void {
    if (this.findings.length === 0) return;
    const stories = this.findings.map(({ story, replay }) =>
      replay === '' ? story : `${story}\nreplay: ${replay}`,
    );
    const count = this.findings.length === 1 ? 'a broken promise' : `${this.findings.length} broken promises`;
    throw new Error(`${this.name}: ${count} in ${counted(this.worlds, 'world')}\n\n${stories.join('\n\n')}`);
  }

  /** The report as text: the stories, and what was covered. */
  toString(): string {
    const { singles, pairs, states, contended, faults, strategies } = this.coverage;
    const struck = Object.entries(faults).map(([name, count]) => `${name} ${count}`);
    const found = `${counted(this.findings.length, 'finding')} in ${counted(this.worlds, 'world')}`;
    const head = `${this.name}: ${found} (${(this.ms / 1000).toFixed(1)} s)${this.interrupted ? ', stopped early' : ''}`;
    const two = pairs === undefined ? '' : ` two faults: ${strategies['two faults'] ?? 0} of ${pairs};`;
    return [
      head,
      ...this.findings.map(
        ({ story, replay, worlds }) =>
          `\n${story}\n${''.padStart(15)}(in ${counted(worlds, 'world')})${replay === '' ? '' : `\nreplay: ${replay}`}`,
      ),
      '',
      `one fault: ${singles.played} of ${singles.all} worlds, ${singles.cut} more cut off as seen before;${two} states: ${states}; contended: ${contended} worlds`,
      `struck: ${struck.join(', ') || 'nothing'}`,
      scalesText(this.coverage.leases, this.coverage.scale),
      ...(this.notRepeatable === undefined ? [] : [`not repeatable: ${this.notRepeatable}`]),
    ].join('\n');
  }
}

/** A number of things: `1 world`, `2 worlds`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** Merges the reports of shards. Findings of one cause, and one error, count as one; the shortest story stays. */
export function mergeReports(reports: readonly ReportData[]): ExploreReport {
  const [first] = reports;
  if (first === undefined) throw new RangeError('there are no reports to merge');
  const findings = new Map<string, Finding>();
  for (const finding of reports.flatMap((report) => report.findings)) {
    const key = `${keyOf(finding)} ${finding.cause}`;
    const before = findings.get(key);
    if (before === undefined) findings.set(key, { ...finding });
    else {
      const shorter = finding.events.length < before.events.length ? finding : before;
      findings.set(key, { ...shorter, worlds: before.worlds + finding.worlds });
    }
  }
  const played = Object.fromEntries(
    reports.flatMap(({ coverage }) => Object.keys(coverage.faults)).map((name) => [name, 0]),
  );
  const strategies: Record<string, number> = {};
  for (const { coverage } of reports) {
    for (const [name, count] of Object.entries(coverage.faults)) played[name] = (played[name] ?? 0) + count;
    for (const [name, count] of Object.entries(coverage.strategies))
      strategies[name] = (strategies[name] ?? 0) + count;
  }
  const known = reports.find(({ coverage }) => coverage.scale > 0) ?? first;
  const sum = (of: (report: ReportData) => number): number =>
    reports.reduce((all, report) => all + of(report), 0);
  // A shard that never saw contention proves nothing by itself; all of them together do.
  const contended = sum(({ coverage }) => coverage.contended);
  const totals = { clients: Infinity, faults: Infinity, contended, struck: Object.keys(played).length };
  const kept = [...findings.values()].filter(({ promise, cause }) => {
    const ofAllWorlds = promises.find(({ name }) => name === promise)?.ofAllWorlds;
    return ofAllWorlds === undefined || [...ofAllWorlds(totals)].some(([known]) => known === cause);
  });
  const unstable = reports.find(({ notRepeatable }) => notRepeatable !== undefined)?.notRepeatable;
  return new ExploreReport({
    name: first.name,
    findings: kept,
    worlds: sum(({ worlds }) => worlds),
    coverage: {
      faults: played,
      states: Math.max(...reports.map(({ coverage }) => coverage.states)),
      contended,
      strategies,
      singles: {
        all: first.coverage.singles.all,
        played: sum(({ coverage }) => coverage.singles.played),
        cut: first.coverage.singles.cut,
      },
      // A process that has ended early may not have known them.
      leases: known.coverage.leases,
      scale: known.coverage.scale,
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
