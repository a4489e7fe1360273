/** `npm run page:frames -- --messages 100000`: how soon a long timeline is open in Chromium, and how many frames it draws. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { timelineFile } from '../../lab/timeline/timeline.ts';
import { pageCode } from '../../page/bundle.ts';
import { timelineHtml } from '../../page/html.ts';
import { launchChromium } from '../support/chromium.ts';
import { longTimeline } from '../support/long-timeline.ts';

const { values } = parseArgs({ options: { messages: { type: 'string', default: '100000' } } });
const folder = mkdtempSync(join(tmpdir(), 'lostlock-frames-'));
const file = join(folder, 'long.html');
writeFileSync(file, timelineHtml(timelineFile([longTimeline(Number(values.messages))]), await pageCode()));
const browser = await launchChromium();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const begun = performance.now();
await page.goto(pathToFileURL(file).href);
await page.waitForSelector('ol.story button');
await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
console.log(`open and drawn after ${((performance.now() - begun) / 1000).toFixed(2)} s`);

/** Turns the wheel once a frame, so that each frame has to be drawn, and counts the frames of two seconds. */
const frames = (deltaX: number): string => `new Promise((done) => {
  const canvas = document.querySelector('.stage canvas:not(.map)');
  const begun = performance.now();
  let count = 0;
  const next = () => {
    const ms = performance.now() - begun;
    if (ms >= 2000) return done(Math.round((count / ms) * 1000));
    count++;
    canvas.dispatchEvent(new WheelEvent('wheel', { deltaX: (count % 60 < 30 ? 1 : -1) * ${deltaX}, cancelable: true }));
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;
for (let zoomed = 1; zoomed <= 3 ** 8; zoomed *= 3) {
  console.log(`a part of 1/${zoomed}: ${await page.evaluate(frames(7))} frames a second`);
  for (let i = 0; i < 3; i++) await page.keyboard.press('+');
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
