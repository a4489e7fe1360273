/** A client is a process: it has its own number and machine, it exits, and what nothing in it catches ends it. Alone, since it takes listeners from the process. */
import '../../lab/router.ts';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execSync } from 'node:child_process'; // tidy suffixes: a world refuses to start one
import { hostname } from 'node:os';
import { Worker } from 'node:worker_threads'; // tidy suffixes: a world refuses to start one
import { describe, expect, test } from 'vitest';
import {
  type ClientSession,
  type ExploreOptions,
  explore,
  type Replayed,
  replay,
} from '../../explore/index.ts';

const CALM = '1:1:0:A,B::000000000000';

/** Plays one world of two clients. */
function played(client: (session: ClientSession) => unknown, plan = CALM): Promise<Replayed> {
  const options: ExploreOptions = { name: 'process', clients: 2, topology: { replicas: 0 }, client };
  return replay(options, plan, { sameTrace: false });
}

/** Enters for a moment, so that the world is of use. */
async function visit({ resource, sleep, name }: ClientSession): Promise<void> {
  const inside = resource(`own of ${name}`).enter();
  await sleep(10);
  inside.leave();
}

describe('what nothing catches', () => {
  const failures: [string, () => void, string][] = [
    ['an exception in a timer', () => void setTimeout(() => fail('boom')), 'nothing caught Error: boom'],
    ['an exception in a tick', () => process.nextTick(() => fail('boom')), 'nothing caught Error: boom'],
    ['an exception in a microtask', () => queueMicrotask(() => fail('boom')), 'nothing caught Error: boom'],
    ['a rejection', () => void Promise.reject(new Error('boom')), 'unhandled rejection: Error: boom'],
    ['a rejection by a string', () => void Promise.reject('boom'), 'unhandled rejection: boom'],
  ];
  test.each(failures)(
    '%s ends the client, as it ends a process, and the others go on',
    async (_, broken, text) => {
      const client = async (session: ClientSession): Promise<void> => {
        const { name, redis, sleep } = session;
        await visit(session);
        // The world without faults may not fail.
        redis.on('close', () => name === 'A' && !session.signal.aborted && broken());
        await sleep(100);
        await visit(session);
      };
      const { breaches, history, story } = await played(
        client,
        '1:1:0:A,B:connection-reset@50/A:000000000000',
      );
      expect(breaches.map(({ promise, what }) => [promise, what])).toEqual([
        ['no-error', `a client's process ended: ${text}`],
      ]);
      expect(story).toContain(`A     its process ends: ${text}\n`);
      expect(history.lives.map(({ client: name, ended, error }) => [name, ended, error])).toEqual([
        ['A', 'died', text],
        ['B', 'returned', undefined],
      ]);
      expect(history.visits.map(({ client: name }) => name)).toEqual(['A', 'B', 'B']);
    },
  );

  test('in the world without faults is the error of the exploration', async () => {
    const client = async (session: ClientSession): Promise<void> => {
      void Promise.reject(new RangeError('too far'));
      await visit(session);
    };
    await expect(played(client)).rejects.toThrow(/^too far\nThe world can be played again: /);
  });

  test('outside of worlds goes to those who listen, also while an exploration runs', async () => {
    const before = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    const heard: unknown[] = [];
    process.on('unhandledRejection', (error) => heard.push(error));
    const counts = new Set<number>();
    const other = new Error('of another test');
    await explore({
      ...{ name: 'process', clients: 1, client: visit, faults: [], promises: [], budget: { worlds: 2 } },
      progress: ({ worlds }) => {
        counts.add(process.listenerCount('unhandledRejection'));
        if (worlds === 1) process.emit('unhandledRejection', other, Promise.resolve());
      },
    });
    process.removeAllListeners('unhandledRejection');
    for (const listener of before) process.on('unhandledRejection', listener);
    expect(heard).toEqual([other]);
    expect([...counts]).toEqual([1]);
  });
});

