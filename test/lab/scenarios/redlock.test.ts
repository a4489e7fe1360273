/** S60 to S69: Redlock on five nodes with clocks that jump, empty restarts, slow answers, or dependent nodes. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { type FiveScene, L, LEASE, RELEASE, Store, safeFive, stored, unsafeFive } from './scene.ts';

const QUICK = { commandTimeout: 50, maxRetriesPerRequest: 0 };

/** Connected clients of one name, one to each node. */
async function dial({ servers }: FiveScene, name: string): Promise<Redis[]> {
  const clients = servers.clients(name, QUICK);
  await Promise.all(clients.map((client) => client.ping()));
  return clients;
}

/** What each node has in the lock's key. */
function storedOn({ servers }: FiveScene): Promise<unknown[]> {
  return Promise.all(servers.nodes.map((node) => stored(node, L)));
}

/** Asks all nodes at once; resolves with the nodes that granted. */
async function ask(clients: readonly Redis[], who: string, lease = LEASE): Promise<Redis[]> {
  const replies = await Promise.all(
    clients.map((client) => client.set(L, who, 'PX', lease, 'NX').catch(() => undefined)),
  );
  return clients.filter((_, i) => replies[i] === 'OK');
}

async function giveBack(clients: readonly Redis[], who: string): Promise<void> {
  await Promise.all(clients.map((client) => client.eval(RELEASE, 1, L, who).catch(() => undefined)));
}

/** Takes the lock on a majority, or nothing. */
async function take(scene: FiveScene, clients: readonly Redis[], who: string, fence?: number) {
  const sent = scene.now;
  const granted = await ask(clients, who);
  const held = granted.length >= 3 && scene.now < sent + LEASE;
  if (held) {
    scene.checker.granted(who, L, { until: sent + LEASE, ...(fence !== undefined && { fence }) });
  } else await giveBack(clients, who);
  return held;
}

/** A holds the lock on nodes 1 to 3, the fault strikes, and B asks nodes 3 to 5. */
async function acrossHarm(scene: FiveScene, harm: () => Promise<boolean>, store?: Store) {
  const [a, b] = [await dial(scene, 'A'), await dial(scene, 'B')];
  const { network } = scene.world;
  network.partition(['A'], ['redis-4', 'redis-5']);
  network.partition(['B'], ['redis-1', 'redis-2']);
  expect(await take(scene, a, 'A', 33)).toBe(true);
  await scene.pause(1000);
  const fired = await harm();
  await scene.pause(100, 20);
  if (await take(scene, b, 'B', 34)) store?.write('B', 34);
  store?.write('A', 33);
  return { fired, violated: store ? scene.checker.fencing(L).length > 0 : scene.overlapped };
}

/** Node 3's clock jumps, mostly beyond the lease. */
async function jump(scene: FiveScene): Promise<boolean> {
  const far = scene.chance(0.8);
  scene.node(3).clock.jump(far ? LEASE + scene.random.between(0, 60_000) : LEASE / 2);
  return far;
}

unsafeFive('S60 one clock jumps forward: two majorities', {}, (scene) =>
  acrossHarm(scene, () => jump(scene)),
);

safeFive('S60 one clock jumps forward: the store refuses the older token', {}, (scene) =>
  acrossHarm(scene, () => jump(scene), new Store(scene.checker, true)),
);

unsafeFive('S61 a node restarts without its data: two majorities', {}, (scene) =>
  acrossHarm(scene, async () => {
    const forgets = scene.chance(0.8);
    scene.node(3).crash({ keep: forgets ? 'nothing' : 'everything' });
    await scene.pause(200);
    scene.node(3).restart();
    await scene.world.advance(2000);
    return forgets;
  }),
);

safeFive(
  'S61 the node syncs its grants before it replies, and its power fails',
  { settings: { appendonly: true, appendfsync: 'always' } },
  (scene) =>
    acrossHarm(scene, async () => {
      scene.node(3).crash({ keep: 'synced' });
      await scene.pause(200);
      scene.node(3).restart();
      await scene.world.advance(2000);
      return true;
    }),
);

safeFive('S61 the node stays away for the longest lease', {}, (scene) =>
  acrossHarm(scene, async () => {
    scene.node(3).crash();
    await scene.world.advance(LEASE + scene.random.next() * 1000);
    scene.node(3).restart();
    await scene.world.advance(2000);
    return true;
  }),
);

