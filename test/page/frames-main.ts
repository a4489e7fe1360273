/** `npm run page:frames -- --messages 100000`: how soon a long timeline is open in Chromium, how long a step takes, and how many frames it draws. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { timelineFile } from '../../lab/timeline/timeline.ts';
import { pageCode } from '../../page/bundle.ts';
import type { StoryStep } from '../../page/format.ts';
import { timelineHtml } from '../../page/html.ts';
import { cpuMeter, launchChromium } from '../support/chromium.ts';
import { longTimeline } from '../support/long-timeline.ts';

const { values } = parseArgs({ options: { messages: { type: 'string', default: '100000' } } });
const folder = mkdtempSync(join(tmpdir(), 'lostlock-frames-'));
const file = join(folder, 'long.html');
const run = longTimeline(Number(values.messages));
// As many sentences as a story has at most.
const about = run.messages.flatMap(({ kind }, i) => (kind === 'reply' ? [i] : []));
const story = Array.from({ length: 200 }, (_, i): StoryStep => {
  const message = about[Math.floor((i * about.length) / 200)] ?? 0;
  const { to: lane = 'A', arrived = 0 } = run.messages[message] ?? {};
  return { at: arrived ?? 0, lane, text: `${lane} is answered.`, mood: 'plain', about: { message } };
});
writeFileSync(file, timelineHtml(timelineFile([{ ...run, story }]), await pageCode()));
const browser = await launchChromium();
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const cpu = await cpuMeter(page);
const begun = performance.now();
await page.goto(pathToFileURL(file).href);
await page.waitForSelector('ol.story button');
await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
console.log(
  `open and drawn after ${((performance.now() - begun) / 1000).toFixed(2)} s, ${(await cpu()).toFixed(2)} s of CPU`,
);

/** Presses a key, and waits for the drawing, `times` times. Resolves to the median and the longest, in milliseconds. */
const steps = (key: string, times: number): string => `(async () => {
  const all = [];
  for (let i = 0; i < ${times}; i++) {
    const begun = performance.now();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }));
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
    all.push(performance.now() - begun);
  }
  all.sort((a, b) => a - b);
  return [all[all.length >> 1], all.at(-1)];
})()`;
const shown = (figures: unknown): string => {
  const [median = 0, longest = 0] = figures as number[];
  return `${median.toFixed(0)} ms (median), ${longest.toFixed(0)} ms (longest)`;
};
const before = await cpu();
const sentences = shown(await page.evaluate(steps('ArrowRight', 200)));
const each = (((await cpu()) - before) / 200) * 1000;
console.log(`a step to the next sentence: ${sentences}, ${each.toFixed(1)} ms of CPU`);
await page.click('.tools summary');
await page.click('label:has-text("expert") input');
console.log(`a step to the next message: ${shown(await page.evaluate(steps('ArrowRight', 200)))}`);
await page.keyboard.press('0');

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
