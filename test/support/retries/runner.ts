/** Runs the tests as Vitest does, and in CI retries those of suites on real time. */
import { TestRunner } from 'vitest';
import { needs } from './needs.ts';

const isCi = process.env.CI !== undefined;

export default class extends TestRunner {
  override onCollectStart(file: Parameters<TestRunner['onCollectStart']>[0]): void {
    super.onCollectStart(file);
    // Read when the file's tests are collected, so that the files of a process may differ.
    this.config.retry = isCi && needs(file.filepath, 'realtime') ? 2 : 0;
  }
}