/** Nodes 1 to 3 die while A holds the lock on them, and return after a while. B tries all the time. */
async function majorityDies(scene: FiveScene, awayMs: number) {
  const [a, b] = [await dial(scene, 'A'), await dial(scene, 'B')];
  expect(await take(scene, a, 'A')).toBe(true);
  await scene.pause(1000);
  for (const number of [1, 2, 3]) scene.node(number).crash();
  const died = scene.now;
  await giveBack(a, 'A'); // On the nodes that it reaches; A goes on working all the same.
  const back = scene.world.advance(awayMs).then(() => {
    for (const number of [1, 2, 3]) scene.node(number).restart();
  });
  while (!(await take(scene, b, 'B'))) await scene.pause(200, 100);
  await back;
  return scene.now - died;
}

unsafeFive('S62 a majority restarts empty at once: two holders', {}, async (scene) => {
  const soon = scene.chance(0.8);
  await majorityDies(scene, soon ? 500 : LEASE);
  return { fired: soon, violated: scene.overlapped };
});

safeFive(
  'S62 a majority stays away for the lease: no client gets a lock for that time',
  {},
  async (scene) => {
    const waited = await majorityDies(scene, LEASE);
    expect(waited).toBeGreaterThan(LEASE);
    expect(waited).toBeLessThan(LEASE + 5000);
    return { fired: true, violated: scene.overlapped };
  },
);

/** Each node takes so long that in most cases the first lease is over when the last node answers. */
function slowDown(scene: FiveScene, lease: number): void {
  const share = scene.chance(0.8) ? lease / 5 : lease / 20;
  for (const { name } of scene.servers.nodes) {
    scene.world.network.lane('A', name).delay(share + scene.random.next() * share);
  }
}

unsafeFive('S63 asking took longer than the lease, and the client counts votes only', {}, async (scene) => {
  const lease = 1000;
  const [a, b] = [scene.servers.clients('A'), await dial(scene, 'B')];
  await Promise.all(a.map((client) => client.ping()));
  slowDown(scene, lease);
  const sent = scene.now;
  let votes = 0;
  for (const client of a) if ((await client.set(L, 'A', 'PX', lease, 'NX')) === 'OK') votes++;
  expect(votes).toBe(5);
  const late = scene.now >= sent + lease;
  scene.checker.granted('A', L, { until: late ? scene.now + lease : sent + lease });
  while (!(await take(scene, b, 'B'))) await scene.pause(20);
  return { fired: late, violated: scene.overlapped };
});

safeFive(
  'S63 asking took longer than the lease: not acquired, and released everywhere',
  {},
  async (scene) => {
    const lease = 1000;
    const [a, b] = [scene.servers.clients('A'), await dial(scene, 'B')];
    await Promise.all(a.map((client) => client.ping()));
    for (const { name } of scene.servers.nodes) {
      scene.world.network.lane('A', name).delay(lease * (0.7 + scene.random.next()));
    }
    const locks = scene.locks(a, { requestTimeoutMs: 5000 });
    const mine = await locks
      .redlock(L)
      .tryAcquire({ leaseMs: lease })
      .catch(() => null);
    expect(mine).toBeNull();
    expect(await take(scene, b, 'B')).toBe(true);
    // Requests still under way must take nothing when they arrive.
    await scene.world.advance(LEASE + 5000);
    return { fired: true, violated: (await storedOn(scene)).some((value) => value !== undefined) };
  },
);

/** Three clients, each nearest to different nodes. */
async function rivals(scene: FiveScene): Promise<Redis[][]> {
  const near: Record<string, readonly number[]> = { A: [1, 2], B: [3, 4], C: [5] };
  const all: Redis[][] = [];
  for (const [name, numbers] of Object.entries(near)) {
    for (const [i, node] of scene.servers.nodes.entries()) {
      const latency = numbers.includes(i + 1) ? 1 : 6;
      scene.world.network.link(name, node.name).pace({ latency, jitter: 0 });
    }
    all.push(await dial(scene, name));
  }
  return all;
}

/** All three try in rounds, and a client with a majority works for a moment; resolves with how many had a turn. */
async function contend(scene: FiveScene, delay: () => number) {
  const clients = await rivals(scene);
  let [turns, splits] = [0, 0];
  const wish = async (mine: readonly Redis[], who: string): Promise<void> => {
    for (let round = 0; round < 60; round++) {
      const sent = scene.now;
      const granted = await ask(mine, who);
      if (granted.length >= 3) {
        turns++;
        const claim = scene.checker.granted(who, L, { until: sent + LEASE });
        await scene.pause(50);
        claim.end();
        return giveBack(mine, who);
      }
      if (turns === 0) splits++;
      await giveBack(mine, who);
      await scene.world.advance(delay());
    }
  };
  await Promise.all(clients.map((mine, i) => wish(mine, 'ABC'[i] as string)));
  return { turns, splits };
}

