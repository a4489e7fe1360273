/** The cause of a broken promise: what freed the lock, and the shape that worlds of one reason have in common. */
import { expect, test } from 'vitest';
import { isLeaseLimit } from '../../explore/fingerprint.ts';
import {
  type ClientSession,
  type ExploreOptions,
  explore,
  type History,
  replay,
} from '../../explore/index.ts';
import { faultOf } from '../../explore/story/blame.ts';
import { sentenceOf } from '../../explore/story/sentence.ts';
import { type BrokenWorld, playBroken } from './play-finding.ts';

const LEASE = 1000;
const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

/** A lock whose release can be replaced. */
function locking(give: (session: ClientSession, token: string) => Promise<unknown>, ms = 250) {
  return async (session: ClientSession): Promise<void> => {
    const { redis, name, sleep, signal, resource } = session;
    const token = `${name}:${Math.random()}`;
    while ((await redis.set('lock', token, 'PX', LEASE, 'NX').catch(() => null)) !== 'OK') {
      if (signal.aborted) return;
      await sleep(50);
    }
    const inside = resource('stock').enter();
    await sleep(ms);
    inside.write();
    inside.leave();
    await give(session, token).catch(() => undefined);
  };
}

const compared = locking(({ redis }, token) => redis.eval(RELEASE, 1, 'lock', token));
const blind = locking(({ redis }) => redis.del('lock'));
const common: Partial<ExploreOptions> = {
  ...{ topology: { replicas: 0 }, clients: 3, promises: ['mutual-exclusion'] },
};

async function causesOf(client: ExploreOptions['client'], faults: ExploreOptions['faults'], worlds = 40) {
  const options: ExploreOptions = { name: 'lock', client, ...common, ...(faults && { faults }) };
  const { findings } = await explore({ ...options, budget: { worlds, ms: 120_000 } });
  return await Promise.all(findings.map(async ({ replay }) => await playBroken(options, replay)));
}

test("a DEL that was sent again and deletes another's key is told with the reply that was lost", async () => {
  const [found] = await causesOf(blind, ['lost-reply']);
  const { cause, world } = found!;
  const { grants, entries, freedBy, twice } = cause;
  expect(cause.resource).toBe('stock');
  expect(freedBy).toMatchObject({
    how: 'deleted',
    role: 'former holder',
    request: { kind: 'DEL', text: 'DEL lock' },
  });
  const [victim, thief] = entries;
  expect([victim?.client, thief?.client]).toEqual(grants.map(({ client }) => client));
  expect(freedBy!.at).toBeGreaterThan(grants[0]!.executed!);
  expect(freedBy!.at).toBeLessThanOrEqual(grants[1]!.executed!);
  expect(cause.clients).toEqual([...new Set([victim!.client, thief!.client, freedBy!.by])]);
  const [again] = twice;
  expect(again).toMatchObject({
    first: { kind: 'DEL', client: freedBy!.by, answered: null },
    again: { kind: 'DEL' },
  });
  // The server's own log has both executions of the DEL: the second one struck the key of the victim.
  const deletions = world.world!.writes.filter(
    ({ write }) => write.client === freedBy!.by && write.command[0]?.toUpperCase() === 'DEL',
  );
  expect(deletions.map(({ at }) => (at - world.begunAt) / 1000)).toEqual([
    again!.first.executed,
    again!.again.executed,
  ]);
  expect(cause.shape).toBe(
    'first holder by SET NX; second holder by SET NX; freed by DEL of the former holder',
  );
});

test('a lease that ends while its holder stands still, and the same for two moments, has one shape', async () => {
  const options: ExploreOptions = { name: 'lock', client: compared, ...common };
  const pause = (at: number, ms: number) => ({
    ...{ seed: 1, clients: ['A', 'B'], jitter: 0 },
    faults: [{ kind: 'client-pause' as const, at, on: 'A', ms, by: 0, how: '' as const }],
  });
  const [one, other] = [
    await playBroken(options, pause(30, 1200)),
    await playBroken(options, pause(120, 1500)),
  ];
  expect(one.cause.shape).toBe(
    'first holder by SET NX; second holder by SET NX; the lease of the first holder ended',
  );
  expect(other.cause.shape).toBe(one.cause.shape);
  expect(one.cause.freedBy).toMatchObject({ how: 'expired', role: 'server', tenure: { client: 'A' } });
  const [grant] = one.cause.grants;
  expect(grant).toMatchObject({ client: 'A', lock: 'lock' });
  expect(grant!.until! - grant!.executed!).toBe(LEASE);
  expect(one.cause.freedBy!.at).toBeGreaterThanOrEqual(grant!.until!);
});

