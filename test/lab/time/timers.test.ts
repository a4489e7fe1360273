/** The heap of tasks, compared with a sorted list. */
import { expect, test } from 'vitest';
import { Random } from '../../../lab/time/random.ts';
import { Task } from '../../../lab/time/task.ts';
import { World } from '../../../lab/virtual/world.ts';

test('tasks run by instant, then in order of arming, whatever was cancelled or moved in between', () => {
  const random = new Random(1, 'heap');
  for (let round = 0; round < 50; round++) {
    const world = new World();
    const { heap } = world.schedule;
    let expected: { task: Task; at: number; order: number }[] = [];
    for (let step = 0; step < 300; step++) {
      const chosen = expected.length === 0 ? undefined : random.pick(expected);
      if (chosen === undefined || random.next() < 0.6) {
        const entry = {
          task: new Task(world.running, true, () => {}),
          at: random.between(0, 40),
          order: step,
        };
        heap.push(entry.task, entry.at);
        expected.push(entry);
      } else if (random.next() < 0.5) {
        chosen.task.cancel();
        expected = expected.filter((entry) => entry !== chosen);
      } else {
        Object.assign(chosen, { at: random.between(0, 40), order: step });
        heap.push(chosen.task, chosen.at);
      }
    }
    expected.sort((a, b) => a.at - b.at || a.order - b.order);
    expect(heap.size).toBe(expected.length);
    for (const { task } of expected) expect(heap.pop() === task).toBe(true);
    expect(heap.pop()).toBeUndefined();
  }
});

test('random numbers are uniform, repeatable and different between streams', () => {
  const random = new Random(7, 'a');
  const buckets = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) buckets[random.between(0, 10)]!++;
  for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  expect(new Random(7, 'a').next()).toBe(new Random(7, 'a').next());
  const firsts = new Set<number>();
  for (let seed = 0; seed < 1000; seed++) {
    firsts.add(new Random(seed, 'a').next());
    firsts.add(new Random(seed, 'b').next());
  }
  expect(firsts.size).toBe(2000);
  expect(() => random.pick([])).toThrow(RangeError);
});
