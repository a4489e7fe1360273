/** The settings of the documentation site. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { sections } from '../pages.ts';

/** The API's pages, which TypeDoc wrote. */
const api = JSON.parse(readFileSync(join(import.meta.dirname, '../pages/api.json'), 'utf8')) as {
  text: string;
  link: string;
}[];
const stories = existsSync(join(import.meta.dirname, '../pages/stories.md'));

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
    ['style', {}, 'html:root { --vp-code-lang-color: var(--vp-c-text-2); }'],
  ],
  srcDir: 'pages',
  base: process.env.SITE_BASE ?? '/',
  cleanUrls: false,
  // Dead links fail the build; `npm run test:site` checks anchors as well.
  ignoreDeadLinks: false,
  // The pages are plain Markdown, without HTML: text such as <key> is text.
  markdown: { config: (markdown) => void markdown.set({ html: false }) },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Concepts', link: '/concepts' },
      { text: 'Cookbook', link: '/cookbook' },
      { text: 'API', link: api[0]?.link ?? '/' },
    ],
    sidebar: [
      ...sections.map(({ title, pages }) => ({
        text: title,
        items: [
          ...pages.map((page) => ({ text: page.title, link: `/${page.address}` })),
          ...(title === 'Locks' && stories
            ? [
                { text: 'Ten stories', link: '/stories' },
                { text: 'The catalogue, in pictures', link: '/catalogue' },
              ]
            : []),
        ],
      })),
      { text: 'API', items: api },
    ],
  },
});

export default config;
