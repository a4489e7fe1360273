/** Sentinels in the lab: they decide on failovers under the same links and clocks as the nodes. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Pair, type PairOptions, startPair } from '../../index.ts';
import { MapReply } from '../../protocol/reply.ts';
import { describeInstance } from '../../sentinel/commands/fields.ts';
import { forceFailover } from '../../sentinel/commands/sentinel.ts';

const open: Pair[] = [];
afterEach(async () => {
  for (const pair of open.splice(0)) await pair.close();
});

async function start(options: PairOptions = {}): Promise<Pair> {
  const pair = await startPair({ seed: 5, replicas: 2, sentinels: 3, ...options });
  open.push(pair);
  return pair;
}

/** Moves time until the condition holds. */
async function until(pair: Pair, condition: () => boolean, maxMs = 120_000): Promise<void> {
  await pair.run(async () => {
    while (!condition()) await pair.advance(10);
  }, maxMs);
}

const typesOf = (pair: Pair, name: string): string[] => pair.sentinel(name).events.map(({ type }) => type);

describe('Sentinels of a pair', () => {
  test('they replace a primary that crashes, and the lock that it had just granted is lost', async () => {
    const pair = await start();
    const [a, b] = [pair.client('A'), pair.client('B')];
    for (const replica of pair.replicas) pair.linkTo(replica.name).hold();
    expect(await a.set('lock', 'A', 'PX', 60_000, 'NX')).toBe('OK');
    const failover = await pair.failover({ crash: true });
    expect(failover.from).toBe('redis-1');
    expect(failover.lost.map(({ key, holder }) => [key, holder])).toEqual([['lock', 'A']]);
    expect(pair.primary.name).toBe(failover.to);
    expect(await b.set('lock', 'B', 'PX', 60_000, 'NX')).toBe('OK');
    const leader = pair.sentinels.find(({ events }) => events.some(({ type }) => type === '+elected-leader'));
    const step = /^\+(sdown|odown|try|failover|selected|promoted)/;
    expect(leader!.events.map(({ type }) => type).filter((type) => step.test(type))).toEqual([
      '+sdown',
      '+odown',
      '+try-failover',
      '+failover-state-select-slave',
      '+selected-slave',
      '+failover-state-send-slaveof-noone',
      '+failover-state-wait-promotion',
      '+promoted-slave',
      '+failover-state-reconf-slaves',
    ]);
  });

  test('SENTINEL FAILOVER moves the primary while it is up, and loses nothing', async () => {
    const pair = await start();
    await pair.client('A').set('lock', 'A');
    const { from, to, lost } = await pair.failover();
    expect([from, pair.primary.name]).toEqual(['redis-1', to]);
    expect(lost).toEqual([]);
    await until(pair, () => pair.node('redis-1').server.primary?.port === pair.primary.port);
    await expect(pair.failover({ to: 'redis-1' })).rejects.toThrow(
      /failover\.to is 'redis-1'; allowed: no value/,
    );
  });

  test('SENTINEL FAILOVER COORDINATED of Valkey 9 has the primary hand over, after an election, and loses nothing', async () => {
    const pair = await start({ dialect: 'valkey-9' });
    const a = pair.client('A');
    const sentinel = pair.sentinel('sentinel-2').server;
    const old = pair.primary;
    await pair.run(async () => {
      await a.set('lock', 'A');
      for (const replica of pair.replicas) pair.linkTo(replica.name).hold();
      await a.set('other', 'A');
    });
    const primary = sentinel.sentinel.primaries.get('mymaster')!;
    const flags = (): string[] => {
      const fields = describeInstance(primary, sentinel.now, true);
      return String(fields instanceof MapReply && fields.items[fields.items.indexOf('flags') + 1]).split(',');
    };
    await until(pair, () => pair.sentinel('sentinel-2').knowsEverybody(2));
    // Sentinels are asked for their vote once, and need a connection for that.
    await until(pair, () => [...primary.sentinels.values()].every(({ link }) => !link.disconnected));
    expect(primary.isHandingOver).toBe(false);
    sentinel.unit(() => forceFailover(sentinel, 'mymaster', 'coordinated'));
    sentinel.settle();
    expect(flags()).toEqual(['s_down', 'master', 'failover_in_progress', 'coordinated_failover']);
    expect(() => sentinel.unit(() => forceFailover(sentinel, 'mymaster'))).toThrow(/^INPROG/);
    await until(pair, () => old.server.replication.failover.state !== 'no-failover');
    // The primary takes no writes until a replica has what it has.
    const late = a.set('lock', 'B');
    await pair.advance(500);
    expect(pair.failovers).toEqual([]);
    for (const replica of pair.replicas) pair.linkTo(replica.name).release();
    await until(pair, () => pair.failovers.length > 0);
    expect([pair.failovers[0]?.from, pair.failovers[0]?.lost]).toEqual(['redis-1', []]);
    await until(pair, () => old.server.primary?.port === pair.primary.port);
    expect(await pair.run(() => late)).toBe('OK');
    expect(await pair.client('B').mget('lock', 'other')).toEqual(['B', 'A']);
    expect(
      typesOf(pair, 'sentinel-2').filter((type) => /vote|elected|wait-promotion|promoted/.test(type)),
    ).toEqual([
      '+vote-for-leader',
      '+elected-leader',
      '+selected-slave',
      '+failover-state-wait-promotion',
      '+promoted-slave',
    ]);
  });

  test('a coordinated failover that cannot end in time is given up, and the primary goes on', async () => {
    const pair = await start({ dialect: 'valkey-9', sentinels: { count: 1, failoverTimeout: 3000 } });
    const sentinel = pair.sentinel('sentinel-1').server;
    const primary = sentinel.sentinel.primaries.get('mymaster')!;
    const a = pair.client('A');
    await until(pair, () => primary.isHandingOver === false);
    for (const replica of pair.replicas) pair.linkTo(replica.name).hold();
    await a.set('lock', 'A');
    sentinel.unit(() => forceFailover(sentinel, 'mymaster', 'coordinated'));
    sentinel.settle();
    await until(pair, () => typesOf(pair, 'sentinel-1').includes('-failover-abort-slave-timeout'));
    expect(await a.set('lock', 'B')).toBe('OK');
    expect([pair.primary.name, pair.primary.server.replication.failover.state]).toEqual([
      'redis-1',
      'no-failover',
    ]);
    expect(primary.failover.isCoordinated).toBe(false);
  });

  test('a partition leaves the old primary with its client: two holders, and the same trace for the same seed', async () => {
    const play = async (seed: number): Promise<string> => {
      const pair = await start({ seed, sentinels: { count: 3, downAfter: 1000 } });
      const a = pair.client('A');
      await a.set('lock', 'A', 'PX', 2000, 'NX');
      pair.network.partition(
        ['A', 'redis-1'],
        ['B', 'redis-2', 'redis-3', 'sentinel-1', 'sentinel-2', 'sentinel-3'],
      );
      const renewing = pair.run(async () => {
        // A renews on its side. The copy on the other side runs out.
        for (let left = 5; left > 0; ) {
          await a.pexpire('lock', 2000);
          await pair.advance(500);
          if (pair.failovers.length > 0) left--;
        }
        // B looks for a primary only now.
        const b = pair.client('B');
        return [await a.get('lock'), await b.set('lock', 'B', 'PX', 60_000, 'NX'), await a.get('lock')];
      });
      expect(await renewing).toEqual(['A', 'OK', 'A']);
      expect(pair.nodes.filter(({ server }) => server.role === 'primary')).toHaveLength(2);
      await a.set('late', 'A');
      pair.network.heal();
      const old = pair.node('redis-1');
      await until(pair, () => old.server.primary?.linkUp === true);
      expect(pair.lost.map(({ key }) => key)).toContain('late');
      expect(await a.get('lock')).toBe('B');
      const types = pair.sentinels.flatMap(({ events }) => events.map(({ type }) => type));
      expect(types).toContain('+convert-to-slave');
      await pair.close();
      return String(pair.trace);
    };
    const first = await play(7);
    expect(await play(7)).toBe(first);
    expect(await play(8)).not.toBe(first);
  });

  test('they promote a node that runs as a primary already, and what it lacks is lost', async () => {
    const sentinels = { count: 3, downAfter: 1000, failoverTimeout: 5000 };
    const pair = await start({ replicas: 1, sentinels });
    const a = pair.client('A', { commandTimeout: 500 });
    await a.set('k', '1');
    await a.wait(1, 100);
    await pair.failover({ crash: { keep: 'everything' } });
    await a.set('lock', 'A');
    // It comes back as the primary that it was, and is not reconfigured yet when the other one dies.
    pair.restart('redis-1');
    await pair.advance(4000);
    pair.node('redis-2').crash();
    await until(pair, () => pair.sentinels.every(({ announcedPort }) => announcedPort === 6379));
    expect(pair.primary.name).toBe('redis-1');
    expect(pair.failovers.map(({ from, to }) => [from, to])).toEqual([
      ['redis-1', 'redis-2'],
      ['redis-2', 'redis-1'],
    ]);
    expect(pair.lost.map(({ key }) => key)).toEqual(['lock']);
  });

  test('a minority cannot promote: without a majority the primary stays', async () => {
    const pair = await start({ sentinels: { count: 3, downAfter: 1000, quorum: 1, failoverTimeout: 3000 } });
    const alone = pair.sentinel('sentinel-1');
    pair.network.partition(['sentinel-1', 'redis-2'], ['redis-1', 'redis-3', 'sentinel-2', 'sentinel-3']);
    await until(pair, () => typesOf(pair, 'sentinel-1').includes('-failover-abort-not-elected'));
    expect(typesOf(pair, 'sentinel-1')).toContain('+odown');
    expect([pair.primary.name, pair.failovers]).toEqual(['redis-1', []]);
    pair.network.heal();
    await until(pair, () => alone.events.at(-1)?.type !== '-failover-abort-not-elected');
    expect(alone.announcedPort).toBe(pair.primary.port);
  });

  test('a Sentinel that restarts keeps its id, its epoch and its vote', async () => {
    const pair = await start({ sentinels: { count: 3, downAfter: 1000 } });
    await pair.failover({ crash: true });
    const sentinel = pair.sentinel('sentinel-2');
    const { id, epoch, primaries } = sentinel.server.sentinel;
    const before = { id, epoch, voted: primaries.get('mymaster')?.leaderEpoch };
    expect(before.voted).toBe(1);
    sentinel.crash();
    await pair.advance(500);
    sentinel.restart();
    const { sentinel: now } = sentinel.server;
    expect({ id: now.id, epoch: now.epoch, voted: now.primaries.get('mymaster')?.leaderEpoch }).toEqual(
      before,
    );
    expect(sentinel.announcedPort).toBe(pair.primary.port);
  });

  test.each([-60_000, 60_000])(
    'a clock that jumps by %i ms makes a Sentinel enter TILT mode, and leave it',
    async (by) => {
      const pair = await start();
      const sentinel = pair.sentinel('sentinel-3');
      sentinel.clock.jump(by);
      await pair.advance(1000);
      expect(sentinel.server.sentinel.isTilted).toBe(true);
      await pair.advance(31_000);
      expect(typesOf(pair, 'sentinel-3')).toEqual(expect.arrayContaining(['+tilt', '-tilt']));
      expect(sentinel.server.sentinel.isTilted).toBe(false);
    },
  );

  test('a paused Sentinel does not vote, the other two are a majority', async () => {
    const pair = await start({ sentinels: { count: 3, downAfter: 1000 } });
    pair.pause('sentinel-1');
    const { to } = await pair.failover({ crash: true });
    expect(pair.primary.name).toBe(to);
    expect(typesOf(pair, 'sentinel-1')).not.toContain('+switch-master');
    pair.resume('sentinel-1');
    await until(pair, () => pair.sentinel('sentinel-1').announcedPort === pair.primary.port);
  });

  test('an ioredis client in Sentinel mode finds the primary and follows it', async () => {
    const pair = await start({ sentinels: { count: 3, downAfter: 1000 } });
    const sentinels = pair.sentinels.map(({ address }) => address);
    const redis = pair.client('A', { sentinels, name: 'mymaster', retryStrategy: () => 100 } as never);
    await redis.set('lock', 'A');
    await pair.failover({ crash: true });
    expect(await redis.set('lock', 'B')).toBe('OK');
    expect(pair.primary.server.db(0).entries.has('lock')).toBe(true);
  });

  test('a wrong option is refused by name', async () => {
    await expect(startPair({ sentinels: -1 })).rejects.toThrow(/option sentinels is -1/);
    await expect(startPair({ sentinels: { quorum: 0 } })).rejects.toThrow(/option sentinels\.quorum is 0/);
    await expect(startPair({ sentinels: 3, quorum: true })).rejects.toThrow(/option quorum is true/);
    await expect(startPair({ sentinels: { name: 'a b' } })).rejects.toThrow(/option sentinels\.name/);
  });
});
