/** S120 to S128: locks lost without a network fault, because a node or client stalls, is full, or disappears unnoticed. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import { always, L, LEASE, type PairScene, RELEASE, safe, stored, unsafe } from './scene.ts';

const RENEW =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0";

/** Works for so many thousand steps, at 20 ms a thousand. */
const SPIN = 'for i = 1, ARGV[1] * 1000 do end return 1';
const scripts = { start: 1000, slice: 1000, millis: 20 };
const BUSY = /^BUSY Redis is busy running a script/;

/** Keeps the node busy for so long. */
function spin(client: Redis, ms: number): Promise<unknown> {
  return client.eval(SPIN, 0, Math.round(ms / 20));
}

const messageOf = (error: Error): string => error.message;

/** Two workers run a job at each tick of their own clocks, one of which is ahead. */
async function job(scene: PairScene, atLeastFor: number) {
  const { world, random, pair, a, b } = scene;
  await scene.connect();
  const skew = scene.chance(0.8) ? random.between(200, 900) : 0;
  world.actor('B').clock.jump(-skew);
  const runs = new Map<number, string[]>();
  const work = async (name: 'A' | 'B', client: Redis): Promise<void> => {
    const { clock } = world.actor(name);
    for (let i = 0; i < 3; i++) {
      const tick = Math.floor(clock.now() / 2000 + 1) * 2000;
      await world.advance(tick - clock.now());
      if ((await client.set(L, name, 'PX', 60_000, 'NX')) !== 'OK') continue;
      runs.set(tick, [...(runs.get(tick) ?? []), name]);
      const begun = clock.now();
      await world.advance(50);
      const left = Math.max(1, begun + atLeastFor - clock.now());
      await client.eval(RENEW, 1, L, name, left);
    }
  };
  await Promise.all([work('A', a), work('B', b)]);
  expect(pair.lost).toEqual([]);
  return { fired: skew > 0, violated: [...runs.values()].some((names) => names.length > 1) };
}

unsafe(
  'S120 a job releases its lock when done, and runs again on a worker whose clock is behind',
  {},
  (scene) => job(scene, 0),
);

safe('S120 a job stays locked at least as long as clocks may differ', {}, (scene) => job(scene, 1200));

/** A renews in time while a script keeps the node busy. */
async function stalled(scene: PairScene, lease: number) {
  const { pair, a, b } = scene;
  const slow = scene.chance(0.8);
  await scene.connect();
  await scene.take(a, 'A', lease);
  await scene.pause(800, 400);
  const spinning = spin(b, slow ? scene.random.between(3000, 4500) : 200);
  await scene.pause(300, 50);
  const db = pair.primary.server.db(0);
  const deadline = db.expiresAt(db.entries.get(L)!) ?? 0;
  // It arrives before the lease ends, and is executed when the script has ended.
  expect(scene.world.now + 50).toBeLessThan(deadline);
  const renewed = a.eval(RENEW, 1, L, 'A', lease);
  const next = b.set(L, 'B', 'PX', lease, 'NX');
  await spinning;
  return { fired: slow, violated: (await renewed) === 0 && (await next) === 'OK' };
}

unsafe(
  'S121 a script outlasts the lease: the renewal was sent in time and ran too late',
  { scripts },
  (scene) => stalled(scene, 2000),
);

safe('S121 a lease that outlasts every script', { scripts }, (scene) => stalled(scene, 20_000));

/** A releases the lock while a script keeps the node busy; B waits for it. */
async function releaseWhileBusy(scene: PairScene, release: (a: Redis) => Promise<unknown>) {
  const { pair, a, b, world } = scene;
  const c = scene.client('C');
  await scene.connect(c);
  await scene.take(a, 'A');
  const busy = scene.chance(0.8);
  const spinning = busy ? spin(c, scene.random.between(1000, 3000)) : undefined;
  await scene.pause(400, 300);
  const done = scene.now;
  await release(a);
  while ((await b.set(L, 'B', 'PX', LEASE, 'NX').catch(messageOf)) !== 'OK') await world.advance(50);
  await spinning;
  expect(pair.primary.server.stats.internalErrors).toBe(0);
  return { fired: busy, violated: scene.now - done > LEASE / 2 };
}

const busySettings = { scripts, settings: { 'busy-reply-threshold': 100 } };

