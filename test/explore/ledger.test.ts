/** When two clients count as inside one resource at the same time, and what a plan's text keeps. */
import { expect, test } from 'vitest';
import { Ledger } from '../../explore/ledger.ts';
import { decodePlan, encodePlan, type WorldPlan } from '../../explore/plan.ts';
import { resourceFor } from '../../explore/session.ts';
import type { Visit } from '../../explore/visit.ts';

/** Nothing is sent. */
const nowhere = (): Promise<boolean> => Promise.reject(new Error('nothing is sent in this test'));

/** A ledger, two clients, and a clock that a test sets. */
function scene(written?: ReadonlySet<string>) {
  let now = 0;
  const ledger = new Ledger(() => now, written);
  const client = (name: string) => ({ name, life: 1, paused: false, resumedAt: -1 });
  const at = (time: number): void => {
    now = time;
  };
  return { ledger, a: client('A'), b: client('B'), at };
}

test('two clients that are inside at once break exclusion; readers do not', () => {
  const { ledger, a, b } = scene();
  ledger.enter(a, 'r', 1, { shared: true });
  ledger.enter(b, 'r', 1, { shared: true });
  expect(ledger.breaches).toEqual([]);
  ledger.enter(a, 's', 1, {});
  ledger.enter(b, 's', 1, {});
  expect(ledger.breaches).toMatchObject([{ promise: 'mutual-exclusion', visits: [2, 3] }]);
});

test.each([
  [undefined, 1],
  [new Set(['r']), 0],
])(
  'a client that stalls before anybody writes, and then only leaves: without faults the code writes to %o',
  (written, breaches) => {
    const { ledger, a, b, at } = scene(written);
    const first = ledger.enter(a, 'r', 1, {});
    a.paused = true;
    at(100);
    ledger.enter(b, 'r', 1, {});
    a.paused = false;
    a.resumedAt = 200;
    at(200);
    ledger.leave(first, a);
    expect(ledger.breaches).toHaveLength(breaches);
  },
);

test('a client that stalls does harm only if it acts afterwards', () => {
  const { ledger, a, b, at } = scene();
  const first = ledger.enter(a, 'r', 1, {});
  ledger.write(first, a);
  a.paused = true;
  at(100);
  const second = ledger.enter(b, 'r', 1, {});
  ledger.leave(second, b);
  a.paused = false;
  a.resumedAt = 200;
  at(200);
  ledger.leave(first, a);
  expect(ledger.breaches).toEqual([]);
});

test('a client that writes after another was in breaks exclusion, even when the other has left', () => {
  const { ledger, a, b, at } = scene();
  const first = ledger.enter(a, 'r', 1, {});
  a.paused = true;
  at(100);
  ledger.leave(ledger.enter(b, 'r', 1, {}), b);
  expect(ledger.breaches).toEqual([]);
  a.paused = false;
  a.resumedAt = 200;
  at(200);
  ledger.write(first, a);
  expect(ledger.breaches).toMatchObject([{ promise: 'mutual-exclusion', at: 200 }]);
});

test("a client that waits for the answer to a write that came in time is in nobody's way; a late write is", () => {
  const { ledger, a, b, at } = scene();
  const first = ledger.enter(a, 'r', 1, {});
  expect(ledger.send(first, a)).toBe(true);
  expect(ledger.send(first, a)).toBe(true);
  at(1);
  expect(ledger.arrive(first, 0)).toBe(true);
  at(100);
  ledger.leave(ledger.enter(b, 'r', 1, {}), b);
  ledger.answered(first);
  expect(ledger.breaches).toEqual([]);
  ledger.leave(first, a);
  at(200);
  expect(ledger.arrive(first, 0)).toBe(true);
  const what = 'a write of A arrived at r after B had entered and left it';
  expect(ledger.breaches).toEqual([{ promise: 'mutual-exclusion', at: 200, what, visits: [0, 1] }]);
  expect(first.writes).toEqual([
    { at: 1, taken: true, sent: 0 },
    { at: 200, taken: true, sent: 0 },
  ]);
  expect(ledger.send(first, a)).toBe(false);
});

