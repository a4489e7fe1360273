/** Every story's page in a real Chromium: no message in the console, stepped by keyboard to its loss, and accessible. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { namedStories } from '../../lab/demo/stories.ts';
import { writeTimeline } from '../../lab/timeline/write.ts';
import type { Timeline } from '../../page/format.ts';
import { type Browser, chromiumProgram, launchChromium, type Page } from '../support/chromium.ts';

const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'lostlock-page-'));
let browser: Browser | undefined;

beforeAll(async () => {
  if (chromiumProgram !== undefined) browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Opens a page of runs; `said` collects what it writes to the console. */
async function open(
  name: string,
  runs: readonly Timeline[],
  width = 1280,
): Promise<{ page: Page; said: string[] }> {
  const file = join(folder, `${name}.html`);
  await writeTimeline(file, runs);
  const page = await (browser as Browser).newPage({ viewport: { width, height: 800 } });
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('ol.story button');
  // The filters and what saves are folded up.
  await page.evaluate("document.querySelector('.tools details').open = true");
  return { page, said };
}

/** The rules of WCAG 2.2 AA that the page breaks. */
async function broken(page: Page): Promise<unknown[]> {
  // Through the debugger: the page's own policy lets no other script in.
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const options = JSON.stringify({ runOnly: { type: 'tag', values: tags } });
  const found = `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0]?.html]))`;
  return (await page.evaluate(found)) as unknown[];
}

for (const name of Object.keys(namedStories)) {
  test.skipIf(chromiumProgram === undefined)(
    `the page of ${name} is stepped by keyboard to its loss and read back (needs chromium)`,
    async () => {
      const story = await namedStories[name]?.(7);
      const run = story?.timeline as Timeline;
      const { page, said } = await open(name, [run]);
      for (let i = 0; i < run.story.length; i++) await page.keyboard.press('ArrowDown');
      const current = page.locator('ol.story button[aria-current=true]');
      expect(await current.textContent()).toContain(run.story.at(-1)?.text);
      const lost = run.story.findIndex(({ text, about = {} }) => /\blost\b/.test(text) && 'message' in about);
      for (let i = run.story.length - 1; lost !== -1 && i > lost; i--) await page.keyboard.press('ArrowUp');
      const details = page.locator('section[aria-label=Details]');
      if (lost !== -1) {
        expect(await details.textContent()).toMatch(/SET my:lock A PXAT \d+/);
        expect(await details.textContent()).toContain('never: lost at');
        expect(await details.textContent()).toMatch(/Offset\d+ to \d+/);
      }
      await page.keyboard.press('b');
      if (run.overlaps.length > 0) expect(await details.textContent()).toContain('A and B both hold my:lock');
      await page.keyboard.press('0');
      await page.keyboard.press('ArrowRight');
      expect(await page.locator('.verdict strong').textContent()).toBe(
        { fence: 'Two holders, but harmless: A and B.' }[name] ??
          (run.verdict?.safe === true ? 'Held by B alone.' : 'Broken: A and B both have it.'),
      );
      expect(said).toEqual([]);
      await page.close();
    },
  );
}

