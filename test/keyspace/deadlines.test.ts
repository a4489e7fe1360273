/** The table of deadlines: rows that are given out, given back and given out again. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Deadline, DeadlineTable, NO_TIME, NONE } from '../../keyspace/expiry/deadlines.ts';
import { ExpiryWheel } from '../../keyspace/expiry/wheel.ts';

const nobody = { expire(): void {} };

describe('the table of deadlines', () => {
  it('keeps every row apart from the others, whatever is added and released', () => {
    const step = fc.record({
      add: fc.boolean(),
      at: fc.nat(2 ** 50),
      ofFields: fc.boolean(),
      pick: fc.nat(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const table = new DeadlineTable();
        const wheel = new ExpiryWheel(table);
        const owners = [{ ...nobody }, { ...nobody }, { ...nobody }];
        for (const owner of owners) table.enrol(owner);
        const model = new Map<Deadline, { key: string; owner: number; at: number; ofFields: boolean }>();
        for (const [i, { add, at, ofFields, pick }] of steps.entries()) {
          if (add || model.size === 0) {
            const [key, owner] = [`key${i}`, pick % 3];
            const deadline = table.add(owner, key, ofFields);
            expect(deadline).not.toBe(NONE);
            expect(model.has(deadline)).toBe(false);
            expect([table.expiresAt(deadline), table.slot(deadline)]).toEqual([NO_TIME, -1]);
            wheel.arm(deadline, at);
            model.set(deadline, { key, owner, at, ofFields });
          } else {
            const deadline = [...model.keys()][pick % model.size]!;
            wheel.discard(deadline);
            model.delete(deadline);
          }
          expect([table.size, wheel.size]).toEqual([model.size, model.size]);
          const hashes = owners.map((_, owner) =>
            [...model.values()].filter((each) => each.ofFields && each.owner === owner),
          );
          expect(owners.map((_, owner) => table.hashes(owner))).toEqual(hashes.map(({ length }) => length));
          const wrong = [...model].filter(
            ([deadline, { key, owner, at, ofFields }]) =>
              table.owner(deadline) !== owners[owner] ||
              !table.isOf(deadline, owner, key) ||
              table.isOf(deadline, (owner + 1) % 3, key) ||
              table.isOf(deadline, owner, `${key}!`) ||
              table.key(deadline) !== key ||
              table.expiresAt(deadline) !== at ||
              table.isOfFields(deadline) !== ofFields,
          );
          expect(wrong).toEqual([]);
        }
      }),
      // To look for a shorter case would take minutes, in which the test could not be stopped.
      { numRuns: 100, endOnFailure: true },
    );
  });

  it('gives the rows of released deadlines to new ones, so that it does not grow', () => {
    const table = new DeadlineTable();
    const first = Array.from({ length: 100 }, (_, i) => table.add(0, `a${i}`));
    const { bytes } = table;
    for (const deadline of first) table.release(deadline);
    const second = Array.from({ length: 100 }, (_, i) => table.add(0, `b${i}`));
    expect(new Set(second)).toEqual(new Set(first));
    expect(table.bytes).toBe(bytes);
  });

  it('takes no memory before the first deadline, and about 24 bytes for each of many', () => {
    const table = new DeadlineTable();
    expect(table.bytes).toBe(0);
    for (let i = 0; i < 50_000; i++) table.add(0, 'k');
    expect(table.bytes / 50_000).toBeGreaterThanOrEqual(24);
    expect(table.bytes / 50_000).toBeLessThanOrEqual(48);
  });

  it('gives the memory of many deadlines back with the last of them, and can be used again', () => {
    const table = new DeadlineTable();
    const many = Array.from({ length: 50_000 }, (_, i) => table.add(0, `a${i}`));
    const last = many.pop()!;
    for (const deadline of many) table.release(deadline);
    expect(table.bytes).toBeGreaterThan(50_000 * 24);
    expect(table.key(last)).toBe('a49999');
    table.release(last);
    expect([table.bytes, table.size]).toEqual([0, 0]);
    const again = Array.from({ length: 100 }, (_, i) => table.add(0, `b${i}`));
    expect(again.map((deadline) => table.key(deadline))).toEqual(again.map((_, i) => `b${i}`));
    expect(new Set(again).size).toBe(100);
  });

  it('gives two owners the deadlines of each other', () => {
    const table = new DeadlineTable();
    const [first, second] = [{ ...nobody }, { ...nobody }];
    const [one, two] = [table.enrol(first), table.enrol(second)];
    const deadlines = [table.add(one, 'a'), table.add(two, 'b', true)];
    table.exchange(one, two);
    expect(deadlines.map((deadline) => table.owner(deadline))).toEqual([second, first]);
    expect(table.owner(table.add(one, 'c'))).toBe(second);
    expect([table.hashes(one), table.hashes(two)]).toEqual([0, 1]);
  });
});
