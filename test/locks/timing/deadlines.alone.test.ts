/** Many deadlines under one timer: each fires in time, whatever is removed, moved, thrown, or done to the clock. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallbackDeadline, Deadlines } from '../../../locks/timing/deadlines.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function track(deadlines: Deadlines) {
  const rung: string[] = [];
  const add = (name: string, inMs: number) => {
    const deadline = new CallbackDeadline(performance.now() + inMs, () => void rung.push(name));
    deadlines.add(deadline);
    return deadline;
  };
  return { rung, add };
}

test('each deadline fires in time, in whatever order they were added', () => {
  const { rung, add } = track(new Deadlines(false));
  add('late', 300);
  add('early', 100);
  add('between', 200);
  vi.advanceTimersByTime(99);
  expect(rung).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(rung).toEqual(['early']);
  vi.advanceTimersByTime(200);
  expect(rung).toEqual(['early', 'between', 'late']);
  expect(vi.getTimerCount()).toBe(0);
});

test('a removed deadline does not fire, and removing it again reports that it is gone', () => {
  const deadlines = new Deadlines(false);
  const { rung, add } = track(deadlines);
  const gone = add('gone', 100);
  add('stays', 150);
  expect(deadlines.remove(gone)).toBe(true);
  expect(deadlines.remove(gone)).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(rung).toEqual(['stays']);
  expect(deadlines.remove(gone)).toBe(false);
});

test('a moved deadline fires later', () => {
  const { rung, add } = track(new Deadlines(false));
  const moved = add('moved', 100);
  moved.at += 500;
  vi.advanceTimersByTime(599);
  expect(rung).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(rung).toEqual(['moved']);
});

test('a deadline beyond the longest timer fires in time', () => {
  const { rung, add } = track(new Deadlines(false));
  add('far', 2 ** 31 + 5000);
  add('never', Number.POSITIVE_INFINITY);
  vi.advanceTimersByTime(2 ** 31 + 4999);
  expect(rung).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(rung).toEqual(['far']);
});

test('a clock that is set back delays no deadline', () => {
  const { rung, add } = track(new Deadlines(false));
  add('due', 100);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(100);
  expect(rung).toEqual(['due']);
});

test('a deadline that throws does not stop the others', () => {
  const deadlines = new Deadlines(false);
  const { rung, add } = track(deadlines);
  deadlines.add(
    new CallbackDeadline(performance.now() + 100, () => {
      throw new Error('a listener failed');
    }),
  );
  add('other', 100);
  add('later', 200);
  expect(() => vi.advanceTimersByTime(100)).toThrow('a listener failed');
  vi.advanceTimersByTime(200);
  expect(rung).toEqual(['other', 'later']);
});

test('the process stays alive for deadlines, or not, as configured', () => {
  vi.useRealTimers();
  const waiting = (): number =>
    process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = waiting();
  const [kept, idle] = [new Deadlines(true), new Deadlines(false)];
  idle.add(new CallbackDeadline(performance.now() + 100_000, () => {}));
  expect(waiting()).toBe(before);
  kept.add(new CallbackDeadline(performance.now() + 100_000, () => {}));
  expect(waiting()).toBe(before + 1);
  for (const each of [kept, idle]) each.clear();
  expect(waiting()).toBe(before);
});

test('adding and removing deadlines in quick succession sets one timer, which ends soon afterwards', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const deadlines = new Deadlines(true);
  const { add } = track(deadlines);
  set.mockClear();
  for (let i = 0; i < 100; i++) deadlines.remove(add('answered', 3000));
  expect(set).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(50);
  expect(vi.getTimerCount()).toBe(0);
});

test('the process stays alive for a long deadline until it is removed', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const waited = (): boolean => (set.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef();
  const deadlines = new Deadlines(true);
  const { rung, add } = track(deadlines);
  const slow = add('slow', 3000);
  vi.advanceTimersByTime(1000);
  expect(waited()).toBe(true);
  deadlines.remove(slow);
  expect(waited()).toBe(false);
  add('next', 2500); // The timer is still there.
  expect(waited()).toBe(true);
  vi.advanceTimersByTime(2500);
  expect(rung).toEqual(['next']);
  expect(vi.getTimerCount()).toBe(0);
});

test('the process stays alive for deadlines until they are closed, and they still fire', () => {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const waited = (): boolean => (set.mock.results.at(-1)!.value as NodeJS.Timeout).hasRef();
  const deadlines = new Deadlines(true);
  const { rung, add } = track(deadlines);
  add('before', 100);
  expect(waited()).toBe(true);
  deadlines.close();
  expect(waited()).toBe(false);
  add('after', 40); // Earlier than the timer, which is set again.
  expect(waited()).toBe(false);
  vi.advanceTimersByTime(40);
  expect(waited()).toBe(false);
  vi.advanceTimersByTime(60);
  expect(rung).toEqual(['after', 'before']);
});

test('after close, no timer is left behind the last deadline, which Deno would report as a leak', () => {
  const deadlines = new Deadlines(true);
  const { add } = track(deadlines);
  const [first, second] = [add('first', 100), add('second', 20_000)];
  deadlines.close();
  deadlines.remove(first);
  expect(vi.getTimerCount()).toBe(1);
  deadlines.remove(second);
  expect(vi.getTimerCount()).toBe(0);
  deadlines.remove(add('of a request after close', 100));
  expect(vi.getTimerCount()).toBe(0);
});

test('close leaves no timer when the last deadline was removed before', () => {
  const deadlines = new Deadlines(true);
  deadlines.remove(track(deadlines).add('answered', 5000));
  expect(vi.getTimerCount()).toBe(1);
  deadlines.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('a clock that is set back while the process waits delays no deadline either', () => {
  const { rung, add } = track(new Deadlines(true));
  add('due', 1000);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(1000);
  expect(rung).toEqual(['due']);
});
