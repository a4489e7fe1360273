/** maxmemory: the memory estimate compared with redis-server's, and the keys that each policy evicts. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { recordEffects } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

/** A server with keys k1 to k20 of a kilobyte, created and used in this order; the even ones have a TTL. */
function filled(policy: string, seed = 1) {
  const host = new TestHost(undefined, seed);
  const server = createNode(host, { settings: { 'notify-keyspace-events': 'Ee' } });
  const a = new Conversation(server);
  a.ask(`CONFIG SET maxmemory-policy ${policy}`);
  for (let i = 1; i <= 20; i++) {
    host.advance(1000);
    a.ask(`SET k${i} ${'x'.repeat(1000)}${i % 2 === 0 ? ` EX ${10_000 - i * 100}` : ''}`);
  }
  return { host, server, a };
}

/** The keys that are evicted when memory is short by so many keys. */
function goneAfter(policy: string, keys: number, before: (a: Conversation) => void = () => {}, seed = 1) {
  const { server, a } = filled(policy, seed);
  before(a);
  a.ask(`CONFIG SET maxmemory ${server.eviction.measure() - keys * 1000}`);
  expect(a.ask('SET last 1')).toBe('+OK');
  const gone: number[] = [];
  for (let i = 1; i <= 20; i++) if (a.ask(`EXISTS k${i}`) === ':0') gone.push(i);
  expect(server.stats.evicted).toBe(gone.length);
  server.stop();
  return gone;
}

test('with as many samples as keys, each policy evicts the right keys', () => {
  const all = (a: Conversation): void => void a.ask('CONFIG SET maxmemory-samples 64');
  expect(goneAfter('allkeys-lru', 3, all)).toEqual([1, 2, 3]);
  expect(goneAfter('volatile-lru', 3, all)).toEqual([2, 4, 6]);
  expect(goneAfter('volatile-ttl', 3, all)).toEqual([16, 18, 20]);
  const used = (a: Conversation): void => {
    all(a);
    for (let i = 1; i <= 20; i++) if (i !== 7 && i !== 8) for (let n = 0; n < 50; n++) a.ask(`GET k${i}`);
  };
  expect(goneAfter('allkeys-lfu', 2, used)).toEqual([7, 8]);
  expect(goneAfter('volatile-lfu', 1, used)).toEqual([8]);
});

test('random policies evict random keys, the same ones for the same seed', () => {
  const some = goneAfter('allkeys-random', 5);
  expect(some).toHaveLength(5);
  expect(goneAfter('allkeys-random', 5)).toEqual(some);
  expect(goneAfter('allkeys-random', 5, undefined, 99)).not.toEqual(some);
  const volatile = goneAfter('volatile-random', 5);
  expect(volatile).toHaveLength(5);
  expect(volatile.every((i) => i % 2 === 0)).toBe(true);
});

test('a few samples of many keys still evict old keys, and choose the same ones for the same seed', () => {
  const gone = goneAfter('allkeys-lru', 5);
  expect(gone).toHaveLength(5);
  expect(gone.filter((i) => i <= 10).length).toBeGreaterThanOrEqual(4);
  expect(goneAfter('allkeys-lru', 5)).toEqual(gone);
});

test('volatile policies answer OOM when no key with a TTL is left, and keep the other keys', () => {
  const { server, a } = filled('volatile-lru');
  a.ask('CONFIG SET maxmemory 1');
  expect(a.ask('SET last 1')).toBe("-OOM command not allowed when used memory > 'maxmemory'.");
  expect(a.ask('DBSIZE')).toBe(':10');
  server.stop();
});

test('a key that expires between its choice and its eviction has expired, and is not evicted', () => {
  const { host, server, a } = filled('volatile-ttl');
  a.ask('CONFIG SET maxmemory-samples 64');
  server.settings.maxmemory = server.eviction.measure() - 1000;
  const later = host.clock.now() + 8_100_000;
  // k20 is chosen at the old time. The unit that evicts it reads the clock.
  host.clock.now = () => later;
  expect(server.eviction.freeMemory()).toBe(true);
  expect([server.stats.evicted, a.ask('DBSIZE'), a.ask('EXISTS k20')]).toEqual([0, ':19', ':0']);
  server.stop();
});

