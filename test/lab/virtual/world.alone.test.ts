/** Virtual time itself: what moves it, what moves with it, and what it refuses. */
import { realImmediate, realTimeout } from '../../support/captured.ts';
import '../../../lab/router.ts';
import { EventEmitter } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer, Socket } from 'node:net';
import { setInterval as ticks, setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runInThisContext } from 'node:vm';
import { afterEach, expect, test, vi } from 'vitest';
import { outside } from '../../../lab/time/current-world.ts';
import { RealInputOutput } from '../../../lab/time/drive.ts';
import { World } from '../../../lab/virtual/world.ts';
import { observe } from '../../support/observe.ts';

afterEach(() => vi.useRealTimers());

test('timers fire by instant, and in order of arming at the same instant', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  await world.run(() => {
    setTimeout(note, 20, 'b');
    setTimeout(note, 10, 'a');
    setTimeout(note, 20, 'c');
    setTimeout(note, 0, 'zero is one');
    const every = setInterval(note, 8, 'tick');
    setTimeout(() => clearInterval(every), 17);
    clearTimeout(setTimeout(note, 5, 'never'));
    setImmediate(note, 'immediate');
    process.nextTick(note, 'tick of the queue');
  });
  await world.advance(20);
  expect(seen).toEqual([
    [0, 'tick of the queue'],
    [0, 'immediate'],
    [1, 'zero is one'],
    [8, 'tick'],
    [10, 'a'],
    [16, 'tick'],
    [20, 'b'],
    [20, 'c'],
  ]);
});

test("timer handles support what Node's do", async () => {
  const world = new World();
  const { seen, note } = observe(world);
  const handle = await world.run(() => setTimeout(note, 10, 'refreshed'));
  await world.advance(9);
  handle.refresh();
  expect(handle.unref().hasRef()).toBe(false);
  expect(handle.ref().hasRef()).toBe(true);
  await world.advance(10);
  expect(seen).toEqual([[19, 'refreshed']]);
  await world.run(() => {
    clearTimeout(Number(setTimeout(note, 1, 'cleared by number')));
    setTimeout(note, 1, 'closed').close();
    setTimeout(note, 1, 'disposed')[Symbol.dispose]();
    clearImmediate(setImmediate(note, 'cleared'));
  });
  await world.advance(10);
  expect(seen).toHaveLength(1);
});

test('as in Node, a delay above 2^31 - 1 ms becomes 1 ms, with a warning', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  await world.run(() => setTimeout(note, 2 ** 31, 'fired'));
  await world.advance(1);
  expect(seen).toEqual([[1, 'fired']]);
  expect(warned.mock.calls[0]?.[1]).toBe('TimeoutOverflowWarning');
  warned.mockRestore();
  await world.run(() => setTimeout(note, 2 ** 31 - 1, 'far'));
  await world.advance(2 ** 31 - 2);
  expect(seen).toHaveLength(1);
  await world.advance(1);
  expect(seen).toHaveLength(2);
});

test('every clock and every promise timer follows virtual time', async () => {
  const world = new World({ start: 1_000_000 });
  const measured = await world.run(async () => {
    const began = { now: performance.now(), hr: process.hrtime.bigint(), tuple: process.hrtime() };
    await wait(1500);
    await promisify(setTimeout)(500);
    let round = 0;
    for await (const _ of ticks(100)) if (++round === 3) break;
    const expired = AbortSignal.timeout(250);
    await new Promise((resolve) => expired.addEventListener('abort', resolve));
    expect(expired.reason).toMatchObject({ name: 'TimeoutError' });
    return {
      date: Date.now(),
      made: new Date().toISOString(),
      text: Date(),
      performance: performance.now() - began.now,
      hr: process.hrtime.bigint() - began.hr,
      tuple: process.hrtime(began.tuple),
    };
  });
  expect(measured).toEqual({
    date: 1_002_550,
    made: '1970-01-01T00:16:42.550Z',
    text: new Date(1_002_550).toString(),
    performance: 2550,
    hr: 2_550_000_000n,
    tuple: [2, 550_000_000],
  });
  expect(new Date()).toBeInstanceOf(Date);
  expect(new Date(0).constructor).toBe(Date);
  expect(Date.now()).toBeGreaterThan(1_700_000_000_000);
});

