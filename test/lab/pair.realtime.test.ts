/** A pair that a test controls: what replication delivers, what a failover loses, and what a restart keeps. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type PairOptions, startPair, startServers } from '../../lab/pair.ts';
import { connectInMemory } from '../../server/host/in-memory.ts';
import { until } from '../support/until.ts';

const begin = (options: Partial<PairOptions> = {}) => startPair({ clock: 'virtual', seed: 7, ...options });

test('the quick start works as written', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  const b = pair.client('B');
  pair.link.hold();
  expect(await a.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  const failover = await pair.failover({ crash: true });
  expect(failover.lost).toMatchObject([{ key: 'my:lock', type: 'string', holder: 'A', client: 'A' }]);
  expect(failover.lost[0]?.command.slice(0, 3)).toEqual(['SET', 'my:lock', 'A']);
  expect(failover.lost[0]?.offset).toBe(failover.oldOffset);
  expect(failover.unanswered).toEqual([]);
  expect(await b.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
  expect(pair.primary.name).toBe('redis-2');
});

test('the report of a failover does not keep its world in memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const played = async () => {
    await using pair = await begin();
    pair.link.hold();
    await pair.client('A').set('my:lock', 'A');
    return { failover: await pair.failover({ crash: true }), world: new WeakRef(pair.world) };
  };
  const { failover, world } = await played();
  const isGone = (): boolean => {
    collect();
    return world.deref() === undefined;
  };
  await until(isGone, { what: 'the end of the world' });
  expect(failover.lost).toMatchObject([{ key: 'my:lock', client: 'A' }]);
});

test('nothing is lost while replication flows', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('my:lock', 'A', 'PX', 30_000, 'NX');
  expect(await a.wait(1, 1000)).toBe(1);
  const { lost, from, to } = await pair.failover({ crash: true });
  expect([lost, from, to]).toEqual([[], 'redis-1', 'redis-2']);
  expect(await a.get('my:lock')).toBe('A');
  expect(await a.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe(null);
});

test('commands that are not awaited are under way together, as with any client', async () => {
  await using pair = await begin();
  const [a, b] = [pair.client('A'), pair.client('B')];
  const popped = b.blpop('queue', 0);
  const [one, two] = await Promise.all([a.set('x', '1'), a.get('x')]);
  expect([one, two]).toEqual(['OK', '1']);
  await a.rpush('queue', 'job');
  expect(await popped).toEqual(['queue', 'job']);
  expect(await a.multi().set('y', '1').incr('y').exec()).toEqual([
    [null, 'OK'],
    [null, 2],
  ]);
  expect(await a.pipeline().get('y').exec()).toEqual([[null, '2']]);
  await expect(a.call('nonsense')).rejects.toThrow('unknown command');
});

test('WAIT returns too few replicas while the link is held, and enough after an acknowledgement', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  pair.link.hold();
  await a.set('k', '1');
  expect(await a.wait(1, 200)).toBe(0);
  pair.link.release();
  expect(await a.wait(1, 200)).toBe(1);
  pair.link.acks.hold();
  await a.set('k', '2');
  expect(await a.wait(1, 200)).toBe(0);
  expect(pair.replica.server.db(0).entries.get('k')?.read()).toBe('2');
});

test.each([
  ['has crashed', true],
  ['goes on as a replica', false],
])('a lost write without a reply counts as unanswered, not as lost: the primary %s', async (_, crash) => {
  await using pair = await begin();
  const a = pair.client('A', { retryStrategy: () => null });
  await a.ping();
  pair.link.hold();
  pair.world.network.lane('redis-1', 'A').hold();
  const outcome = a.set('k', 'v').catch((error: Error) => error.message);
  await pair.advance(10);
  const failover = await pair.failover({ crash });
  expect(failover.lost).toEqual([]);
  expect(failover.unanswered).toMatchObject([{ key: 'k', client: 'A' }]);
  expect(pair.primary.server.db(0).size).toBe(0);
  pair.world.network.lane('redis-1', 'A').release();
  expect(await outcome).toMatch('closed'); // The reply under way was lost with the connection.
});

test('lost renewals and deletes are reported, but writes that cancel out are not', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('renewed', 'A', 'PX', 10_000);
  await a.set('deleted', 'A');
  await a.hset('hash', 'holder-1', '1');
  expect(await a.wait(1, 1000)).toBe(1);
  pair.link.hold();
  await a.pexpire('renewed', 30_000);
  await a.del('deleted');
  await a.set('brief', '1');
  await a.del('brief');
  await a.hincrby('hash', 'holder-1', 1);
  const { lost } = await pair.failover({ crash: true });
  expect(lost.map(({ key, type, holder }) => [key, type, holder])).toEqual([
    ['renewed', 'string', 'A'],
    ['deleted', 'none', undefined],
    ['hash', 'hash', 'holder-1'],
  ]);
});

test('a long string that is edited in place has no holder: it is reported by name, and not copied at every write', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.setbit('bits', 1_000_000, 1);
  expect(await a.wait(1, 1000)).toBe(1);
  const { held } = pair.primary.server.db(0).peek('bits')!;
  pair.link.hold();
  await a.setbit('bits', 7, 1);
  expect(pair.primary.server.db(0).peek('bits')?.held).toBe(held);
  const { lost } = await pair.failover({ crash: true });
  expect(lost).toMatchObject([{ key: 'bits', type: 'string', holder: undefined }]);
});

test('when one of two replicas has a write that WAIT confirmed, promoting the other one loses it', async () => {
  await using pair = await begin({ replicas: 2 });
  const a = pair.client('A');
  pair.linkTo('redis-3').hold();
  await a.set('my:lock', 'A');
  expect(await a.wait(1, 1000)).toBe(1);
  const { lost } = await pair.failover({ crash: true, to: 'redis-3' });
  expect(lost.map(({ key }) => key)).toEqual(['my:lock']);
  await pair.synchronize();
  expect(pair.node('redis-2').server.db(0).size).toBe(0);
});

test('promotion prefers the highest offset, and priority before that', async () => {
  const choose = async (priority: string) => {
    await using pair = await begin({ replicas: 2 });
    const a = pair.client('A');
    await pair.run(async () => pair.node('redis-2').server.settings['replica-priority']);
    pair.node('redis-2').server.settings['replica-priority'] = Number(priority);
    pair.linkTo('redis-2').hold();
    await a.set('k', 'v');
    await a.wait(1, 1000);
    const { to, lost } = await pair.failover({ crash: true });
    return [to, lost.length];
  };
  expect(await choose('100')).toEqual(['redis-3', 0]);
  expect(await choose('10')).toEqual(['redis-2', 1]);
  expect(await choose('0')).toEqual(['redis-3', 0]);
});

test('in quorum mode the offset comes before the priority', async () => {
  await using pair = await begin({ replicas: 2, quorum: true });
  pair.node('redis-2').server.settings['replica-priority'] = 10;
  pair.linkTo('redis-2').hold();
  await pair.client('A').set('k', 'v');
  const { to, lost } = await pair.failover({ crash: true });
  expect([to, lost]).toEqual(['redis-3', []]);
});

test.each([
  ['to', 'redis-2', 'failover'],
  ['from', 'failover', 'redis-2'],
])('a replica is not promoted when its lane %s the deciding party is cut', async (_way, from, to) => {
  await using pair = await begin({ replicas: 2 });
  pair.node('redis-2').server.settings['replica-priority'] = 10;
  pair.network.lane(from, to).partition();
  expect((await pair.failover({ crash: true })).to).toBe('redis-3');
});

test('an unreachable replica is not promoted unless it is named', async () => {
  await using pair = await begin({ replicas: 2 });
  const a = pair.client('A');
  await a.set('k', 'v');
  await a.wait(2, 1000);
  const { network } = pair;
  // The replica that Redis' rule would choose, by its offset.
  pair.linkTo('redis-3').hold();
  await a.set('k', 'w');
  await a.wait(1, 1000);
  network.partition(['redis-2'], ['redis-1', 'redis-3']);
  expect((await pair.failover()).to, 'a client still reaches it').toBe('redis-2');
  network.heal();
  await pair.synchronize();
  pair.linkTo('redis-3').hold();
  await a.set('k', 'x');
  await a.wait(1, 1000);
  network.partition(['redis-1'], ['redis-2', 'redis-3', 'A']);
  expect((await pair.failover({ crash: true })).to).toBe('redis-3');
  network.heal();
  network.partition(['redis-1'], ['redis-3', 'A']);
  await expect(pair.failover({ crash: true }), 'a dead node reaches nobody').rejects.toThrow(
    'redis-1 cannot be reached, redis-2 is down',
  );
  pair.restart('redis-3');
  network.partition(['redis-1', 'failover'], ['redis-3', 'A']);
  pair.pause('redis-1');
  await expect(pair.failover()).rejects.toThrow('redis-1 is paused, redis-2 is down');
  pair.resume('redis-1');
  await expect(pair.failover()).rejects.toThrow('redis-1 cannot be reached, redis-2 is down');
  await expect(pair.failover({ to: 'redis-2' })).rejects.toThrow('redis-2 cannot be promoted: it is down');
  expect((await pair.failover({ to: 'redis-1' })).to).toBe('redis-1');
});

test('a failover resets the connections of every node that changes its role', async () => {
  await using pair = await begin({ replicas: 2 });
  const streams = pair.nodes.map(({ server }) => {
    const stream = connectInMemory(server.connections);
    stream.on('error', () => {});
    stream.write('PING\r\n');
    return stream;
  });
  await until(() => streams.every((stream) => stream.readableLength > 0), { what: 'the replies' });
  await pair.failover({ demote: false });
  await until(() => streams[1]!.destroyed && streams[2]!.destroyed, { what: 'their ends' });
  expect(streams[0]!.destroyed).toBe(false);
  pair.demote('redis-1');
  await until(() => streams[0]!.destroyed, { what: 'the end of the last' });
});

test('a paused client sends nothing until it is resumed', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('k', '1');
  pair.pause('A');
  const late = a.incr('k');
  expect(await pair.client('B').get('k')).toBe('1');
  pair.resume('A');
  expect(await late).toBe(2);
  expect(() => pair.pause('C')).toThrow("no node is called 'C'");
});

test('a slow link delays replication, and WAIT takes longer', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('k', '1');
  pair.link.delay(300);
  await a.set('k', '2');
  expect(await a.wait(1, 100)).toBe(0);
  expect(await a.wait(1, 1000)).toBe(1);
});

test('a partitioned primary accepts writes that are discarded when it is demoted', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('my:lock', 'A');
  await a.wait(1, 1000);
  pair.link.partition();
  await pair.failover({ demote: false });
  const b = pair.client('B');
  await b.set('my:lock', 'B');
  expect(await a.set('late', '1')).toBe('OK');
  expect(pair.nodes.map(({ server }) => server.role)).toEqual(['primary', 'primary']);
  expect(pair.lost).toEqual([]);
  pair.world.network.heal();
  const { lost } = pair.demote('redis-1');
  expect(lost.map(({ key }) => key)).toContain('late');
  expect(pair.lost).toEqual(lost);
  await pair.synchronize();
  expect(await a.get('my:lock')).toBe('B');
  expect(await a.exists('late')).toBe(0);
});

test('a lost write returns when the node that still has it is promoted', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  pair.link.hold();
  await a.set('k', 'v');
  pair.world.network.lane('redis-2', 'redis-1').hold();
  expect((await pair.failover()).lost.map(({ key }) => key)).toEqual(['k']);
  const back = await pair.failover({ crash: true });
  expect(back.to).toBe('redis-1');
  expect([back.lost, back.returned.map(({ key }) => key)]).toEqual([[], ['k']]);
});

test("the old primary returns as a replica with the new primary's data", async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('k', 'old');
  await pair.failover({ crash: { keep: 'everything' } });
  await a.set('k', 'new');
  pair.restart('redis-1');
  await pair.synchronize();
  expect(pair.node('redis-1').server.role).toBe('replica');
  expect(pair.node('redis-1').server.db(0).entries.get('k')?.read()).toBe('new');
});

test('a restart keeps nothing, everything, what was synced, or everything up to an offset', async () => {
  const keep = async (how: unknown, settings = {}) => {
    await using pair = await begin({ settings });
    const a = pair.client('A');
    await a.set('one', '1');
    const { offset } = pair.primary;
    await pair.advance(1500);
    await a.set('two', '2', 'PX', 60_000);
    const kept = how === 'offset' ? { offset } : (how as 'nothing');
    pair.primary.crash({ keep: kept });
    await pair.advance(100);
    pair.restart('redis-1');
    expect(pair.primary.server.role).toBe('primary');
    const names = await a.keys('*');
    return names.sort();
  };
  expect(await keep('nothing')).toEqual([]);
  expect(await keep('everything')).toEqual(['one', 'two']);
  expect(await keep('synced')).toEqual([]);
  expect(await keep('synced', { appendonly: true, appendfsync: 'no' })).toEqual([]);
  expect(await keep('synced', { appendonly: true })).toEqual(['one']);
  expect(await keep('synced', { appendonly: true, appendfsync: 'always' })).toEqual(['one', 'two']);
  expect(await keep('offset')).toEqual(['one']);
});

test('WAITAOF counts what the disks have synced', async () => {
  await using pair = await begin({ settings: { appendonly: true } });
  const a = pair.client('A');
  await a.set('k', '1');
  expect(await a.call('WAITAOF', 1, 1, 100)).toEqual([0, 0]);
  expect(await a.call('WAITAOF', 1, 1, 5000)).toEqual([1, 1]);
});

test('a replica whose link was cut resumes from the backlog', async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('k', '1');
  await a.wait(1, 1000);
  pair.world.network.link('redis-1', 'redis-2').reset();
  await a.set('k', '2');
  await pair.synchronize();
  expect(pair.replica.server.db(0).entries.get('k')?.read()).toBe('2');
  expect(pair.primary.server.replication.counters).toMatchObject({ full: 1, partial: 1 });
});

test("a replica's clock that is ahead ends a lease early after the promotion", async () => {
  await using pair = await begin();
  const a = pair.client('A');
  await a.set('my:lock', 'A', 'PX', 10_000);
  await a.wait(1, 1000);
  pair.replica.clock.jump(4000);
  const { lost } = await pair.failover({ crash: true });
  expect(lost).toEqual([]);
  const left = await a.pttl('my:lock');
  expect(left).toBeGreaterThan(5900);
  expect(left).toBeLessThan(6000);
});

test('several primaries are independent, and each client names one', async () => {
  await using servers = await startServers({ clock: 'virtual', primaries: 5 });
  const clients = servers.clients('A');
  expect(await Promise.all(clients.map((client) => client.set('k', 'v')))).toEqual(Array(5).fill('OK'));
  servers.nodes[2]?.crash();
  servers.nodes[2]?.restart();
  expect(servers.nodes.map(({ server }) => server.db(0).size)).toEqual([1, 1, 0, 1, 1]);
});

test('the same seed gives the same trace, and another seed a different one', async () => {
  const story = async (seed: number) => {
    await using pair = await begin({ seed, replicas: 2 });
    const [a, b] = [pair.client('A'), pair.client('B')];
    for (let i = 0; i < 20; i++) await Promise.all([a.incr('n'), b.set(`k${i}`, String(i), 'PX', 50 + i)]);
    pair.link.hold();
    await a.incr('n');
    await pair.failover({ crash: true, after: 300 });
    pair.restart('redis-1');
    await a.incr('n');
    await pair.advance(3000);
    return pair.trace.hash();
  };
  const first = await story(1);
  expect(await story(1)).toBe(first);
  expect(await story(2)).not.toBe(first);
});
