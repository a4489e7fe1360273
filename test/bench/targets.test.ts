/** What the bench says about its targets. */
import { expect, test } from 'vitest';
import type { Row } from '../../bench/report.ts';
import { TARGETS, type Target } from '../../bench/targets/list.ts';
import { judge, targetsPage } from '../../bench/targets/page.ts';

const rate = (name: string, ours: number): Row => ({ name, ours, other: 100, unit: 'requests/s' });
const target: Target = { row: 'GET', of: 'ratio', target: 0.95, plain: 'GET: plain' };

test.each([
  ['met', [96, 94, 97], [80, 80, 80]],
  ['missed', [94, 94, 97], [96, 96, 80]],
  ['missed by plain code too', [94, 94, 97], [96, 90, 90]],
  ['not measured', [94, 94], [96, 90, 90]],
])('the medians of the runs decide: %s', (verdict, ours, plain) => {
  const runs = plain.map((figure, i) => [
    ...(ours[i] === undefined ? [] : [rate('GET', ours[i])]),
    rate('GET: plain', figure),
  ]);
  expect(judge(target, runs)).toMatchObject({ verdict, others: plain.map((each) => each / 100) });
});

test('a figure without a ratio is compared with the target: times must not exceed it, rates must reach it', () => {
  const stall: Target = { row: 'stall', of: 'figure', target: 5 };
  const longest = (ours: number): Row => ({ name: 'stall', ours, other: 1, unit: 'ms', lessIsBetter: true });
  expect([judge(stall, [[longest(4)]]).verdict, judge(stall, [[longest(6)]]).verdict]).toEqual([
    'met',
    'missed',
  ]);
  const worlds: Target = { ...target, of: 'figure', target: 1000 };
  expect([judge(worlds, [[rate('GET', 1001)]]).verdict, judge(worlds, [[rate('GET', 999)]]).verdict]).toEqual(
    ['met', 'missed'],
  );
});

test('CPU time is compared if that is the target', () => {
  const row: Row = { ...rate('GET', 50), cpu: [2, 3] };
  expect(judge({ ...target, of: 'CPU ratio', target: 1.5 }, [[row]])).toMatchObject({
    verdict: 'met',
    ours: [1.5],
  });
  // Not every system tells it.
  for (const unknown of [rate('GET', 100), { ...row, cpu: [Number.NaN, Number.NaN] as const }])
    expect(judge({ ...target, of: 'CPU ratio' }, [[unknown]]).verdict).toBe('not measured');
});

test('the page counts the verdicts and has a line for each target', () => {
  const lines = targetsPage([[]], 'here').split('\n');
  expect(lines).toContain(`0 met, 0 missed by plain code too, 0 missed, ${TARGETS.length} not measured.`);
  expect(lines.filter((line) => line.startsWith('| ') && line.endsWith('**not measured** |'))).toHaveLength(
    TARGETS.length,
  );
});
