/** Slots that move while locks are held, and clients that read from replicas. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { type ClientSession, type ExploreOptions, explore, replay } from '../../explore/index.ts';

const RELEASE = "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0";

async function lock({ name, redis, resource, sleep }: ClientSession): Promise<void> {
  while ((await redis.set('lock', name, 'PX', 2000, 'NX').catch(() => '')) !== 'OK') await sleep(25);
  const inside = resource('stock').enter();
  await sleep(500);
  inside.write();
  inside.leave();
  await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
}

test('the slot of a held lock moves to another primary: the lock stays, and its holder releases it there', async () => {
  const cluster: ExploreOptions = {
    name: 'moves',
    topology: { cluster: 3, replicas: 0 },
    clients: 2,
    client: lock,
  };
  const moves = (on: string): Promise<Awaited<ReturnType<typeof replay>>> =>
    replay(cluster, `1:1:0:A,B:slot-migration@100/${on}/200:000000000000`, { sameTrace: false });
  const { history } = await replay(cluster, '1:1:0:A,B::000000000000', { sameTrace: false });
  const owner = history.writes.find(({ command }) => command[1] === 'lock')!.node;
  const played = await moves(owner);
  const told = played.history.lines.filter(({ kind }) => kind === 'fault').map(({ what }) => what);
  expect(told).toEqual([
    expect.stringMatching(/^begins to move the slots of lock to /),
    expect.stringMatching(/^has moved them to /),
  ]);
  expect(played.breaches).toEqual([]);
  const nodes = new Set(
    played.history.writes
      .filter(({ client, command }) => client !== undefined && command[1] === 'lock')
      .map(({ node }) => node),
  );
  expect([nodes.size, nodes.has(owner)]).toEqual([2, true]);
  expect(played.history.visits.map(({ client }) => client)).toEqual(['A', 'B']);
  // A pair has no slots.
  await expect(explore({ ...cluster, topology: {}, faults: ['slot-migration'] })).rejects.toThrow(
    'slot-migration',
  );
});

test('a client reads from a replica, which may be behind; then faults of replicas strike by default', async () => {
  const readsThere = async (session: ClientSession): Promise<void> => {
    const { name, redis, replica, resource, sleep } = session;
    const reading = replica();
    reading.on('error', () => {});
    for (let i = 0; i < 2; i++) {
      // It believes what the replica says: a lock that was taken a moment ago is free there.
      while ((await reading.get('lock').catch(() => 'unknown')) !== null) await sleep(20);
      await redis.set('lock', name, 'PX', 1000).catch(() => '');
      const inside = resource('stock').enter();
      await sleep(40);
      inside.write();
      inside.leave();
      await redis.eval(RELEASE, 1, 'lock', name).catch(() => 0);
      await sleep(name === 'A' ? 10 : 35);
    }
  };
  const options: ExploreOptions = { name: 'reads', clients: 2, client: readsThere };
  const report = await explore({ ...options, stopAtFirst: true, budget: { worlds: 20, ms: Infinity } });
  expect(report.findings.map(({ promise }) => promise)).toEqual(['mutual-exclusion']);
  const struck = await explore({ ...options, faults: ['replica-lag'], budget: { worlds: 5, ms: Infinity } });
  expect(struck.coverage.faults['replica-lag']).toBeGreaterThan(0);
  const alone = { ...options, topology: { replicas: 0 } };
  await expect(explore(alone)).rejects.toThrow('there is no replica 0 of primary 0');
});
