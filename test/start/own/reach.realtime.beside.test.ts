/** Where the writes of a user's commands arrive: on replicas, on disks, in the lab and in clusters. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startCluster, startPair, startServer } from '../../../index.ts';
import type { OwnCommands } from '../../../start/own/own-command.ts';
import { json } from './json.ts';
import { error, serve } from './serve.ts';

describe("what a command of one's own does reaches", () => {
  const chance: OwnCommands = {
    ...json,
    'json.random': {
      arity: 2,
      keys: 1,
      type: 'ReJSON-RL',
      run([key = ''], { store, call }) {
        store(key, [Math.random(), Date.now()]);
        call('expire', key, '1000');
        call('incr', 'calls');
        return null;
      },
    },
  };

  test('replicas, with the same value also if it is random, and they refuse writes', async () => {
    const { server, send } = await serve({ commands: chance, replicas: 1 });
    await send('json.random', 'doc');
    await send('json.set', 'other', '$', '{"a":1}');
    expect(await send('wait', '1', '0')).toBe(1);
    const replica = new Redis({ port: server.replicas[0]?.port as number });
    onTestFinished(() => replica.disconnect());
    expect(await replica.call('json.get', 'doc')).toBe(await send('json.get', 'doc'));
    expect(await replica.pttl('doc')).toBeGreaterThan(0);
    expect(await replica.get('calls')).toBe('1');
    expect(await replica.call('json.get', 'other')).toBe('{"a":1}');
    expect(await error(replica.call('json.set', 'doc', '$', '1'))).toMatch(/^READONLY/);
    // It has no flag, so it is refused when it writes.
    expect(await error(replica.call('json.random', 'doc'))).toMatch(/^READONLY/);
  });

  test('the disk: the append-only file and the dump file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lostlock-own-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    for (const appendonly of [true, false]) {
      const settings = { dir, appendonly, dbfilename: `${appendonly}.rdb` };
      const first = await startServer({ commands: chance, settings });
      const redis = new Redis(first.url);
      await redis.call('json.random', 'doc');
      const before = await redis.call('json.get', 'doc');
      if (!appendonly) await redis.save();
      redis.disconnect();
      await first.stop();
      const second = await serve({ commands: chance, settings });
      expect(await second.send('json.get', 'doc')).toBe(before);
      expect(await second.send('type', 'doc')).toBe('ReJSON-RL');
      second.redis.disconnect();
      await second.server.stop();
    }
  });

  test('pairs of the lab, which lose and keep it as any write', async () => {
    await using pair = await startPair({ seed: 1, commands: chance });
    const a = pair.client('A');
    await a.call('json.set', 'doc', '$', '{"a":1}');
    await pair.advance(100);
    pair.link.hold();
    await a.call('json.set', 'doc', '$', '{"a":2}');
    const { lost } = await pair.failover({ crash: true });
    expect(lost).toMatchObject([{ key: 'doc', type: 'ReJSON-RL' }]);
    expect(await pair.client('B').call('json.get', 'doc')).toBe('{"a":1}');
  });

  test('clusters, where it is redirected by its keys', async () => {
    const cluster = await startCluster({ commands: chance, primaries: 2, replicas: 1 });
    onTestFinished(() => cluster.stop());
    const client = new Cluster([{ host: '127.0.0.1', port: cluster.nodes[0]?.port as number }]);
    onTestFinished(() => client.disconnect());
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) {
      expect(await client.call('json.set', key, '$', '{"a":1}')).toBe('OK');
      expect(await client.call('json.get', key)).toBe('{"a":1}');
    }
    const direct = new Redis({ port: cluster.nodes[0]?.port as number });
    onTestFinished(() => direct.disconnect());
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map((key) => error(direct.call('json.get', key))));
    expect(replies.some((text) => text.startsWith('MOVED '))).toBe(true);
  });

  test('clusters of the lab', async () => {
    await using cluster = await startCluster({
      clock: 'virtual',
      seed: 1,
      commands: chance,
      primaries: 1,
      replicas: 1,
    });
    const client = cluster.client('A');
    expect(await client.call('json.set', 'doc', '$', '1')).toBe('OK');
    expect(await client.call('json.get', 'doc')).toBe('1');
  });
});
