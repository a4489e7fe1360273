/** S47 to S55: clients on replicas, on promoted nodes, and on former primaries. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { always, L, LEASE, type PairScene, RELEASE, safe, stored, unsafe } from './scene.ts';

/** A takes a lock on the primary; B decides by what a replica says about it. */
async function decideBy(scene: PairScene, where: 'primary' | 'replica') {
  const { pair, a } = scene;
  const reader = await scene.clientOf(where === 'replica' ? pair.replica : pair.primary, 'B');
  await Promise.all([a.ping(), reader.ping()]);
  const slow = scene.chance(0.8);
  if (slow) pair.link.commands.delay(500);
  await scene.take(a, 'A');
  await scene.pause(300, 20);
  const copied = (await stored(pair.replica, L)) === 'A';
  // The lock looks free, so B works without asking again.
  if ((await reader.get(L)) === null) scene.checker.granted('B', L, { until: scene.now + 1000 });
  reader.disconnect();
  return { slow, copied, violated: scene.overlapped };
}

unsafe('S47 a replica says that the lock is free: a decision on stale data', {}, async (scene) => {
  const { copied, violated } = await decideBy(scene, 'replica');
  return { fired: !copied, violated };
});

safe('S47 the primary is asked instead', {}, async (scene) => {
  const { slow, violated } = await decideBy(scene, 'primary');
  return { fired: slow, violated };
});

unsafe('S47 a replica says that a released lock is still held', {}, async (scene) => {
  const { pair, a } = scene;
  const reader = await scene.clientOf(pair.replica, 'B');
  await Promise.all([a.ping(), reader.ping()]);
  await scene.take(a, 'A');
  await a.wait(1, 1000);
  if (scene.chance(0.8)) pair.link.commands.delay(500);
  await a.del(L);
  await scene.pause(300, 20);
  const stale = (await stored(pair.replica, L)) === 'A';
  const seen = await reader.get(L);
  reader.disconnect();
  return { fired: stale, violated: seen !== null };
});

/** What a client sees of the expired lock, and what the node still keeps. */
async function view(client: Redis): Promise<unknown[]> {
  const [, scanned] = await client.scan(0);
  return [
    await client.get(L),
    await client.exists(L),
    await client.pttl(L),
    await client.ttl(L),
    await client.type(L),
    await client.keys('*'),
    scanned,
    await client.dbsize(),
  ];
}

always(
  'S48 an expired lock on a replica is hidden, and counted, until the primary deletes it',
  {},
  async (scene) => {
    const { pair, a, random } = scene;
    const reader = await scene.clientOf(pair.replica, 'R');
    const lease = random.between(1000, 1500);
    await a.set('other', '1');
    await a.set(L, 'A', 'PX', lease);
    await a.wait(1, 1000);
    // The primary's DEL does not arrive, as when it has not expired the key yet.
    pair.link.hold();
    await scene.pause(lease + 200, lease + 150);
    expect(await view(reader)).toEqual([null, 0, -2, -2, 'none', ['other'], ['other'], 2]);
    pair.link.commands.release();
    await scene.pause(20, 10);
    expect(await view(reader)).toEqual([null, 0, -2, -2, 'none', ['other'], ['other'], 1]);
    reader.disconnect();
  },
);

/** The promoted replica's clock is ahead by so much. Returns how long two held the lock, in milliseconds. */
async function promoteSkewed(scene: PairScene, aheadMs: number): Promise<number> {
  const { pair, a, b } = scene;
  await scene.connect();
  pair.replica.clock.jump(aheadMs);
  await scene.take(a, 'A');
  await a.wait(1, 1000);
  await scene.loses();
  await b.ping();
  while ((await scene.take(b, 'B', 100)) === undefined) await scene.world.advance(10);
  const [overlap] = scene.checker.overlaps(L);
  const [claim] = scene.checker.holders(L);
  expect(claim).toBeDefined();
  // B's claim is short: only its start matters.
  return overlap === undefined ? 0 : LEASE - overlap.from;
}

unsafe('S49 the promoted clock is ahead: two holders for that long', {}, async (scene) => {
  const skew = scene.chance(0.8) ? scene.random.between(500, 5000) : 0;
  const begun = scene.now;
  const early = await promoteSkewed(scene, skew);
  if (skew > 0) expect(Math.abs(early + begun - skew)).toBeLessThan(150);
  return { fired: skew > 0, violated: scene.overlapped };
});

safe('S49 the promoted clock is behind: the lock only outlives its holder', {}, async (scene) => {
  const skew = scene.random.between(500, 5000);
  const begun = scene.now;
  await promoteSkewed(scene, -skew);
  const late = scene.now - begun - LEASE - skew;
  expect(late).toBeGreaterThan(-20);
  expect(late).toBeLessThan(150);
  return { fired: true, violated: scene.overlapped };
});

unsafe(
  'S50 a lock taken on a writable replica is invisible to all other nodes',
  { settings: { 'replica-read-only': false } },
  async (scene) => {
    const { pair, a } = scene;
    const b = await scene.clientOf(pair.replica, 'B');
    await Promise.all([a.ping(), b.ping()]);
    if (scene.chance(0.8)) pair.link.commands.delay(100);
    await scene.take(a, 'A');
    const bHas = await scene.take(b, 'B');
    await scene.pause(150, 120);
    // The stream wins: the replica's own write is overwritten.
    while ((await stored(pair.replica, L)) !== 'A') await scene.world.advance(10);
    b.disconnect();
    return { fired: bHas !== undefined, violated: scene.overlapped };
  },
);

