/**
 * `npm run docs:site`: builds the documentation site into docs/site/dist, from the Markdown pages of the repository, the stories of
 * the demo and the types of the package. It installs VitePress and TypeDoc into this folder when they are missing.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { namedStories } from '../../lab/demo/stories.ts';
import { writeTimeline } from '../../lab/timeline/write.ts';
import manifest from '../../package.json' with { type: 'json' };
import type { TimelineFile } from '../../page/format.ts';
import { ensureBuilt } from '../../test/support/built.ts';
import { ensureInstalled } from '../../tools/release/own-tools.ts';
import owner from '../../tools/release/owner.json' with { type: 'json' };
import { apiPages } from './api.ts';
import { catalogue } from './catalogue.ts';
import { HEAT, heatMap, libraryTimelines } from './libraries.ts';
import { pages, type SitePage, sections } from './pages.ts';
import { described, summary } from './summary.ts';

const here = import.meta.dirname;
const root = resolve(here, '../..');
const out = join(here, 'pages');
/** The path of the site. VitePress prefixes links with it, except those with a target attribute. */
const base = process.env.SITE_BASE ?? '/';
const addresses = new Map(pages.map(({ source, address }) => [source, address]));

/** Runs a tool of this folder, shows what it prints, and throws when it fails. */
function run(args: readonly string[]): void {
  execFileSync(process.execPath, args, { cwd: here, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Writes a file of the site's source. */
function write(path: string, text: string): void {
  const file = join(out, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/**
 * A page with its links as the site has them. A link to another file of the repository leads to its repository, and is
 * plain text as long as the owner has not named one.
 */
function adapted({ source, address }: SitePage, text: string): string {
  return text.replace(
    /(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)/g,
    (_, image, label, target, anchor = '') => {
      const path = relative(root, resolve(root, dirname(source), target));
      if (image === '!') {
        const name = `images/${path.replaceAll('/', '-')}`;
        mkdirSync(join(out, 'public/images'), { recursive: true });
        copyFileSync(join(root, path), join(out, 'public', name));
        return `[![${label}](/${name})](/${name})`; // On a narrow screen its text is too small.
      }
      const known = addresses.get(path) ?? addresses.get(`${path}/README.md`);
      if (known !== undefined) {
        const from = dirname(address);
        const way = relative(from, known);
        return `[${label}](${way.startsWith('.') ? way : `./${way}`}.md${anchor})`;
      }
      if (path === 'README.md') return `[${label}](/)`;
      return owner.repository === '' ? label : `[${label}](${owner.repository}/blob/main/${path})`;
    },
  );
}

/** The first page. */
function home(): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const start = readme.indexOf('\n');
  const end = readme.indexOf('\n## ');
  const fold = readme.slice(start, end).replace(/\[([^\]]*)\]\(#[^)]*\)/g, '$1'); // Its other sections are not on this page.
  const intro = adapted({ source: 'README.md', address: 'index', title: '' }, fold);
  const links = sections.map(
    ({ title, pages: own }) =>
      `**${title}:** ${own.map((page) => `[${page.title}](./${page.address}.md)`).join(' · ')}`,
  );
  return `---\nsidebar: true\n---\n\n# lostlock ${manifest.version}\n${intro}\n\n## The pages\n\n${links.join('\n\n')}\n`;
}

/** The demo's stories, each as a page for the browser with its cure, with a link back to the site. */
async function stories(): Promise<string> {
  const folder = join(out, 'public/stories');
  const names = Object.keys(namedStories);
  for (const name of names) {
    const data = join(folder, `${name}.json`);
    execFileSync(process.execPath, [join(root, 'dist/cli.js'), 'demo', name, '--html', data], {
      stdio: 'ignore',
    });
    const { runs } = JSON.parse(readFileSync(data, 'utf8')) as TimelineFile;
    rmSync(data);
    await writeTimeline(join(folder, `${name}.html`), runs, {
      text: 'Ten stories of lost and kept locks',
      address: '../stories.html',
    });
  }
  const list = names.map((name) => `- [${name}](${base}stories/${name}.html){target="_self"}`).join('\n');
  return `# Ten stories of lost and kept locks\n\n\`npx lostlock demo\` plays them on a virtual clock, and each is the same on every run. These are
their [timelines](./timeline.md): which client believed that it held the lock, which message came late, and why.\n\n${list}\n`;
}

/** What a page is about. */
function about(page: SitePage, text: string): string {
  return page.about ?? summary(text);
}

/** The package's AGENTS.md without its title: how to start a server, test a lock and read a finding. */
function forAgents(): string {
  return readFileSync(join(root, 'AGENTS.md'), 'utf8')
    .replace(/^# .*\n/, '## For programs that write tests\n')
    .replace(/^## (?!For)/gm, '### ');
}

/** What a language model reads first (https://llmstxt.org), with the package's AGENTS.md, and all pages in one file. */
function forModels(texts: ReadonlyMap<SitePage, string>): void {
  const list = sections.map(({ title, pages: own }) =>
    [
      `## ${title}`,
      '',
      ...own.map(
        (page) => `- [${page.title}](${base}${page.address}.html): ${about(page, texts.get(page) ?? '')}`,
      ),
    ].join('\n'),
  );
  write(
    'public/llms.txt',
    `# lostlock\n\n> ${manifest.description}\n\nAll pages in one file: ${base}llms-full.txt\n\n${list.join('\n\n')}\n\n${forAgents()}`,
  );
  write(
    'public/llms-full.txt',
    [...texts].map(([page, text]) => `<!-- ${page.source} -->\n\n${text}`).join('\n\n'),
  );
}

ensureInstalled(here, 'vitepress');
await ensureBuilt();
rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'public'), { recursive: true });
const texts = new Map<SitePage, string>();
for (const page of pages) {
  const text = readFileSync(join(root, page.source), 'utf8');
  texts.set(page, text);
  const isHeat = page.address === 'libraries';
  const plain = adapted(page, text);
  const shown = isHeat ? heatMap(plain, `${base}libraries`) : plain;
  write(
    `${page.address}.md`,
    described(about(page, text), shown, isHeat ? { pageClass: HEAT, aside: false } : {}),
  );
}
libraryTimelines(root, join(out, 'public/libraries'));
write('index.md', home());
write('stories.md', described('Timelines of ten stories of lost and kept locks.', await stories()));
const pictures = await catalogue(root, join(out, 'public/catalogue'), `${base}catalogue`);
write(
  'catalogue.md',
  described('Timelines of each way to lose a lock, and of the form that does not.', pictures),
);
write('api.json', JSON.stringify(apiPages(root, here, join(out, 'api'))));
forModels(texts);
run(['node_modules/vitepress/bin/vitepress.js', 'build']);
rmSync(join(here, 'dist'), { recursive: true, force: true });
renameSync(join(here, '.vitepress/dist'), join(here, 'dist'));
console.log(`${join(here, 'dist')}: open it with npx vitepress preview, or serve it as static files`);
