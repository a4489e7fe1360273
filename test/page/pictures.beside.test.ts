/**
 * Every story's page in Chromium beside the pictures that were kept of it, in both palettes and at three widths. Texts are
 * drawn as boxes, so that the fonts of a machine make no difference. `npm run page:pictures` keeps new ones: look at them.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namedStories } from '../../lab/demo/stories.ts';
import type { Timeline } from '../../page/format.ts';
import { type Browser, chromiumProgram, launchChromium } from '../support/chromium.ts';
import { differences, fromPng, openBench, type Picture, toPng } from '../support/pictures/pictures.ts';
import { KEPT, type Pictures, StoryPictures } from './story-pictures.ts';

/** For machines that are busy, in milliseconds. */
const PATIENCE = 280_000;
/** How many cells may differ, of thousands: a version of Chromium may smooth an edge in another way. */
const ALLOWED = 3;
const folder = mkdtempSync(join(tmpdir(), 'lostlock-pictures-'));
const drawn = new Map<string, Pictures>();
let browser: Browser | undefined;
let pictures: StoryPictures;

beforeAll(async () => {
  if (chromiumProgram === undefined) return;
  browser = await launchChromium();
  pictures = new StoryPictures(browser, await openBench(browser), folder);
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function runOf(name: string): Promise<Timeline> {
  return (await namedStories[name]?.(7))?.timeline as Timeline;
}

function kept(name: string, kind: keyof Pictures): Picture {
  return fromPng(readFileSync(join(KEPT, `${name}.${kind}.png`)));
}

function expectSame(different: readonly string[]): void {
  const places = different.slice(0, 20).join(' ');
  expect(different.length, `cells that differ: ${places}`).toBeLessThanOrEqual(ALLOWED);
}

const major = (version: string): string => version.split('.')[0] ?? '';

for (const name of Object.keys(namedStories)) {
  test.skipIf(chromiumProgram === undefined)(
    `the drawing of ${name} looks as it did (needs chromium)`,
    async () => {
      const present = await pictures.of(await runOf(name));
      drawn.set(name, present);
      expectSame(differences(kept(name, 'drawing'), present.drawing));
    },
    PATIENCE,
  );

  test.skipIf(chromiumProgram === undefined)(
    `the whole page of ${name} looks as it did (needs the chromium of the pictures)`,
    async ({ skip }) => {
      const version = readFileSync(join(KEPT, 'browser.txt'), 'utf8');
      const present = (browser as Browser).version();
      // Another version may lay out controls in another way.
      skip(
        major(version) !== major(present),
        `the pictures are of ${version.trim()}, and this is ${present}`,
      );
      const { page } = drawn.get(name) as Pictures;
      expectSame(differences(kept(name, 'page'), page));
    },
    PATIENCE,
  );
}

test.skipIf(chromiumProgram === undefined)(
  'a drawing that lacks one lane, bar, mark, message or overlap is found out (needs chromium)',
  async () => {
    const run = await runOf('failover');
    const lost = run.messages.findIndex(({ arrived }) => arrived === null);
    const without: Readonly<Record<string, Timeline>> = {
      lane: { ...run, lanes: run.lanes.slice(0, -1) },
      bar: { ...run, holds: run.holds.slice(1) },
      'view of a node': { ...run, keys: run.keys.slice(1) },
      mark: { ...run, marks: run.marks.filter(({ kind }) => kind !== 'crash') },
      message: { ...run, messages: run.messages.filter((_, i) => i !== lost), story: run.story.slice(0, 1) },
      overlap: { ...run, overlaps: [] },
    };
    const whole = await pictures.drawingOf(run);
    expect(differences(whole, await pictures.drawingOf(run))).toEqual([]);
    for (const [what, less] of Object.entries(without)) {
      const found = differences(whole, await pictures.drawingOf(less));
      const isFound = found.length > ALLOWED || found[0]?.startsWith('size');
      expect([what, found.length, isFound]).toEqual([what, found.length, true]);
    }
  },
  PATIENCE,
);

test('a picture is written and read back, with its colours in steps', () => {
  const cells = Uint8Array.from({ length: 3 * 5 * 4 }, (_, i) => (i * 37) % 256);
  const picture = { width: 5, height: 4, cells };
  const back = fromPng(toPng(picture));
  expect(differences(back, picture)).toEqual([]);
  expect(fromPng(toPng(back))).toEqual(back);
  const other = { ...picture, cells: cells.with(3 * 7 + 1, (cells[22] as number) > 127 ? 0 : 255) };
  expect(differences(back, other)).toEqual(['2,1']);
  expect(differences(back, { ...picture, width: 4, height: 5 })).toHaveLength(1);
});
