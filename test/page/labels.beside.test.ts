/** No label of a drawing covers another: in the ten stories and in pages of the catalogue, at three widths, at each step. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namedStories } from '../../lab/demo/stories.ts';
import { writeTimeline } from '../../lab/timeline/write.ts';
import type { Timeline } from '../../page/format.ts';
import { type Browser, chromiumProgram, launchChromium } from '../support/chromium.ts';
import { isLongRun } from '../support/long.ts';
import { faultsIn, spyOnTexts, textsOn } from './boxes.ts';

const WIDTHS = [390, 1024, 1440] as const;
/** So many sentences of a story are stepped through. */
const STEPS = 9;

/** Numbers of the catalogue whose pages are crowded: a split, Redlock, many clients. A long run takes more. */
const NUMBERS = [
  ...['S30', 'S42', 'S60', 'S127'],
  ...(isLongRun ? ['S32', 'S41', 'S49', 'S51', 'S58', 'S62', 'S63', 'S64'] : []),
];

const folder = mkdtempSync(join(tmpdir(), 'lostlock-labels-'));
let browser: Browser | undefined;

beforeAll(async () => {
  if (chromiumProgram !== undefined) browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Plays what is in the catalogue under these numbers, as the site does. */
function playCatalogue(): Timeline[] {
  const plays = join(folder, 'plays');
  const titles = `(${NUMBERS.join('|')})[^0-9b]`;
  execFileSync(
    'npx',
    ['vitest', 'run', '--mode', 'quick', '--maxWorkers', '1', 'test/lab/scenarios', '-t', titles],
    {
      env: { ...process.env, LOSTLOCK_PLAYS: plays, LOSTLOCK_TEST_MODE: undefined },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const found = new Map<string, Timeline>();
  for (const name of readdirSync(plays).sort().reverse()) {
    const { number, timeline } = JSON.parse(readFileSync(join(plays, name), 'utf8')) as {
      number: string;
      timeline: Timeline;
    };
    // The unsafe form comes first.
    if (NUMBERS.includes(number) && !found.has(number)) found.set(number, timeline);
  }
  return [...found.values()];
}

/** What covers what on the page of a run, at all widths and steps. */
async function faultsOf(run: Timeline): Promise<string[]> {
  const file = join(folder, 'page.html');
  await writeTimeline(file, [run]);
  const page = await (browser as Browser).newPage({ viewport: { width: 390, height: 844 } });
  await spyOnTexts(page);
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('.stage canvas');
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.keyboard.press('0');
    for (let step = -1; step < Math.min(run.story.length, STEPS); step++) {
      const boxes = await textsOn(page);
      expect(boxes.length).toBeGreaterThan(5);
      const own = faultsIn(boxes, width);
      faults.push(...own.map((fault) => `${width} pixels, step ${step + 1}: ${fault}`));
      await page.keyboard.press('ArrowDown');
    }
  }
  await page.close();
  return faults;
}

for (const name of Object.keys(namedStories)) {
  test.skipIf(chromiumProgram === undefined)(
    `no label of ${name} covers another (needs chromium)`,
    async () => {
      expect(await faultsOf((await namedStories[name]?.(7))?.timeline as Timeline)).toEqual([]);
    },
  );
}

test.skipIf(chromiumProgram === undefined)(
  'no label of pages of the catalogue covers another (needs chromium)',
  async () => {
    const runs = playCatalogue();
    expect(runs).toHaveLength(NUMBERS.length);
    for (const run of runs) expect([run.title, await faultsOf(run)]).toEqual([run.title, []]);
  },
  600_000,
);
