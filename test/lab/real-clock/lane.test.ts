/** The gate of a lane on the real clock: which waiting bytes pass and which stay. */
import { expect, test } from 'vitest';
import { RealClockLane } from '../../../lab/real-clock/lane.ts';

function heldLane(...messages: string[]) {
  const lane = new RealClockLane('A', 'B', Math.random);
  const arrived: string[] = [];
  const pass = (text: string): void =>
    lane.pass(
      lane,
      Buffer.from(text),
      (content) => void arrived.push(Buffer.from(content as Uint8Array).toString()),
    );
  lane.hold();
  for (const message of messages) pass(message);
  return { lane, arrived, pass };
}

test('a number of bytes may split a message, and its rest keeps waiting', () => {
  const { lane, arrived, pass } = heldLane('abc', 'defg', 'hij');
  expect([arrived, lane.waiting]).toEqual([[], 3]);
  lane.release({ bytes: 5 });
  expect([arrived, lane.waiting]).toEqual([['abc', 'de'], 2]);
  pass('behind');
  lane.release({ bytes: 2 });
  expect(arrived.slice(2)).toEqual(['fg']);
  lane.release();
  expect(arrived.slice(3)).toEqual(['hij', 'behind']);
  pass('open again');
  expect(arrived.at(-1)).toBe('open again');
});

test('messages so far can be released while the gate stays held', () => {
  const { lane, arrived, pass } = heldLane('a', 'b');
  lane.release({ messages: Infinity });
  pass('c');
  expect([arrived, lane.held, lane.waiting]).toEqual([['a', 'b'], true, 1]);
  lane.release({ bytes: Infinity });
  expect(arrived).toEqual(['a', 'b', 'c']);
});

test('nothing passes a cut lane, whatever is released; `heal` opens it unless it is held', () => {
  const { lane, arrived } = heldLane('a', 'b');
  lane.partition();
  lane.release({ messages: 1 });
  lane.release({ bytes: 1 });
  expect(arrived).toEqual([]);
  lane.heal();
  expect(arrived).toEqual([]);
  lane.partition();
  lane.release();
  expect(arrived).toEqual([]);
  lane.heal();
  expect(arrived).toEqual(['a', 'b']);
});

test('the receiver of a message may close the gate for the next one', () => {
  const lane = new RealClockLane('A', 'B', Math.random);
  const arrived: string[] = [];
  lane.hold();
  for (const name of ['a', 'b']) {
    lane.pass(lane, undefined, () => {
      arrived.push(name);
      lane.hold();
    });
  }
  lane.release();
  expect([arrived, lane.waiting]).toEqual([['a'], 1]);
});

test('a message waits for earlier ones of its own connection, and not for those of others', () => {
  const lane = new RealClockLane('A', 'B', Math.random);
  const arrived: string[] = [];
  const [one, other] = [{}, {}];
  const send = (carrier: object, name: string): void =>
    lane.pass(carrier, undefined, () => void arrived.push(name));
  lane.delay(100_000);
  send(one, 'late');
  lane.delay(0);
  send(one, 'behind it');
  send(other, 'of another connection');
  expect([arrived, lane.waiting]).toEqual([['of another connection'], 2]);
  lane.hold();
  send(other, 'held');
  lane.release({ messages: 3 });
  expect(arrived.slice(1)).toEqual(['held', 'late', 'behind it']);
  lane.close();
});
