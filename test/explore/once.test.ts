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

test('a wrong option is refused by name', () => {
  const { ledger, a } = scene();
  expect(() => resourceFor(ledger, a, carry, 'r', { once: 1 as never })).toThrow(
    'option resource.once is 1; allowed: true or false',
  );
});