test('an aborted wait rejects as in Node', async () => {
  const world = new World();
  const { reason, at } = await world.run(async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30);
    const began = Date.now();
    const reason = await wait(1000, undefined, { signal: controller.signal }).catch((error: Error) => error);
    return { reason, at: Date.now() - began };
  });
  expect(reason).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' });
  expect(at).toBe(30);
});

test('code in the world takes no time, however many promises it chains', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  await world.run(async () => {
    for (let i = 0; i < 5000; i++) await Promise.resolve();
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    note('done');
  });
  expect(seen).toEqual([[0, 'done']]);
});

test('an error thrown by a timer rejects the advance, and time continues from there', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  await world.run(() => {
    setTimeout(() => {
      throw new Error('planted');
    }, 5);
    setTimeout(note, 10, 'later');
  });
  await expect(world.advance(20)).rejects.toThrow('planted');
  expect(seen).toEqual([]);
  await world.advance(5);
  expect(seen).toEqual([[10, 'later']]);
});

test('run returns, throws and rejects as the code does', async () => {
  const world = new World();
  expect(await world.run(() => 7)).toBe(7);
  expect(await world.run(() => wait(5, 8))).toBe(8);
  const thrower = () => {
    throw new Error('thrown');
  };
  await expect(world.run(thrower)).rejects.toThrow('thrown');
  await expect(world.run(() => Promise.reject(new Error('rejected')))).rejects.toThrow('rejected');
  const { promise } = await world.run(() => ({ promise: wait(1000, 'late') }));
  expect(await world.until(promise)).toBe('late');
});

test('waiting for something that cannot happen is an error, and so is waiting too long', async () => {
  const world = new World({ patience: 60_000 });
  await expect(world.until(new Promise(() => {}))).rejects.toThrow(
    'this wait can never end: no timer is set',
  );
  const { endless } = await world.run(() => ({ endless: setInterval(() => {}, 100) }));
  await expect(world.run(() => new Promise(() => {}))).rejects.toThrow('waited for 60000 ms of virtual time');
  await expect(world.until(new Promise(() => {}), 500)).rejects.toThrow('waited for 500 ms');
  clearInterval(endless);
});

test('an endless loop at one instant is detected', async () => {
  const world = new World();
  const again = (): void => void setImmediate(again);
  await expect(world.run(again)).rejects.toThrow('events without time moving');
  await expect(world.advance(1)).rejects.toThrow('events without time moving');
});

test('advance, run and until wait in virtual time when the world calls them itself', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  await world.run(async () => {
    await world.advance(100);
    note('advanced');
    await world.run(async () => {
      await wait(10);
      note('nested');
    });
    await world.until(wait(20));
    note('awaited');
    await world.actor('B').run(() => note(world.running.name));
  });
  expect(seen).toEqual([
    [100, 'advanced'],
    [110, 'nested'],
    [130, 'awaited'],
    [130, 'B'],
  ]);
});

