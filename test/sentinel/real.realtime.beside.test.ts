/** Sentinels of lostlock and a real redis-sentinel in one quorum, on real servers, through the death of the primary. */
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { startServer } from '../../index.ts';
import type { SentinelEvent } from '../../sentinel/sentinel.ts';
import type { LostlockSentinel } from '../../start/running/sentinel.ts';
import { startSentinel } from '../../start/sentinel.ts';
import { oracleOf } from '../support/oracles.ts';
import { RawClient } from '../support/raw-client.ts';
import { hasSentinel, startRealSentinel } from '../support/redis-sentinel.ts';
import { findProgram, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

const DOWN_AFTER = 2000;
const limitMs = 60_000;

async function addressAt(port: number): Promise<string> {
  const client = await RawClient.connect({ port });
  const { value } = await client.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'mymaster');
  client.close();
  return JSON.stringify(value[1]);
}

test.skipIf(!hasSentinel)(
  'two Sentinels of lostlock and a real one agree on the failover of real servers (needs redis-sentinel)',
  async () => {
    const quick = ['--repl-diskless-sync-delay', '0'];
    const first = await startRedisServer({ tcp: true, args: quick });
    const follow = ['--replicaof', '127.0.0.1', String(first.port)];
    const second = await startRedisServer({ tcp: true, args: [...quick, ...follow] });
    const ours: LostlockSentinel[] = [];
    const events: SentinelEvent[] = [];
    const real = await startRealSentinel(findProgram('redis-server')!, [
      `sentinel monitor mymaster 127.0.0.1 ${first.port} 2`,
      `sentinel down-after-milliseconds mymaster ${DOWN_AFTER}`,
    ]);
    try {
      for (let i = 0; i < 2; i++) {
        const place = { host: '127.0.0.1', port: 0, primary: { host: '127.0.0.1', port: first.port } };
        const sentinel = await startSentinel(place, { downAfter: DOWN_AFTER, quorum: 2 });
        Object.assign(sentinel.node.sentinel.periods, {
          'info-period': 500,
          'publish-period': 500,
          'tilt-trigger': 600_000,
        });
        sentinel.node.sentinel.onEvent = (event) => events.push(event);
        ours.push(sentinel);
      }
      const known = (): boolean =>
        ours.every(({ node }) => {
          const primary = node.sentinel.primaries.get('mymaster');
          return (
            primary?.sentinels.size === 2 && [...primary.replicas.values()].some(({ infoAt }) => infoAt > 0)
          );
        });
      await until(known, { what: 'Sentinels that know each other and the replica', limitMs });
      // Every one of them finds enough others, and asks the real one as well.
      const asked = new Redis(real.port, '127.0.0.1');
      const counted = async (): Promise<boolean> =>
        ((await asked.call('SENTINEL', 'SENTINELS', 'mymaster')) as unknown[]).length === 2;
      await until(counted, { what: 'the real Sentinel to know both of ours', limitMs });
      expect(await asked.call('SENTINEL', 'CKQUORUM', 'mymaster')).toMatch(/^OK 3 usable Sentinels/);
      asked.disconnect();

      await first.stop();
      const all = [...ours.map(({ port }) => port), real.port];
      const switched = async (): Promise<boolean> =>
        (await Promise.all(all.map(addressAt))).every((address) => address.includes(String(second.port)));
      await until(switched, { what: 'all three to announce the replica', limitMs });
      const redis = new Redis(second.port, '127.0.0.1');
      expect(((await redis.role()) as unknown[])[0]).toBe('master');
      redis.disconnect();
      const change = `mymaster 127.0.0.1 ${first.port} 127.0.0.1 ${second.port}`;
      const told = events.filter(({ type, text }) => type === '+switch-master' && text === change);
      expect(told).toHaveLength(2);
    } finally {
      await Promise.all([...ours, real, first, second].map((each) => each.stop()));
    }
  },
);

