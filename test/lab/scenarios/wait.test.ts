/** S30 to S36b: a primary that dies before it has replicated, and what WAIT does and does not promise. */
import { expect } from 'vitest';
import { always, configure, L, LEASE, type PairScene, RELEASE, safe, stored, unsafe } from './scene.ts';

/** Slows replication down, so that some writes do not make it. */
function slow({ pair, random }: PairScene, maxMs: number): void {
  for (const { name } of pair.replicas) pair.linkTo(name).commands.delay(random.next() * maxMs);
}

async function dieEarly(scene: PairScene) {
  const { a } = scene;
  await scene.connect();
  slow(scene, 60);
  await scene.take(a, 'A');
  await scene.pause(20);
  const fired = await scene.loses();
  return scene.letB(fired);
}

unsafe('S30 the primary dies before replicating: two holders', {}, dieEarly);

safe(
  'S30 the primary dies before replicating: a majority has every confirmed write',
  { replicas: 2, quorum: true },
  async (scene) => {
    const { pair } = scene;
    const before = pair.primary.offset;
    const { violated } = await dieEarly(scene);
    // The fault: a node did not yet have the whole stream when the primary died.
    return { fired: pair.nodes.some(({ up, offset }) => !up && offset > before), violated };
  },
);

unsafe('S31 WAIT answers 0 and the client carries on: two holders', {}, async (scene) => {
  const { pair, a } = scene;
  await scene.connect();
  if (scene.chance(0.8)) pair.link.hold();
  await scene.take(a, 'A');
  const copies = await a.wait(1, 200);
  await scene.pause(50);
  const lost = await scene.loses();
  return scene.letB(copies === 0 && lost);
});

safe('S31 WAIT answers 0 and the client releases the lock', {}, async (scene) => {
  const { pair } = scene;
  await scene.connect();
  const held = scene.chance(0.8);
  if (held) pair.link.hold();
  const refusal = await scene.takeCopied(1, 200);
  if (refusal !== undefined) {
    expect(refusal.name).toBe('NotReplicated');
    expect(await stored(pair.primary, L)).toBeUndefined();
  }
  await scene.pause(50);
  await scene.loses();
  return scene.letB(held);
});

async function oneKnows(scene: PairScene): Promise<void> {
  const { pair, a } = scene;
  await scene.connect();
  pair.linkTo('redis-3').hold();
  await scene.take(a, 'A');
  expect(await a.wait(1, 1000)).toBe(1);
  await scene.pause(50);
}

unsafe(
  'S32 WAIT 1 of 2, and the failover picks the other replica: two holders',
  { replicas: 2 },
  async (scene) => {
    await oneKnows(scene);
    const fired = await scene.loses(scene.chance(0.8) ? 'redis-3' : 'redis-2');
    return scene.letB(fired);
  },
);

safe(
  'S32 WAIT 1 of 2, and the failover picks the replica with the highest offset',
  { replicas: 2 },
  async (scene) => {
    await oneKnows(scene);
    const fired = (await stored(scene.pair.node('redis-3'), L)) === undefined;
    await scene.loses();
    return scene.letB(fired);
  },
);

unsafe(
  'S32 priority goes before offset: the stale replica wins, two holders',
  { replicas: 2 },
  async (scene) => {
    await oneKnows(scene);
    const prefers = scene.chance(0.8);
    await configure(scene.pair.node('redis-3'), 'replica-priority', prefers ? 10 : 100);
    await scene.loses();
    return scene.letB(prefers);
  },
);

safe('S32 priority goes before offset: WAIT for all replicas, or release', { replicas: 2 }, async (scene) => {
  const { pair } = scene;
  await scene.connect();
  pair.linkTo('redis-3').hold();
  await configure(pair.node('redis-3'), 'replica-priority', 10);
  await scene.takeCopied(2, 100);
  await scene.pause(50);
  await scene.loses();
  return scene.letB(pair.primary.name === 'redis-3');
});

/** Redisson's rule: a grant has too few copies only when some replica is connected and none has it. */
async function takeLikeRedisson(scene: PairScene, replicas: number): Promise<number> {
  const { a } = scene;
  const claim = await scene.take(a, 'A');
  const info = String(await a.info('replication'));
  const connected = Number(/connected_slaves:(\d+)/.exec(info)?.[1]);
  const copies = await a.wait(replicas, 200);
  if (copies === 0 && connected > 0) {
    await a.eval(RELEASE, 1, L, 'A');
    claim?.end();
  }
  return copies;
}

unsafe(
  'S33 no replica is connected, so zero copies are enough for Redisson: two holders',
  {},
  async (scene) => {
    const { pair } = scene;
    await scene.connect();
    const cut = scene.chance(0.8);
    if (cut) {
      pair.link.partition();
      pair.world.network.reset('redis-1', 'redis-2');
    }
    await scene.pause(50, 10);
    await takeLikeRedisson(scene, 1);
    const lost = await scene.loses();
    return scene.letB(cut && lost);
  },
);