test('real I/O in a world is refused with an error that names it', async () => {
  const refusal = async (code: () => unknown): Promise<unknown> => {
    const world = new World();
    const error = await world.run(() => ({ kept: code() })).catch((caught: unknown) => caught);
    await expect(world.advance(1)).rejects.toThrow('real I/O');
    return error instanceof RealInputOutput ? error.resources : error;
  };
  const { lstat } = await import('node:fs');
  const { resolve4 } = await import('node:dns');
  const { pbkdf2 } = await import('node:crypto');
  expect(await refusal(() => lstat('.', () => {}))).toEqual(['FSReqCallback']);
  expect(await refusal(() => resolve4('localhost', () => {}))).toEqual(['dns.resolve4']);
  expect(await refusal(() => pbkdf2('a', 'b', 1, 8, 'sha1', () => {}))).toEqual(['crypto.pbkdf2']);
  expect(await refusal(() => crypto.subtle.digest('SHA-1', new Uint8Array(1)))).toEqual([
    'crypto.subtle.digest',
  ]);
  let timer: NodeJS.Timeout | undefined;
  expect(await refusal(() => (timer = realTimeout(() => {}, 60_000)))).toEqual(['Timeout']);
  clearTimeout(timer);
  expect(await refusal(() => realImmediate(() => {}))).toEqual(['Immediate']);
  const server = createServer().listen(0);
  const { port } = await new Promise<{ port: number }>((resolve) =>
    server.once('listening', () => resolve(server.address() as { port: number })),
  );
  const socket = new Socket();
  expect(await refusal(() => socket.connect(port, '127.0.0.1'))).toContain('TCPSocketWrap');
  socket.destroy();
  server.close();
});

/** A package of its own, made from code that gets what it kept when it was loaded. */
function inPackage(name: string, code: string, kept: unknown): () => void {
  const filename = `/project/node_modules/${name}/lib/index.js`;
  return runInThisContext(`\n(kept) => () => ${code}`, { filename })(kept);
}

test('the error for real I/O names the code that began it, and says what to do', async () => {
  const refusal = async (code: () => unknown): Promise<string> =>
    ((await new World().run(() => ({ kept: code() })).catch((caught: unknown) => caught)) as Error).message;
  const here = 'test/lab/virtual/world.alone.test.ts:';
  const { lstat, createReadStream } = await import('node:fs');
  const { spawn, spawnSync } = await import('node:child_process');
  const { pbkdf2 } = await import('node:crypto');
  const named: readonly (readonly [() => unknown, string])[] = [
    [
      inPackage('bluebird', 'kept(() => {})', realImmediate),
      'Immediate by bluebird (lib/index.js:2). A real timer',
    ],
    [
      inPackage('@some/queue', 'kept(() => {}, 50)', realTimeout),
      'Timeout by @some/queue (lib/index.js:2). A real',
    ],
    [
      inPackage('settings', "kept('.', () => {})", lstat),
      'FSReqCallback by settings (lib/index.js:2). Do it before',
    ],
    [() => stat('.'), `FSReqPromise by ${here}`],
    [() => createReadStream('.').destroy(), `FSReqCallback by ${here}`],
    [inPackage('hashing', "kept('a', 'b', 1, 8, 'sha1', () => {})", pbkdf2), 'crypto.pbkdf2 by hashing (lib'],
    [inPackage('shell', "kept('true')", spawnSync), 'child_process.spawnSync by shell (lib/index.js:2)'],
    [inPackage('shell', "void kept('true')", spawn), 'by shell (lib/index.js:2)'],
    [() => new Socket().connect(1, '127.0.0.1').on('error', () => {}), `by ${here}`],
  ];
  const messages: string[] = [];
  for (const [code] of named) messages.push(await refusal(code));
  for (const [i, [, wanted]] of named.entries()) expect(messages[i]).toContain(wanted);
  expect(messages[0]).toMatch(/loaded before lostlock .*: import 'lostlock\/router'/);
  expect(messages[3]).not.toContain('real timer');
});

test('printing, and work that runs outside on purpose, is not refused', async () => {
  const world = new World();
  let timer: NodeJS.Timeout | undefined;
  const written = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  const now = await world.run(() => {
    console.log('from within a world');
    timer = outside(() => setTimeout(() => {}, 60_000));
    return outside(() => Date.now());
  });
  written.mockRestore();
  clearTimeout(timer);
  expect(now).not.toBe(world.now);
  await world.advance(1);
});