unsafeFive('S64 three clients with equal delays split the votes forever', {}, async (scene) => {
  const equal = scene.chance(0.8);
  const { turns, splits } = await contend(scene, () => (equal ? 100 : 20 + scene.random.next() * 200));
  if (equal) expect(splits).toBe(180);
  return { fired: equal, violated: turns === 0 };
});

safeFive('S64 random delays: each has its turn', {}, async (scene) => {
  const { turns, splits } = await contend(scene, () => 20 + scene.random.next() * 200);
  return { fired: splits >= 3, violated: scene.overlapped || turns < 3 };
});

safeFive('S64 our Redlock waits a random time, whatever messages the losers send', {}, async (scene) => {
  const clients = await rivals(scene);
  const begun = scene.now;
  await Promise.all(
    clients.map(async (mine, i) => {
      const locks = scene.locks(mine, { requestTimeoutMs: 200 });
      const held = await locks.redlock(L).acquire({ leaseMs: LEASE, waitMs: 60_000 });
      const claim = scene.checker.granted('ABC'[i] as string, L, { until: scene.now + LEASE - 500 });
      await scene.pause(50);
      claim.end();
      await held.release();
    }),
  );
  return { fired: true, violated: scene.overlapped || scene.now - begun > 20_000 };
});

unsafeFive(
  'S65 the loser keeps its minority: no client gets a majority until its lease ends',
  {},
  async (scene) => {
    const [a, b] = [await dial(scene, 'A'), await dial(scene, 'B')];
    const minority = scene.chance(0.8);
    if (minority) scene.world.network.partition(['A'], ['redis-3', 'redis-4', 'redis-5']);
    const granted = await ask(a, 'A');
    expect(granted.length).toBe(minority ? 2 : 5);
    if (!minority) await giveBack(a, 'A');
    scene.node(5).crash();
    await scene.pause(LEASE / 2);
    return { fired: minority, violated: !(await take(scene, b, 'B')) };
  },
);

safeFive('S65 the loser releases its minority', {}, async (scene) => {
  const [a, b] = [await dial(scene, 'A'), await dial(scene, 'B')];
  scene.world.network.partition(['A'], ['redis-3', 'redis-4', 'redis-5']);
  const locks = scene.locks(a, { requestTimeoutMs: 60 });
  await expect(locks.redlock(L).tryAcquire({ leaseMs: LEASE })).rejects.toThrow('2 of');
  await scene.pause(200, 100);
  expect(await storedOn(scene)).toEqual(Array(5).fill(undefined));
  scene.node(5).crash();
  const free = await take(scene, b, 'B');
  return { fired: true, violated: !free };
});

const EXTEND =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0";

unsafeFive('S66 an extension that only a minority grants counts as extended', {}, async (scene) => {
  const [a, b] = [await dial(scene, 'A'), await dial(scene, 'B')];
  const sent = scene.now;
  expect((await ask(a, 'A')).length).toBe(5);
  const claim = scene.checker.granted('A', L, { until: sent + LEASE });
  await scene.pause(LEASE / 2, LEASE / 4);
  const cut = scene.chance(0.8);
  if (cut) scene.world.network.partition(['A'], ['redis-1', 'redis-2', 'redis-3']);
  const again = scene.now;
  const votes = await Promise.all(a.map((client) => client.eval(EXTEND, 1, L, 'A', LEASE).catch(() => 0)));
  if (votes.some((vote) => vote === 1)) claim.extend(again + LEASE);
  while (scene.now < sent + LEASE + 1000) {
    if (await take(scene, b, 'B')) break;
    await scene.pause(200, 50);
  }
  return { fired: cut, violated: scene.overlapped };
});

safeFive(
  'S66 an extension needs a majority: otherwise the first lease runs to its end',
  {},
  async (scene) => {
    const [a, b] = [await dial(scene, 'A'), await dial(scene, 'B')];
    const locks = scene.locks(a, { requestTimeoutMs: 60 });
    const mine = await locks.redlock(L).acquire({ leaseMs: LEASE });
    const claim = scene.checker.granted('A', L, { until: scene.now + mine.validUntil - scene.world.now });
    await scene.pause(LEASE / 2, LEASE / 4);
    scene.world.network.partition(['A'], ['redis-1', 'redis-2', 'redis-3']);
    const failed = await mine.extend(LEASE).catch((error: Error) => error);
    expect(failed).toBeInstanceOf(Error);
    claim.extend(scene.now + Math.min(LEASE, mine.validUntil - scene.world.now));
    while (!(await take(scene, b, 'B'))) await scene.pause(200, 50);
    return { fired: true, violated: scene.overlapped };
  },
);