unsafe('S33 one of two copies is enough for Redisson: two holders', { replicas: 2 }, async (scene) => {
  const { pair } = scene;
  await scene.connect();
  pair.linkTo('redis-3').hold();
  const copies = await takeLikeRedisson(scene, 2);
  const lost = await scene.loses(scene.chance(0.8) ? 'redis-3' : 'redis-2');
  return scene.letB(copies === 1 && lost);
});

safe('S33 all configured replicas must have it, connected or not', { replicas: 2 }, async (scene) => {
  const { pair } = scene;
  await scene.connect();
  const cut = scene.chance(0.8);
  if (cut) {
    pair.linkTo('redis-3').partition();
    pair.world.network.reset('redis-1', 'redis-3');
  }
  await scene.pause(50, 10);
  await scene.takeCopied(2, 200);
  await scene.loses('redis-3');
  return scene.letB(cut);
});

unsafe(
  'S34 WAIT on another connection of the pool counts replicas that lack the lock',
  { replicas: 2 },
  async (scene) => {
    const { pair, a } = scene;
    const pooled = scene.client('A');
    await scene.connect(pooled);
    const held = scene.chance(0.8);
    if (held) for (const { name } of pair.replicas) pair.linkTo(name).hold();
    await scene.take(a, 'A');
    if (!held) await a.wait(2, 1000);
    // It waits for what this connection itself has done, which all replicas have.
    expect(await pooled.wait(2, 0)).toBe(2);
    const lost = await scene.loses();
    return scene.letB(held && lost);
  },
);

safe(
  'S34 WAIT on the connection that wrote answers that no replica has the write',
  { replicas: 2 },
  async (scene) => {
    const { pair, a } = scene;
    await scene.connect();
    for (const { name } of pair.replicas) pair.linkTo(name).hold();
    const sent = scene.now;
    const [[, reply], [, copies]] = (await a
      .pipeline()
      .set(L, 'A', 'PX', LEASE, 'NX')
      .wait(2, 100)
      .exec()) as [[null, string], [null, number]];
    if (reply === 'OK' && copies === 2) scene.checker.granted('A', L, { until: sent + LEASE });
    else await a.eval(RELEASE, 1, L, 'A');
    const fired = await scene.loses();
    return scene.letB(fired || copies === 0);
  },
);

unsafe('S35 WAIT inside MULTI does not wait, and EXEC succeeds: two holders', {}, async (scene) => {
  const { pair, a } = scene;
  await scene.connect();
  await a.set('other', '1');
  const known = scene.chance(0.5);
  // Once a second a replica acknowledges all it has.
  if (known) await scene.world.advance(2200);
  if (scene.chance(0.8)) pair.link.hold();
  const sent = scene.now;
  const replies = await a.multi().set(L, 'A', 'PX', LEASE, 'NX').wait(1, 60_000).exec();
  // It counts the replicas that have the connection's writes before MULTI, and answers at once.
  expect(replies?.[0]).toEqual([null, 'OK']);
  if (known) expect(replies?.[1]).toEqual([null, 1]);
  expect(scene.now - sent).toBeLessThan(1000);
  scene.checker.granted('A', L, { until: sent + LEASE });
  await scene.pause(100, 30);
  const fired = await scene.loses();
  return scene.letB(fired);
});

safe('S35 WAIT inside MULTI does not wait: WAIT behind EXEC does', {}, async (scene) => {
  const { pair, a } = scene;
  await scene.connect();
  const held = scene.chance(0.8);
  if (held) pair.link.hold();
  const sent = scene.now;
  await a.multi().set(L, 'A', 'PX', LEASE, 'NX').exec();
  if ((await a.wait(1, 200)) === 1) scene.checker.granted('A', L, { until: sent + LEASE });
  else await a.eval(RELEASE, 1, L, 'A');
  await scene.loses();
  return scene.letB(held);
});

always(
  "S35 WAIT in a script of Redis 8 does not wait, and counts replicas without the script's writes",
  {},
  async ({ pair, a }) => {
    await a.set('k', 'before');
    await a.wait(1, 1000);
    pair.link.hold();
    expect(await a.eval("redis.call('set', 'k', 'v') return redis.call('wait', 1, 0)", 0)).toBe(1);
  },
);

always('S35 WAIT is not allowed in a script of Redis 7.0', { dialect: 'redis-7.0' }, async ({ a }) => {
  await expect(a.eval("return redis.call('wait', 1, 100)", 0)).rejects.toThrow(
    'This Redis command is not allowed from script',
  );
});

