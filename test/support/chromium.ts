/** A real Chromium for tests of pages, where there is one. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** What the tests use of playwright-core, which is loaded only where there is a Chromium. */
export interface Page {
  on(event: 'console', listener: (message: { text(): string }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
  setDefaultTimeout(ms: number): void;
  /** Runs code in the page before its own. */
  addInitScript(code: { content: string }): Promise<unknown>;
  goto(url: string): Promise<unknown>;
  waitForSelector(selector: string): Promise<unknown>;
  evaluate(code: string): Promise<unknown>;
  click(selector: string): Promise<void>;
  fill(selector: string, text: string): Promise<void>;
  emulateMedia(media: {
    media?: 'screen' | 'print';
    colorScheme?: 'light' | 'dark';
    reducedMotion?: 'reduce' | 'no-preference';
  }): Promise<void>;
  setViewportSize(size: { width: number; height: number }): Promise<void>;
  locator(selector: string): { textContent(): Promise<string | null>; count(): Promise<number> };
  screenshot(options?: object): Promise<Buffer>;
  selectOption(selector: string, value: string): Promise<unknown>;
  waitForEvent(event: 'download'): Promise<{ path(): Promise<string> }>;
  readonly mouse: { click(x: number, y: number): Promise<void> };
  readonly keyboard: { press(key: string): Promise<void> };
  context(): { newCDPSession(page: Page): Promise<DebuggerSession> };
  close(): Promise<void>;
}

/** What the browser's debugger is asked. */
interface DebuggerSession {
  send(method: string, options?: object): Promise<unknown>;
}

/** Counts the CPU seconds that a page's main thread has taken, however busy the machine is. */
export async function cpuMeter(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = (await session.send('Performance.getMetrics')) as {
      metrics: readonly { readonly name: string; readonly value: number }[];
    };
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  };
}

/** A running browser. */
export interface Browser {
  newPage(options: object): Promise<Page>;
  /** Such as 140.0.7339.80. */
  version(): string;
  close(): Promise<void>;
}

interface Playwright {
  readonly chromium: { launch(options: object): Promise<Browser> };
}

const require = createRequire(import.meta.url);

/** The program; undefined where there is none, so that tests are skipped. */
export const chromiumProgram = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync);

/** Starts it. */
export function launchChromium(): Promise<Browser> {
  const { chromium } = require('playwright-core') as Playwright;
  return chromium.launch({ executablePath: chromiumProgram, args: ['--no-sandbox'] });
}
