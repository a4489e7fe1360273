/** The page of an exploration, index.html: all findings with their stories and timelines, and what was covered. */

import type { Finding, ReportData } from '../../explore/report-data.ts';
import { coverageLines, headOf, sentenceOf } from '../../explore/report-text.ts';

/** The files of a finding, relative to the page; undefined for those that were not written. */
export interface FindingFiles {
  readonly test: string | undefined;
  readonly timeline: string | undefined;
}

/** A report, with the files of each of its findings. */
export interface ToldReport {
  readonly report: ReportData;
  readonly files: readonly FindingFiles[];
}

const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
pre { overflow-x: auto; padding: .8rem; background: #8881; border-radius: 4px; font-size: 13px; line-height: 1.4; }
iframe { width: 100%; height: 80vh; border: 1px solid #8885; }
h3 { margin-bottom: .3rem; }
summary { cursor: pointer; }`;

/** The page. It runs no script; a timeline is loaded when its part is opened. */
export function indexPage(reports: readonly ToldReport[]): string {
  const title = reports.map(({ report }) => report.name).join(', ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; frame-src 'self' file:">
<meta name="generator" content="lostlock">
<title>${html(title)} - lostlock explore</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${html(title)}</h1>
${reports.map(sectionOf).join('\n')}
</body>
</html>
`;
}

function sectionOf({ report, files }: ToldReport): string {
  const findings = report.findings.map((finding, i) => partOf(finding, i, files[i]));
  return `<section>
<h2>${html(headOf(report))}</h2>
<pre>${html(coverageLines(report, 110).join('\n'))}</pre>
${findings.join('\n')}
</section>`;
}

function partOf(finding: Finding, i: number, files: FindingFiles | undefined): string {
  const { story, replay, worlds, firstIn } = finding;
  const again = replay === '' ? '' : `<p>Play it again: <code>--replay '${html(replay)}'</code></p>\n`;
  const link = (name: string, path: string | undefined): string[] =>
    path === undefined ? [] : [`<a href="${html(encodeURI(path))}">${name}</a>`];
  const links = [...link('timeline', files?.timeline), ...link('test', files?.test)];
  const timeline =
    files?.timeline === undefined
      ? ''
      : `<details><summary>Timeline</summary><iframe loading="lazy" title="timeline of finding ${i + 1}" src="${html(encodeURI(files.timeline))}"></iframe></details>\n`;
  return `<h3>${i + 1} ${html(sentenceOf(finding))}</h3>
<p>In ${worlds} worlds, first in world ${firstIn}. ${links.join(', ')}</p>
<pre>${html(story)}</pre>
${again}${timeline}`;
}

/** Text that cannot act as markup. */
function html(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