/** B is refused, and asks WAIT all the same. True: the replicas do not have A's write. */
async function refusedAndWaits(scene: PairScene): Promise<{ held: boolean; copies: number; tookMs: number }> {
  const { pair, a, b } = scene;
  await scene.connect();
  const held = scene.chance(0.8);
  if (held) pair.link.hold();
  await scene.take(a, 'A');
  if (!held) await a.wait(1, 1000);
  expect(await scene.take(b, 'B')).toBeUndefined();
  const begun = scene.now;
  return { held, copies: await b.wait(1, 300), tookMs: scene.now - begun };
}

unsafe(
  "S36 WAIT after a failed SET NX of Redis 7 waits for other clients' writes",
  { dialect: 'redis-7.0' },
  async (scene) => {
    const { held, copies, tookMs } = await refusedAndWaits(scene);
    expect(copies).toBe(held ? 0 : 1);
    return { fired: held, violated: tookMs >= 300 };
  },
);

safe('S36 WAIT after a failed SET NX of Redis 8 answers at once', {}, async (scene) => {
  const { held, copies, tookMs } = await refusedAndWaits(scene);
  expect(copies).toBe(1);
  return { fired: held, violated: tookMs >= 300 };
});

safe('S36 a refused client does not call WAIT, and is not delayed', {}, async (scene) => {
  const { pair, a, b } = scene;
  await scene.connect();
  pair.link.hold();
  await scene.take(a, 'A');
  const begun = scene.now;
  const locks = scene.locks(b);
  expect(await locks.simple(L).tryAcquire({ leaseMs: LEASE })).toBeNull();
  return { fired: true, violated: scene.now - begun >= 300 };
});

/** Writes the lock again as it is, for its owner only: the key, the owner's value. */
const STAMP =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],redis.call('pttl',KEYS[1])) end return 0";

/**
 * The replica hears nothing. A's grant is executed, and its reply is lost with the connection. A asks again on another
 * connection, is refused, and finds its own token.
 */
async function findsItsToken(scene: PairScene): Promise<{ held: boolean; sent: number }> {
  const { pair, a } = scene;
  const broken = scene.client('A');
  await scene.connect(broken);
  const held = scene.chance(0.8);
  if (held) pair.link.hold();
  const sent = scene.now;
  await broken.set(L, 'A', 'PX', LEASE, 'NX');
  broken.disconnect();
  expect(await scene.take(a, 'A')).toBeUndefined();
  expect(await a.get(L)).toBe('A');
  return { held, sent };
}

unsafe(
  'S36b the lock was granted to a request whose reply was lost, and WAIT of Redis 8 counts for the refused one: two holders',
  {},
  async (scene) => {
    const { sent } = await findsItsToken(scene);
    expect(await scene.a.wait(1, 200)).toBe(1);
    scene.checker.granted('A', L, { until: sent + LEASE });
    const lost = await scene.loses();
    return scene.letB(lost);
  },
);

safe(
  'S36b WAIT of Redis 7 waits for the granted request too, on whichever connection',
  { dialect: 'redis-7.0' },
  async (scene) => {
    const { held, sent } = await findsItsToken(scene);
    const copies = await scene.a.wait(1, held ? 200 : 10_000);
    expect(copies).toBe(held ? 0 : 1);
    if (copies === 1) scene.checker.granted('A', L, { until: sent + LEASE });
    await scene.loses();
    return scene.letB(held);
  },
);

safe('S36b WAIT of Redis 8 waits for a write that changes nothing, behind the refusal', {}, async (scene) => {
  const { held, sent } = await findsItsToken(scene);
  await scene.a.eval(STAMP, 1, L, 'A');
  const copies = await scene.a.wait(1, held ? 200 : 10_000);
  expect(copies).toBe(held ? 0 : 1);
  if (copies === 1) scene.checker.granted('A', L, { until: sent + LEASE });
  await scene.loses();
  return scene.letB(held);
});

safe(
  'S36b a lock asks again with its token, and its script writes even if it holds the lock',
  {},
  async (scene) => {
    const { pair, a } = scene;
    await scene.connect();
    pair.link.hold();
    const locks = scene.locks(a, { replicas: 1, replicaTimeoutMs: 200 });
    let asked = 0;
    // The first grant's reply is lost with the connection, and the lock asks again with the same token.
    const lose = (): void => pair.world.network.reset('A', 'redis-1');
    const acquired = locks.simple(L).acquire({ leaseMs: LEASE, waitMs: 0 });
    while ((await stored(pair.primary, L)) === undefined && asked++ < 50) await scene.world.advance(1);
    lose();
    const refusal = await acquired.then(
      () => undefined,
      (error: Error) => error.name,
    );
    expect(refusal).toBe('NotReplicated');
    await scene.loses();
    return scene.letB(true);
  },
);
