/** Actors: a paused one is late, a killed one is silent, and each has its own wall clock. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { World } from '../../../lab/virtual/world.ts';
import { observe } from '../../support/observe.ts';

test('a paused actor misses nothing, but handles everything late', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  const a = world.actor('A');
  await a.run(() => {
    setTimeout(() => note('first'), 10);
    setTimeout(() => note('second'), 20);
    clearTimeout(setTimeout(() => note('never'), 5));
  });
  await world.run(() => setTimeout(() => note('somebody else'), 15));
  a.pause();
  await world.advance(50);
  expect(seen).toEqual([[15, 'somebody else']]);
  a.resume();
  await world.advance(0);
  expect(seen.slice(1)).toEqual([
    [50, 'first'],
    [50, 'second'],
  ]);
  await a.run(() => setTimeout(() => note('dead'), 5));
  a.kill();
  await world.advance(50);
  expect(seen).toHaveLength(3);
});

test('an actor has a clock of its own', async () => {
  const world = new World({ start: 1_000_000 });
  const { clock } = world.actor('A');
  const read = () => world.actor('A').run(() => Date.now());
  clock.jump(5000);
  expect(await read()).toBe(1_005_000);
  clock.drift(2);
  await world.advance(100);
  expect(await read()).toBe(1_005_200);
  expect(clock.offset).toBe(5100);
  clock.jump(-10_000);
  expect(await read()).toBe(995_200);
  expect(await world.run(() => Date.now())).toBe(1_000_100);
  expect(() => clock.drift(0)).toThrow('option drift is 0');
});

test('the monotonic clock of an actor drifts with its wall clock, and never jumps', async () => {
  const world = new World({ start: 1_000_000 });
  const { clock } = world.actor('A');
  const read = () =>
    world.actor('A').run(() => {
      const [seconds, nanos] = process.hrtime();
      return [performance.now(), Number(process.hrtime.bigint()) / 1e6, seconds * 1e3 + nanos / 1e6];
    });
  await world.advance(100);
  expect(await read()).toEqual([100, 100, 100]);
  clock.jump(-10_000);
  expect(await read()).toEqual([100, 100, 100]);
  clock.jump(3_600_000);
  await world.advance(50);
  expect(await read()).toEqual([150, 150, 150]);
  clock.drift(2);
  await world.advance(100);
  expect(await read()).toEqual([350, 350, 350]);
  clock.jump(-1);
  expect(await read()).toEqual([350, 350, 350]);
});

test("a host's alarms follow its clock when that jumps or drifts", async () => {
  const world = new World({ start: 0 });
  const { clock } = world.actor('node');
  const { seen, note } = observe(world);
  clock.at(100, () => note(`at 100: ${clock.now()}`));
  clock.at(1000, () => note(`at 1000: ${clock.now()}`));
  clock.at(3000, () => note(`at 3000: ${clock.now()}`));
  clock.at(500, () => note('cancelled')).cancel();
  clock.at(2 ** 40, () => note('far'));
  clock.soon(() => note('soon'));
  await world.advance(50);
  clock.jump(200);
  await world.advance(0);
  clock.drift(1.5);
  await world.advance(500);
  clock.jump(-100);
  clock.drift(0.5);
  await world.advance(5000);
  expect(seen).toEqual([
    [0, 'soon'],
    [50, 'at 100: 250'],
    [550, 'at 1000: 1000'],
    [4750, 'at 3000: 3000'],
  ]);
  await world.advance(2 ** 41 - world.now);
  expect(seen.at(-1)?.[1]).toBe('far');
});