test.skipIf(chromiumProgram === undefined)(
  'filters are folded up, so that the drawing is near the top, and a harmless run has nothing red (needs chromium)',
  async () => {
    const run = (await namedStories.fence?.(7))?.timeline as Timeline;
    const { page, said } = await open('folded', [run]);
    const top = (): Promise<unknown> =>
      page.evaluate("document.querySelector('.drawing').getBoundingClientRect().top");
    await page.click('.tools summary');
    expect(await top()).toBeLessThan(250);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await top()).toBeLessThan(120);
    expect(await page.locator('.bad, .broken').count()).toBe(0);
    expect(await page.locator('.harmless').count()).toBe(1);
    expect(await page.locator('[aria-label=Controls] button:text("To the two holders")').count()).toBe(1);
    expect(said).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'the page passes axe, WCAG 2.2 AA, in light and dark and at three widths (needs chromium)',
  async () => {
    const runs = [(await namedStories.failover?.(7))?.timeline, (await namedStories.wait?.(7))?.timeline];
    const { page, said } = await open('axe', runs as Timeline[]);
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 1024, 1440]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        // The details of a sentence must cover no other sentence by half.
        await page.keyboard.press('ArrowDown');
        expect([colorScheme, width, await broken(page)]).toEqual([colorScheme, width, []]);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect(wide).toBeLessThanOrEqual(width);
      }
    }
    expect(said).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'with and without the cure, the same picture changes, each with its verdict (needs chromium)',
  async () => {
    const [lost, cured] = await Promise.all([namedStories.failover?.(7), namedStories.wait?.(7)]);
    const verdict = { ...lost?.timeline?.verdict, cure: 'A asks WAIT 1.', cured: 1 };
    const { page, said } = await open('cure', [
      { ...lost?.timeline, verdict },
      cured?.timeline,
    ] as Timeline[]);
    const choices = page.locator('.toggle button');
    expect(await choices.count()).toBe(2);
    expect(await page.locator('.toggle').textContent()).toBe(
      'Without the cure: Broken: A and B both have it.With the cure: Held by B alone.',
    );
    expect(await page.locator('.answer').textContent()).toContain('A asks WAIT 1.');
    await page.click('label:has-text("expert") input');
    await page.click('.toggle button:text("With the cure")');
    expect(await page.locator('label:has-text("expert") input:checked').count()).toBe(1);
    expect(await page.locator('h1').textContent()).toBe(cured?.timeline?.title);
    expect(await page.locator('.toggle [aria-pressed=true]').textContent()).toBe(
      'With the cure: Held by B alone.',
    );
    expect(await page.locator('.stage').count()).toBe(1);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('With the cure: Held by B alone.');
    await page.click('.toggle button:text("Without the cure")');
    expect(await page.locator('h1').textContent()).toBe(lost?.timeline?.title);
    expect(said).toEqual([]);
    await page.close();
  },
);

