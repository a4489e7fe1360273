/** What the fixtures of test runners promise: what a test starts ends with the test, whatever happens meanwhile. */
import { createConnection } from 'node:net';
import { expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import type { LostlockServer, StartOptions } from '../../index.ts';
import { TestFixtures } from '../../runners/fixtures.ts';
import { fixtures as jestFixtures } from '../../runners/jest.ts';
import { fixtures as mochaFixtures } from '../../runners/mocha.ts';
import { fixtures as nodeFixtures } from '../../runners/node-test.ts';
import { withServer } from '../../runners/vitest.ts';
import { fixtures as wrapped } from '../../runners/wrapped-test.ts';

/** Whether a server listens at a port of this machine. */
function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

test('a server that is still starting when its test ends is stopped', async () => {
  const all = new TestFixtures(() => 'a test');
  const starting = all.server();
  await all.close();
  expect(await isListening((await starting).port)).toBe(false);
});

test('a report of the failure that fails keeps nothing alive, and its error is the outcome', async () => {
  const all = new TestFixtures(() => {
    throw new Error('the runner does not name its test');
  });
  const server = await all.server();
  await expect(all.close(true)).rejects.toThrow('does not name its test');
  expect(await isListening(server.port)).toBe(false);
});

test('a server that could not start does not count, and nothing has to be ended', async () => {
  const all = new TestFixtures(() => 'a test');
  await expect(all.server({ port: -1 })).rejects.toThrow('option port');
  const server = await all.server({ seed: { 'stock:1': 100 } });
  expect(server.dump()).toHaveLength(1);
  await expect(all.server({ port: 0 })).rejects.toThrow('a server already');
  await all.close();
});

test.each([false, true])(
  'a hook for failed tests reads what the server had (in a thread: %s)',
  async (thread) => {
    const all = new TestFixtures(() => 'a test');
    const server = await all.server({ thread, seed: { 'stock:1': 100 } } as StartOptions);
    const redis = await all.redis();
    await redis.set('my:lock', 'A', 'PX', 30_000, 'NX');
    await all.close(true);
    expect(server.dump().map(({ key }) => key)).toEqual(['stock:1', 'my:lock']);
    const sent = server.requests().entries.filter(({ command }) => command === 'set');
    expect(sent.map(({ args }) => args.join(' '))).toEqual(['my:lock A PX 30000 NX']);
    expect(() => server.flush()).toThrow('on a server that has stopped');
  },
);

test('a server that SHUTDOWN has stopped stays readable in a fixture', async () => {
  const all = new TestFixtures(() => 'a test');
  const server = await all.server({ seed: { 'stock:1': 100 } });
  const redis = await all.redis({ retryStrategy: () => null });
  await redis.shutdown('NOSAVE').catch(() => undefined);
  await all.close(true);
  expect(server.dump()).toHaveLength(1);
  expect(server.requests().entries.at(-1)?.command).toBe('shutdown');
});

test('a fixture keeps the last requests of many, and at least a thousand', async () => {
  const all = new TestFixtures(() => 'a test');
  const server = await all.server();
  const redis = await all.redis();
  await Promise.all(Array.from({ length: 5000 }, (_, i) => redis.incrby('n', i)));
  await all.close();
  const { entries } = server.requests();
  expect(entries.at(-1)?.args).toEqual(['n', '4999']);
  expect(entries.length).toBeGreaterThanOrEqual(1000);
  expect(entries.length).toBeLessThanOrEqual(2000);
});

withServer()('hooks that Vitest runs after a test read its server and its pair', async ({ server, pair }) => {
  pair.client('A').on('error', () => {});
  await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
  onTestFinished(async () => {
    expect(await isListening(server.port)).toBe(false);
    expect([server.dump(), server.requests().entries]).toEqual([[], []]);
    expect(pair.trace.toString()).toContain('my:lock');
    expect(pair.timelineData({ title: 'a run' }).story).not.toEqual([]);
  });
  expect(server.port).toBeGreaterThan(0);
});

test('in node:test, all calls in one test give the same fixtures', async () => {
  const hooks: (() => Promise<void>)[] = [];
  const context = { name: 'a test', after: (hook: () => Promise<void>) => void hooks.push(hook) };
  const server = await nodeFixtures(context).server();
  const redis = await nodeFixtures(context).redis();
  expect(redis.options.port).toBe(server.port);
  expect(hooks).toHaveLength(1);
  await hooks[0]!();
  expect(await isListening(server.port)).toBe(false);
});

test('in node:test, the context of a suite is refused, with what to use instead', () => {
  for (const context of [{ name: 'a suite' }, undefined]) {
    expect(() => nodeFixtures(context as never)).toThrow(
      /option fixtures is .*; allowed: a test's context; in a suite's before\(\), use startServer/,
    );
  }
});

test('on Bun and Deno, each call of a wrapped test has fixtures of its own, which end before it settles', async () => {
  const ports: number[] = [];
  const stops: MockInstance<LostlockServer['stop']>[] = [];
  const code = wrapped(async (lostlock, row: number) => {
    const server = await lostlock.server();
    stops.push(vi.spyOn(server, 'stop'));
    expect(await (await lostlock.redis()).incrby('n', row)).toBe(row);
    ports.push(server.port);
    return server;
  });
  expect(code).toHaveLength(0); // Bun gives `done` to a function with a parameter.
  await Promise.all([code(1), code(2)]);
  const ends = stops.flatMap(({ mock }) => mock.settledResults.map(({ type }) => type));
  expect(ends).toEqual(['fulfilled', 'fulfilled']);
  expect(new Set(ports).size).toBe(2);
  for (const port of ports) expect(await isListening(port)).toBe(false);
  expect(() => wrapped('a lock' as never)).toThrow("option fixtures is 'a lock'; allowed: a test's function");
});

test('on Bun and Deno, the error of a wrapped test has the explanation, and what the test started ends', async () => {
  let port = 0;
  const step = { name: 'a step', step() {}, parent: { name: 'a test', step() {} } };
  const code = wrapped(async (lostlock, _t: object) => {
    port = (await lostlock.server()).port;
    await (await lostlock.redis()).set('my:lock', 'A');
    await expect(lostlock.explore({ client: () => {}, nothing: true } as never)).rejects.toThrow('nothing');
    throw new Error('the test failed');
  });
  await expect(code(step)).rejects.toThrow(/^the test failed\n\n(.*\n)*.*SET my:lock A -> OK/);
  expect(await isListening(port)).toBe(false);
});

test('the fixtures of Jest and Mocha say where they work', () => {
  for (const fixtures of [jestFixtures, mochaFixtures]) {
    expect(() => fixtures()).toThrow(/lostlock\/(jest|mocha): fixtures\(\) works in a file that \w+ runs/);
  }
});

test('an unknown scope of withServer is refused', () => {
  expect(() => withServer({}, 'run' as 'file')).toThrow(
    "option scope is 'run'; allowed: 'test', 'file', 'worker'",
  );
});
