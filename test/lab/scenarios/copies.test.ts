/** S37 to S40: copies that WAIT counted and that are lost again, and WAIT without an answer. */
import { expect } from 'vitest';
import { always, L, LEASE, type PairScene, RELEASE, safe, stored, unsafe } from './scene.ts';

const onDisk = { settings: { appendonly: true } };

/** The power fails: both nodes are down, the replica comes back with what its disk has, and is promoted. */
async function powerFails({ pair }: PairScene): Promise<void> {
  await pair.primary.crash();
  const replica = pair.node('redis-2');
  await replica.crash({ keep: 'synced' });
  await replica.restart();
  await pair.promote('redis-2');
}

unsafe('S37 WAIT says 1, and the replica restarts from an older disk: two holders', onDisk, async (scene) => {
  const { pair, a } = scene;
  await scene.connect();
  await scene.pause(1000);
  await scene.take(a, 'A');
  expect(await a.wait(1, 5000)).toBe(1);
  await scene.pause(300);
  await powerFails(scene);
  const fired = (await stored(pair.node('redis-2'), L)) === undefined;
  return scene.letB(fired);
});

safe('S37 WAITAOF waits for the disks', onDisk, async (scene) => {
  const { a, pair } = scene;
  await scene.connect();
  await scene.pause(1000);
  const locks = scene.locks(a, { replicas: 1, replicaTimeoutMs: 3000, fsync: true });
  await locks.simple(L).acquire({ leaseMs: LEASE });
  scene.checker.granted('A', L, { until: scene.now + LEASE - 3000 });
  await scene.pause(300);
  await powerFails(scene);
  expect(await stored(pair.node('redis-2'), L)).toBeDefined();
  return scene.letB(true);
});

unsafe(
  'S38 the stale replica is promoted, and its full resync wipes the replica that had the lock',
  { replicas: 2 },
  async (scene) => {
    const { pair, a, b } = scene;
    await scene.connect();
    pair.linkTo('redis-3').hold();
    await scene.take(a, 'A');
    expect(await a.wait(1, 1000)).toBe(1);
    await scene.pause(50);
    const stale = scene.chance(0.8);
    await scene.loses(stale ? 'redis-3' : 'redis-2');
    pair.world.network.lane('redis-1', 'redis-2').release();
    await pair.synchronize();
    const running = pair.nodes.filter(({ up }) => up);
    const values = await Promise.all(running.map((node) => stored(node, L)));
    const copies = values.filter((value) => value !== undefined).length;
    expect(copies).toBe(stale ? 0 : 2);
    await scene.take(b, 'B');
    // Both replies are worthless now: that of the SET and that of the WAIT.
    return {
      fired: stale,
      violated: scene.checker.violations(pair.lost).some(({ oracle }) => oracle === 'O3'),
    };
  },
);

safe('S38 WAIT for both replicas: every promotable replica has the lock', { replicas: 2 }, async (scene) => {
  const { pair, b } = scene;
  await scene.connect();
  pair.linkTo('redis-3').commands.delay(scene.random.next() * 100);
  expect(await scene.takeCopied(2, 1000)).toBeUndefined();
  await scene.loses(scene.chance(0.8) ? 'redis-3' : 'redis-2');
  await pair.synchronize();
  await scene.take(b, 'B');
  return { fired: pair.primary.name === 'redis-3', violated: scene.checker.violations(pair.lost).length > 0 };
});

unsafe('S39 the acknowledgement is late: the client gives up and leaves an orphan', {}, async (scene) => {
  const { pair, a } = scene;
  await a.ping();
  const held = scene.chance(0.8);
  if (held) pair.link.acks.hold();
  const claim = await scene.take(a, 'A');
  const copies = await a.wait(1, scene.random.between(50, 250));
  if (copies === 0) claim?.end();
  await scene.pause(50, 20);
  while ((await stored(pair.replica, L)) !== 'A') {
    // On a busy machine, the lease may be over before the copy was seen.
    if ((await stored(pair.primary, L)) !== 'A') return { fired: false, violated: false };
    await scene.world.advance(5);
  }
  expect(await Promise.all(pair.nodes.map((node) => stored(node, L)))).toEqual(['A', 'A']);
  return { fired: copies === 0, violated: scene.checker.holders(L).length === 0 };
});

safe('S39 the acknowledgement is late: the client releases the lock everywhere', {}, async (scene) => {
  const { pair, a } = scene;
  await a.ping();
  pair.link.acks.hold();
  const locks = scene.locks(a, { replicas: 1, replicaTimeoutMs: scene.random.between(50, 250) });
  await expect(locks.simple(L).tryAcquire({ leaseMs: LEASE })).rejects.toThrow('replica');
  await scene.pause(50, 20);
  return {
    fired: true,
    violated: (await Promise.all(pair.nodes.map((node) => stored(node, L)))).some(
      (value) => value !== undefined,
    ),
  };
});

/** A waits for a copy when its primary is made a replica of the other node. */
async function demotedWhileWaiting(scene: PairScene): Promise<Error | number> {
  const { pair, a } = scene;
  const waiting = a.wait(1, 0).catch((error: Error) => error);
  await scene.pause(100, 30);
  await pair.promote('redis-2');
  pair.node('redis-1').follow(pair.node('redis-2'));
  const answer = await waiting;
  pair.node('redis-1').disconnectClients();
  await scene.pause(100, 60);
  return answer;
}

const UNBLOCKED =
  'UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)';

unsafe('S40 a demotion cuts WAIT short, and the client takes the error for success', {}, async (scene) => {
  const { a } = scene;
  await scene.connect();
  const sent = scene.now;
  if (scene.chance(0.8)) scene.pair.link.hold();
  await a.set(L, 'A', 'PX', LEASE, 'NX');
  const answer = await demotedWhileWaiting(scene);
  scene.checker.granted('A', L, { until: sent + LEASE });
  if (answer instanceof Error) expect(answer.message).toBe(UNBLOCKED);
  return scene.letB(answer instanceof Error);
});

safe(
  'S40 a demotion cuts WAIT short: the outcome is unknown, so the client does not hold the lock',
  {},
  async (scene) => {
    const { a, b } = scene;
    await scene.connect();
    const sent = scene.now;
    scene.pair.link.hold();
    await a.set(L, 'A', 'PX', LEASE, 'NX');
    const answer = await demotedWhileWaiting(scene);
    if (answer === 1) scene.checker.granted('A', L, { until: sent + LEASE });
    else await a.eval(RELEASE, 1, L, 'A');
    await scene.take(b, 'B');
    expect(scene.checker.holders(L)).toEqual(['B']);
    return { fired: answer instanceof Error, violated: scene.overlapped };
  },
);

always('S40 WAIT on a replica is refused', {}, async (scene) => {
  const c = await scene.clientOf(scene.pair.replica, 'C');
  await expect(c.wait(1, 100)).rejects.toThrow(
    'ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is ' +
      'configured to be writable (which is not the default) writes to replicas are just local and are not propagated.',
  );
});
