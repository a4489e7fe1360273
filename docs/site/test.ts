/**
 * The second half of `npm run test:site`: every link and anchor of the built site leads somewhere, and every page opens in
 * Chromium without an error. Without a Chromium that part is skipped, and says so.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize, posix } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const dist = join(import.meta.dirname, 'dist');
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};

const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).map((name) =>
  name.replaceAll('\\', '/'),
);
const htmlPages = files.filter((name) => name.endsWith('.html'));

/** The anchors of each page. */
const anchors = new Map(
  htmlPages.map((page) => {
    const ids = [...readFileSync(join(dist, page), 'utf8').matchAll(/\sid="([^"]+)"/g)];
    return [page, new Set(ids.map((match) => match[1]))];
  }),
);

/** The file that an address of the site names. */
function fileOf(address: string): string {
  const path = normalize(address.replace(/^\/+/, '')).replaceAll('\\', '/');
  const full = join(dist, path);
  return path === '.' || (existsSync(full) && statSync(full).isDirectory())
    ? posix.join(path, 'index.html')
    : path;
}

/** The links of the site that lead nowhere. */
function brokenLinks(): string[] {
  return htmlPages.flatMap((page) => {
    const html = readFileSync(join(dist, page), 'utf8');
    const links = [...html.matchAll(/\s(?:href|src)="([^"]+)"/g)].map((match) =>
      (match[1] ?? '').replaceAll('&amp;', '&'),
    );
    return links
      .filter((link) => !/^(?:[a-z]+:|\/\/)/.test(link))
      .filter((link) => {
        const [path = '', anchor = ''] = link.split('#');
        const target =
          path === '' ? page : fileOf(path.startsWith('/') ? path : posix.join(dirname(page), path));
        if (!existsSync(join(dist, target))) return true;
        return anchor !== '' && anchors.get(target)?.has(decodeURIComponent(anchor)) === false;
      })
      .map((link) => `${page}: ${link}`);
  });
}

/** Pages without a title or description, and those that share either of them with another page. */
function unnamedPages(): string[] {
  const named = new Map<string, string>();
  return htmlPages
    .filter((page) => page !== '404.html')
    .flatMap((page) => {
      const html = readFileSync(join(dist, page), 'utf8');
      // Timelines stand alone, and what two of them tell may be the same.
      const isTimeline = /^(catalogue|libraries|stories)\//.test(page);
      const patterns = [/<title>(.+?)<\/title>/, /<meta name="description" content="(.+?)"/];
      return (isTimeline ? patterns.slice(0, 1) : patterns).flatMap((pattern) => {
        const [whole] = pattern.exec(html) ?? [];
        if (whole === undefined) return [`${page}: has nothing like ${pattern}`];
        const other = named.get(whole);
        named.set(whole, page);
        return other === undefined ? [] : [`${page}: has the ${whole} of ${other}`];
      });
    });
}

/** The labels of the languages of code that have too little contrast on a page, in light and dark. */
async function faintLabels(browser: Browser, url: string): Promise<string[]> {
  const axe = join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js');
  const faint: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme });
    await page.goto(url, { waitUntil: 'load' });
    await page.addScriptTag({ path: axe });
    const { checked, labels } = await page.evaluate<{ checked: number; labels: string[] }>(
      `axe.run('span.lang', { runOnly: 'color-contrast' }).then(({ passes, violations }) => ({
        checked: passes.length + violations.length,
        labels: violations.flatMap(({ nodes }) => nodes.map(({ failureSummary }) => failureSummary)),
      }))`,
    );
    faint.push(...labels.map((label) => `${url} (${colorScheme}): ${label}`));
    if (checked === 0) faint.push(`${url} (${colorScheme}): has no labels of code`);
    await page.close();
  }
  return faint;
}

/** What is wrong with the heat map of the libraries: it fits the page, and a cell with a finding opens its timeline. */
async function heatMapErrors(browser: Browser, url: string): Promise<string[]> {
  const errors: string[] = [];
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(url, { waitUntil: 'load' });
  const table = page.locator('.vp-doc table').first();
  const [needed = 0, has = 0] = await table.evaluate((each) => [each.scrollWidth, each.clientWidth]);
  if (needed > has) errors.push(`${url}: the heat map is ${needed} pixels wide, and its place ${has}`);
  await table.locator('td.broken a').first().click();
  const isDrawn = await page
    .waitForURL(/libraries\/\d+\.html$/)
    .then(() => page.locator('canvas').first().waitFor({ state: 'attached' }))
    .then(
      () => true,
      () => false,
    );
  if (!isDrawn) errors.push(`${url}: its first cell with a finding leads to ${page.url()}`);
  await page.close();
  return errors;
}

/** Opens every page, and returns what their consoles said and what could not be loaded. */
async function errorsInChromium(program: string): Promise<string[]> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://site').pathname;
    if (path === '/favicon.ico') return void response.writeHead(204).end(); // Chromium asks for it, though no page names it.
    const file = join(dist, fileOf(path));
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
  const errors: string[] = [];
  for (const name of htmlPages.filter((each) => each !== '404.html')) {
    const page = await browser.newPage();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) errors.push(`${name}: ${message.text()}`);
    });
    page.on('pageerror', (error) => errors.push(`${name}: ${error.message}`));
    page.on('response', (response) => {
      if (response.status() >= 400) errors.push(`${name}: ${response.url()} ${response.status()}`);
    });
    await page.goto(`${origin}/${name}`, { waitUntil: 'load' });
    if ((await page.locator('h1, svg').count()) === 0) errors.push(`${name}: is empty`);
    await page.close();
  }
  errors.push(...(await faintLabels(browser, `${origin}/cookbook.html`)));
  errors.push(...(await heatMapErrors(browser, `${origin}/libraries.html`)));
  await browser.close();
  server.close();
  return errors;
}

const unnamed = unnamedPages();
for (const page of unnamed) console.log(page);
const broken = brokenLinks();
for (const link of broken) console.log(`broken link in ${link}`);
const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (program === undefined) console.log('skipped the pages in Chromium: it is not installed');
const errors = program === undefined ? [] : await errorsInChromium(program);
for (const error of errors) console.log(`error in ${error}`);
console.log(`${htmlPages.length} pages: ${broken.length} broken links, ${errors.length} errors in Chromium`);
if (htmlPages.length < 30 || unnamed.length + broken.length + errors.length > 0) process.exitCode = 1;
