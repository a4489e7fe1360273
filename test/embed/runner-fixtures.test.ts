/** What the fixtures of test runners promise: what a test starts ends with the test, whatever happens meanwhile. */
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { TestFixtures } from '../../fixtures.ts';
import { fixtures as jestFixtures } from '../../jest.ts';
import { fixtures as mochaFixtures } from '../../mocha.ts';
import { fixtures as nodeFixtures } from '../../node-test.ts';
import { withServer } from '../../vitest.ts';

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
