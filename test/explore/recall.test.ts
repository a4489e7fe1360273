/** Recall: by default options every defect that the baseline names is found, and nothing in sound forms. A sample; all in a long run. */
import '../../lab/router.ts';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Baseline, worseThan } from '../../bench/recall/baseline.ts';
import { leftOut, recallCases } from '../../bench/recall/list.ts';
import { playSound, playUnsafe, WORLDS } from '../../bench/recall/play.ts';
import { isLongRun, sampleOf } from '../support/long.ts';

const baseline = JSON.parse(readFileSync('bench/recall/baseline.json', 'utf8')) as Baseline;
const cases = recallCases();
/** Cases whose defects show in the first worlds. */
const SAMPLE = [
  'redis-semaphore #205',
  'queues of LINDEX and LPOP',
  'waiters wake on DEL only',
  'sound: standby',
];
const wanted = cases.filter(({ name }) => isLongRun || SAMPLE.includes(name));

test.each(
  wanted.filter(({ unsafe }) => unsafe !== undefined).map((each) => [each.group, each.name, each] as const),
)('%s %s is found', async (group, name, each) => {
  const { verdict, what } = await playUnsafe(each, sampleOf(WORLDS, 30));
  expect(worseThan(baseline[`${group} ${name}`], verdict), what).toBe(false);
});

test.each(
  wanted.filter(({ sound }) => sound !== undefined).map((each) => [each.group, each.name, each] as const),
)('nothing is found in the sound form of %s %s', async (group, name, each) => {
  const { verdict, story } = await playSound(each, sampleOf(WORLDS, 6));
  expect(worseThan(baseline[`sound ${group} ${name}`], verdict), story).toBe(false);
});

test('every case has its verdict in the baseline, and the baseline names nothing else', () => {
  const forms = cases.flatMap(({ group, name, unsafe, sound }) => [
    ...(unsafe === undefined ? [] : [`${group} ${name}`]),
    ...(sound === undefined ? [] : [`sound ${group} ${name}`]),
  ]);
  expect(new Set(forms).size).toBe(forms.length);
  expect(Object.keys(baseline).sort()).toEqual(forms.sort());
});

test('nine in ten reports are found, no more than three are left out, and no sound form alarms', () => {
  const reports = Object.entries(baseline).filter(([name]) => name.startsWith('report '));
  const found = reports.filter(([, verdict]) => verdict === 'found');
  expect(found.length / reports.length).toBeGreaterThanOrEqual(0.9);
  expect(leftOut.length).toBeLessThanOrEqual(3);
  expect(Object.values(baseline)).not.toContain('false alarm');
});

test('a result is worse when what was good is not good any more, or a new form is not', () => {
  expect(worseThan('found', 'missed')).toBe(true);
  expect(worseThan('clean', 'false alarm')).toBe(true);
  expect(worseThan(undefined, 'missed')).toBe(true);
  expect(worseThan('missed', 'missed')).toBe(false);
  expect(worseThan('missed', 'found')).toBe(false);
});
