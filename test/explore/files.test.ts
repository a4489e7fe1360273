/** What an exploration writes: histories, tests to commit, JUnit, annotations, progress, and merged reports. */
import { expect, test } from 'vitest';
import { chosenFrom } from '../../cli/explore/arguments.ts';
import { exploreCommand } from '../../cli/explore/command.ts';
import { annotations, historyLines, junit, progressLine, testFile } from '../../cli/explore/files.ts';
import { indexPage } from '../../cli/explore/index-page.ts';
import { markdown } from '../../cli/explore/markdown.ts';
import { mergeReports } from '../../explore/merging.ts';
import { ExploreReport } from '../../explore/report.ts';
import type { Asked, Coverage, Finding, ReportData } from '../../explore/report-data.ts';
import type { InconclusiveKind } from '../../explore/verdict.ts';

const finding: Finding = {
  promise: 'mutual-exclusion',
  cause: 'client-pause',
  what: 'B entered <r> while A was still inside',
  sentence: 'B got the lock of <r> while A was inside.',
  fingerprint: '3f9c01d7a2',
  reason: 'the lease of the first holder ended',
  strategy: 'one fault',
  events: [{ at: 1, who: 'A', text: 'enters r' }],
  story: 'lock: mutual-exclusion is broken (client-pause)\n  1.0 ms  A  100 % */',
  replay: '2:1:0:A,B:client-pause@A.enters.r.1/A/300=A:0123456789ab',
  worlds: 2,
  firstIn: 7,
  notRepeatable: undefined,
};

function report(change: Partial<ReportData> = {}): ReportData {
  const coverage = {
    faults: { 'client-pause': 3 },
    calm: 7,
    broken: { 'client-pause': { 'mutual-exclusion': 2 } },
    states: 5,
    contended: 1,
    strategies: { 'one fault': 9 },
    singles: { all: 20, share: 20, played: 9, cut: 3 },
    ...{
      leases: [],
      scale: 1000,
      judged: {},
      errors: {},
      gaveUp: 0,
      waiting: 0,
      fenced: 0,
      recorded: 0,
      triedAgain: 1,
      leaseEnded: 0,
    },
    ...{ calmErrors: [], calmRefusals: [], labErrors: [] },
  };
  return {
    version: 2,
    name: 'lock',
    versions: { lostlock: '0.1.0', node: 'v24.0.0' },
    asked: {
      ...{ namesFaults: true, namedPromises: [], limited: false, seed: 1, hash: '0123456789ab' },
      shard: { index: 1, of: 1 },
      clients: ['A', 'B'],
      faults: ['client-pause'],
      accept: [],
      promises: ['mutual-exclusion', 'contended'],
    },
    accepted: [],
    findings: [finding],
    worlds: 10,
    coverage,
    ms: 1500,
    interrupted: false,
    output: { lines: [], count: 0 },
    ...change,
  };
}

/** The report of a shard. */
const part = (index: number, change: Partial<ReportData> = {}, asked: Partial<Asked> = {}): ReportData => {
  const whole = report(change);
  return { ...whole, asked: { ...whole.asked, ...asked, shard: { index, of: 2, ...asked.shard } } };
};

test('reports of shards merge: findings of one reason are one, and the shortest story stays', () => {
  const longer = { ...finding, events: [...finding.events, ...finding.events], worlds: 5 };
  const merged = mergeReports([part(1, { findings: [longer] }), part(2)]);
  expect(merged.findings).toEqual([{ ...finding, worlds: 7 }]);
  expect(merged).toMatchObject({
    worlds: 20,
    ms: 1500,
    asked: { shard: { index: 1, of: 1 } },
    coverage: { faults: { 'client-pause': 6 }, singles: { all: 20, share: 40, played: 18, cut: 3 } },
  });
  expect(() => mergeReports([])).toThrow(RangeError);
});

