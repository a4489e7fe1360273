/** The trace of a world: a long one, which is kept in pages, reads the same as one whose events were read at once. */
import { expect, test } from 'vitest';
import { Trace } from '../../../lab/time/trace.ts';

function record(events: number, read: (trace: Trace) => void = () => {}): Trace {
  let at = 0;
  const trace = new Trace(() => at);
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
  const unread = record(400_500);
  const read = record(400_500, (trace) => trace.events);
  expect(unread).toHaveLength(400_500);
  expect(unread.hash()).toBe(read.hash());
  expect(unread.events).toHaveLength(200_500);
  expect(read.events[0]).toEqual(unread.events[0]);
});
