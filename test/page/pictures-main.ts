/** `npm run page:pictures`: draws each story's page in Chromium and keeps the pictures, for test/page/pictures.beside.test.ts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namedStories } from '../../lab/demo/stories.ts';
import type { Timeline } from '../../page/format.ts';
import { launchChromium } from '../support/chromium.ts';
import { openBench, toPng } from '../support/pictures/pictures.ts';
import { KEPT, StoryPictures } from './story-pictures.ts';

const folder = mkdtempSync(join(tmpdir(), 'lostlock-pictures-'));
const browser = await launchChromium();
const pictures = new StoryPictures(browser, await openBench(browser), folder);
let bytes = 0;
for (const [name, tell] of Object.entries(namedStories)) {
  const run = (await tell(7)).timeline as Timeline;
  for (const [kind, picture] of Object.entries(await pictures.of(run))) {
    const png = toPng(picture);
    bytes += png.length;
    writeFileSync(join(KEPT, `${name}.${kind}.png`), png);
  }
}
writeFileSync(join(KEPT, 'browser.txt'), `${browser.version()}\n`);
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(
  `${Object.keys(namedStories).length} stories, ${(bytes / 1000).toFixed(0)} kB, Chromium ${browser.version()}`,
);
