/** The result of an exploration. */
import { badOption, checkNames } from '../base/options.ts';
import type { Captured } from './capture.ts';
import { type Asked, type Coverage, type Finding, REPORT_VERSION, type ReportData } from './report-data.ts';
import { counted, coverageLines, reportText, unchecked } from './report-text.ts';
import { sharedCures } from './story/cures.ts';
import { seeText } from './story/text.ts';
import {
  INCONCLUSIVE_KINDS,
  type Inconclusive,
  type InconclusiveKind,
  type ReportVerdict,
  reasonsOf,
} from './verdict.ts';

/** What `assertNone` lets pass. */
export interface AssertNoneOptions {
  /** The reasons for which an inconclusive report passes; default none. */
  readonly allow?: readonly InconclusiveKind[];
}

/** What an exploration has found, with the checks of a test. */
export class ExploreReport implements ReportData {
  /** The version of the format. */
  readonly version: typeof REPORT_VERSION = REPORT_VERSION;
  /** The versions of lostlock and of the runtime that played the worlds. */
  readonly versions: ReportData['versions'];
  /** Whether a promise breaks, or none does, or too little was played to know. */
  readonly verdict: ReportVerdict;
  /** Why the report proves nothing, beside what it has found. */
  readonly reasons: readonly Inconclusive[];
  /** What was explored. */
  readonly name: string;
  /** What was asked for. */
  readonly asked: Asked;
  /** The broken promises. */
  readonly findings: readonly Finding[];
  /** The broken promises that `accept` names. They are none of the findings. */
  readonly accepted: readonly Finding[];
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
  /** Set in a test whose runner does not end the exploration: how to bound it. */
  readonly hint?: string;
  /** Set when a world did not repeat: the first event that differs, and the likely source. */
  readonly notRepeatable?: string;

  /** @internal */
  constructor(data: Omit<ReportData, 'version'>) {
    this.versions = data.versions;
    this.reasons = reasonsOf(data);
    this.verdict = data.findings.length > 0 ? 'broken' : this.reasons.length > 0 ? 'inconclusive' : 'clean';
    this.name = data.name;
    this.asked = data.asked;
    this.findings = data.findings;
    this.accepted = data.accepted;
    this.worlds = data.worlds;
    this.coverage = data.coverage;
    this.ms = data.ms;
    this.interrupted = data.interrupted;
    this.output = data.output;
    if (data.hint !== undefined) this.hint = data.hint;
    if (data.notRepeatable !== undefined) this.notRepeatable = data.notRepeatable;
  }

  /** The promises of the defaults that were not checked, because `promises` named others. */
  get unchecked(): readonly string[] {
    return unchecked(this.asked);
  }

  /**
   * Throws an error with the stories of all findings, if there are any, and with the reasons if the report is inconclusive.
   * Throws TypeError for a wrong option.
   */
  assertNone(options: AssertNoneOptions = {}): void {
    checkNames(options, ['allow'], 'assertNone');
    const { allow = [] } = options;
    for (const kind of allow)
      if (!INCONCLUSIVE_KINDS.includes(kind))
        throw badOption('assertNone.allow', kind, INCONCLUSIVE_KINDS.join(', '));
    if (this.findings.length === 0) {
      const reasons = this.reasons.filter(({ kind }) => !allow.includes(kind));
      if (reasons.length === 0) return;
      const told = reasons.map(({ kind, what }) => `${kind}: ${what}`).join('\n');
      const named = [...new Set(reasons.map(({ kind }) => `'${kind}'`))].join(', ');
      throw new Error(
        `${this.name}: inconclusive after ${counted(this.worlds, 'world')}\n${told}\n` +
          `To accept that: assertNone({ allow: [${named}] })\n\n${coverageLines(this, 100).join('\n')}`,
      );
    }
    const stories = this.findings.map(({ story, replay }) =>
      [story, seeText(replay)].filter((part) => part !== '').join('\n'),
    );
    const count = this.findings.length === 1 ? 'a broken promise' : `${this.findings.length} broken promises`;
    const cures = sharedCures(this.findings.map(({ story }) => story)).map((line) => `${line}\n`);
    const covered = [...cures, ...coverageLines(this, 100)].join('\n');
    throw new Error(
      `${this.name}: ${count} in ${counted(this.worlds, 'world')}\n\n${stories.join('\n\n')}\n\n${covered}`,
    );
  }

  /** The report as text: the stories, what was covered, and a sentence for each finding. */
  toString(): string {
    return reportText(this, 100);
  }
}
