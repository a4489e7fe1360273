/** The playground in a real Chromium: it plays as Node does, by keyboard and by link, and survives its users' code. */
import '../../lab/router.ts';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { playgroundCommand, serveFiles } from '../../cli/playground.ts';
import { type PlaygroundFiles, playgroundFiles } from '../../playground/bundle.ts';
import { readCase } from '../../playground/cases/case.ts';
import { FIRST_CASE } from '../../playground/cases/first.ts';
import { codeOf } from '../../playground/cases/locks.ts';
import { playCase } from '../../playground/play.ts';
import { type Browser, chromiumProgram, launchChromium, type Page } from '../support/chromium.ts';

const require = createRequire(import.meta.url);
/** For machines that are busy, in milliseconds. */
const PATIENCE = 280_000;
let files: PlaygroundFiles;
let browser: Browser | undefined;
let site: Awaited<ReturnType<typeof serveFiles>> | undefined;

beforeAll(async () => {
  files = await playgroundFiles();
  if (chromiumProgram === undefined) return;
  site = await serveFiles(files, 0);
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** Opens the playground at a case. `said` collects what it writes to the console. */
async function open(hash: string): Promise<{ page: Page; said: string[] }> {
  const page = await (browser as Browser).newPage({ viewport: { width: 1280, height: 900 } });
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  page.setDefaultTimeout(PATIENCE);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(`${site?.url}${hash}`);
  return { page, said };
}

const state = (name: string): string => `#page[data-state=${name}]`;
/** The page shows another run than the one of this hash. */
const notHash = (hash: unknown): string => `#page[data-state=ready]:not([data-hash="${hash}"])`;
const press = (label: string): string =>
  `[...document.querySelectorAll('button')].find((each) => each.textContent === ${JSON.stringify(label)}).click()`;
const hashOf = (page: Page): Promise<unknown> =>
  page.evaluate("document.getElementById('page').dataset.hash");

test('the folder is below 600 kB compressed, and loads nothing from elsewhere', () => {
  const size = [...files.values()].reduce((sum, text) => sum + gzipSync(text).length, 0);
  expect(size).toBeLessThan(600_000);
  expect(files.get('index.html')).toContain("default-src 'none'; script-src 'self'");
  expect(files.get('app.js')).not.toMatch(/\bfetch\(|\bimport\(/);
});

test('a request for an odd path is answered, and the server goes on', async () => {
  const own = await serveFiles(new Map([['index.html', 'here']]), 0);
  expect((await fetch(`${own.url}/`)).status).toBe(404);
  expect((await fetch(`${own.url}?a#b`)).status).toBe(200);
  expect(await (await fetch(own.url)).text()).toBe('here');
  await own.close();
});

test('options of the command that would do nothing are refused', async () => {
  expect(await playgroundCommand(['--port', '0', '--out', 'x'])).toBe(2);
  expect(await playgroundCommand(['--port', '65536'])).toBe(2);
  expect(await playgroundCommand(['--prot', '1'])).toBe(2);
  expect(existsSync('x')).toBe(false);
});

/** Code that is not JavaScript. */
const TYPED = `const mine: string = name as string;\n${(codeOf('token') ?? '').replace("'lock', name", "'lock', mine!")}`;
const CASES = [
  '#lock=token&nodes=pair&clients=A,B&seed=7',
  '#lock=fenced&nodes=pair&clients=A,B,C&jitter=1&seed=11',
  '#lock=redlock&nodes=three&clients=A,B&jitter=1&seed=3',
  '#lock=token&nodes=sentinels&clients=A,B&steps=restart-empty@20/redis-1/5000&seed=5',
  '#lock=wait&nodes=pair&clients=A,B&steps=hold@0/redis-2/500;failover@20/redis-1/20/0/crash&seed=9',
  '#lock=token&nodes=cluster&clients=A,B&steps=failover@20/node-2/20/0/crash&seed=4',
  '#story=failover&seed=7',
];

test.skipIf(chromiumProgram === undefined)(
  'a case has the same hash in Chromium as in Node (needs chromium)',
  async () => {
    const [first = '', ...others] = CASES;
    const { page, said } = await open(first);
    await page.waitForSelector(state('ready'));
    for (const text of [first, ...others]) {
      if (text !== first) {
        const before = await hashOf(page);
        await page.evaluate(`location.hash = '${text}'`);
        await page.waitForSelector(notHash(before));
      }
      const { hash } = await playCase(readCase(text, FIRST_CASE, codeOf));
      expect([text, await hashOf(page)]).toEqual([text, hash]);
    }
    expect(said).toEqual([]);
    await page.close();
  },
  PATIENCE,
);

test.skipIf(chromiumProgram === undefined)(
  'a run is scrubbed, struck by hand at the playhead, and played again from its link (needs chromium)',
  async () => {
    const { page, said } = await open('#lock=token&nodes=pair&clients=A,B&seed=7');
    await page.waitForSelector(state('ready'));
    const verdict = page.locator('.verdict');
    expect(await verdict.textContent()).toContain('Held in this run.');
    const calm = await hashOf(page);
    await page.evaluate(press('To the start'));
    expect(await page.locator('ol.story button').count()).toBeLessThan(5);
    await page.evaluate(press('redis-2'));
    await page.evaluate(press('Hold its replication'));
    await page.waitForSelector(notHash(calm));
    await page.evaluate(press('To the start'));
    await page.evaluate("document.querySelector('.drawing').focus()");
    for (let i = 0; i < 7; i++) await page.keyboard.press('ArrowRight');
    const held = await hashOf(page);
    await page.evaluate(press('redis-1'));
    await page.evaluate(press('Crash and fail over'));
    await page.waitForSelector(notHash(held));
    await page.waitForSelector(state('ready'));
    await page.evaluate(press('To the end'));
    expect(await verdict.textContent()).toContain('Broken: A and B both have it.');
    const link = (await page.evaluate('location.hash')) as string;
    const again = await open(link);
    await again.page.waitForSelector(state('ready'));
    expect(await hashOf(again.page)).toBe(await hashOf(page));
    expect([...said, ...again.said]).toEqual([]);
    await again.page.close();
    await page.evaluate("location.hash = '#story=failover&seed=7'");
    await page.waitForSelector('.verdict:has-text("gave the lock to B as well")');
    expect(
      await page.evaluate(
        "[...document.querySelectorAll('.strikes, details')].every(({ hidden }) => hidden)",
      ),
    ).toBe(true);
    await page.close();
  },
  PATIENCE,
);

test('to hold the replication of the primary holds the links to its replicas, so that a crash loses the lock', async () => {
  const text =
    '#lock=token&nodes=pair&clients=A,B&steps=hold@0/redis-1/1500/0;failover@5/redis-1/20/0/crash&seed=7';
  const played = await playCase(readCase(text, FIRST_CASE, codeOf));
  expect(played.missed).toEqual([]);
  expect(played.timeline.verdict?.safe).toBe(false);
});

test.skipIf(chromiumProgram === undefined)(
  'a fault that can do nothing is grey, and says why (needs chromium)',
  async () => {
    const { page } = await open('#lock=redlock&nodes=three&clients=A,B&jitter=1&seed=3');
    await page.waitForSelector(state('ready'));
    await page.evaluate(press('redis-2'));
    const titles = "[...document.querySelectorAll('.strikes button:disabled')].map(({ title }) => title)";
    expect(await page.evaluate(titles)).toEqual(
      Array(4).fill('It would strike nothing: no node has a replica here'),
    );
    await page.evaluate("location.hash = '#lock=token&nodes=pair&clients=A,B&seed=7'");
    await page.waitForSelector(state('ready'));
    await page.evaluate(press('redis-1'));
    expect(await page.evaluate(titles)).toEqual(['It would strike nothing: it is the primary']);
    await page.close();
  },
  PATIENCE,
);

test.skipIf(chromiumProgram === undefined)(
  'the search finds a loss and plays it (needs chromium)',
  async () => {
    const { page } = await open('#lock=no-token&nodes=pair&clients=A,B&seed=7');
    await page.waitForSelector(state('ready'));
    await page.evaluate(press('Find the loss'));
    await page.waitForSelector('ul.steps li');
    await page.waitForSelector(state('ready'));
    expect(await page.locator('.verdict').textContent()).toContain('Broken');
    await page.close();
  },
  PATIENCE,
);

test.skipIf(chromiumProgram === undefined)(
  'only what held in many worlds with faults is green, with their number (needs chromium)',
  async () => {
    const { page } = await open('#lock=token&nodes=pair&clients=A,B&seed=7');
    await page.waitForSelector(state('ready'));
    expect(await page.locator('.verdict.one').count()).toBe(1);
    // Each client has a resource of its own, so no fault can bring two into one.
    await page.fill('textarea', 'const inside = await resource(name).enter();\nawait inside.leave();');
    await page.evaluate(press('Find the loss'));
    await page.waitForSelector('.verdict:has-text("worlds with faults")');
    expect(await page.locator('.verdict.safe').count()).toBe(1);
    expect(await page.locator('.verdict').textContent()).toMatch(
      /^Held in [1-9]\d* worlds with faults\. No promise is broken in any of them\./,
    );
    await page.close();
  },
  PATIENCE,
);

/** Chooses an option of the select with this label. */
const choose = (label: string, value: string): string =>
  `(() => { const found = [...document.querySelectorAll('label')].find((each) => each.textContent.startsWith('${label}'));
    const select = found.querySelector('select'); select.value = '${value}'; select.dispatchEvent(new Event('change')); })()`;

test.skipIf(chromiumProgram === undefined)(
  'another choice ends a search and is what is shown; edited code stays, whatever is chosen (needs chromium)',
  async () => {
    const { page, said } = await open('#lock=fenced&nodes=pair&clients=A,B&seed=7');
    await page.waitForSelector(state('ready'));
    await page.evaluate(press('Find the loss'));
    await page.waitForSelector('.verdict:has-text("of 1500 worlds")');
    await page.evaluate(choose('Lock', 'token'));
    await page.waitForSelector(state('ready'));
    const { hash } = await playCase(readCase('#lock=token&seed=7', FIRST_CASE, codeOf));
    expect(await hashOf(page)).toBe(hash);
    expect(await page.locator('.verdict').textContent()).toContain('Held in this run.');
    const edited = (codeOf('token') ?? '').replace('sleep(250)', 'sleep(150)');
    await page.fill('textarea', edited);
    await page.evaluate(choose('Clients', '3'));
    await page.waitForSelector(notHash(hash));
    const text = (await page.evaluate('location.hash')) as string;
    expect(readCase(text, FIRST_CASE, codeOf)).toMatchObject({ code: edited, clients: ['A', 'B', 'C'] });
    expect(said).toEqual([]);
    await page.close();
  },
  PATIENCE,
);

test.skipIf(chromiumProgram === undefined)(
  'code from a link waits for its reader, reaches no network, and an endless loop ends (needs chromium)',
  async () => {
    const code = encodeURIComponent(
      "throw new Error([typeof fetch, typeof WebSocket, typeof indexedDB].join(' '))",
    );
    const { page } = await open(`#code=${code}&seed=1`);
    await page.waitForSelector(state('ready'));
    expect(await page.locator('.verdict').textContent()).toContain('brings code of its own');
    for (const other of [choose('Clients', '3'), press('Find the loss')]) {
      await page.evaluate(other);
      await page.waitForSelector(state('ready'));
      expect(await page.locator('.verdict').textContent()).toContain('brings code of its own');
    }
    await page.evaluate(press('Run this code'));
    await page.waitForSelector(state('failed'));
    expect(await page.locator('.verdict').textContent()).toContain('undefined undefined undefined');
    await page.fill('textarea', 'const a: string = name;\nlet wrong = ;\n');
    await page.evaluate(press('Run this code'));
    await page.waitForSelector('.verdict:has-text("Line 2: Unexpected token")');
    expect(await page.evaluate('getSelection().toString()')).toBe('let wrong = ;');
    expect(await page.locator('details .bad').textContent()).toContain('Line 2: Unexpected token');
    await page.fill('textarea', 'while (true) {}');
    await page.evaluate(press('Run this code'));
    await page.waitForSelector('.verdict:has-text("endless loop")');
    await page.fill('textarea', TYPED);
    await page.evaluate(press('Run this code'));
    await page.waitForSelector(state('ready'));
    const typed = readCase((await page.evaluate('location.hash')) as string, FIRST_CASE, codeOf);
    expect(typed.code).toBe(TYPED);
    expect(await hashOf(page)).toBe((await playCase(typed)).hash);
    expect(await page.locator('.verdict').textContent()).toContain('Held in this run.');
    await page.close();
  },
  PATIENCE,
);

/** Goes back, and waits until the page has read its address. */
const BACK = `new Promise((done) => {
  addEventListener('hashchange', () => done(), { once: true });
  history.back();
})`;
const codeIn = (page: Page): Promise<unknown> => page.evaluate("document.querySelector('textarea').value");

test.skipIf(chromiumProgram === undefined)(
  'code that was not run is there after a reload, after another lock and after Back (needs chromium)',
  async () => {
    const { page, said } = await open('#lock=token&nodes=pair&clients=A,B&seed=7');
    await page.waitForSelector(state('ready'));
    const first = await hashOf(page);
    const typed = `// Mine.\n${codeOf('token')}`;
    await page.fill('textarea', typed);
    await page.evaluate("document.body.className = 'old'; location.reload()");
    await page.waitForSelector(`body:not(.old) ${state('ready')}`);
    expect([await codeIn(page), await hashOf(page)]).toEqual([typed, first]);
    await page.evaluate(choose('Lock', 'fenced'));
    await page.waitForSelector(notHash(first));
    expect(await codeIn(page)).toBe(codeOf('fenced'));
    const second = await hashOf(page);
    await page.evaluate(BACK);
    await page.waitForSelector(notHash(second));
    expect([await codeIn(page), await hashOf(page)]).toEqual([typed, first]);
    // Back to code that the user has run: it runs without a question.
    await page.evaluate(press('Run this code'));
    await page.waitForSelector(state('ready'));
    const own = await page.evaluate('location.hash');
    await page.evaluate(choose('Clients', '3'));
    await page.waitForSelector(notHash(first));
    await page.evaluate(BACK);
    await page.waitForSelector(`#page[data-state=ready][data-hash="${first}"]`);
    expect([await codeIn(page), await page.evaluate('location.hash')]).toEqual([typed, own]);
    await page.evaluate(BACK);
    expect(await codeIn(page)).toBe(codeOf('token'));
    await page.fill('textarea', typed);
    await page.evaluate(press('Undo the changes'));
    expect(await codeIn(page)).toBe(codeOf('token'));
    expect(said).toEqual([]);
    await page.close();
  },
  PATIENCE,
);

test.skipIf(chromiumProgram === undefined)(
  'a choice keeps the focus, a fault that struck nothing says so, and an endless loop can be stopped (needs chromium)',
  async () => {
    const { page, said } = await open('#steps=client-pause@5/Z/100;client-pause@5/A/100&seed=7');
    await page.waitForSelector(state('ready'));
    expect(await page.locator('ul.steps li').count()).toBe(2);
    expect(await page.locator('ul.steps li:has(em)').textContent()).toContain(
      '5 ms: client-pause Z (100 ms) struck',
    );
    const focus =
      "(document.activeElement.closest('label') ?? document.activeElement).firstChild?.textContent";
    for (const [label, value] of [
      ['Lock', 'simple'],
      ['Clients', '3'],
    ] as const) {
      const before = await hashOf(page);
      await page.evaluate(
        `[...document.querySelectorAll('label')].find((each) => each.textContent.startsWith('${label}')).control.focus()`,
      );
      await page.evaluate(choose(label, value));
      await page.waitForSelector(notHash(before));
      expect(await page.evaluate(focus)).toBe(`${label} `);
    }
    await page.evaluate(`document.querySelector('.party').focus(); ${press('A')}`);
    expect(await page.evaluate(focus)).toBe('A');
    await page.fill('textarea', 'while (true) {}');
    await page.evaluate(press('Run this code'));
    await page.click('.verdict button:text("Stop")');
    await page.waitForSelector('.verdict:text("Stopped.")');
    expect(said).toEqual([]);
    await page.close();
  },
  PATIENCE,
);

test.skipIf(chromiumProgram === undefined)(
  'the playground passes axe, WCAG 2.2 AA, in light and dark and at three widths (needs chromium)',
  async () => {
    const { page } = await open('#steps=promote@20/redis-2;promote@20/redis-9');
    await page.waitForSelector(state('ready'));
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const options = JSON.stringify({ runOnly: { type: 'tag', values: tags } });
    const found = `axe.run(${options}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0]?.html]))`;
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 900, 1600]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        expect([colorScheme, width, await page.evaluate(found)]).toEqual([colorScheme, width, []]);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect(wide).toBeLessThanOrEqual(width);
      }
    }
    await page.close();
  },
  PATIENCE,
);
