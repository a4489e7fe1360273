/** A pair on the real clock, over TCP: the lost lock, links, crashes and options. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair, startServers } from '../../../index.ts';
import type { Settings } from '../../../server/settings/settings.ts';
import { until } from '../../support/until.ts';

test('the lost lock: held replication, a crash, a promotion, and a second holder', async () => {
  await using pair = await startPair({ clock: 'real' });
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('kept', '1');
  expect(await a.wait(1, 0)).toBe(1);
  const { link } = pair;
  link.hold();
  expect(await a.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  const old = pair.primary.name;
  const { lost, from, to } = await pair.failover({ crash: true });
  expect(lost).toMatchObject([{ key: 'my:lock', holder: 'A', client: 'A' }]);
  expect([from, to]).toEqual([old, pair.primary.name]);
  expect(await b.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await b.get('kept')).toBe('1');
  await pair.restart(old);
  link.release();
  await pair.synchronize();
  expect(await new Reader(pair.replica.port).get('my:lock')).toBe('B');
  expect(pair.lost).toEqual(lost);
});

class Reader {
  readonly port: number;
  constructor(port: number) {
    this.port = port;
  }
  async get(key: string): Promise<string | null> {
    const redis = new Redis(this.port);
    const value = await redis.get(key);
    redis.disconnect();
    return value;
  }
}

test('WAIT reports what passed a held, released, partitioned or healed link', async () => {
  await using pair = await startPair({ clock: 'real', replicas: 2 });
  const redis = pair.client('A');
  pair.link.hold();
  await redis.set('a', '1');
  expect(await redis.wait(1, 0)).toBe(1);
  expect(await redis.wait(2, 50)).toBe(1);
  pair.link.release();
  expect(await redis.wait(2, 0)).toBe(2);
  pair.link.partition();
  await redis.set('b', '1');
  expect(await redis.wait(1, 0)).toBe(1);
  expect(await redis.wait(2, 50)).toBe(1);
  pair.link.heal();
  expect(await redis.wait(2, 0)).toBe(2);
  pair.link.acks.hold();
  await redis.set('c', '1');
  expect(await redis.wait(1, 0)).toBe(1);
  expect(await redis.wait(2, 50)).toBe(1);
  await until(async () => (await new Reader(pair.replica.port).get('c')) === '1');
  pair.link.acks.release();
  expect(await redis.wait(2, 0)).toBe(2);
});

test('a failover that leaves the primary alive demotes it, and clients follow', async () => {
  await using pair = await startPair({ clock: 'real', replicas: 2 });
  const redis = pair.client('A');
  await redis.set('k', '1');
  await redis.wait(2, 0);
  const { lost, to } = await pair.failover({ to: 'redis-3' });
  expect([lost, to]).toEqual([[], 'redis-3']);
  await until(async () => (await redis.set('k', '2').catch(() => '')) === 'OK', { what: 'the new primary' });
  await pair.synchronize();
  expect(pair.primary.server.replication.counters).toMatchObject({ full: 0, partial: 2 });
});

test('a node that keeps everything restarts with its data, and one that keeps nothing restarts empty', async () => {
  await using servers = await startServers({ clock: 'real', primaries: 2 });
  const clients = servers.clients('A');
  await Promise.all(clients.map((redis) => redis.set('k', '1')));
  const [first, second] = servers.nodes;
  await first?.crash({ keep: 'everything' });
  await second?.crash();
  expect(first?.up).toBe(false);
  await Promise.all([first?.restart(), second?.restart()]);
  expect(await Promise.all(clients.map((redis) => redis.get('k')))).toEqual(['1', null]);
});

test('a paused node answers nothing, and everything once it is resumed', async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A');
  await redis.set('k', '1', 'PX', 60_000);
  await redis.wait(1, 0);
  pair.pause('redis-2');
  await redis.incr('k');
  expect(await redis.wait(1, 50)).toBe(0);
  expect(pair.replica.paused).toBe(true);
  await expect(pair.failover()).rejects.toThrow('no replica can be promoted: redis-2 is paused');
  pair.resume('redis-2');
  expect(await redis.wait(1, 0)).toBe(1);
  pair.pause('redis-1');
  const late = redis.incr('k');
  const other = new Redis(pair.primary.port);
  const greeted = other.ping();
  expect(await new Reader(pair.replica.port).get('k')).toBe('2');
  pair.resume('redis-1');
  expect(await Promise.all([late, greeted])).toEqual([3, 'PONG']);
  other.disconnect();
  expect(() => pair.pause('A')).toThrow(
    "option pause is 'A'; allowed: a node: a client's timers are this process'",
  );
});

test('a limited bandwidth holds messages back, and slowClose the end of a connection', async () => {
  await using pair = await startPair({ clock: 'real' });
  const [slow, other] = ['A', 'B'].map((name) => pair.client(name, { retryStrategy: () => null }));
  await Promise.all([slow!.ping(), other!.ping()]);
  const link = pair.clientLink('A');
  link.out.bandwidth(200);
  const reply = slow!.set('key', 'value');
  await until(async () => link.out.waiting === 1, { what: 'the request to wait' });
  expect(await reply).toBe('OK');
  link.out.bandwidth(Infinity);
  link.slowClose(3_600_000);
  await slow!.quit();
  const ended = once(other!, 'end');
  await other!.quit();
  await ended;
  expect(slow!.status).not.toBe('end');
});

test('links between nodes and to clients can delay, lose and repeat messages, and break', async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A', { maxRetriesPerRequest: 0 });
  pair.link.delay(30);
  await redis.set('k', '1');
  expect(await redis.wait(1, 5)).toBe(0);
  expect(await redis.wait(1, 0)).toBe(1);
  pair.link.delay(0);
  const link = pair.clientLink('A');
  const again = pair.client('A', { retryStrategy: () => 5 });
  await again.ping();
  link.out.duplicate(1);
  expect(await again.incr('n'), 'the client has sent it twice').toBe(2);
  again.disconnect();
  link.reset();
  await until(async () => (await redis.incr('n').catch(() => 0)) > 2, { what: 'a new connection' });
  link.out.pace({ latency: 5, jitter: 5 });
  await Promise.all([redis.set('x', '1'), redis.set('x', '2')]);
  expect(await redis.get('x')).toBe('2');
  link.out.drop(1);
  const lost = [redis.incr('lost'), redis.incr('behind')].map((each) => each.catch(() => 'failed'));
  expect(await new Reader(pair.primary.port).get('lost')).toBe(null);
  link.reset();
  expect(await Promise.all(lost)).toEqual(['failed', 'failed']);
  expect(await new Reader(pair.primary.port).get('behind')).toBe(null);
  pair.network.reset('redis-1', 'redis-2');
  await pair.synchronize();
  expect(pair.primary.server.replication.counters).toMatchObject({ full: 1, partial: 1 });
});

test('a lost write whose reply is held on its way to the client counts as unanswered, not as lost', async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A', { maxRetriesPerRequest: 0 });
  await redis.set('heard', '1');
  await redis.wait(1, 0);
  pair.link.hold();
  await redis.set('heard', '2');
  const link = pair.clientLink('A');
  link.back.hold();
  const unheard = redis.set('k', '1').catch((error: Error) => error.message);
  await until(() => pair.primary.log.writes.some(({ key }) => key === 'k'));
  const { lost, unanswered } = await pair.failover({ crash: true });
  expect(lost).toMatchObject([{ key: 'heard', client: 'A' }]);
  expect(unanswered).toMatchObject([{ key: 'k', client: 'A' }]);
  link.reset();
  expect(await unheard).not.toBe('OK');
});

test('a held link can release a number of bytes', async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A');
  pair.link.hold();
  const before = pair.primary.offset;
  await redis.set('a', '1');
  const between = pair.primary.offset;
  await redis.set('b', '1');
  await until(() => pair.link.commands.waiting > 0);
  pair.link.release({ bytes: between - before });
  await until(() => pair.replica.offset === between);
  pair.link.release({ messages: pair.link.commands.waiting });
  expect(await redis.wait(1, 0)).toBe(1);
});

test('a partition of named groups, and a primary that is demoted when it comes back', async () => {
  await using pair = await startPair({ clock: 'real', replicas: 2 });
  const redis = pair.client('A');
  await redis.set('k', 'old');
  await redis.wait(2, 0);
  pair.network.partition(['redis-1'], ['redis-2', 'redis-3', 'B']);
  await pair.failover({ demote: false, to: 'redis-2' });
  const b = pair.client('B');
  expect(await b.set('k', 'new')).toBe('OK');
  const stranded = new Redis(pair.node('redis-1').port);
  expect(await stranded.set('late', '1')).toBe('OK');
  stranded.disconnect();
  pair.network.heal();
  const { lost } = pair.demote('redis-1');
  expect(lost.map(({ key }) => key)).toContain('late');
  await pair.synchronize();
  expect(await new Reader(pair.node('redis-1').port).get('k')).toBe('new');
});

test('a crash keeps what was synced, or everything up to an offset', async () => {
  const keep = async (how: 'synced' | 'offset', settings: Partial<Settings> = {}): Promise<string[]> => {
    await using pair = await startPair({ clock: 'real', replicas: 0, settings });
    const redis = pair.client('A', { retryStrategy: () => 5 });
    await redis.set('one', '1');
    const { offset } = pair.primary;
    await redis.set('two', '2', 'PX', 60_000);
    await pair.primary.crash({ keep: how === 'offset' ? { offset } : how });
    await pair.restart('redis-1');
    return (await redis.keys('*')).sort();
  };
  expect(await keep('synced')).toEqual([]);
  expect(await keep('synced', { appendonly: true, appendfsync: 'no' })).toEqual([]);
  expect(await keep('synced', { appendonly: true, appendfsync: 'always' })).toEqual(['one', 'two']);
  expect(await keep('offset')).toEqual(['one']);
});

test('a lost machine leaves its connections hanging until the pair is closed', async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A');
  await redis.ping();
  let settled = false;
  const hanging = redis.ping().finally(() => {
    settled = true;
  });
  hanging.catch(() => {});
  await pair.primary.crash({ silent: true });
  await pair.restart('redis-1');
  expect(await new Reader(pair.primary.port).get('k')).toBe(null);
  expect(settled).toBe(false);
});

test("a node's clock jumps and drifts, and leases with it", async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A');
  await redis.set('my:lock', 'A', 'PX', 10_000);
  await redis.set('short', 'A', 'PX', 60_000);
  await redis.wait(1, 0);
  pair.replica.clock.jump(4000);
  const { lost } = await pair.failover({ crash: true });
  expect(lost).toEqual([]);
  expect(pair.primary.clock.offset).toBe(4000);
  await until(async () => (await redis.pttl('my:lock').catch(() => 9999)) <= 6000);
  pair.primary.clock.drift(1000);
  await until(() => pair.primary.server.db(0).size === 0, { what: 'a timer that follows the clock' });
  expect(() => pair.primary.clock.drift(0)).toThrow('option drift is 0');
});

test('quorum mode answers a write when a majority has it, and promotes only a node that has it', async () => {
  await using pair = await startPair({ clock: 'real', replicas: 2, quorum: true });
  const redis = pair.client('A');
  pair.linkTo('redis-2').hold();
  expect(await redis.set('a', '1')).toBe('OK');
  pair.linkTo('redis-3').hold();
  let answered = false;
  const waiting = redis.set('b', '1').then(() => {
    answered = true;
  });
  await until(() => pair.linkTo('redis-3').commands.waiting > 0);
  expect(answered).toBe(false);
  await expect(pair.failover({ to: 'redis-2' })).rejects.toThrow('redis-2 lacks writes that a majority has');
  pair.linkTo('redis-2').release();
  await waiting;
  expect((await pair.failover({ crash: true })).to).toBe('redis-2');
});

test('a replica whose machine is lost does not end its connection to the primary', async () => {
  await using pair = await startPair({ clock: 'real' });
  const redis = pair.client('A');
  const connected = async (): Promise<string | undefined> =>
    /connected_slaves:(\d)/.exec(await redis.info('replication'))?.[1];
  expect(await connected()).toBe('1');
  await pair.replica.crash({ silent: true });
  // The stream still reaches the kernel of the machine, and nobody acknowledges it.
  await redis.set('k', '1');
  expect(await redis.wait(1, 100)).toBe(0);
  expect(await connected()).toBe('1');
});

test('a pair that cannot have its port closes the nodes that it has started', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const servers = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const before = servers();
  await expect(startPair({ clock: 'real', port })).rejects.toThrow('EADDRINUSE');
  // Those of earlier tests may close meanwhile.
  await until(() => servers() <= before);
  await new Promise((resolve) => other.close(resolve));
});
