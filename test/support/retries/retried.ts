/** A reporter that writes down which tests passed only after a retry: they hide something, and .ci/run prints them. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

/** Writes the retried tests to `file` at the end of the run, one a line: the module and the test's full name. */
export class RetriedReporter implements Reporter {
  readonly #file: string;
  readonly #retried: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#retried.push(`${test.module.relativeModuleId} > ${test.fullName}`);
  }

  onTestRunEnd(): void {
    writeFileSync(this.#file, this.#retried.map((name) => `${name}\n`).join(''));
  }
}
