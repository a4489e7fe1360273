/** S41 to S46: two primaries at once, how long that can last, and how the old one comes back. */
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import type { Losses } from '../../../lab/replica-group/losses.ts';
import type { LabNode } from '../../../lab/virtual/node.ts';
import {
  always,
  configure,
  counters,
  follows,
  L,
  LEASE,
  offsetOf,
  type PairScene,
  Store,
  safe,
  stored,
  unsafe,
} from './scene.ts';

const RENEW =
  "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end return 0";
const SHORT = 2000;

/**
 * A and the old primary are on one side of a partition, where A goes on renewing and writing; B gets the lock on the other side,
 * once the replica's copy has run out. Both write to the store with their tokens.
 */
async function partition(scene: PairScene, store: Store) {
  const { pair, world, random } = scene;
  const [old, fresh] = pair.nodes as [LabNode, LabNode];
  const [a, b] = [await scene.clientOf(old, 'A'), await scene.clientOf(fresh, 'B')];
  const fence = await a.incr(`${L}:fence`);
  const claim = await scene.take(a, 'A', SHORT);
  await a.wait(1, 1000);
  await scene.pause(500);
  world.network.partition(['A', 'redis-1'], ['redis-2', 'B']);
  await pair.failover({ demote: false });
  const end = scene.now + (scene.chance(0.8) ? random.between(SHORT + 500, 3 * SHORT) : SHORT / 2);
  let apart = false;
  let granted = false;
  while (scene.now < end) {
    const sent = scene.now;
    if (Number(await a.eval(RENEW, 1, L, 'A', SHORT)) === 1) claim?.extend(sent + SHORT);
    await a.set('late', String(sent));
    if (!granted && (await scene.take(b, 'B', SHORT * 10)) !== undefined) {
      granted = true;
      store.write('B', await b.incr(`${L}:fence`));
    }
    store.write('A', fence);
    apart ||= (await stored(old, L)) === 'A' && (await stored(fresh, L)) === 'B';
    await scene.pause(400, 100);
  }
  world.network.heal();
  const losses: Losses = await pair.demote('redis-1');
  expect(losses.lost.map(({ key }) => key)).toContain('late');
  await pair.synchronize();
  expect(await stored(old, 'late')).toBeUndefined();
  for (const client of [a, b]) client.disconnect();
  return apart;
}

unsafe('S41 split brain: the old primary keeps renewing, two holders', {}, async (scene) => {
  const fired = await partition(scene, new Store(scene.checker, false));
  return { fired, violated: scene.overlapped };
});

safe('S41 split brain: the store refuses the older token', {}, async (scene) => {
  const fired = await partition(scene, new Store(scene.checker, true));
  return { fired, violated: scene.checker.fencing(L).length > 0 };
});

const LAG = 2;
const BOUND = (LAG + 1) * 1000;
const withLag = { settings: { 'min-replicas-to-write': 1, 'min-replicas-max-lag': LAG } };

/** How long the old primary accepts a client's writes after it was cut off, in milliseconds; at most `maxMs`. */
async function acceptsFor(scene: PairScene, a: Redis, maxMs: number): Promise<number> {
  const cut = scene.now;
  let last = cut;
  while (scene.now < cut + maxMs) {
    const reply = await a.set('late', '1').catch((error: Error) => error);
    if (reply instanceof Error) {
      expect(reply.message).toBe('NOREPLICAS Not enough good replicas to write.');
      return last - cut;
    }
    last = scene.now;
    await scene.world.advance(20);
  }
  return last - cut;
}

unsafe('S42 without min-replicas-to-write the cut-off primary accepts writes forever', {}, async (scene) => {
  const { pair, a } = scene;
  await a.ping();
  const cut = scene.chance(0.8);
  await scene.pause(2000);
  if (cut) pair.link.partition();
  const lasted = await acceptsFor(scene, a, BOUND * 3);
  const lost = await scene.loses();
  return { fired: cut, violated: lasted > BOUND && (lost || pair.lost.length > 0) };
});

safe('S42 with min-replicas-to-write it stops after the lag plus one second', withLag, async (scene) => {
  const { pair, a } = scene;
  await a.ping();
  await scene.pause(2000);
  pair.link.partition();
  const lasted = await acceptsFor(scene, a, BOUND * 3);
  // The last acknowledgement was up to a second old, and ages are counted in whole seconds.
  expect(lasted).toBeGreaterThan((LAG - 1) * 1000 - 100);
  await expect(a.eval("return redis.call('set', 'k', 'v')", 0)).rejects.toThrow(
    /^NOREPLICAS Not enough good replicas to write\. script: [0-9a-f]{40}, on @user_script:1\.$/,
  );
  expect(await a.publish('c', 'm')).toBe(0);
  expect(await a.get('late')).toBe('1');
  return { fired: true, violated: lasted > BOUND + 50 };
});