test.skipIf(!hasSentinel)(
  'a real Sentinel fails over the nodes of lostlock (needs redis-sentinel)',
  async () => {
    await using server = await startServer({ replicas: 1 });
    const real = await startRealSentinel(findProgram('redis-server')!, [
      `sentinel monitor mymaster 127.0.0.1 ${server.port} 1`,
    ]);
    const [replica] = server.replicas;
    const ask = new Redis(real.port, '127.0.0.1');
    try {
      const begun = (): Promise<boolean> =>
        ask.call('SENTINEL', 'FAILOVER', 'mymaster').then(
          () => true,
          () => false,
        );
      await until(begun, { what: 'a replica that the real Sentinel may promote', limitMs });
      await until(() => replica!.node.role === 'primary', { what: 'its promotion', limitMs });
      const announced = async (): Promise<boolean> =>
        (await addressAt(real.port)).includes(String(replica!.port));
      await until(announced, { what: 'the real Sentinel to announce it', limitMs });
      expect(replica!.node.replication.secondId).toBe(server.node.replication.id);
    } finally {
      ask.disconnect();
      await real.stop();
    }
  },
);

const valkey9 = oracleOf('valkey-9');

describe.skipIf(valkey9 === undefined)('SENTINEL FAILOVER COORDINATED (needs valkey-9)', () => {
  const program = valkey9 ?? '';

  /** Fails over until the Sentinel takes the request, and waits for what it announces then. */
  async function coordinate(port: number, wanted: number): Promise<void> {
    const ask = new Redis(port, '127.0.0.1');
    try {
      await expect(ask.call('SENTINEL', 'FAILOVER', 'mymaster', 'x')).rejects.toThrow(
        'ERR Unknown failover option specified',
      );
      const begun = (): Promise<boolean> =>
        ask.call('SENTINEL', 'FAILOVER', 'mymaster', 'coordinated').then(
          () => true,
          () => false,
        );
      await until(begun, { what: 'a replica that may be promoted', limitMs });
      const announced = async (): Promise<boolean> => (await addressAt(port)).includes(String(wanted));
      await until(announced, { what: 'the replica to be announced', limitMs });
    } finally {
      ask.disconnect();
    }
  }

  test('a Sentinel of lostlock has a real primary hand over', async () => {
    const quick = ['--repl-diskless-sync-delay', '0'];
    await using first = await startRedisServer({ program, tcp: true, args: quick });
    const follow = ['--replicaof', '127.0.0.1', String(first.port)];
    await using second = await startRedisServer({ program, tcp: true, args: [...quick, ...follow] });
    const monitored = { host: '127.0.0.1', port: first.port };
    const place = { host: '127.0.0.1', port: 0, primary: monitored, dialect: 'valkey-9' } as const;
    const sentinel = await startSentinel(place, { downAfter: 30_000, quorum: 1 });
    Object.assign(sentinel.node.sentinel.periods, { 'info-period': 500, 'tilt-trigger': 600_000 });
    const writer = new Redis(first.port, '127.0.0.1');
    try {
      await writer.set('lock', 'A');
      await coordinate(sentinel.port, second.port);
      const [old, fresh] = [new Redis(first.port, '127.0.0.1'), new Redis(second.port, '127.0.0.1')];
      expect(await fresh.get('lock')).toBe('A');
      expect(((await fresh.role()) as unknown[])[0]).toBe('master');
      expect(((await old.role()) as unknown[])[0]).toBe('slave');
      // The handover continued one history; a forced failover would have begun with REPLICAOF NO ONE.
      expect(await old.call('INFO', 'stats')).toMatch(/sync_partial_ok:0/);
      expect(await fresh.call('INFO', 'stats')).toMatch(/sync_partial_ok:1/);
      old.disconnect();
      fresh.disconnect();
    } finally {
      writer.disconnect();
      await sentinel.stop();
    }
  });

  test('a real Sentinel has a primary of lostlock hand over', async () => {
    await using server = await startServer({ replicas: 1, dialect: 'valkey-9' });
    const real = await startRealSentinel(program, [`sentinel monitor mymaster 127.0.0.1 ${server.port} 1`]);
    const [replica] = server.replicas;
    try {
      await coordinate(real.port, replica!.port);
      expect(replica!.node.role).toBe('primary');
      expect(server.node.replication.id).toBe(replica!.node.replication.id);
    } finally {
      await real.stop();
    }
  });
});