test('limits of leases come last in a merged report', () => {
  const limit = { ...finding, fingerprint: 'aaaaaaaaaa', isLimit: true };
  const { findings } = mergeReports([report({ findings: [limit, { ...finding, isLimit: false }] })]);
  expect(findings.map(({ isLimit }) => isLimit)).toEqual([false, true]);
});

test('reports that do not belong together, or are not all of it, do not merge', () => {
  const of = (index: number): Partial<Asked> => ({ shard: { index, of: 4 } });
  expect(mergeReports([part(3, {}, of(3)), part(4, {}, of(4))]).asked.shard).toEqual({ index: 2, of: 2 });
  for (const [reports, message] of [
    [[part(1), part(1)], 'lock: shard 1 of 2 is there twice'],
    [[part(1, {}, of(1)), part(2, {}, of(2)), part(4, {}, of(4))], 'lock: shard 3 of 4 is missing'],
    [[part(1), part(2, {}, { hash: 'ba9876543210' })], 'one has other options, or other code of the client'],
    [[part(1), part(2, { name: 'other' })], 'one is of other'],
    [[part(1), part(2, { versions: { lostlock: '0.0.9', node: '' } })], 'one was made by lostlock 0.0.9'],
    [[part(1), part(2, {}, of(2))], 'one is a part of 4, and the first one of 2'],
  ] as const)
    expect(() => mergeReports(reports)).toThrow(message);
});

test('a shard in which no fault struck proves nothing; another one in which some struck makes up for it', () => {
  const calm = part(1, { findings: [], coverage: { ...report().coverage, faults: {} } });
  expect(mergeReports([calm, part(2, { findings: [] })]).reasons).toEqual([]);
  expect(new ExploreReport(calm).reasons.map(({ kind }) => kind)).toEqual(['no-fault']);
});

test('a report without findings asserts nothing', () => {
  const clean = new ExploreReport(report({ findings: [] }));
  expect([clean.verdict, clean.assertNone()]).toEqual(['clean', undefined]);
});

test.each<[InconclusiveKind, Partial<Coverage>, Partial<Asked>, string]>([
  ['unplayed', {}, { limited: true }, '9 of 20 worlds with one fault were played'],
  ['unplayed', { pairs: 5 }, {}, '0 of 5 worlds with two faults were played'],
  [
    'unstruck',
    { faults: { 'client-pause': 3, delay: 0 } },
    { faults: ['client-pause', 'delay'] },
    'never struck: delay',
  ],
  [
    'unjudged',
    { judged: { fencing: 0 } },
    { namedPromises: ['fencing'] },
    'fencing had nothing to judge (it has nothing if no two clients enter with a fence)',
  ],
  [
    'calm-error',
    { calmErrors: ['A ended with Error: NOSCRIPT'] },
    {},
    'without any fault, A ended with Error: NOSCRIPT',
  ],
  ['gave-up', { gaveUp: 10 }, {}, 'errors ended clients in 10 of 10 worlds'],
  ['uncontended', { contended: 0 }, {}, 'operations of two clients on one key or resource never overlapped'],
  ['no-fault', { faults: { 'client-pause': 0 } }, {}, 'no fault ever struck'],
  [
    'no-fault',
    { faults: { 'client-pause': 0 } },
    { promises: ['mutual-exclusion'], namedPromises: ['mutual-exclusion'] },
    'no fault ever struck',
  ],
  ['lab-error', { labErrors: ['world 3 cannot be played'] }, {}, 'world 3 cannot be played'],
])('a report is inconclusive (%s), and says why', (kind, coverage, asked, what) => {
  const base = report({ findings: [] });
  const data = { ...base, coverage: { ...base.coverage, ...coverage }, asked: { ...base.asked, ...asked } };
  const found = new ExploreReport(data);
  expect([found.verdict, found.reasons]).toEqual(['inconclusive', [{ kind, what }]]);
  expect(() => found.assertNone()).toThrow(
    `${kind}: ${what}\nTo accept that: assertNone({ allow: ['${kind}'] })`,
  );
  expect(found.assertNone({ allow: [kind] })).toBeUndefined();
  expect(String(found)).toContain(`inconclusive (${kind}): `);
  expect(junit([found])).toContain(`<skipped message="${kind}: `);
  expect(annotations('a.ts', [found])).toMatch(/^::warning file=a\.ts,title=lock%3A inconclusive::/);
  const broken = new ExploreReport({ ...data, findings: [finding] });
  expect(broken.verdict).toBe('broken');
  expect(() => broken.assertNone({ allow: [kind] })).toThrow('a broken promise');
});