describe('process.exit', () => {
  test('ends the client like a crash of its machine, and is no finding', async () => {
    const after: string[] = [];
    const client = async (session: ClientSession): Promise<void> => {
      const { name, probe, redis, resource, sleep } = session;
      while ((await redis.set('lock', name, 'PX', 300, 'NX')) !== 'OK') await sleep(20);
      const inside = resource('stock').enter();
      if (name === 'A') {
        setTimeout(() => after.push('a timer'), 5);
        try {
          process.exit(1);
        } catch {
          // Code that catches everything: nothing that it begins happens.
        }
        setTimeout(() => after.push('another timer'), 5);
        setImmediate(() => after.push('an immediate'));
        await sleep(5);
        after.push('a sleep');
      }
      inside.leave();
      if (!probe) await redis.del('lock');
    };
    const { breaches, history } = await played(client);
    expect(after).toEqual([]);
    expect(breaches).toEqual([]);
    expect(history.lines.map(({ who, what }) => `${who} ${what}`)).toContain(
      'A its process ends: process.exit(1)',
    );
    const [a, b] = history.visits;
    expect([a?.client, a?.ended, b?.client]).toEqual(['A', 'died', 'B']);
    // B waits for the end of the lease.
    expect(b!.from).toBeGreaterThan(300);
  });

  test('and process.kill reach the own process, and none of the machine', async () => {
    const seen: unknown[] = [];
    const client = async (session: ClientSession): Promise<void> => {
      await visit(session);
      if (session.name !== 'A') return;
      seen.push(process.kill(process.pid, 0));
      expect(() => process.kill(process.ppid, 0)).toThrow('kill ESRCH');
      process.kill(process.pid, 'SIGTERM');
    };
    const { history } = await played(client);
    expect(seen).toEqual([true, true]);
    expect(history.lives.map(({ ended }) => ended)).toEqual(['died', 'returned']);
  });
});

test('each client has a number and a machine of its own, and another number after a restart', async () => {
  const outside = [process.pid, hostname()];
  let seen: string[] = [];
  const client = async (session: ClientSession): Promise<void> => {
    if (session.name === 'A') seen = [];
    seen.push(`${hostname()} ${process.pid}`);
    await visit(session);
    await session.sleep(100);
  };
  const names: string[] = [];
  const noting = async (session: ClientSession): Promise<void> => {
    if (session.name === 'B') names.push(...seen);
    await client(session);
  };
  await played(noting, '1:1:0:A,B:client-death@50/B/0/0/restart:000000000000');
  const all = new Set([...names, ...seen]);
  const pids = [...all].map((each) => each.split(' ')[1]);
  expect(new Set([...all].map((each) => each.split(' ')[0]))).toEqual(new Set(['A', 'B']));
  expect(new Set(pids).size).toBe(3);
  expect([process.pid, hostname()]).toEqual(outside);
});

test('async context is kept in timers', async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const client = async (session: ClientSession): Promise<void> => {
    await storage.run(session.name, async () => {
      const note = (): void => void seen.push(storage.getStore() === session.name);
      setTimeout(note, 1);
      setImmediate(note);
      const timer = setInterval(note, 2);
      await session.sleep(5);
      clearInterval(timer);
      note();
    });
    expect(storage.getStore()).toBeUndefined();
    await visit(session);
  };
  await played(client);
  expect(seen.length).toBeGreaterThan(10);
  expect(new Set(seen)).toEqual(new Set([true]));
});

test.each<[string, () => unknown]>([
  ['worker_threads.Worker', () => new Worker('0', { eval: true })],
  [
    'Atomics.waitAsync',
    () => (Atomics as unknown as { waitAsync(...args: unknown[]): unknown }).waitAsync(cells, 0, 0, 5),
  ],
  ['child_process.execSync', () => execSync('true')],
])('%s works in real time, and is refused by its name', async (name, begin) => {
  const client = async (session: ClientSession): Promise<void> => {
    await visit(session);
    try {
      begin();
    } catch {
      // The world fails all the same.
    }
  };
  await expect(played(client)).rejects.toThrow(`began real I/O, which virtual time cannot finish: ${name}`);
});

const cells = new Int32Array(new SharedArrayBuffer(4));

function fail(text: string): never {
  throw new Error(text);
}