/** Opens the ten stories in one file, at an address. */
async function openAll(hash: string): Promise<Page> {
  const runs = await Promise.all(Object.values(namedStories).map(async (tell) => (await tell(7)).timeline));
  const file = join(folder, 'all.html');
  await writeTimeline(file, runs as Timeline[]);
  const page = await (browser as Browser).newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${pathToFileURL(file).href}${hash}`);
  await page.waitForSelector('h1');
  return page;
}

test.skipIf(chromiumProgram === undefined)(
  'a file of several runs begins with their verdicts, and each run and sentence has a link (needs chromium)',
  async () => {
    const page = await openAll('');
    expect(await page.locator('ol.runs li').count()).toBe(10);
    expect(await page.locator('ol.runs li:first-child').textContent()).toContain(
      'FailoverBroken: A and B both have it. redis-1 told A yes.',
    );
    expect(await broken(page)).toEqual([]);
    await page.click('ol.runs li:nth-child(2) a');
    expect(await page.evaluate('location.hash')).toBe('#run=wait');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate('location.hash')).toBe('#run=wait&step=2');
    expect(await page.locator('[aria-current=true] .number').textContent()).toBe('2');
    await page.evaluate('history.back()');
    await page.waitForSelector('ol.runs');
    await page.evaluate("location.hash = '#run=failover&step=4'");
    await page.waitForSelector('[aria-current=true]');
    expect(await page.locator('h1').textContent()).toBe('Failover');
    expect(await page.locator('[aria-current=true] .number').textContent()).toBe('4');
    expect(await page.locator('.steps .count').textContent()).toBe('4 of 7');
    await page.close();
    const again = await openAll('#run=redlock-clock&step=3');
    expect(await again.locator('[aria-current=true]').textContent()).toContain('The clock of redis-3 jumps');
    await again.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'time to scale leaves out nothing, and the sentence, the filter and the focus stay (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const { page, said } = await open('scale', [run]);
    const legend = async (): Promise<boolean> => (await savedSvg(page)).includes('>time left out<');
    expect(await legend()).toBe(true);
    await page.click('.steps button:text("Next")');
    await page.click('label:has-text("replication") input');
    await page.click('label:has-text("time to scale") input');
    expect(await legend()).toBe(false);
    expect(await page.locator('.steps .count').textContent()).toBe('1 of 7');
    expect(await page.locator('label:has-text("replication") input:checked').count()).toBe(0);
    await page.click('label:has-text("time to scale") input');
    expect(await page.evaluate("document.activeElement.closest('label').textContent")).toBe(' time to scale');
    expect(await legend()).toBe(true);
    expect(said).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'a page of a site has a link back to it (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const file = join(folder, 'back.html');
    await writeTimeline(file, [run], { text: 'Ten stories', address: 'ten.html' });
    const page = await (browser as Browser).newPage({ viewport: { width: 390, height: 844 } });
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('.stage canvas');
    expect(await page.locator('.back a').textContent()).toBe('Ten stories');
    expect(await broken(page)).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'Next goes from number to number with a playhead, for experts from message to message; a search answers at once (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const { page, said } = await open('steps', [run]);
    const count = page.locator('.steps .count');
    expect(await count.textContent()).toBe('7 steps');
    const shade = (): Promise<unknown> =>
      page.evaluate(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => {
        const canvas = document.querySelector('.stage canvas:not(.map)');
        drawn([...canvas.getContext('2d').getImageData(canvas.width * 0.5, 50, 1, 1).data].join());
      })))`);
    const whole = await shade();
    await page.click('.steps button:text("Next")');
    expect(await count.textContent()).toBe('1 of 7');
    expect(await shade()).not.toBe(whole);
    for (let i = 0; i < 20; i++) await page.click('.steps button:text("Next")');
    expect(await count.textContent()).toBe('7 of 7');
    for (let i = 0; i < 7; i++) await page.click('.steps button:text("Back")');
    expect(await count.textContent()).toBe('7 steps');
    expect(await shade()).toBe(whole);
    const bytes = page.locator('section.details details[open]');
    await page.click('label:has-text("expert") input');
    for (let i = 0; i < 3; i++) await page.click('.steps button:text("Next")');
    expect(await bytes.count()).toBe(1);
    await page.fill('input[type=search]', 'zzz');
    expect(await page.locator('[aria-label=Controls]').textContent()).toContain('nothing found');
    await page.fill('input[type=search]', 'set my:lock');
    expect(await page.locator('[aria-label=Controls]').textContent()).toMatch(/1 of \d+/);
    await page.evaluate("document.querySelector('input[type=search]').focus()");
    await page.keyboard.press('Enter');
    expect(await page.locator('[aria-label=Controls]').textContent()).toMatch(/2 of \d+/);
    await page.fill('input[type=search]', '');
    expect(await page.locator('[aria-label=Controls]').textContent()).not.toMatch(/nothing found|\d of \d/);
    // What this test reads of the canvas makes the browser say so.
    expect(said.filter((text) => !text.includes('willReadFrequently'))).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'each sentence that Next leads to is in the window, above the details (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    // More sentences than the window has room for.
    const story = run.story.flatMap((step) => Array.from({ length: 8 }, () => ({ ...step, mood: 'plain' })));
    const { page } = await open('long-list', [{ ...run, story } as Timeline]);
    await page.evaluate("document.querySelector('.tools details').open = false");
    const hidden: unknown[] = [];
    for (let i = 1; i <= story.length; i++) {
      await page.keyboard.press('ArrowDown');
      const { top, bottom, end, scrollY } = (await page.evaluate(`(() => {
        const sentence = document.querySelector('ol.story [aria-current=true]').getBoundingClientRect();
        const details = document.querySelector('section.details').getBoundingClientRect();
        return { top: sentence.top, bottom: sentence.bottom, end: Math.min(innerHeight, details.top), scrollY };
      })()`)) as Record<'top' | 'bottom' | 'end' | 'scrollY', number>;
      // Half a pixel is lost where places are rounded.
      if (top < 0 || bottom > end + 1 || scrollY !== 0)
        hidden.push({ sentence: i, top, bottom, end, scrollY });
    }
    expect(hidden).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'on a phone the drawing comes first, with a sentence and two large buttons below it in the window (needs chromium)',
  async () => {
    const run = (await namedStories['redlock-restart']?.(7))?.timeline as Timeline;
    const { page } = await open('phone', [run], 390);
    await page.setViewportSize({ width: 390, height: 844 });
    const boxes = `(() => {
      const box = (selector) => document.querySelector(selector).getBoundingClientRect();
      const [next] = [...document.querySelectorAll('.steps button')].slice(-1);
      return { drawing: box('.drawing').top, steps: box('.steps'), next: next.getBoundingClientRect(), text: document.querySelector('.sentence').textContent };
    })()`;
    interface Box {
      readonly top: number;
      readonly bottom: number;
      readonly height: number;
      readonly width: number;
    }
    const look = async () =>
      (await page.evaluate(boxes)) as { drawing: number; steps: Box; next: Box; text: string };
    const first = await look();
    expect(first.drawing).toBeLessThan(120);
    expect(first.steps.bottom).toBeLessThanOrEqual(845);
    expect(first.next.height).toBeGreaterThanOrEqual(44);
    expect(first.next.width).toBeGreaterThan(100);
    expect(first.text).toContain('started again without its data');
    await page.click('.steps button:text("Next")');
    const second = await look();
    expect(second.text).toBe(run.story[0]?.text);
    expect(second.steps.bottom).toBeLessThanOrEqual(845);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'To the broken promise zooms to it, and Copy as Markdown copies the story (needs chromium)',
  async () => {
    const run = (await namedStories['redlock-clock']?.(7))?.timeline as Timeline;
    const { page } = await open('breach', [run]);
    const texts = async (): Promise<number> => [...(await savedSvg(page)).matchAll(/<text/g)].length;
    expect(await savedSvg(page)).toMatch(/>10\.\d+ s</);
    await page.click('button:text("To the broken promise")');
    expect(await page.locator('.steps .count').textContent()).toBe('6 of 6');
    const near = await savedSvg(page);
    expect(near).not.toMatch(/>10\.\d+ s</);
    expect(near).toContain('both hold it');
    expect(await texts()).toBeGreaterThan(10);
    await page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } })",
    );
    await page.click('button:text("Copy as Markdown")');
    const copied = String(await page.evaluate('window.copied'));
    expect(copied).toContain(`## ${run.title}`);
    expect(copied).toContain('3. 63.5 ms: The clock of redis-3 jumps by 11 s, which ends A');
    await page.close();
  },
);