test('of defaults that never struck, the report only lists them; a wrong reason to allow is refused', () => {
  const base = report({ findings: [] });
  const asked: Asked = { ...base.asked, faults: ['client-pause', 'delay'], namesFaults: false };
  const faults = { 'client-pause': 3, delay: 0 };
  const found = new ExploreReport({ ...base, asked, coverage: { ...base.coverage, faults } });
  expect(found.verdict).toBe('clean');
  expect(String(found)).toContain('\nnever struck: delay\n');
  expect(() => found.assertNone({ allow: ['unplaid' as 'unplayed'] })).toThrow(
    /assertNone\.allow is 'unplaid'/,
  );
});

test('a history is JSON lines with a head', () => {
  const visit = {
    id: 0,
    client: 'A',
    life: 1,
    resource: 'r',
    from: 1,
    to: Infinity,
    fence: undefined,
    shared: false,
  } as const;
  const rest = { permits: 1, writes: [], ended: undefined, refused: false, askedAfter: 0 };
  const history = {
    lanes: ['A', 'redis-1'],
    visits: [{ ...visit, ...rest }],
    lives: [],
    operations: [],
    toldAt: 9,
    endedAt: 9,
    probe: [{ ...visit, ...rest, client: 'probe', to: 2 }],
    faults: [],
    lines: [],
    writes: [],
    lost: [],
    messages: [],
  };
  const rows = historyLines('lock', finding, history)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(rows).toMatchObject([
    { type: 'head', format: 1, name: 'lock', lanes: ['A', 'redis-1'], replay: finding.replay },
    { type: 'event', who: 'A' },
    { type: 'visit', client: 'A', to: null },
    { type: 'probe', client: 'probe', to: 2 },
  ]);
});

test('a test file plays the finding again, in each runner', () => {
  expect(testFile('vitest', '../../my.explore.ts', 'lock', finding)).toMatch(
    /type ExploreOptions, [\s\S]*from 'vitest';\nimport \* as explorations from "..\/..\/my.explore";[\s\S]*throw new Error\(story\)/,
  );
  expect(testFile('jest', './a.js', 'lock', finding)).toContain("from '@jest/globals'");
  expect(testFile('jest', './a.js', 'lock', finding)).not.toContain('ExploreOptions');
  const node = testFile('node', './a.ts', 'lock', finding);
  expect(node).toContain('from "./a.ts"');
  expect(node).toContain(
    'test("lock keeps mutual-exclusion (client-pause: B got the lock of <r> while A was inside)"',
  );
  expect(node.indexOf('*/')).toBe(node.indexOf('\n */\n') + 2);
});

test('an annotation names the page of its timeline', () => {
  const pages = [['out/findings/lock-1.html']];
  expect(annotations('a.ts', [report()], pages)).toContain('%0Atimeline: out/findings/lock-1.html\n');
  expect(annotations('a.ts', [report()], [[undefined]])).not.toContain('timeline');
});

test('JUnit and annotations escape what they quote', () => {
  expect(junit([report()])).toContain('message="B entered &lt;r&gt; while A was still inside"');
  expect(junit([report({ findings: [] })])).toContain(
    '<testsuite name="lock" tests="1" failures="0" time="1.500">',
  );
  expect(annotations('a.ts', [report()])).toBe(
    `::error file=a.ts,title=lock%3A mutual-exclusion (client-pause)::lock: mutual-exclusion is broken (client-pause)%0A  1.0 ms  A  100 %25 */%0Areplay: ${finding.replay}\n`,
  );
});

