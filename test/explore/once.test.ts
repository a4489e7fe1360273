/** What counts as done, and when it was done twice. */
import { expect, test } from 'vitest';
import { Ledger } from '../../explore/ledger.ts';
import { resourceFor } from '../../explore/session.ts';

/** Nothing is sent to a resource here. */
const carry = (): Promise<boolean> => Promise.reject(new Error('nothing is sent'));

/** Two clients at a resource that must be used once. */
function scene(name = 'job') {
  const ledger = new Ledger(() => 0);
  const client = (who: string) => ({ name: who, life: 1, paused: false, resumedAt: -1 });
  const [a, b] = [client('A'), client('B')];
  const enter = (who: typeof a) => resourceFor(ledger, who, carry, name, { once: true }).enter();
  const said = (): string[] =>
    ledger.breaches.filter(({ promise }) => promise === 'once').map(({ what }) => what);
  return { ledger, a, b, enter, said };
}

test('a second visit that leaves did it again, also one of the same client', () => {
  const { a, b, enter, said } = scene();
  enter(a).leave();
  expect(said()).toEqual([]);
  const second = enter(b);
  expect(said()).toEqual([]);
  second.leave();
  expect(said()).toEqual(['B did job after A had']);
  const other = scene();
  other.enter(other.a).leave();
  other.enter(other.a).leave();
  expect(other.said()).toEqual(['A did job again']);
});

test('where somebody writes, a visit without a write did nothing', () => {
  const { a, b, enter, said } = scene();
  const first = enter(a);
  first.write();
  first.leave();
  enter(b).leave();
  expect(said()).toEqual([]);
  enter(b).write();
  expect(said()).toEqual(['B did job after A had']);
});

test('a visit that a death or an error ended may be repeated, unless it had written', () => {
  const { ledger, a, b, enter, said } = scene();
  enter(a);
  ledger.died('A');
  enter(b);
  ledger.leave(ledger.inside[0]!, b, true);
  enter(a).leave();
  expect(said()).toEqual([]);
  const other = scene();
  other.enter(other.a).write();
  other.ledger.died('A');
  other.enter(other.b).write();
  expect(other.said()).toEqual(['B did job after A had']);
});

test('the probe does nothing a second time, and other resources may be used often', () => {
  const { ledger, a, enter, said } = scene();
  enter(a).leave();
  enter({ ...a, name: 'probe' }).leave();
  for (let i = 0; i < 2; i++) resourceFor(ledger, a, carry, 'other').enter().leave();
  expect(said()).toEqual([]);
});

test('what a resource has done under a key, it does not do again: the write changes nothing, and is answered as the first one was', async () => {
  const { ledger, a, b, said } = scene();
  const answers: unknown[] = [];
  const events: string[] = [];
  ledger.onEvent = (client, text) => events.push(`${client} ${text}`);
  const carried = (_: string, arrive: () => boolean): Promise<boolean> => Promise.resolve(arrive());
  for (const [who, key] of [
    [a, 'o1'],
    [b, 'o1'],
    [b, 'o1'],
  ] as const) {
    const inside = resourceFor(ledger, who, carried, 'charge', { once: true }).enter({ key });
    answers.push(inside.write(), await inside.send());
    inside.leave();
  }
  expect(said()).toEqual([]);
  expect(answers).toEqual([true, true, true, true, true, true]);
  expect(ledger.visits.map(({ writes }) => writes.map(({ taken }) => taken))).toEqual([
    [true, false],
    [false, false],
    [false, false],
  ]);
  expect(events).toContain('B writes to charge, which has done it under the key o1');
  resourceFor(ledger, b, carry, 'charge', { once: true }).enter({ key: 'o2' }).write();
  resourceFor(ledger, b, carry, 'charge', { once: true }).enter().write();
  expect(said()).toEqual(['B did charge after A had', 'B did charge after A had']);
});

test('a visit without writes repeats nothing under the key of the first one', () => {
  const { ledger, a, b, said } = scene();
  const leave = (who: typeof a, key?: string): void =>
    resourceFor(ledger, who, carry, 'job', { once: true }).enter({ key }).leave();
  leave(a, 'o1');
  leave(b, 'o1');
  expect(said()).toEqual([]);
  leave(b, 'o2');
  expect(said()).toEqual(['B did job after A had']);
});

test('a wrong option is refused by name', () => {
  const { ledger, a } = scene();
  expect(() => resourceFor(ledger, a, carry, 'r', { once: 1 as never })).toThrow(
    'option resource.once is 1; allowed: true or false',
  );
  expect(() => resourceFor(ledger, a, carry, 'r').enter({ key: 1 as never })).toThrow(
    'option enter.key is 1',
  );
});
