/** The files and lines that an exploration writes: histories, tests to commit, JUnit, annotations and progress. */
import type { History } from '../../explore/history.ts';
import type { ExploreProgress } from '../../explore/options.ts';
import type { Finding, ReportData } from '../../explore/report-data.ts';
import { counted } from '../../explore/report-text.ts';
import { reasonsOf } from '../../explore/verdict.ts';
import type { Visit } from '../../explore/visit.ts';

/** The programs that run tests for which a test file can be written. */
export type TestRunner = 'vitest' | 'jest' | 'node';

/** The version of the format of histories. */
const FORMAT = 1;

/** A history as JSON lines: first a head, then one line for each visit, fault, write, loss, message and line of the story. */
export function historyLines(name: string, finding: Finding, history: History): string {
  const { promise, cause, events, replay } = finding;
  const rows: object[] = [
    { type: 'head', format: FORMAT, name, promise, cause, replay, lanes: history.lanes },
    ...events.map((event) => ({ type: 'event', ...event })),
    ...history.visits.map((visit) => rowOf('visit', visit)),
    ...history.probe.map((visit) => rowOf('probe', visit)),
    ...history.faults.map((fault) => ({ type: 'fault', ...fault })),
    ...history.lines.map((line) => ({ type: 'line', ...line })),
    ...history.writes.map((write) => ({ type: 'write', ...write })),
    ...history.lost.map((write) => ({ type: 'lost', ...write })),
    ...history.messages.map((message) => ({ type: 'message', ...message })),
  ];
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

function rowOf(type: string, visit: Visit): object {
  return { type, ...visit, to: Number.isFinite(visit.to) ? visit.to : null };
}

const HEADS: Record<TestRunner, string> = {
  vitest: "import { test } from 'vitest';",
  jest: "import { test } from '@jest/globals';",
  node: "import { test } from 'node:test';",
};

/** The longest sentence in the name of a test, in characters. */
const LONGEST = 120;

/**
 * A test that plays a finding again, and passes once the promise holds. Its name has the cause, and its error the story. It is
 * TypeScript when the file is, for any target and strictness.
 * @param from the file that exports the exploration, relative to the test
 */
export function testFile(runner: TestRunner, from: string, name: string, finding: Finding): string {
  const { promise, cause, sentence, story, replay } = finding;
  const told = story
    .split('\n')
    .map((line) => ` * ${line}`.trimEnd().replaceAll('*/', '* /'))
    .join('\n');
  const typed = from.endsWith('ts');
  const [type, exported, list, one] = typed
    ? [
        'type ExploreOptions, ',
        ' as unknown as Record<string, ExploreOptions>',
        ' as ExploreOptions[]',
        ' as ExploreOptions',
      ]
    : ['', '', '', ''];
  // What runs Node's own tests needs the ending, and a compiler such as ts-jest refuses it.
  const path = runner === 'node' ? from : from.replace(/\.ts$/, '');
  const why = sentence.replace(/[.:]$/, '').slice(0, LONGEST);
  return `/**
${told}
 */
import { ${type}replay } from 'lostlock/explore';
${HEADS[runner]}
import * as explorations from ${JSON.stringify(path)};

const exported = explorations${exported};
const all = Object.keys(exported).reduce((found, key) => found.concat(exported[key]${one}), []${list});
const options = all.filter((each) => each && each.name === ${JSON.stringify(name)})[0]${one};

test(${JSON.stringify(`${name} keeps ${promise} (${cause}: ${why})`)}, async () => {
  // The trace changes with the code. A fault that no longer strikes what it struck then fails this test: explore again.
  const { breaches, story } = await replay(options, ${JSON.stringify(replay)}, { sameTrace: false });
  if (breaches.length > 0) throw new Error(story);
}${runner === 'node' ? '' : ', 60_000'});
`;
}

/** The reports as JUnit XML: an exploration is a suite, and each finding a failed test. */
export function junit(reports: readonly ReportData[]): string {
  const suites = reports.map((report) => {
    const { name, findings, ms } = report;
    const cases = findings.map(
      ({ promise, cause, what, story, replay }) =>
        `    <testcase classname="${xml(name)}" name="${xml(`${promise} (${cause})`)}">\n` +
        `      <failure message="${xml(what)}">${xml(`${story}\nreplay: ${replay}`)}</failure>\n    </testcase>\n`,
    );
    const open = findings.length > 0 ? [] : reasonsOf(report);
    const skipped = open
      .map(({ kind, what }) => `<skipped message="${xml(`${kind}: ${what}`)}" />`)
      .slice(0, 1);
    const why = open.map(({ kind, what }) => `${kind}: ${what}`).join('\n');
    const inside =
      skipped.length > 0 ? `>${skipped[0]}<system-out>${xml(why)}</system-out></testcase>` : ' />';
    const passed =
      findings.length === 0 ? `    <testcase classname="${xml(name)}" name="every promise"${inside}\n` : '';
    const count = Math.max(1, findings.length);
    return `  <testsuite name="${xml(name)}" tests="${count}" failures="${findings.length}"${skipped.length > 0 ? ' skipped="1"' : ''} time="${(ms / 1000).toFixed(3)}">\n${cases.join('')}${passed}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function xml(text: string): string {
  const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (each) => named[each] as string).replace(/[^\n -\ufffd]/g, '?');
}

/**
 * Annotations for GitHub Actions, one for each finding.
 * @param pages the page with the timeline of each finding of each report, as `--out` has written them
 */
export function annotations(
  file: string,
  reports: readonly ReportData[],
  pages: readonly (readonly (string | undefined)[])[] = [],
): string {
  const escaped = (text: string): string =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  // Commas and colons separate the properties of an annotation.
  const property = (text: string): string => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const where = (title: string): string => `file=${property(file)},title=${property(title)}`;
  return reports
    .flatMap((report, i) => {
      const { name, findings } = report;
      const open = findings.length > 0 ? [] : reasonsOf(report);
      const why = open.map(({ kind, what }) => `${kind}: ${what}`).join('\n');
      return [
        ...(open.length > 0 ? [`::warning ${where(`${name}: inconclusive`)}::${escaped(why)}\n`] : []),
        ...findings.map(({ promise, cause, story, replay }, k) => {
          const page = pages[i]?.[k];
          const see = page === undefined ? '' : `\ntimeline: ${page}`;
          const text = escaped(`${story}\nreplay: ${replay}${see}`);
          return `::error ${where(`${name}: ${promise} (${cause})`)}::${text}\n`;
        }),
      ];
    })
    .join('');
}

/** How wide the bar is, in characters. */
const BAR = 20;

/** One line of progress: a bar, worlds a second, what was covered, and findings. */
export function progressLine({
  name,
  worlds,
  of,
  findings,
  perSecond,
  states,
  struck,
  strategy,
}: ExploreProgress): string {
  const done = Number.isFinite(of) ? Math.min(BAR, Math.floor((worlds / of) * BAR)) : 0;
  const bar = `${'#'.repeat(done)}${'.'.repeat(BAR - done)}`;
  const work = `${counted(worlds, 'world')}, ${perSecond.toFixed(0)}/s`;
  const covered = `${counted(states, 'state')}, ${counted(struck, 'kind')} of faults`;
  return `${name} [${bar}] ${work}, ${covered}, ${counted(findings, 'finding')}, ${strategy}  `;
}