test('the page of all findings has their stories and timelines, and nothing in them acts as markup', () => {
  const files = { test: undefined, timeline: 'findings/a lock-1.html' };
  const page = indexPage([{ report: report({ name: '<b>' }), files: [files] }]);
  expect(page).toContain('<h2>&#60;b&#62;: 1 finding in 10 worlds');
  expect(page).toContain(
    '1 mutual-exclusion (client-pause): B got the lock of &#60;r&#62; while A was inside.',
  );
  expect(page).toContain('src="findings/a%20lock-1.html"');
  expect(page).toContain('client-pause       3');
  expect(page).not.toMatch(/<b>|<r>|<script/);
});

test('the summary for GitHub has each finding, within the size that GitHub takes', () => {
  const told = markdown([report({ name: 'a_lock' })]);
  expect(told).toMatch(/^## a\\_lock: 1 finding in 10 worlds/);
  expect(told).toContain(
    '### 1 mutual-exclusion (client-pause): B got the lock of \\<r\\> while A was inside.',
  );
  expect(told).toMatch(/```text\nlock: mutual-exclusion is broken[\s\S]*replay: 2:1:0/);
  const long = report({
    findings: Array.from({ length: 300 }, () => ({ ...finding, story: 'x'.repeat(3000) })),
  });
  const cut = markdown([long]);
  expect(cut.length).toBeLessThan(250_000);
  expect(cut).toMatch(/```\n\n+More does not fit here\.\n$/);
});

test('progress is one line', () => {
  const progress = {
    name: 'lock',
    worlds: 50,
    of: 100,
    findings: 1,
    perSecond: 200.4,
    states: 9,
    struck: 3,
    strategy: 'random',
    ...{ coverage: report().coverage, promises: ['mutual-exclusion'] },
  };
  expect(progressLine(progress).trimEnd()).toBe(
    'lock [##########..........] 50 worlds, 200/s, 9 states, 3 kinds of faults, 1 finding, random',
  );
});

test('an annotation keeps the commas and colons of a name', () => {
  expect(annotations('a,b.ts', [report({ name: 'a: b, c' })])).toMatch(
    /^::error file=a%2Cb.ts,title=a%3A b%2C c%3A mutual-exclusion \(client-pause\)::/,
  );
});

test('options that would do nothing are refused by name', () => {
  for (const [line, message] of [
    ['--worlds 5', 'explore needs a file'],
    ['a.ts --on redis-server', '--on needs --replay'],
    ['a.ts --runner jest', '--runner needs --out'],
    ['a.ts --replay x --worlds 5', '--worlds does nothing with --replay'],
    ['a.ts --replay x --out o', '--out does nothing with --replay'],
    ['a.ts --replay x --merge a.json', '--merge does nothing with --replay'],
    ['--merge a.json --seed 5', '--seed does nothing with --merge'],
    ['--merge a.json --progress', '--progress does nothing with --merge'],
  ] as const)
    expect(() => chosenFrom(line.split(' '))).toThrow(message);
  expect(() => chosenFrom([])).toThrow('explore needs a file');
  expect(chosenFrom(['--help'])).toBeUndefined();
  expect(chosenFrom(['a.ts', '--seed', '0'])?.seed).toBe(0);
  expect(chosenFrom(['--merge', 'a.json', '--out', 'o', '--runner', 'jest'])?.merge).toEqual(['a.json']);
});

test('wrong flags of the command end with status 2', async () => {
  expect(await exploreCommand(['a.ts', '--shard', '3/2'])).toBe(2);
  expect(await exploreCommand(['a.ts', '--worlds', 'many'])).toBe(2);
  expect(await exploreCommand(['a.ts', '--exhaustive', '3'])).toBe(2);
  expect(await exploreCommand(['a.ts', '--colour'])).toBe(2);
  expect(await exploreCommand(['a.ts', '--on', 'redis-server'])).toBe(2);
  expect(await exploreCommand(['--merge', 'nowhere.json'])).toBe(2);
  expect(await exploreCommand(['nowhere.ts'])).toBe(2);
});