test('a breach says who was inside, who came, and what showed it', () => {
  const told = (play: (stage: ReturnType<typeof scene>) => void): string[] => {
    const stage = scene();
    play(stage);
    return stage.ledger.breaches.map(({ what }) => what);
  };
  const entered = 'B entered r while A was still inside';
  expect(
    told(({ ledger, a, b }) => {
      ledger.enter(a, 'r', 1, {});
      ledger.enter(b, 'r', 1, {});
    }),
  ).toEqual([entered]);
  const afterPause = (act: (stage: ReturnType<typeof scene>, visits: Visit[]) => void) =>
    told((stage) => {
      const { ledger, a, b, at } = stage;
      const first = ledger.enter(a, 'r', 1, {});
      a.paused = true;
      const second = ledger.enter(b, 'r', 1, {});
      a.paused = false;
      a.resumedAt = 100;
      at(200);
      act(stage, [first, second]);
    });
  expect(afterPause(({ ledger, a }, [first]) => ledger.write(first!, a))).toEqual([
    `${entered}, and then A wrote to it`,
  ]);
  expect(afterPause(({ ledger, b }, [, second]) => ledger.write(second!, b))).toEqual([
    'B wrote to r while A was still inside',
  ]);
  expect(afterPause(({ ledger, b }, [, second]) => ledger.leave(second!, b))).toEqual([entered]);
  expect(
    told(({ ledger, a, b }) => {
      ledger.enter(a, 'r', 1, {});
      ledger.enter(b, 'r', 1, { shared: true });
    }),
  ).toEqual(['the reader B entered r while the writer A was still inside']);
});

test('with fences the resource decides: a smaller one is refused, an equal one breaks exclusion', () => {
  const { ledger, a, b } = scene();
  const first = ledger.enter(a, 'r', 1, { fence: 1 });
  expect(ledger.enter(b, 'r', 1, { fence: 2 }).refused).toBe(false);
  expect(ledger.write(first, a)).toBe(false);
  expect(ledger.enter(a, 'r', 1, { fence: 1 }).refused).toBe(true);
  expect(ledger.breaches).toEqual([]);
  ledger.enter(a, 'r', 1, { fence: 2 });
  expect(ledger.breaches).toMatchObject([{ promise: 'mutual-exclusion' }]);
});

test('more permits in use than there are break the promise of permits', () => {
  const { ledger, a, b } = scene();
  ledger.enter(a, 'pool', 3, { permits: 2 });
  ledger.enter(b, 'pool', 3, {});
  expect(ledger.breaches).toEqual([]);
  ledger.enter(b, 'pool', 3, {});
  expect(ledger.breaches).toMatchObject([
    { promise: 'permits', what: '4 permits of pool are in use, but there are only 3' },
  ]);
});

test('visits end with their process', () => {
  const { ledger, a, b } = scene();
  ledger.enter(a, 'r', 1, {});
  ledger.died('A');
  ledger.enter(b, 'r', 1, {});
  expect(ledger.breaches).toEqual([]);
  expect(ledger.visits[0]).toMatchObject({ ended: 'died', to: 0 });
});

test('the text of a plan keeps all of it', () => {
  const fault = { kind: 'delay', at: 41.007, on: 'A', ms: 20, by: 1200, how: 'replies' } as const;
  const bare = { kind: 'script-flush', at: 3, on: '', ms: 0, by: 0, how: '' } as const;
  const plan: WorldPlan = { seed: 7, clients: ['A', 'C'], jitter: 1, faults: [fault, bare] };
  const text = encodePlan(plan, '0123456789abcdef');
  expect(text).toBe('1:7:1:A,C:delay@41.007/A/20/1200/replies;script-flush@3//0/0:0123456789ab');
  expect(decodePlan(text)).toEqual({ plan, hash: '0123456789ab', byTime: true });
  expect(decodePlan('3:7:1:A::0123456789ab')).toBeUndefined();
  expect(decodePlan('1:7:1:A:delay@x/A:0123456789ab')).toBeUndefined();
});

test('wrong options of a resource and of an entry are refused by name', () => {
  const { ledger, a } = scene();
  const enter = (options: object): unknown => resourceFor(ledger, a, nowhere, 'r').enter(options);
  expect(() => resourceFor(ledger, a, nowhere, 'r', { permits: 0 })).toThrow('option resource.permits is 0');
  expect(() => enter({ shared: 'yes' })).toThrow("option enter.shared is 'yes'; allowed: true or false");
  expect(() => enter({ fence: '7' })).toThrow("option enter.fence is '7'");
  expect(() => enter({ permits: 0.5 })).toThrow('option enter.permits is 0.5');
  expect(() => enter({ permits: 2 })).toThrow('option enter.permits is 2; allowed: 1 for a resource with');
  const pool = resourceFor(ledger, a, nowhere, 'pool', { permits: 3 });
  expect(() => pool.enter({ shared: true })).toThrow('option enter.shared is true; allowed: false for a');
  pool.enter({ permits: 2, shared: false });
  expect(() => resourceFor(ledger, a, nowhere, 'pool').enter()).toThrow(
    'option resource.permits is 1; allowed: 3, as when pool was entered first',
  );
});