test('an eviction is replicated before the command that needed room, causes an event, and fails WATCH', () => {
  const { server, a } = filled('allkeys-lru');
  const effects = recordEffects(server);
  const b = new Conversation(server);
  b.ask('WATCH k1');
  const listener = new Conversation(server);
  listener.ask('SUBSCRIBE __keyevent@0__:evicted');
  a.ask(`CONFIG SET maxmemory-samples 64 maxmemory ${server.eviction.measure() - 1500}`);
  expect(a.ask('SET last 1')).toBe('+OK');
  expect(effects).toEqual(['DEL k1', 'DEL k2', 'SET last 1']);
  expect(listener.ask('PING')).toContain('["message" "__keyevent@0__:evicted" "k1"]');
  b.ask('MULTI');
  expect(b.ask('EXEC')).toBe('nil*');
  expect(a.ask('INFO stats')).toContain('evicted_keys:2');
  server.stop();
});

test('CONFIG SET maxmemory evicts keys at once, and a replica leaves eviction to its primary', () => {
  const { host, server, a } = filled('allkeys-lru');
  a.ask('CONFIG SET maxmemory 1');
  host.advance(0);
  expect(a.ask('DBSIZE')).toBe(':0');
  server.stop();
});

test('OBJECT FREQ counts uses on a logarithmic scale and decays by the minute', () => {
  const { host, server, a } = filled('allkeys-lfu');
  expect(a.ask('OBJECT FREQ k1')).toBe(':5');
  for (let i = 0; i < 200; i++) a.ask('GET k1');
  const counter = server.eviction.frequency(server.db(0).entries.get('k1')!);
  expect(counter).toBeGreaterThan(8);
  expect(counter).toBeLessThan(25);
  host.advance(3 * 60_000);
  expect(a.ask('OBJECT FREQ k1')).toBe(`:${counter - 3}`);
  server.stop();
});

test('the memory of collections is freed with their items', () => {
  const server = createNode(new TestHost());
  const a = new Conversation(server);
  for (const [add, remove] of [
    ['HSET k f1 v1 f2 v2', 'HDEL k f1 f2'],
    ['SADD k a b 3', 'SREM k a b 3'],
    ['ZADD k 1 a 2 b', 'ZREMRANGEBYRANK k 0 -1'],
    ['RPUSH k a b c', 'LTRIM k 5 9'],
    ['XADD k * f v', 'UNLINK k'],
    ['SET k v EX 100', 'DEL k'],
  ] as const) {
    a.ask(add);
    expect(server.world.footprint).toBeGreaterThan(50);
    a.ask(remove);
    expect(server.world.footprint, add).toBe(0);
  }
  a.ask('SET a 1 PX 100000');
  a.ask('COPY a b');
  a.ask('MOVE a 3');
  a.ask('SWAPDB 0 3');
  a.ask('FLUSHALL');
  expect(server.world.footprint).toBe(0);
  server.stop();
});

test.skipIf(!hasRedisServer)(
  "used_memory is within a quarter of redis-server's, for every type (needs redis-server)",
  async () => {
    const redis = await startRedisServer();
    const theirs = await RawClient.connect({ path: redis.path });
    const used = async (): Promise<number> => {
      const { raw } = await theirs.ask('INFO', 'memory');
      return parseInt(/used_memory:(\d+)/.exec(raw)?.[1] ?? '0', 10);
    };
    const script = (call: string): string => `for i = 1, 10000 do ${call} end return 1`;
    for (const call of [
      "redis.call('set', 'key:' .. i, 'value of ' .. i)",
      "redis.call('set', 'key:' .. i, string.rep('x', 300), 'EX', 1000)",
      "redis.call('hset', 'lock:' .. i, 'a-client-id:1', '1')",
      "redis.call('hset', 'big', 'field' .. i, 'value' .. i)",
      "redis.call('zadd', 'z', i, 'member' .. i)",
      "redis.call('sadd', 's', 'member' .. i)",
      "redis.call('rpush', 'l', 'element' .. i)",
      "redis.call('xadd', 'x', i .. '-1', 'field', 'value' .. i)",
    ]) {
      await theirs.ask('FLUSHALL');
      const before = await used();
      await theirs.ask('EVAL', script(call), '0');
      const grown = (await used()) - before;
      const server = createNode(new TestHost());
      new Conversation(server).ask(`EVAL "${script(call)}" 0`);
      const ours = server.world.footprint;
      server.stop();
      expect(ours / grown, `${call}: ${ours} beside ${grown}`).toBeGreaterThan(0.75);
      expect(ours / grown, `${call}: ${ours} beside ${grown}`).toBeLessThan(1.25);
    }
    theirs.close();
    await redis.stop();
  },
);
