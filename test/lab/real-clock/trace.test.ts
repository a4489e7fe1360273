/** The record of a pair on the real clock: parts of messages, losses, and how much is kept. */
import { expect, test } from 'vitest';
import { RealClockTrace } from '../../../lab/real-clock/trace.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');

test('a message that its lane splits arrives in parts, and what is left of it waits or is lost', () => {
  const trace = new RealClockTrace();
  expect(trace.sent('A:1>n', bytes('x'))).toBeUndefined();
  trace.begin();
  const message = trace.sent('A:1>n', bytes('abcdef'));
  const shown = () =>
    trace.messages.map(({ detail, outcome, why }) => [detail, outcome, why].filter(Boolean));
  message?.arrived(2);
  expect(shown()).toEqual([
    ['ab', 'arrived'],
    ['cdef', 'waiting'],
  ]);
  message?.arrived(3);
  message?.lost('gone');
  message?.lost('twice');
  expect(shown()).toEqual([
    ['ab', 'arrived'],
    ['cde', 'arrived'],
    ['f', 'lost', 'gone'],
  ]);
});

test('the oldest messages are dropped when there are too many, or too many bytes', () => {
  const trace = new RealClockTrace({ entries: 4, bytes: 100 });
  trace.begin();
  const send = (text: string) => trace.sent('A:1>n', bytes(text))?.arrived(text.length);
  // The first messages of a connection stay, as long as there are not too many of them.
  for (const text of ['first', 'f2', 'f3', 'f4']) send(text);
  for (let i = 0; i < 7; i++) send(String(i));
  const shown = () => trace.messages.map(({ detail }) => detail.slice(0, 5));
  expect(shown()).toEqual(['first', 'f2', 'f3', 'f4', '2', '3', '4', '5', '6']);
  send('x'.repeat(98));
  expect(shown()).toEqual(['first', 'f2', 'f3', 'f4', '5', '6', 'xxxxx']);
  send('y'.repeat(98));
  expect(shown()).toEqual(['first', 'f2', 'f3', 'f4', 'yyyyy']);
  for (let i = 0; i < 7; i++) trace.note('n', 'pause', String(i));
  expect(trace.events.map(({ detail }) => detail)).toEqual(['2', '3', '4', '5', '6']);
});

test('the first messages of connections, too, are kept up to the limit of bytes', () => {
  const trace = new RealClockTrace({ entries: 1000, bytes: 1000 });
  trace.begin();
  for (let connection = 0; connection < 50; connection++) {
    trace.sent(`A:${connection}>n`, bytes('x'.repeat(100)))?.arrived(100);
  }
  expect(trace.messages.length).toBe(20);
  expect(trace.messages.at(-1)?.who).toBe('A:49>n');
});
