/** What is reported of tests beside Vitest's own output. */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

const fullName = (test: TestCase): string => `${test.module.relativeModuleId} > ${test.fullName}`;

/** Writes the tests that passed only after a retry to a file, one per line: the module and the test's full name. */
export class RetriedReporter implements Reporter {
  readonly #file: string;
  readonly #retried: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#retried.push(fullName(test));
  }

  onTestRunEnd(): void {
    writeFileSync(this.#file, this.#retried.map((name) => `${name}\n`).join(''));
  }
}

/** Prints why a test failed as soon as it has ended. Vitest tells it when all tests have ended, which may be hours later. */
export class FailureReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state !== 'failed') return;
    for (const { stack, message, diff } of errors ?? [])
      console.error(`${fullName(test)} failed: ${stack ?? message}${diff === undefined ? '' : `\n${diff}`}`);
  }
}