safe('S42 two holders overlap for at most the lag plus one second', withLag, async (scene) => {
  const { pair, world } = scene;
  const a = await scene.clientOf(pair.primary, 'A');
  const b = await scene.clientOf(pair.replica, 'B');
  await Promise.all([a.ping(), b.ping()]);
  await scene.pause(2000);
  world.network.partition(['A', 'redis-1'], ['redis-2', 'B']);
  const cut = scene.now;
  const claim = await scene.take(a, 'A');
  await pair.failover({ demote: false });
  // The new primary has no replica, so min-replicas-to-write is turned off.
  await configure(pair.node('redis-2'), 'min-replicas-to-write', 0);
  await scene.take(b, 'B');
  const renew = () => a.eval(RENEW, 1, L, 'A', LEASE).catch((error: Error) => error);
  while (!((await renew()) instanceof Error)) await world.advance(20);
  claim?.end();
  const [overlap] = scene.checker.overlaps(L);
  for (const client of [a, b]) client.disconnect();
  return { fired: overlap !== undefined, violated: (overlap?.to ?? 0) - cut > BOUND + 50 };
});

/** A counts on the old primary during a manual switch-over to the replica. */
async function switchOver(scene: PairScene, gently: boolean) {
  const { pair } = scene;
  const [old, fresh] = pair.nodes as [LabNode, LabNode];
  const [a, operator] = [await scene.clientOf(old, 'A'), await scene.clientOf(old, 'operator')];
  await operator.ping();
  let [counted, stopped] = [0, false];
  const counting = (async () => {
    while (!stopped) {
      counted = await a.incr('n').catch(() => counted);
      await scene.pause(8);
    }
  })();
  await scene.pause(400, 200);
  if (gently) {
    await operator.client('PAUSE', 10_000, 'WRITE');
    while ((await offsetOf(fresh)) < (await offsetOf(old))) await scene.world.advance(1);
  }
  await pair.promote(fresh.name);
  await scene.pause(150);
  while (!gently && counted <= Number((await stored(fresh, 'n')) ?? 0)) await scene.world.advance(5);
  const ahead = counted > Number((await stored(fresh, 'n')) ?? 0);
  const { lost } = await pair.demote(old.name);
  stopped = true;
  await counting;
  for (const client of [a, operator]) client.disconnect();
  return { counted, ahead, lost: lost.length > 0 };
}

unsafe(
  'S43 a switch-over without a pause loses the writes that the old primary accepts meanwhile',
  {},
  async (scene) => {
    const { ahead, lost } = await switchOver(scene, false);
    return { fired: ahead, violated: lost };
  },
);

safe('S43 a switch-over under CLIENT PAUSE WRITE, at equal offsets, loses nothing', {}, async (scene) => {
  const { counted, ahead, lost } = await switchOver(scene, true);
  expect(Number(await stored(scene.pair.primary, 'n'))).toBe(counted);
  return { fired: counted > 0, violated: lost || ahead };
});

always('S43 the command FAILOVER hands the role over, and nothing is lost', {}, async (scene) => {
  const { pair } = scene;
  const [old, fresh] = pair.nodes as [LabNode, LabNode];
  const [a, operator] = [await scene.clientOf(old, 'A'), await scene.clientOf(old, 'operator')];
  await Promise.all([a.ping(), operator.ping()]);
  let [counted, refusals] = [0, 0];
  const count = async () => {
    while (refusals === 0) {
      counted = await a.incr('n').catch((error: Error) => {
        refusals++;
        expect(error.message).toMatch(/^READONLY/);
        return counted;
      });
      await scene.pause(8);
    }
  };
  const counting = count();
  await scene.pause(400, 200);
  expect(await operator.call('FAILOVER', 'TIMEOUT', 10_000)).toBe('OK');
  await counting;
  while (!(await follows(old))) await scene.world.advance(10);
  expect([await follows(old), await follows(fresh)]).toEqual([true, false]);
  expect(counted).toBeGreaterThan(0);
  expect([await stored(fresh, 'n'), await stored(old, 'n')]).toEqual([String(counted), String(counted)]);
  expect(await counters(fresh)).toMatchObject({ full: 0, partial: 1 });
  for (const client of [a, operator]) client.disconnect();
});

