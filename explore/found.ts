/** Collects what an exploration finds: each reason once, and what the user has accepted beside it. */
import type { ReasonedFailing } from './findings.ts';
import { acceptedBy } from './fingerprint.ts';
import { isSame } from './promises/broken.ts';
import type { Finding } from './report-data.ts';

/** Findings by their fingerprints. */
export class FoundReasons {
  readonly findings: Finding[] = [];
  readonly accepted: Finding[] = [];
  readonly #accept: readonly string[];
  /** The finding of each fingerprint that was met, also of those that a reduction has changed. */
  readonly #byFingerprint = new Map<string, Finding>();

  constructor(accept: readonly string[]) {
    this.#accept = accept;
  }

  /** Counts one more world of a known reason. Returns false for a new one. */
  counted(fingerprint: string): boolean {
    const known = this.#byFingerprint.get(fingerprint);
    if (known !== undefined) known.worlds++;
    return known !== undefined;
  }

  /**
   * Adds a finding, unless its reason is known.
   * @param found the fingerprint that it had before it was reduced
   */
  add(found: string, { reason, fingerprint }: ReasonedFailing, finding: () => Finding): void {
    const isKnown = this.counted(fingerprint);
    const kept = this.#byFingerprint.get(fingerprint) ?? finding();
    this.#byFingerprint.set(fingerprint, kept);
    this.#byFingerprint.set(found, kept);
    if (isKnown) return;
    const isAccepted = acceptedBy(this.#accept, reason) !== undefined;
    (isAccepted ? this.accepted : this.findings).push(kept);
    this.findings.sort(limitsLast);
  }

  /** Adds a finding that no world shows, or counts it if it is known. */
  tell(finding: Finding): void {
    const known = this.findings.find((each) => isSame(each, finding));
    if (known !== undefined) known.worlds++;
    else this.findings.push(finding);
    this.findings.sort(limitsLast);
  }
}

/** What no lease can keep is not what a reader should see first. */
export function limitsLast(one: Finding, other: Finding): number {
  return Number(one.isLimit === true) - Number(other.isLimit === true);
}