test('a lease that another client shortened is no limit of leases', async () => {
  const early = locking(({ redis }) => redis.pexpire('lock', 40));
  const found = (await causesOf(early, ['lost-reply'])).filter(({ cause }) =>
    cause.shape.includes('PEXPIRE'),
  );
  expect(found.map(({ cause }) => cause.shape)).toEqual([
    'first holder by SET NX; second holder by SET NX; the lease of the first holder was shortened by PEXPIRE of the former holder',
  ]);
  const [{ cause, breach }] = found as [BrokenWorld];
  const { freedBy, entries } = cause;
  expect(freedBy).toMatchObject({ how: 'shortened', tenure: { client: entries[0]!.client } });
  expect(freedBy!.at).toBeGreaterThan(freedBy!.request!.executed!);
  expect(isLeaseLimit(cause)).toBe(false);
  expect(faultOf(cause)).toBe(`the code of ${freedBy!.by}: its PEXPIRE`);
  expect(sentenceOf(cause, breach)).toMatch(
    /[A-C]'s PEXPIRE was sent again .* shortened [A-C]'s lease, which ended at [\d.,]+ ms\./,
  );
});

test('defects with other causes have other shapes', async () => {
  const overwriting = async ({ redis, name, sleep, signal, resource }: ClientSession): Promise<void> => {
    while (!signal.aborted) {
      if ((await redis.get('lock')) === null && (await redis.set('lock', name, 'PX', LEASE)) === 'OK') break;
      await sleep(50);
    }
    const inside = resource('stock').enter();
    await sleep(250);
    inside.write();
    inside.leave();
    await redis.del('lock');
  };
  const early = async (session: ClientSession): Promise<void> => {
    const { redis, name, sleep, resource } = session;
    while ((await redis.set('lock', name, 'PX', LEASE, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await redis.del('lock');
    await sleep(250);
    inside.write();
    inside.leave();
  };
  const swallowing = async (session: ClientSession): Promise<void> => {
    const { redis, name, sleep, resource } = session;
    while ((await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => 'OK')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(250);
    inside.write();
    inside.leave();
    await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
  };
  const shapes = [
    ...(await causesOf(overwriting, [], 4)),
    ...(await causesOf(early, [], 4)),
    ...(await causesOf(swallowing, ['out-of-memory'])),
    ...(await causesOf(compared, ['clock-jump'])),
    ...(await causesOf(compared, ['restart-empty'])),
  ].map(({ cause }) => cause.shape);
  expect([...new Set(shapes)]).toEqual([
    'first holder by SET; second holder by SET; freed by SET of the second holder',
    'first holder by SET NX; second holder by SET NX; freed by DEL of the first holder',
    'first holder by SET NX; second holder by SET NX; one of them took no lock, and was answered an error',
    "first holder by SET NX; second holder by SET NX; the lease of the first holder ended by the server's clock",
    'first holder by SET NX; second holder by SET NX; the grant was lost by a restart',
  ]);
});

test('a failover that did not have the grant, and a lock that a dead client leaves', async () => {
  const options: ExploreOptions = { name: 'lock', client: compared, topology: { replicas: 1 }, clients: 2 };
  const [behind] = (await explore({ ...options, faults: ['failover-behind'], budget: { worlds: 60 } }))
    .findings;
  const { cause } = await playBroken(options, behind!.replay);
  expect(cause.freedBy).toMatchObject({ how: 'lost', role: 'server' });
  expect(cause.shape).toBe(
    'first holder by SET NX; second holder by SET NX; the grant was lost by a failover',
  );

  const endless = async ({ redis, name, sleep, signal, resource }: ClientSession): Promise<void> => {
    while ((await redis.setnx('lock', name)) !== 1) {
      if (signal.aborted) return;
      await sleep(50);
    }
    const inside = resource('stock').enter();
    await sleep(250);
    inside.leave();
    await redis.del('lock');
  };
  const own: ExploreOptions = {
    ...options,
    client: endless,
    faults: ['client-death'],
    promises: ['no-orphan'],
  };
  const [left] = (await explore({ ...own, budget: { worlds: 60 } })).findings;
  const orphan = await playBroken(own, left!.replay);
  expect(orphan.cause.left).toMatchObject({ lock: 'lock', endless: true, why: 'died while it had it' });
  expect(orphan.cause.shape).toBe('left by SETNX without a lease: its client died while it had it');
  expect(orphan.cause.clients).toEqual([orphan.cause.left!.client]);
});

test('a lock that its release leaves taken is found without a fault, also when the script answers nil while it is taken', async () => {
  const take =
    "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('incr', KEYS[2]) end return false";
  const client = async ({ redis, name, sleep, resource }: ClientSession): Promise<void> => {
    while ((await redis.eval(take, 2, 'lock', 'fence', name, LEASE)) === null) await sleep(50);
    const inside = resource('stock').enter();
    await sleep(100);
    inside.leave();
    await redis.eval("return redis.call('persist', KEYS[1])", 1, 'lock');
  };
  const options: ExploreOptions = { name: 'kept', client, faults: [], budget: { worlds: 1 } };
  const [finding] = (await explore(options)).findings;
  expect(finding?.promise).toBe('no-orphan');
  expect(finding?.sentence).toMatch(/took its lease away, and \w never gave it back/);
});

test('the answer to a release does not say that its sender went on: it had left', async () => {
  const client = async ({ redis, name, sleep, resource, record }: ClientSession): Promise<void> => {
    const sale = record('sale', name);
    while ((await redis.set('lock', name, 'PX', LEASE, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(250);
    inside.leave();
    await redis.eval(RELEASE, 1, 'lock', name);
    sale.ok(name);
  };
  /** Judges when everything is over, later than the answer to the release. */
  const soldOnce = ({ visits }: History) => {
    const [first, second] = visits;
    if (second === undefined || first!.to <= second.from) return undefined;
    const clients = [first!.client, second.client];
    return { what: 'it was sold twice', at: Math.max(first!.to, second.to) + 10, resource: 'stock', clients };
  };
  const options: ExploreOptions = { name: 'lock', client, ...common, clients: 2, promises: [soldOnce] };
  const { findings } = await explore({ ...options, faults: ['client-pause'], budget: { worlds: 60 } });
  const { cause } = await playBroken(options, findings[0]!.replay);
  expect(cause.freedBy?.how).toBe('expired');
  const [older] = cause.entries;
  expect(older!.to).toBeGreaterThan(cause.freedBy!.at); // Its release was answered 0.
  expect(cause.refused).toBeUndefined();
});

/** A works for longer than its lease, and renews it. B comes and goes. @param renewal the script */
function renewing(renewal: string) {
  return async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    while ((await redis.set('lock', name, 'PX', LEASE, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    let isHeld = true;
    for (let i = 0; isHeld && i < (name === 'A' ? 2 : 0); i++) {
      await sleep(700);
      isHeld = (await redis.eval(renewal, 1, 'lock', name, LEASE)) === 1;
    }
    if (isHeld) inside.write();
    inside.leave();
    if (isHeld) await redis.eval(RELEASE, 1, 'lock', name);
  };
}

/** The breaches and the story of one world of two clients. */
async function playedWith(client: ExploreOptions['client'], fault: string, more: Partial<ExploreOptions>) {
  const options: ExploreOptions = { name: 'renewed', client, ...common, clients: 2, ...more };
  const { breaches, story } = await replay(options, `1:1:0:A,B:${fault}:000000000000`, { sameTrace: false });
  return { story, promises: breaches.map(({ promise }) => promise) };
}

const RENEWS = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end ";
const limits = { accept: ['lease-limits'] };

test('a renewal that takes a lock again is no limit of leases', async () => {
  const takes =
    "if not redis.call('get',KEYS[1]) then redis.call('set',KEYS[1],ARGV[1],'PX',ARGV[2]) return 1 end ";
  const pause = 'client-pause@650/A/500/0';
  const { story, promises } = await playedWith(renewing(`${RENEWS}${takes}return 0`), pause, limits);
  expect(promises).toContain('mutual-exclusion');
  expect(story).toMatch(
    /A's lease ended at 1,\d+(\.\d+)? ms, and its script \w+ took the lock again after B had had it\./,
  );
  expect(story).toMatch(/\n +1,\d+(\.\d+)? ms {2}A +EVAL \w+ lock A 1000 takes the lock again\n/);
  expect(story).toMatch(
    /\nat fault: the code of A: its script \w+\nprevented by: a renewal that only renews/,
  );
  expect(await playedWith(renewing(`${RENEWS}return 0`), pause, limits)).toMatchObject({ promises: [] });
});

test('a renewal that a failover has lost is a limit of leases: the promoted server ends the lease as it knows it', async () => {
  const client = renewing(`${RENEWS}return 0`);
  const behind = 'failover-behind@690/redis-1/20/100/crash';
  const { story, promises } = await playedWith(client, behind, { topology: { replicas: 1 } });
  expect([...new Set(promises)]).toEqual(['mutual-exclusion']);
  expect(story).toContain("A's lock was lost by the failover to redis-2, which never received its renewal.");
  const accepted = await playedWith(client, behind, { topology: { replicas: 1 }, ...limits });
  expect(accepted.promises).toEqual([]);
});

test('a renewal that a demoted server refuses is told with its error: the code took no notice of it', async () => {
  const client = async ({ name, redis, resource, sleep }: ClientSession): Promise<void> => {
    while ((await redis.set('lock', name, 'PX', LEASE, 'NX').catch(() => null)) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    for (let i = 0; i < 5; i++) {
      await sleep(400);
      await redis.eval(`${RENEWS}return 0`, 1, 'lock', name, LEASE).catch(() => undefined);
    }
    inside.leave();
    await redis.eval(RELEASE, 1, 'lock', name).catch(() => undefined);
  };
  const { story } = await playedWith(client, 'read-only@60/redis-1/1500', {
    topology: { replicas: 1 },
  });
  expect(story).toMatch(
    /A's lease ended at 1,0\d\d(\.\d+)? ms, and A went on although its script \w+ was answered READONLY\./,
  );
  expect(story).toMatch(/ms {2}A +EVAL \w+ lock A 1000 is answered READONLY, and does not renew the lock\n/);
  expect(story).toMatch(
    /\nat fault: the code of A, which does not look at the reply\nprevented by: to try a refused renewal again/,
  );
});
