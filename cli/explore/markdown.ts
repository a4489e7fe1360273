/** The summary of an exploration in Markdown, for the page of a job in GitHub Actions. */
import type { ReportData } from '../../explore/report-data.ts';
import { coverageLines, headOf, sentenceOf } from '../../explore/report-text.ts';

/** GitHub refuses a summary of more than 1 MiB for a step. A character may take four bytes. */
const MOST = 200_000;

/** The reports as Markdown: a sentence and the story of each finding, and what was covered. */
export function markdown(reports: readonly ReportData[]): string {
  const text = reports.map(sectionOf).join('\n');
  return text.length <= MOST
    ? text
    : `${text.slice(0, text.lastIndexOf('\n### ', MOST))}\n\nMore does not fit here.\n`;
}

function sectionOf(report: ReportData): string {
  const findings = report.findings.map((finding, i) => {
    const { story, replay } = finding;
    return `### ${i + 1} ${plain(sentenceOf(finding))}\n\n${code(replay === '' ? story : `${story}\nreplay: ${replay}`)}`;
  });
  return [
    `## ${plain(headOf(report))}`,
    '',
    ...findings,
    `### What was covered\n\n${code(coverageLines(report, 110).join('\n'))}`,
    '',
  ].join('\n');
}

/** A block of code. Its fence is longer than any in the text. */
function code(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}\n`;
}

/** Text in which Markdown and HTML mean nothing. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|&]/g, (letter) => `\\${letter}`).replace(/\s+/g, ' ');
}