safe('S50 a read-only replica refuses writes', {}, async (scene) => {
  const { pair, a } = scene;
  const b = await scene.clientOf(pair.replica, 'B');
  await Promise.all([a.ping(), b.ping()]);
  await scene.take(a, 'A');
  const refusal = await b.set(L, 'B', 'PX', LEASE, 'NX').catch((error: Error) => error.message);
  expect(refusal).toBe("READONLY You can't write against a read only replica.");
  b.disconnect();
  return { fired: true, violated: scene.overlapped };
});

const SHA = /^NOSCRIPT No matching script\. Please use EVAL\.$/;

unsafe(
  'S52 the new primary does not know the script: the release fails, and the lock stays',
  {},
  async (scene) => {
    const { a } = scene;
    const sha = String(await a.script('LOAD', RELEASE));
    await scene.take(a, 'A');
    await a.wait(1, 1000);
    const moved = scene.chance(0.8);
    if (moved) await scene.loses();
    const reply = await a.evalsha(sha, 1, L, 'A').catch((error: Error) => error.message);
    if (moved) expect(reply).toMatch(SHA);
    return { fired: moved, violated: (await stored(scene.pair.primary, L)) === 'A' };
  },
);

safe('S52 EVAL after NOSCRIPT: released one round trip later', {}, async (scene) => {
  const { a, pair } = scene;
  const locks = scene.locks(a);
  const mine = await locks.simple(L).acquire({ leaseMs: LEASE });
  await a.wait(1, 1000);
  await scene.loses();
  await a.ping();
  const begun = scene.now;
  await mine.release();
  expect(scene.now - begun).toBeLessThan(100);
  return { fired: true, violated: (await stored(pair.primary, L)) !== undefined };
});

/** A is pinned to a node that becomes a replica while it holds the lock. */
async function pinned(scene: PairScene): Promise<Redis> {
  const { pair } = scene;
  const a = await scene.clientOf(pair.primary, 'A');
  await a.ping();
  await scene.take(a, 'A');
  await a.wait(1, 1000);
  await pair.failover();
  await pair.synchronize();
  return a;
}

unsafe('S53 a client pinned to the old primary cannot release: the lock stays', {}, async (scene) => {
  const a = await pinned(scene);
  expect(await a.del(L).catch((error: Error) => error.message)).toBe(
    "READONLY You can't write against a read only replica.",
  );
  await expect(a.eval(RELEASE, 1, L, 'A')).rejects.toThrow(
    /^READONLY You can't write against a read only replica\. script: [0-9a-f]{40}, on @user_script:1\.$/,
  );
  a.disconnect();
  return { fired: true, violated: (await stored(scene.pair.primary, L)) === 'A' };
});

safe('S53 the client looks up the new primary and releases there', {}, async (scene) => {
  const a = await pinned(scene);
  const error = await a.del(L).catch((refusal: Error) => refusal.message);
  a.disconnect();
  if (String(error).startsWith('READONLY')) await scene.client('A2').eval(RELEASE, 1, L, 'A');
  return { fired: true, violated: (await stored(scene.pair.primary, L)) === 'A' };
});

const TAKE = `
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
  redis.call('hincrby', KEYS[1], ARGV[2], 1)
  redis.call('pexpire', KEYS[1], ARGV[1])
  return nil
end
return redis.call('pttl', KEYS[1])`;
const GIVE = `
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then return nil end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) > 0 then return 0 end
redis.call('del', KEYS[1])
return 1`;

unsafe(
  'S55 every try that finds no replica adds one hold: the lock is never free again',
  {},
  async (scene) => {
    const { pair, a, b } = scene;
    await scene.connect();
    if (scene.chance(0.8)) pair.link.hold();
    let tries = 0;
    let copies = 0;
    while (copies === 0 && tries < 5) {
      tries++;
      await a.eval(TAKE, 1, L, LEASE, 'A');
      copies = await a.wait(1, 100);
      if (tries > 2) pair.link.release();
    }
    expect(await a.hget(L, 'A')).toBe(String(tries));
    await a.eval(GIVE, 1, L, 'A');
    return { fired: tries > 1, violated: (await b.eval(TAKE, 1, L, LEASE, 'B')) !== null };
  },
);

safe('S55 a try without enough replicas is rolled back: one hold, one release', {}, async (scene) => {
  const { pair, a, b } = scene;
  await scene.connect();
  pair.link.hold();
  const locks = scene.locks(a, { replicas: 1, replicaTimeoutMs: 100 });
  const lock = locks.reentrant(L);
  for (let tries = 0; tries < 3; tries++) {
    await expect(lock.tryAcquire({ leaseMs: LEASE })).rejects.toThrow('replica');
    expect(await stored(pair.primary, L)).toBeUndefined();
  }
  pair.link.release();
  const mine = await lock.acquire({ leaseMs: LEASE });
  await mine.release();
  return { fired: true, violated: (await b.eval(TAKE, 1, L, LEASE, 'B')) !== null };
});
