/** The trace of a world: a long one, which is kept in pages, reads the same as one whose events were read at once. */
import { expect, test } from 'vitest';
import { Trace } from '../../../lab/time/trace.ts';

/** @param kept how many events the trace keeps */
function record(events: number, read: (trace: Trace) => void = () => {}, kept?: number): Trace {
  let at = 0;
  const trace = new Trace(() => at, kept);
  read(trace);
  for (let i = 0; i < events; i++) {
    at += 3_000_000;
    if (i % 100 === 7) trace.note('redis-1', 'lost', `名${i}`);
    else if (i % 100 === 8) trace.note('A:1>n', 'data', 'é'.repeat(5000), { sent: at - 2, due: at - 1 });
    else trace.note('A:1>n', i % 2 ? 'data' : 'end', i % 2 ? `\x00${i}` : '', { sent: at - 2, due: at - 1 });
  }
  return trace;
}

test('events that nobody has read are the same as those that somebody has', () => {
  const unread = record(2500);
  let early: Trace['events'] = [];
  const read = record(2500, (trace) => (early = trace.events));
  expect(unread).toHaveLength(2500);
  expect(unread.hash()).toBe(read.hash());
  expect(unread.events).toEqual(early);
  expect(unread.hash()).toBe(read.hash());
  unread.note('A', 'pause');
  read.note('A', 'pause');
  expect(unread.toString()).toBe(read.toString());
  expect(early.at(-1)?.what).toBe('pause');
});

test('the oldest of very many events are no longer kept, but part of the hash', () => {
  const unread = record(4500, undefined, 2000);
  const read = record(4500, (trace) => trace.events, 2000);
  expect(unread).toHaveLength(4500);
  expect(unread.hash()).toBe(read.hash());
  expect(unread.hash()).toBe(record(4500).hash());
  expect(unread.events).toHaveLength(2500);
  expect(unread.events).toEqual(read.events);
});
