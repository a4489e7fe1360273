/** Real servers as nodes of the lab: links, crashes, pauses, promotions, and what a failover loses. */
import { expect, test } from 'vitest';
import { startPair } from '../../../lab/pair.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

const start = { clock: 'real', nodes: 'redis-server' } as const;

test.skipIf(!hasRedisServer)('the lost lock, on real servers (needs redis-server)', async () => {
  await using pair = await startPair(start);
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.set('kept', '1');
  expect(await a.wait(1, 0)).toBe(1);
  const { link } = pair;
  link.hold();
  expect(await a.set('my:lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await a.wait(1, 50)).toBe(0);
  const old = pair.primary.name;
  const { lost, unanswered, unlogged, from, to, offset, oldOffset } = await pair.failover({ crash: true });
  expect(lost).toMatchObject([{ key: 'my:lock', holder: 'A', client: 'A', type: 'string' }]);
  expect([unanswered, unlogged]).toEqual([[], []]);
  expect([from, to]).toEqual([old, pair.primary.name]);
  expect(oldOffset).toBeGreaterThan(Number(offset));
  expect(await b.set('my:lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
  expect(await b.get('kept')).toBe('1');
  await pair.restart(old);
  link.release();
  await pair.synchronize();
  expect(await pair.replica.ask('GET', 'my:lock')).toBe('B');
  expect(pair.lost).toEqual(lost);
});

test.skipIf(!hasRedisServer)(
  'a partition, a failover that leaves the old primary alone, and what it took meanwhile (needs redis-server)',
  async () => {
    await using pair = await startPair({ ...start, replicas: 2, settings: { 'min-replicas-to-write': 0 } });
    const old = pair.primary;
    const a = pair.client('A', {}, old.name);
    await a.set('k', '1');
    expect(await a.wait(2, 0)).toBe(2);
    pair.network.partition(['A', 'redis-1'], ['redis-2', 'redis-3', 'B']);
    await a.set('k', '2');
    expect(await a.wait(2, 50)).toBe(0);
    const done = await pair.failover({ demote: false, to: 'redis-2' });
    expect(done.lost).toMatchObject([{ key: 'k', holder: '2', client: 'A' }]);
    expect(await a.set('late', 'A')).toBe('OK');
    expect(await pair.client('B').get('k')).toBe('1');
    const { lost } = await pair.demote('redis-1');
    expect(lost.map(({ key }) => key)).toEqual(['k', 'late']);
    expect(pair.lost.map(({ key }) => key)).toEqual(['k', 'late']);
    pair.network.heal();
    await pair.synchronize();
    expect(await old.ask('GET', 'late')).toBeNull();
  },
);

test.skipIf(!hasRedisServer)(
  'what a primary took that was left alone is lost when it crashes and restarts (needs redis-server)',
  async () => {
    await using pair = await startPair(start);
    const old = pair.primary;
    const a = pair.client('A', {}, old.name);
    await a.set('k', '1');
    expect(await a.wait(1, 0)).toBe(1);
    await pair.failover({ demote: false });
    expect(await a.set('late', 'A')).toBe('OK');
    await old.crash({ keep: 'everything' });
    expect(pair.lost).toEqual([]);
    await pair.restart(old.name);
    expect(pair.lost).toMatchObject([{ key: 'late', holder: 'A', client: 'A' }]);
    await pair.synchronize();
    expect(await old.ask('GET', 'late')).toBeNull();
  },
);

test.skipIf(!hasRedisServer)(
  'a primary that restarts without its data loses what it has forgotten (needs redis-server)',
  async () => {
    await using pair = await startPair(start);
    const a = pair.client('A');
    await a.set('k', '1');
    await a.set('gone', '1');
    await a.del('gone');
    expect(await a.wait(1, 0)).toBe(1);
    await pair.primary.crash();
    expect(pair.lost).toEqual([]);
    await pair.restart('redis-1');
    expect(pair.lost).toMatchObject([{ key: 'k', holder: '1', client: 'A' }]);
    await pair.synchronize();
    await pair.primary.crash({ keep: 'everything' });
    await pair.restart('redis-1');
    expect(pair.lost).toHaveLength(1);
  },
);

test.skipIf(!hasRedisServer)('a paused process answers once it is resumed (needs redis-server)', async () => {
  await using pair = await startPair(start);
  const redis = pair.client('A');
  await redis.set('k', '1', 'PX', 60_000);
  expect(await redis.wait(1, 0)).toBe(1);
  pair.pause('redis-1');
  const answer = redis.get('k');
  expect(await pair.replica.ask('GET', 'k')).toBe('1');
  await expect(pair.primary.ask('GET', 'k')).rejects.toThrow('redis-1 is paused');
  pair.resume('redis-1');
  expect(await answer).toBe('1');
});

test.skipIf(!hasRedisServer)(
  'a reply that a held link keeps is no acknowledgement (needs redis-server)',
  async () => {
    await using pair = await startPair(start);
    const { url } = await pair.actor('N');
    expect(url).toMatch(/^redis:\/\/127\.0\.0\.1:\d+$/);
    const [a, b] = [pair.client('A', { autoResendUnfulfilledCommands: false }), pair.client('B')];
    await Promise.all([a.ping(), b.ping()]);
    const { link } = pair;
    link.hold();
    pair.clientLink('A').back.hold();
    a.eval("redis.call('set', KEYS[1], ARGV[1]) redis.call('incr', KEYS[2])", 2, 'x', 'n', 'A').catch(
      () => {},
    );
    await b.multi().set('y', 'B').incr('n').exec();
    await until(async () => (await pair.primary.ask('GET', 'x')) === 'A');
    const { lost, unanswered } = await pair.failover({ crash: { keep: 'everything' } });
    expect(lost).toMatchObject([
      { key: 'y', client: 'B' },
      { key: 'n', client: 'B' },
    ]);
    expect(unanswered).toMatchObject([
      { key: 'x', client: 'A', holder: 'A' },
      { key: 'n', client: 'A' },
    ]);
    await pair.restart('redis-1');
    link.release();
    await pair.synchronize();
    expect(await pair.replica.ask('DBSIZE')).toBe(0);
  },
);

test.skipIf(!hasRedisServer)(
  'no process and no folder remains after close (needs redis-server)',
  async () => {
    const pair = await startPair({ ...start, nodes: ['redis-server', 'redis-server'] });
    const pids = pair.nodes.map(({ pid }) => pid as number);
    const alive = (): number[] =>
      pids.filter((pid) => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      });
    expect(alive()).toEqual(pids);
    pair.pause('redis-2');
    await pair.close();
    expect(alive()).toEqual([]);
    expect(() => pair.link).toThrow('these nodes are closed');
  },
);

test('wrong options are refused', async () => {
  const refused = (options: object): Promise<unknown> => startPair({ clock: 'real', ...options } as never);
  await expect(refused({ nodes: 'no-such-server' })).rejects.toThrow(
    "option nodes is 'no-such-server'; allowed: a program on PATH or a path",
  );
  await expect(refused({ nodes: ['sh', 'sh', 'sh'] })).rejects.toThrow('one for each of redis-1, redis-2');
  await expect(refused({ nodes: 7 })).rejects.toThrow('option nodes is 7');
  await expect(refused({ nodes: 'sh', quorum: true })).rejects.toThrow('option startPair.quorum is true');
  await expect(refused({ nodes: 'sh', seed: 3 })).rejects.toThrow('option startPair.seed is 3');
  await expect(refused({ nodes: 'false' })).rejects.toThrow('redis-1 does not start');
  await expect(startPair({ nodes: 'sh' } as never)).rejects.toThrow("only with clock: 'real'");
});
