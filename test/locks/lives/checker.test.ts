/** Proves that the history checker accepts good histories and finds the faults planted in bad ones. */
import { expect, test } from 'vitest';
import { check, type LockEvent, type Violation } from './checker.ts';

const grant = (hold: string, owner: string, more: object = {}): LockEvent => ({
  type: 'grant',
  lock: 'L',
  hold,
  owner,
  ...more,
});
const end = (hold: string): LockEvent => ({ type: 'end', lock: 'L', hold, how: 'released' });
const rules = (history: LockEvent[]): Violation['rule'][] => check(history).map(({ rule }) => rule);
const line = (type: 'arrive' | 'leave', owner: string): LockEvent => ({ type, lock: 'L', owner });
const units = (type: 'total' | 'left', count: number): LockEvent => ({ type, lock: 'L', units: count });
const latch = (type: 'down' | 'open'): LockEvent => ({ type, lock: 'L' });

test('good histories pass: turns, re-entry, readers together, a writer that reads, other locks', () => {
  expect(rules([grant('1', 'a'), end('1'), grant('2', 'b'), end('2')])).toEqual([]);
  expect(rules([grant('1', 'a'), grant('2', 'a'), end('1'), end('2')])).toEqual([]);
  expect(
    rules([grant('1', 'a', { shared: true }), grant('2', 'b', { shared: true }), end('1'), end('2')]),
  ).toEqual([]);
  expect(rules([grant('1', 'a'), grant('2', 'a', { shared: true }), end('1'), end('2')])).toEqual([]);
  expect(
    rules([grant('1', 'a'), grant('2', 'b', { lock: 'M' }), end('1'), { ...end('2'), lock: 'M' }]),
  ).toEqual([]);
});

test('two holders, a reader beside a writer and a reader that starts to write are found', () => {
  expect(rules([grant('1', 'a'), grant('2', 'b'), end('1'), end('2')])).toEqual(['exclusion']);
  expect(rules([grant('1', 'a', { shared: true }), grant('2', 'b'), end('1'), end('2')])).toEqual([
    'exclusion',
  ]);
  expect(rules([grant('1', 'a'), grant('2', 'b', { shared: true }), end('1'), end('2')])).toEqual([
    'exclusion',
  ]);
  expect(rules([grant('1', 'a', { shared: true }), grant('2', 'a'), end('1'), end('2')])).toEqual([
    'exclusion',
  ]);
});

test('holds that end twice, begin twice or never end are found', () => {
  expect(rules([grant('1', 'a'), end('1'), end('1')])).toEqual(['ends']);
  expect(rules([grant('1', 'a'), grant('1', 'a'), end('1')])).toEqual(['ends']);
  expect(rules([grant('1', 'a')])).toEqual(['orphan']);
});

test('fences that repeat or fall are found, and re-entry keeps its fence', () => {
  const fenced = (fences: number[]): LockEvent[] =>
    fences.flatMap((fence, index) => [grant(`${index}`, `${index}`, { fence }), end(`${index}`)]);
  expect(rules(fenced([1, 2, 5]))).toEqual([]);
  expect(rules(fenced([1, 1]))).toEqual(['fence']);
  expect(rules(fenced([2, 1]))).toEqual(['fence']);
  const again = (fence: number): LockEvent[] => [
    grant('1', 'a', { fence: 3 }),
    grant('2', 'a', { fence }),
    end('1'),
    end('2'),
  ];
  expect(rules(again(3))).toEqual([]);
  expect(rules(again(4))).toEqual(['fence']);
});

test('a waiter that overtakes the line is found, and a waiter that left the line does not count', () => {
  const two = [line('arrive', 'a'), line('arrive', 'b')];
  const turns = (...owners: string[]): LockEvent[] =>
    owners.flatMap((owner) => [grant(owner, owner), end(owner)]);
  expect(rules([...two, ...turns('a', 'b')])).toEqual([]);
  expect(rules([...two, ...turns('b', 'a')])).toEqual(['order']);
  expect(rules([...two, ...turns('c', 'a', 'b')])).toEqual(['order']);
  expect(rules([...two, line('leave', 'a'), ...turns('b')])).toEqual([]);
});

test('units that multiply or vanish are found', () => {
  const held = [units('total', 2), grant('1', 'a', { units: 2 })];
  expect(rules([...held, end('1'), units('left', 2)])).toEqual([]);
  expect(rules([...held, grant('2', 'b'), end('1'), end('2'), units('left', 2)])).toEqual(['conservation']);
  expect(rules([...held, end('1'), units('left', 1)])).toEqual(['conservation']);
  expect(rules([...held, end('1'), units('left', 3)])).toEqual(['conservation']);
});

test('a latch that opens early is found', () => {
  const set: LockEvent = { type: 'set', lock: 'L', count: 2 };
  expect(rules([set, latch('down'), latch('down'), latch('open')])).toEqual([]);
  expect(rules([set, latch('down'), latch('open')])).toEqual(['latch']);
});
