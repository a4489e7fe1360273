/**
 * The second half of `npm run test:site`: every link and anchor of the built site leads somewhere, and every page opens in
 * Chromium without an error. Without a Chromium that part is skipped, and says so.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join, normalize, posix } from 'node:path';
import { chromium } from 'playwright-core';

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
  await browser.close();
  server.close();
  return errors;
}

const broken = brokenLinks();
for (const link of broken) console.log(`broken link in ${link}`);
const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (program === undefined) console.log('skipped the pages in Chromium: it is not installed');
const errors = program === undefined ? [] : await errorsInChromium(program);
for (const error of errors) console.log(`error in ${error}`);
console.log(`${htmlPages.length} pages: ${broken.length} broken links, ${errors.length} errors in Chromium`);
if (htmlPages.length < 30 || broken.length + errors.length > 0) process.exitCode = 1;