test('a library can read its own files at once', async () => {
  const world = new World();
  const { fs, at } = await world.run(async () => ({
    fs: await readFile('package.json', 'utf8'),
    at: Date.now(),
  }));
  expect(JSON.parse(fs)).toMatchObject({ name: 'lostlock' });
  expect(at).toBe(world.now);
});

test('no outside callback ever sees virtual time', async () => {
  const world = new World({ start: 0 });
  const glimpses: number[] = [];
  let over = false;
  const look = (): void => {
    glimpses.push(Date.now());
    if (!over) setImmediate(look);
  };
  const spin = setInterval(() => glimpses.push(Date.now()), 1);
  look();
  await world.run(() => setInterval(() => {}, 1));
  await world.advance(5000);
  over = true;
  clearInterval(spin);
  expect(glimpses.length).toBeGreaterThan(10);
  expect(Math.min(...glimpses)).toBeGreaterThan(1_700_000_000_000);
});

test('real timers and sockets work while a world is running', async () => {
  const world = new World();
  await world.run(() => setInterval(() => {}, 10));
  const server = createServer((socket) => socket.end('real')).listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const read = new Promise<string>((resolve) => {
    const socket = new Socket().connect(port, '127.0.0.1');
    socket.on('data', (chunk) => resolve(chunk.toString()));
  });
  const timer = new Promise((resolve) => setTimeout(resolve, 3, 'timer'));
  const travelled = (async () => {
    for (let i = 0; i < 200; i++) await world.advance(1000);
  })();
  expect(await Promise.all([read, timer, travelled])).toEqual(['real', 'timer', undefined]);
  server.close();
});

test('a closed world stays closed', async () => {
  const world = new World();
  const { seen, note } = observe(world);
  const other = new World();
  await world.run(() => setInterval(note, 10, 'tick'));
  await world.advance(25);
  world.close();
  expect(seen).toHaveLength(2);
  await other.advance(1000);
  await expect(world.advance(100)).rejects.toThrow('this world is closed');
  expect(seen).toHaveLength(2);
});

test('fake timers of a test runner are detected', async () => {
  const world = new World();
  vi.useFakeTimers();
  await expect(world.advance(1)).rejects.toThrow('fake timers');
  vi.useFakeTimers({ toFake: ['Date'] });
  await expect(world.run(() => 1)).rejects.toThrow("globalThis.Date is not the router's");
  vi.useRealTimers();
  await world.advance(1);
});

test('seeds decide all randomness, and streams do not disturb each other', async () => {
  const draw = async (seed: number) => {
    const world = new World({ seed });
    world.stream('somebody else').next();
    return await world.run(() => {
      const { randomBytes, randomUUID, randomInt, randomFillSync } = process.getBuiltinModule('crypto');
      return [
        Math.random(),
        randomBytes(8).toString('hex'),
        randomUUID(),
        crypto.randomUUID(),
        randomInt(1000),
        randomFillSync(new Uint32Array(2), 1).join(),
        crypto.getRandomValues(new Uint8Array(4)).join(),
      ];
    });
  };
  const first = await draw(1);
  expect(await draw(1)).toEqual(first);
  for (const [i, other] of (await draw(2)).entries()) expect(other).not.toBe(first[i]);
  expect(first[2]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('an exception in a tick is told as it is, and the world can still be used', async () => {
  const world = new World();
  const listeners = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  const seen: unknown[] = [];
  process.on('uncaughtException', (error) => seen.push(error.message));
  try {
    const emitted = world.run(() => {
      process.nextTick(() => new EventEmitter().emit('error', new Error('connection lost')));
      setTimeout(() => seen.push('later'), 5);
    });
    await expect(emitted.then(() => world.advance(10))).rejects.toThrow(
      "nothing in the world caught Error: connection lost. If a client emitted it as 'error', the client needs a listener",
    );
    await world.advance(10);
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of listeners) process.on('uncaughtException', listener);
  }
  expect(seen).toEqual(['connection lost', 'later']);
});
