/** Runs the tests as Vitest does, and in CI retries those of suites on real time. */
import { relative } from 'node:path';
import { TestRunner } from 'vitest';

const realTime = new Set(JSON.parse(process.env.LOSTLOCK_REAL_TIME ?? '[]') as string[]);
const isCi = process.env.CI !== undefined;

export default class extends TestRunner {
  override onCollectStart(file: Parameters<TestRunner['onCollectStart']>[0]): void {
    super.onCollectStart(file);
    // Read when the file's tests are collected, so that the files of a process may differ.
    this.config.retry = isCi && realTime.has(relative(process.cwd(), file.filepath)) ? 2 : 0;
  }
}
