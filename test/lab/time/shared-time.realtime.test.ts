/** Several waits share one virtual clock: each sees time stop at its own instant, whatever else is running. */
import { realTimeout } from '../../support/captured.ts';
import '../../../lab/router.ts';
import { lstat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { RealInputOutput } from '../../../lab/time/drive.ts';
import { World } from '../../../lab/virtual/world.ts';
import { observe } from '../../support/observe.ts';

/** Lets the process run for a while of real time, so that a clock that must stand still has the chance to move. */
const realTurns = async (turns = 50): Promise<void> => {
  for (let i = 0; i < turns; i++) await new Promise((resolve) => realTimeout(resolve, 0));
};

test('advance moves time by exactly its argument while other work is running', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const a = pair.client('A');
  await a.ping();
  const began = pair.world.now;
  const seen: number[] = [];
  const work = pair.run(async () => {
    for (let i = 0; i < 5; i++) {
      await wait(60);
      seen.push(pair.world.now - began);
    }
    return 'done';
  });
  await pair.advance(100);
  expect([pair.world.now - began, seen]).toEqual([100, [60]]);
  await realTurns();
  expect(pair.world.now - began).toBe(100);
  await pair.advance(100);
  expect([pair.world.now - began, seen]).toEqual([200, [60, 120, 180]]);
  expect(await work).toBe('done');
  expect([pair.world.now - began, seen.at(-1)]).toEqual([300, 300]);
});

test('a client that is paused in the middle of its work stops there', async () => {
  await using pair = await startPair({ clock: 'virtual' });
  const a = pair.client('A');
  let renewed = 0;
  const work = pair.world.actor('A').run(async () => {
    await a.set('my:lock', 'A', 'PX', 100);
    for (let i = 0; i < 10; i++) {
      await wait(50);
      renewed += await a.pexpire('my:lock', 100);
    }
  });
  await pair.advance(180);
  expect(renewed).toBe(3);
  pair.pause('A');
  await pair.advance(200);
  expect([renewed, await pair.client('B').exists('my:lock')]).toEqual([3, 0]);
  pair.resume('A');
  await work;
  expect(renewed).toBe(3);
});

test('awaited work stops where a parallel advance ends, and continues afterwards', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  const work = world.run(() => wait(250)).then(() => note('work'));
  await world.advance(100);
  note('advanced');
  await world.advance(50);
  note('advanced again');
  await work;
  expect(seen).toEqual([
    [100, 'advanced'],
    [150, 'advanced again'],
    [250, 'work'],
  ]);
});

test('each of several advances ends at its own time', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  const all = [30, 10, 20].map((ms) => world.advance(ms).then(() => note(ms)));
  await Promise.all(all);
  expect(seen).toEqual([
    [10, 10],
    [20, 20],
    [30, 30],
  ]);
});

test('work starts at once, even if it is not awaited', async () => {
  const world = new World();
  let begun = false;
  const work = world.run(() => {
    begun = true;
    return wait(1000, 'done');
  });
  for (let i = 0; i < 100 && !begun; i++) await realTurns(1);
  expect([begun, world.elapsed()]).toEqual([true, 0]);
  expect(await work).toBe('done');
  expect(world.elapsed()).toBe(1_000_000);
});

test('the time limit of work counts from its start', async () => {
  const world = new World();
  const late = world.run(() => new Promise((resolve) => setInterval(() => resolve, 10)), 500);
  const good = world.run(() => wait(300, 'good'), 500);
  await world.advance(600);
  expect(await good).toBe('good');
  await expect(late).rejects.toThrow('waited for 500 ms of virtual time');
  expect(world.elapsed()).toBe(600_000);
});

test('an error of a timer is reported even if nothing waits', async () => {
  const world = new World();
  const reported = new Promise((resolve) => process.once('unhandledRejection', resolve));
  const others = process.listeners('unhandledRejection').filter((listener) => listener !== undefined);
  const theirs = others.slice(0, -1);
  for (const listener of theirs) process.off('unhandledRejection', listener);
  try {
    void world.run(() => {
      setImmediate(() => {
        throw new Error('planted');
      });
    });
    expect(await reported).toMatchObject({ message: 'planted' });
  } finally {
    for (const listener of theirs) process.on('unhandledRejection', listener);
  }
});

test.each<[string, number, () => Promise<unknown>]>([
  ['that is awaited', 1, () => lstat('.')],
  ['that other work is waiting for', 1, () => Promise.all([lstat('.'), wait(10_000)])],
  ['that nothing else can happen beside', 0, () => lstat('.')],
])(
  'real I/O %s beside a connected client is named in an error, and ends the world',
  async (_, replicas, work) => {
    await using pair = await startPair({ clock: 'virtual', replicas });
    const a = pair.client('A');
    await a.set('k', 'v');
    const error = await pair.run(work).then(
      () => undefined,
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(RealInputOutput);
    expect((error as RealInputOutput).resources).toEqual(['FSReqPromise']);
    await expect(pair.advance(1)).rejects.toThrow('real I/O');
  },
);

test('a real connection that existed before cannot be used inside a world', async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  await using pair = await startPair({ clock: 'virtual' });
  const a = pair.client('A');
  await a.set('k', 'v');
  const asked = pair.run(async () => {
    socket.write('hello');
    await new Promise((resolve) => socket.once('data', resolve));
  });
  await expect(asked).rejects.toThrow('real I/O, which virtual time cannot finish: net.Socket.write');
  await expect(pair.advance(1)).rejects.toThrow('real I/O');
  socket.destroy();
  server.close();
});
