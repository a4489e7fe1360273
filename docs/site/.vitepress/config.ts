/** The settings of the documentation site. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { HEAT, HEAT_STYLES, heatOf } from '../libraries.ts';
import { sections } from '../pages.ts';

/** The API's pages, which TypeDoc wrote. */
const api = JSON.parse(readFileSync(join(import.meta.dirname, '../pages/api.json'), 'utf8')) as {
  text: string;
  link: string;
}[];
/** Pages that the build makes without a source in docs/, by the section that they belong in. */
const MADE: Readonly<Record<string, readonly { readonly text: string; readonly link: string }[]>> = {
  'Understand locks': [
    { text: 'Ten stories', link: '/stories' },
    { text: 'The catalogue, in pictures', link: '/catalogue' },
  ],
};

/** A lock with its shackle open. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M5 8V4.5a3 3 0 0 1 6 0" fill="none" stroke="#c33" stroke-width="2"/><rect x="2.5" y="7.5" width="8" height="7" rx="1" fill="#c33"/></svg>';

const config = defineConfig({
  title: 'lostlock',
  description: 'A Redis-compatible server for testing distributed locks',
  // Without an icon of its own, a browser asks for /favicon.ico, which is not there.
  head: [
    ['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
    // The labels of code have too little contrast in VitePress' own colour.
    ['style', {}, `html:root { --vp-code-lang-color: var(--vp-c-text-2); }${HEAT_STYLES}`],
  ],
  srcDir: 'pages',
  base: process.env.SITE_BASE ?? '/',
  cleanUrls: false,
  // Dead links fail the build; `npm run test:site` checks anchors as well.
  ignoreDeadLinks: false,
  // The pages are plain Markdown, without HTML: text such as <key> is text.
  markdown: {
    config: (markdown) => {
      markdown.set({ html: false });
      const { rules } = markdown.renderer;
      rules.td_open = (tokens, at, options, env, self) => {
        const token = tokens[at];
        const heat = heatOf(tokens[at + 1]?.content ?? '');
        if (env.frontmatter?.pageClass === HEAT && heat !== undefined) token?.attrJoin('class', heat);
        return self.renderToken(tokens, at, options);
      };
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      ...sections.map(({ title, pages }) => ({
        text: title,
        link: `/${pages[0]?.address}`,
        activeMatch: `^/(${pages.map(({ address }) => address).join('|')})(\\.html)?$`,
      })),
      { text: 'API', link: '/api/', activeMatch: '^/api/' },
    ],
    // A section is open while one of its pages is read.
    sidebar: [
      ...sections.map(({ title, pages }) => ({
        text: title,
        collapsed: title !== 'Start',
        items: [
          ...pages.map((page) => ({ text: page.title, link: `/${page.address}` })),
          ...(MADE[title] ?? []),
        ],
      })),
      { text: 'API', collapsed: true, items: api },
    ],
  },
});

export default config;