/** Presses SVG, and reads the file. */
async function savedSvg(page: Page): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.click('button:text-is("SVG")')]);
  return readFileSync(await file.path(), 'utf8');
}

/** Focuses a menu, chooses an item, and waits for the next frame, in which the drawings get their sizes. */
async function choose(page: Page, menu: string, value: string): Promise<void> {
  await page.evaluate(`document.querySelector('select[name="${menu}"]').focus()`);
  await page.selectOption(`select[name="${menu}"]`, value);
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))');
}

/** Clicks where the tip of the second drawing has this text. */
async function clickBelow(page: Page, tip: string): Promise<void> {
  const found = await page.evaluate(`(() => {
    const canvas = document.querySelectorAll('.stage canvas:not(.map)')[1];
    canvas.scrollIntoView();
    const { left, top, width, height } = canvas.getBoundingClientRect();
    for (let y = top + 40; y < top + height; y += 4)
      for (let x = left + 120; x < left + width; x += 4) {
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: x, clientY: y }));
        if (canvas.title.includes(${JSON.stringify(tip)})) return [x, y];
      }
  })()`);
  const [x, y] = found as [number, number];
  await page.mouse.click(x, y);
}

test.skipIf(chromiumProgram === undefined)(
  'of two runs, a click on the lower one selects its event, and both are saved (needs chromium)',
  async () => {
    const [lost, cured] = await Promise.all([namedStories.failover?.(7), namedStories.wait?.(7)]);
    const runs = [lost?.timeline, cured?.timeline] as Timeline[];
    const { page, said } = await open('compared', runs);
    await choose(page, 'Compare with', '1');
    expect(await page.evaluate('document.activeElement.name')).toBe('Compare with');
    await clickBelow(page, 'wait 1');
    const details = page.locator('section[aria-label=Details]');
    expect(await details.textContent()).toContain('wait 1');
    expect(await page.locator('ol.story button[aria-current=true]').count()).toBe(0);
    await page.keyboard.press('b');
    expect(await details.textContent()).toContain('A and B both hold my:lock');
    const svg = await savedSvg(page);
    for (const { title } of runs) expect(svg).toContain(`>${title}</text>`);
    expect(said).toEqual([]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'nothing has the focus at first, the keys step all the same, and the menu of runs keeps the focus (needs chromium)',
  async () => {
    const runs = [(await namedStories.failover?.(7))?.timeline, (await namedStories.wait?.(7))?.timeline];
    const { page } = await open('focus', runs as Timeline[]);
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
    await page.keyboard.press('ArrowDown');
    const current = page.locator('ol.story button[aria-current=true]');
    expect(await current.textContent()).toContain(runs[0]?.story[0]?.text);
    await choose(page, 'Run', '1');
    expect(await page.locator('h1').textContent()).toBe(runs[1]?.title);
    expect(await page.evaluate('[document.activeElement.name, document.activeElement.value]')).toEqual([
      'Run',
      '1',
    ]);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'zooming in keeps the selected event in view, and the wheel scrolls past a high drawing (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const { page } = await open('zoom', [run]);
    const crash = run.story.findIndex(({ text }) => text.startsWith('redis-1 crashes'));
    await page.evaluate(`document.querySelectorAll('ol.story button')[${crash}].click()`);
    await page.evaluate(`document.querySelector('.drawing').focus()`);
    for (let i = 0; i < 15; i++) await page.keyboard.press('+');
    expect(await savedSvg(page)).toContain('>crash<');
    const wheel = (init: string): Promise<unknown> =>
      page.evaluate(
        `document.querySelector('.stage canvas:not(.map)').dispatchEvent(new WheelEvent('wheel', { deltaY: 9, cancelable: true, ${init} }))`,
      );
    expect(await wheel('')).toBe(false);
    await page.setViewportSize({ width: 800, height: 300 });
    expect(await wheel('')).toBe(true);
    expect(await wheel('ctrlKey: true')).toBe(false);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'a print is light, undistorted and without the minimap, and the screen is as before (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const { page } = await open('print', [run]);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.click('button:text-is("Dark or light")');
    await page.click('button:text-is("Dark or light")');
    const look = (event: string): Promise<unknown> =>
      page.evaluate(`(() => {
        dispatchEvent(new Event('${event}'));
        const canvas = document.querySelector('.stage canvas:not(.map)');
        const { width, height } = canvas.getBoundingClientRect();
        return {
          corner: [...canvas.getContext('2d').getImageData(1, 1, 1, 1).data],
          text: getComputedStyle(document.body).color,
          map: getComputedStyle(document.querySelector('.map')).display,
          distortion: Math.round((width / height / (canvas.width / canvas.height)) * 100),
        };
      })()`);
    // All of the run is printed, whatever step is shown.
    const ahead = async (): Promise<unknown> => {
      await page.evaluate(
        'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))',
      );
      return page.evaluate(`(() => {
        const canvas = document.querySelector('.stage canvas:not(.map)');
        const [red, green] = canvas.getContext('2d').getImageData(canvas.width * 0.68, canvas.height * 0.105, 1, 1).data;
        return red > 150 && green < 80;
      })()`);
    };
    await page.keyboard.press('ArrowRight');
    expect(await ahead()).toBe(false);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await look('beforeprint')).toEqual({
      corner: [255, 255, 255, 255],
      text: 'rgb(27, 31, 36)',
      map: 'none',
      distortion: 100,
    });
    expect(await ahead()).toBe(true);
    await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
    expect(await look('afterprint')).toEqual({
      corner: [20, 24, 29, 255],
      text: 'rgb(238, 241, 244)',
      map: 'block',
      distortion: 100,
    });
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'a long key is wrapped, and a message that is under way at the end is not called lost (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const [first] = run.messages;
    const waiting = { ...first, sent: run.end - 1, due: run.end + 500, arrived: null, fate: 'waiting' };
    const messages = [...run.messages, { ...waiting, kind: 'request', text: 'GET k' }];
    const text = `A acquires ${'key'.repeat(200)}`;
    const story = [{ at: 0, lane: 'A', text, mood: 'good', about: { message: messages.length - 1 } }];
    const { page } = await open('long', [{ ...run, messages, story } as Timeline], 390);
    await page.click('ol.story button');
    const details = page.locator('section[aria-label=Details]');
    expect(await details.textContent()).toContain('not yet: it was still on its way when the run ended');
    const cut = await page.evaluate(
      "[...document.querySelectorAll('ol.story span')].some((each) => each.scrollWidth > each.parentElement.clientWidth)",
    );
    expect(cut).toBe(false);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    await page.close();
  },
);

test.skipIf(chromiumProgram === undefined)(
  'keys and values of any bytes are shown as text (needs chromium)',
  async () => {
    const run = (await namedStories.failover?.(7))?.timeline as Timeline;
    const hostile = '</script><img src=x onerror=alert(1)>\u0000\u00ff';
    const messages = run.messages.map((message) => ({ ...message, text: hostile, bytes: hostile }));
    const story = run.story.map((step) => ({ ...step, text: hostile }));
    const { page, said } = await open('hostile', [{ ...run, title: hostile, messages, story }]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('h1').textContent()).toContain('</script><img');
    expect(said).toEqual([]);
    await page.close();
  },
);