unsafe('S122 a release that was answered BUSY is not tried again: an orphan', busySettings, (scene) =>
  releaseWhileBusy(scene, (a) =>
    a.eval(RELEASE, 1, L, 'A').catch((error) => expect(error.message).toMatch(BUSY)),
  ),
);

safe('S122 a release is tried again until it is answered', busySettings, (scene) =>
  releaseWhileBusy(scene, async (a) => {
    const release = () => a.eval(RELEASE, 1, L, 'A').catch(messageOf);
    while (typeof (await release()) === 'string') await scene.world.advance(50);
  }),
);

always(
  'S123 a script that has written cannot be killed: only the failover helps',
  busySettings,
  async (scene) => {
    const { pair, b, world } = scene;
    // A client that sends the endless script once more would bring the next primary down, too.
    const a = scene.client('A2', { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 });
    const operator = await scene.clientOf(pair.primary, 'operator');
    await Promise.all([a.ping(), b.ping(), operator.ping()]);
    const harmless = a.eval('while true do end', 0).catch(messageOf);
    await scene.pause(300, 200);
    expect(await b.get(L).catch(messageOf)).toMatch(BUSY);
    expect(await operator.call('SCRIPT', 'KILL')).toBe('OK');
    expect(await harmless).toMatch(/^ERR Script killed by user with SCRIPT KILL/);
    a.eval("redis.call('set', KEYS[1], 'A') while true do end", 1, L).catch(() => {});
    await scene.pause(300, 200);
    expect(await operator.call('SCRIPT', 'KILL').catch(messageOf)).toMatch(/^UNKILLABLE /);
    await world.advance(60_000);
    expect(await b.get(L).catch(messageOf)).toMatch(BUSY);
    operator.disconnect();
    await pair.failover({ crash: true });
    expect(await scene.take(b, 'B')).toBeDefined();
  },
);

always(
  'S124 under CLIENT PAUSE WRITE an expired lease is not removed: no other client gets the lock',
  {},
  async (scene) => {
    const { pair, a, b, random } = scene;
    const operator = await scene.clientOf(pair.primary, 'operator');
    await scene.connect(operator);
    const lease = random.between(300, 1000);
    await scene.take(a, 'A', lease);
    await operator.client('PAUSE', 3000, 'WRITE');
    const end = scene.now + 3000;
    await scene.world.advance(lease + 100);
    const { size } = pair.primary.server.db(0);
    // Readers see it as expired, but the key stays, and so do all other keys.
    expect([await b.get(L), await b.pttl(L), size, pair.primary.server.stats.expired]).toEqual([
      null,
      -2,
      1,
      0,
    ]);
    expect(await scene.take(b, 'B')).toBeDefined();
    expect(scene.now).toBeGreaterThan(end - 50);
    expect(scene.overlapped).toBe(false);
    operator.disconnect();
  },
);

/** The primary stalls, as when it forks or swaps; A renews, and believes the replies. */
async function standStill(scene: PairScene, minds: boolean) {
  const { pair, a, b, world } = scene;
  const lease = 1000;
  // A is further away than B, and learns of its loss after B gets the lock.
  world.network.lane(pair.primary.name, 'A').pace({ latency: 30 });
  await scene.connect();
  const sent = scene.now;
  // A client that checks its own clock stops when the lease must have ended.
  const claim = scene.checker.granted('A', L, minds ? { until: sent + lease } : {});
  await a.set(L, 'A', 'PX', lease, 'NX');
  await scene.pause(300, 100);
  const long = scene.chance(0.8);
  pair.primary.pause();
  const answered = b.set(L, 'B', 'PX', lease, 'NX').then((reply) => {
    if (reply === 'OK') scene.checker.granted('B', L, { until: scene.now + lease });
  });
  const renewed = world.advance(500).then(() => a.eval(RENEW, 1, L, 'A', lease));
  await world.advance(long ? 1500 : 400);
  pair.primary.resume();
  const more = b.set(L, 'B', 'PX', lease, 'NX').then((reply) => {
    if (reply === 'OK') scene.checker.granted('B', L, { until: scene.now + lease });
  });
  await Promise.all([answered, more]);
  if ((await renewed) === 1) claim.extend(scene.now + lease);
  else claim.end();
  return { fired: long, violated: scene.overlapped };
}

unsafe('S125 the node stalls for longer than the lease: A believes until it gets a reply', {}, (scene) =>
  standStill(scene, false),
);

