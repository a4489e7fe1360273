/** A client can keep its event loop busy: a loop that waits for a clock takes virtual time, and other code takes none. */
import '../../lab/router.ts';
import { describe, expect, test } from 'vitest';
import { type ClientSession, type Replayed, replay } from '../../explore/index.ts';

/** Plays the world without faults. */
function played(client: (session: ClientSession) => unknown, clients = 1): Promise<Replayed> {
  const names = ['A', 'B'].slice(0, clients);
  const options = { name: 'loop', clients: names, topology: { replicas: 0 }, client };
  return replay(options, `1:1:0:${names.join()}::000000000000`, { sameTrace: false });
}

/** Enters for a moment, so that the world is of use. */
function visit({ resource, name }: ClientSession): void {
  resource(`own of ${name}`).enter().leave();
}

const cells = new Int32Array(new SharedArrayBuffer(4));
/** Ways to keep a process busy for so many milliseconds. */
const ways: Record<string, (session: ClientSession, ms: number) => unknown> = {
  'Date.now()': (_, ms) => {
    for (const end = Date.now() + ms; Date.now() < end; );
  },
  'new Date()': (_, ms) => {
    for (const end = new Date(Date.now() + ms); new Date() < end; );
  },
  'performance.now()': (_, ms) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  },
  'process.hrtime.bigint()': (_, ms) => {
    for (const end = process.hrtime.bigint() + BigInt(ms) * 1_000_000n; process.hrtime.bigint() < end; );
  },
  'Date.now() and microtasks': async (_, ms) => {
    for (const end = Date.now() + ms; Date.now() < end; ) await undefined;
  },
  'Atomics.wait': (_, ms) => Atomics.wait(cells, 0, 0, ms),
  'block()': ({ block }, ms) => block(ms),
};

describe.each(Object.entries(ways))('%s', (_, busy) => {
  test('in a loop takes time in which nothing else of the client happens', async () => {
    const { history } = await played(async (session) => {
      const { redis, name } = session;
      if (session.probe) return;
      visit(session);
      const begun = performance.now();
      const seen: [string, number][] = [];
      const note = (what: string): void => void seen.push([what, performance.now() - begun]);
      await new Promise<void>((resolve) => {
        setTimeout(() => note('timer'), 10);
        setImmediate(() => note('immediate'));
        void redis.set('early', name).then(() => note('reply'));
        // In a task of its own: setting a timer is an act, after which readings count anew.
        setTimeout(async () => {
          await busy(session, 100);
          note('busy');
          setTimeout(() => {
            note('after');
            resolve();
          }, 10);
        }, 1);
      });
      expect(seen.map(([what]) => what)).toEqual(['immediate', 'busy', 'reply', 'timer', 'after']);
      const at = Object.fromEntries(seen) as Record<string, number>;
      for (const what of ['busy', 'timer', 'reply']) {
        expect(at[what]).toBeGreaterThanOrEqual(100);
        expect(at[what]).toBeLessThan(103);
      }
      expect(at.after).toBeGreaterThanOrEqual(at.busy! + 10);
    });
    expect(history.lives[0]?.error).toBeUndefined();
    expect(history.lines.some(({ what }) => /^keeps its event loop busy for 10\d/.test(what))).toBe(true);
  });

  test('makes what follows in the same task late: a write after the lease breaks exclusion', async () => {
    const { breaches, history } = await played(async (session) => {
      const { name, probe, redis, resource, sleep } = session;
      while ((await redis.set('lock', name, 'PX', 300, 'NX')) !== 'OK') await sleep(20);
      const inside = resource('stock').enter();
      if (name === 'A') {
        await sleep(100);
        await busy(session, 300);
        inside.write();
      }
      await sleep(50);
      inside.leave();
      if (!probe) await redis.del('lock');
    }, 2);
    const [a, b] = history.visits;
    expect(b!.from).toBeLessThan(330);
    expect(a!.writes[0]!.at).toBeGreaterThan(400);
    expect(breaches[0]?.what).toBe('B entered stock while A was still inside, and then A wrote to it');
  });
});

test('a message that a busy client sends leaves when it is done, and an entry counts from then on', async () => {
  const { history } = await played(async (session) => {
    if (session.probe) return;
    session.block(100);
    const inside = session.resource('stock').enter();
    void session.redis.set('late', '1');
    const answer = inside.send();
    session.block(50);
    inside.write();
    expect(await answer).toBe(true);
    inside.leave();
  });
  expect(history.lives[0]?.error).toBeUndefined();
  const [{ from, writes }] = history.visits as [Replayed['history']['visits'][0]];
  expect(from).toBe(100);
  expect(writes.map(({ at, sent }) => [Math.floor(at), sent])).toEqual([
    [150, undefined],
    [151, 100],
  ]);
  expect(history.writes.map(({ command }) => command[1])).toEqual(['late']);
  expect(history.writes[0]!.at).toBeGreaterThanOrEqual(101);
});

test('code that reads a clock now and then takes no time', async () => {
  const { history } = await played(async (session) => {
    if (session.probe) return;
    visit(session);
    const begun = performance.now();
    for (let task = 0; task < 5; task++) {
      for (let i = 0; i < 4000; i++) Date.now();
      await session.sleep(1);
    }
    for (let i = 0; i < 15_000; i++) {
      Date.now();
      Math.random();
    }
    expect(performance.now() - begun).toBe(5);
  });
  expect(history.lives[0]?.error).toBeUndefined();
});

test('block() refuses a time that is none', async () => {
  const { history } = await played((session) => {
    if (session.probe) return;
    visit(session);
    session.block(-1);
  });
  expect(history.lives[0]?.error).toContain('block');
});
