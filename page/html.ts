/** Puts timelines and the page's code together in one HTML file, in which no text of the data can act as markup or code. */
import { createHash } from 'node:crypto';
import { htmlDocument } from './document.ts';
import type { TimelineFile } from './format.ts';
import { answerOf } from './plain.ts';
import { escaped, staticHtml } from './static.ts';

/** The code of the page, bundled. */
export interface PageCode {
  readonly script: string;
  readonly style: string;
}

/**
 * A self-contained HTML file. The data is JSON without any `<`, and the page may run its own script only: its
 * Content-Security-Policy has the script's hash, and allows no network.
 */
export function timelineHtml(file: TimelineFile, { script, style }: PageCode): string {
  const code = script.replaceAll('</script', '<\\/script');
  const hash = createHash('sha256').update(code, 'utf8').digest('base64');
  const [first] = file.runs;
  const title = first?.title ?? 'No runs';
  const description = `A timeline of messages, faults and locks. ${first === undefined ? title : answerOf(first).why || title}`;
  return htmlDocument({
    title: escaped(title),
    description: escaped(description),
    policy: `script-src 'sha256-${hash}'; style-src 'unsafe-inline'`,
    head: [`<style>${style}</style>`],
    without: 'With JavaScript, this page draws what is told here.',
    content: staticHtml(file),
    scripts: [
      `<script type="application/json" id="data">${safeJson(file)}</script>`,
      `<script>${code}</script>`,
    ],
  });
}

/** JSON in which no character is special to HTML, and which is all ASCII: every byte of the data survives. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&]|[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