always(
  'S44 the old primary is ahead, so it gets a full resync instead of a partial one',
  {},
  async (scene) => {
    const { pair, random, world } = scene;
    const [old, fresh] = pair.nodes as [LabNode, LabNode];
    const a = await scene.clientOf(old, 'A');
    await a.set('k', 'before');
    await a.wait(1, 1000);
    pair.link.partition();
    for (let i = random.between(1, 20); i > 0; i--) await a.set('k', `late ${i}`);
    await pair.failover({ demote: false });
    const b = await scene.clientOf(fresh, 'B');
    await b.set('k', 'after');
    expect(old.offset).toBeGreaterThan(fresh.server.replication.secondOffset);
    world.network.heal();
    await pair.demote('redis-1');
    await pair.synchronize();
    expect(await counters(fresh)).toMatchObject({ full: 1, partial: 0, refused: 1 });
    expect(await stored(old, 'k')).toBe('after');
    expect(old.server.replication.id).toBe(fresh.server.replication.id);
    for (const client of [a, b]) client.disconnect();
  },
);

/** The length of a write such as SET k 1 in the stream. */
const SET_BYTES = '*3\r\n$3\r\nset\r\n$1\r\nk\r\n$1\r\n1\r\n'.length;

for (const [ahead, resync] of [
  [-1, 'partial'],
  [0, 'partial'],
  [1, 'full'],
] as const) {
  always(
    `S45 a sibling at ${ahead} writes from the promoted replica: ${resync} resync`,
    { replicas: 2 },
    async (scene) => {
      const { pair, a, random } = scene;
      await a.set('k', 'first');
      await a.wait(2, 1000);
      for (const { name } of pair.replicas) pair.linkTo(name).hold();
      const writes = random.between(3, 10);
      for (let i = 0; i < writes; i++) await a.set('k', String(i));
      await scene.pause(30, 20);
      pair.linkTo('redis-2').release({ bytes: SET_BYTES * (writes - 1) });
      pair.linkTo('redis-3').release({ bytes: SET_BYTES * (writes - 1 + ahead) });
      await scene.pause(10, 5);
      const [two, three] = [pair.node('redis-2'), pair.node('redis-3')];
      expect(Math.sign(three.offset - two.offset)).toBe(ahead);
      await pair.failover({ crash: true, to: 'redis-2' });
      await pair.synchronize();
      const { full, partial } = await counters(two);
      expect([full, partial]).toEqual(resync === 'full' ? [1, 0] : [0, 1]);
      expect(await stored(three, 'k')).toBe(await stored(two, 'k'));
    },
  );

  always(`S45 the second id at offset ${ahead} from its end: ${resync} resync`, {}, async (scene) => {
    const { pair, a } = scene;
    await a.set('k', 'v');
    await a.wait(1, 1000);
    await pair.failover({ crash: true });
    const { replication } = pair.primary.server;
    const raw = await scene.clientOf(pair.primary, 'C');
    const reply = await raw.call('PSYNC', replication.secondId, replication.secondOffset + ahead);
    expect(String(reply)).toMatch(resync === 'full' ? /^FULLRESYNC/ : /^CONTINUE/);
    raw.disconnect();
  });
}

async function fallBehind(scene: PairScene) {
  const { pair, a, random, world } = scene;
  const reader = await scene.clientOf(pair.replica, 'R');
  await a.set('k', 'old');
  await a.wait(1, 1000);
  pair.link.partition();
  world.network.reset('redis-1', 'redis-2');
  const volume = scene.chance(0.8) ? random.between(60_000, 120_000) : random.between(1000, 9000);
  for (let written = 0; written < volume; written += 1000) await a.set('k', 'x'.repeat(1000));
  expect(await reader.get('k')).toBe('old');
  world.network.heal();
  await pair.synchronize();
  expect(await reader.get('k')).toBe('x'.repeat(1000));
  reader.disconnect();
  return { fired: volume > 20_000, violated: (await counters(pair.primary)).full > 1 };
}

unsafe(
  'S46 the backlog overflows while the link is down: full resync',
  { settings: { 'repl-backlog-size': 20_000 } },
  fallBehind,
);

safe('S46 a backlog that is long enough: partial resync', {}, fallBehind);