safe('S125 the node stalls, and A checks its own clock', {}, (scene) => standStill(scene, true));

/** Replicas are getting their first dataset when the primary dies. */
async function dieWhileLoading(scene: PairScene) {
  const { pair, a } = scene;
  await scene.connect();
  const [, fresh] = pair.nodes as [LabNode, LabNode];
  fresh.crash();
  await scene.take(a, 'A');
  pair.restart(fresh.name);
  await a.wait(pair.replicas.length - 1, 1000);
  const early = scene.chance(0.8);
  if (early) pair.linkTo(fresh.name).commands.delay(2000);
  await scene.pause(300, 200);
  const loading = fresh.server.primary?.linkUp !== true;
  await pair.failover({ crash: true });
  return scene.letB(loading);
}

unsafe(
  'S126 a replica is promoted before its first dataset has arrived: all locks are gone',
  {},
  dieWhileLoading,
);

safe('S126 another replica has the data, and wins by its offset', { replicas: 2 }, dieWhileLoading);

/** Many clients dial the new primary at once; A is one of them. */
async function storm(scene: PairScene, maxclients: number) {
  const { pair, a, world } = scene;
  const others = Array.from({ length: 24 }, (_, i) => scene.client(`C${i}`));
  for (const [i, { name }] of pair.nodes.entries()) {
    for (let k = 0; k < others.length; k++) {
      world.network.link(`C${k}`, name).pace({ latency: 0.2 + scene.random.next() * (i + 1) });
    }
  }
  await Promise.all([a, ...others].map((client) => client.ping()));
  await scene.take(a, 'A', 3000);
  await a.wait(1, 1000);
  pair.replica.server.settings.maxclients = maxclients;
  await pair.failover({ crash: true });
  const fresh = pair.primary;
  let renewals = 0;
  const end = scene.now + 5000;
  while (scene.now < end) {
    const renewal = a.eval(RENEW, 1, L, 'A', 3000).then((reply) => {
      if (reply === 1) renewals++;
    });
    renewal.catch(() => {});
    await world.advance(500);
  }
  return {
    fired: a.status !== 'ready' || maxclients > 100,
    violated: (await stored(fresh, L)) === undefined,
    renewals,
  };
}

unsafe('S127 the new primary is full when A connects to renew', {}, (scene) => storm(scene, 6));

safe('S127 the new primary has room for all clients that connect at once', {}, (scene) => storm(scene, 1000));

/** A's connection hangs: nothing arrives any more, and no reset is sent. */
async function halfOpen(scene: PairScene, timeout: number | undefined) {
  const { pair, b, world } = scene;
  const a = scene.client(
    'A2',
    timeout === undefined ? {} : { commandTimeout: timeout, maxRetriesPerRequest: 0 },
  );
  const lease = 2000;
  await Promise.all([a.ping(), b.ping()]);
  await a.set(L, 'A', 'PX', lease, 'NX');
  const claim = scene.checker.granted('A', L);
  await scene.pause(500);
  const hung = scene.chance(0.8);
  if (hung) world.network.partition(['A2'], [pair.primary.name]);
  const watchdog = (async () => {
    for (let i = 0; i < 5; i++) {
      const reply = await a.eval(RENEW, 1, L, 'A', lease).catch(messageOf);
      if (reply !== 1) return claim.end();
      await world.advance(500);
    }
    claim.end();
  })();
  await world.advance(3000);
  await scene.take(b, 'B');
  world.network.heal();
  await watchdog;
  return { fired: hung, violated: scene.overlapped };
}

unsafe(
  'S128 a connection hangs: the client waits for its renewal and still believes that it holds the lock',
  {},
  (scene) => halfOpen(scene, undefined),
);

safe('S128 a renewal that is not answered in time counts as lost', {}, (scene) => halfOpen(scene, 700));

test('S121 a replica that acknowledges during a long script does not lag when the script ends', async () => {
  await using pair = await startPair({ clock: 'virtual', scripts });
  const client = pair.client('A');
  await client.set(L, 'A');
  const spinning = spin(client, 12_000);
  await pair.advance(8000);
  expect(pair.primary.server.slowScript.busy).toBe(true);
  await spinning;
  expect(await client.info('replication')).toMatch(/state=online,offset=\d+,lag=[01]\r/);
});
