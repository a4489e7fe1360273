/** Pairs of lostlock and redis-server in every combination tell the same story of FAILOVER, chains, resyncs and refusals. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { cleanUpAfterEachTest, cleanups, type Kind, Node, start } from '../support/nodes.ts';
import { hasRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

cleanUpAfterEachTest();

const PAIRS: [Kind, Kind][] = [
  ['lostlock', 'lostlock'],
  ['lostlock', 'redis'],
  ['redis', 'lostlock'],
  ['redis', 'redis'],
];

const STATE = ['role', 'connected_slaves', 'master_failover_state', 'second_repl_offset'];

describe.skipIf(!hasRedisServer)('as redis-server does (needs it installed)', () => {
  test.each(['lostlock', 'redis'] as const)('%s refuses a FAILOVER that makes no sense', async (kind) => {
    const node = await start(kind);
    expect(await node.ask('FAILOVER', 'ABORT')).toBe('ERR No failover in progress.');
    expect(await node.ask('FAILOVER')).toBe('ERR FAILOVER requires connected replicas.');
    expect(await node.ask('FAILOVER', 'TIMEOUT', '0')).toBe('ERR FAILOVER timeout must be greater than 0');
    expect(await node.ask('FAILOVER', 'TIMEOUT', 'x')).toBe('ERR value is not an integer or out of range');
    expect(await node.ask('FAILOVER', 'TO', 'host')).toBe('ERR syntax error');
    expect(await node.ask('FAILOVER', 'FORCE', 'FORCE')).toBe('ERR syntax error');
    const replica = await start('lostlock');
    await replica.follow(node);
    expect(await replica.ask('FAILOVER')).toBe('ERR FAILOVER is not valid when server is a replica.');
    expect(await node.ask('FAILOVER', 'FORCE')).toBe(
      'ERR FAILOVER with force option requires both a timeout and target HOST and IP.',
    );
    expect(await node.ask('FAILOVER', 'TO', '127.0.0.1', '1')).toBe(
      'ERR FAILOVER target HOST and PORT is not a replica.',
    );
    expect(await node.ask('PSYNC', 'x', '1', 'FAILOVER')).toBe(
      "ERR PSYNC FAILOVER can't be sent to a master.",
    );
    expect(await replica.ask('REPLICAOF', '127.0.0.1', String(node.port))).toBe(
      'OK Already connected to specified master',
    );
    expect(await node.ask('REPLICAOF', '127.0.0.1', '65536')).toBe('ERR Invalid master port');
  });

  test.each(PAIRS)('FAILOVER moves the role from %s to %s without losing anything', async (first, second) => {
    const [primary, replica] = [await start(first), await start(second)];
    await replica.follow(primary);
    await until(async () => (await primary.field('slave0'))?.includes('state=online'), {
      what: 'the replica',
    });
    await primary.ask('SET', 'before', '1');
    expect(await primary.ask('FAILOVER', 'TO', '127.0.0.1', String(replica.port), 'TIMEOUT', '9000')).toBe(
      'OK',
    );
    const late = primary.ask('SET', 'late', '1');
    await until(async () => (await primary.field('master_link_status')) === 'up', { what: 'the new link' });
    expect(await late).toMatch(/^READONLY/);
    await primary.caughtUp(replica);
    expect(await replica.ask('SET', 'after', '1')).toBe('OK');
    await primary.caughtUp(replica);
    expect(await primary.ask('GET', 'after')).toBe('1');
    expect(await primary.fields(STATE)).toMatchObject({
      role: 'slave',
      master_failover_state: 'no-failover',
    });
    expect(await replica.fields(STATE)).toMatchObject({ role: 'master', connected_slaves: '1' });
    expect(await replica.fields(['sync_full', 'sync_partial_ok'], 'stats')).toEqual({
      sync_full: '0',
      sync_partial_ok: '1',
    });
  });

  test.each(['lostlock', 'redis'] as const)(
    'a FAILOVER of %s waits when the replica to promote is behind',
    async (kind) => {
      const primary = await start(kind);
      // A replica that never has anything.
      const heir = connect(primary.port, '127.0.0.1').on('error', () => {});
      heir.write('REPLCONF listening-port 1\r\n');
      await once(heir, 'data');
      heir.resume().write('PSYNC ? -1\r\n');
      const sign = setInterval(() => heir.write('REPLCONF ACK 0\r\n'), 20);
      cleanups.push(
        () => clearInterval(sign),
        () => void heir.destroy(),
      );
      await until(async () => (await primary.field('slave0'))?.includes('state=online'), {
        what: 'the heir',
      });
      await primary.ask('SET', 'k', '1');
      expect(await primary.ask('FAILOVER')).toBe('OK');
      expect(await primary.field('master_failover_state')).toBe('waiting-for-sync');
      expect(await primary.ask('FAILOVER')).toBe('ERR FAILOVER already in progress.');
      expect(await primary.ask('REPLICAOF', 'NO', 'ONE')).toBe(
        'ERR REPLICAOF not allowed while failing over.',
      );
      expect(await primary.ask('CLIENT', 'UNPAUSE')).toBe('OK');
      const writer = new Node(primary.port);
      expect(await writer.ask('GET', 'k')).toBe('1');
      let answered = false;
      const written = writer.ask('SET', 'held', '1').finally(() => (answered = true));
      await until(async () => (await primary.field('blocked_clients', 'clients')) === '1', {
        what: 'the pause',
      });
      expect(answered).toBe(false);
      expect(await primary.ask('FAILOVER', 'ABORT')).toBe('OK');
      expect(await written).toBe('OK');
      expect(await primary.fields(STATE)).toMatchObject({
        role: 'master',
        master_failover_state: 'no-failover',
      });
      expect(await primary.ask('FAILOVER', 'TIMEOUT', '50')).toBe('OK');
      expect(await primary.ask('SET', 'late', '1')).toBe('OK');
      expect(await primary.fields(STATE)).toMatchObject({
        role: 'master',
        master_failover_state: 'no-failover',
      });
      // No server listens there: FAILOVER FORCE makes a replica that dials in vain until FAILOVER ABORT.
      const force = ['TO', '127.0.0.1', '1', 'TIMEOUT', '50', 'FORCE'];
      expect(await primary.ask('FAILOVER', ...force)).toBe('OK');
      await until(async () => (await primary.field('role')) === 'slave', { what: 'the hand-over' });
      expect(await primary.field('master_failover_state')).toBe('failover-in-progress');
      expect(await primary.ask('FAILOVER', 'ABORT')).toBe('OK');
      expect(await primary.ask('SET', 'end', '1')).toBe('OK');
    },
  );

  test.each(PAIRS)('a chain behind %s and %s gets the stream byte for byte', async (first, second) => {
    const [head, middle] = [await start(first), await start(second)];
    const tails = [await start('lostlock'), await start('redis')];
    await middle.follow(head);
    await head.redis.select(5);
    await head.ask('SET', 'x', '1');
    await middle.caughtUp(head);
    for (const tail of tails) await tail.follow(middle);
    await head.redis.multi().incr('x').rpush('l', 'a', 'b').exec();
    await head.ask('SET', 'short', '1', 'PX', '30');
    await head.ask('EVAL', "redis.call('SADD', 's', '1') redis.call('HSET', 'h', 'f', 'v')", '0');
    await until(async () => (await head.ask('EXISTS', 'short')) === 0);
    for (const tail of tails) {
      await tail.caughtUp(head);
      await tail.redis.select(5);
      expect(await tail.ask('GET', 'x')).toBe('2');
      expect(await tail.ask('LRANGE', 'l', '0', '-1')).toEqual(['a', 'b']);
      expect(await tail.ask('DBSIZE')).toBe(4);
      expect(await tail.ask('SET', 'x', '1')).toMatch(/^READONLY/);
    }
    expect(((await middle.ask('ROLE')) as unknown[]).slice(0, 4)).toEqual([
      'slave',
      '127.0.0.1',
      head.port,
      'connected',
    ]);
    // The middle is promoted: the tails resume under the second id.
    await middle.ask('REPLICAOF', 'NO', 'ONE');
    await middle.ask('SET', 'promoted', '1');
    for (const tail of tails) await tail.caughtUp(middle);
    expect(await middle.fields(['sync_full', 'sync_partial_ok'], 'stats')).toEqual({
      sync_full: '2',
      sync_partial_ok: '2',
    });
  });

  test.each(PAIRS)('when the backlog of %s is overrun, %s needs a full resync', async (first, second) => {
    const [primary, replica] = [await start(first, { 'repl-backlog-size': 16384 }), await start(second)];
    await replica.follow(primary);
    await replica.ask('REPLICAOF', '127.0.0.1', '1');
    const text = 'x'.repeat(1000);
    for (let i = 0; i < 40; i++) await primary.ask('SET', `k${i}`, text);
    await replica.follow(primary);
    await replica.caughtUp(primary);
    expect(await primary.fields(['sync_full', 'sync_partial_ok', 'sync_partial_err'], 'stats')).toEqual({
      sync_full: '2',
      sync_partial_ok: '0',
      sync_partial_err: '2',
    });
    expect(await replica.ask('DBSIZE')).toBe(40);
  });

  test.each(PAIRS)(
    'commands are refused when %s has too few replicas, and when the link of %s is down',
    async (first, second) => {
      const [primary, replica] = [await start(first), await start(second)];
      await primary.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
      expect(await primary.ask('SET', 'k', '1')).toBe('NOREPLICAS Not enough good replicas to write.');
      await replica.follow(primary);
      await until(async () => (await primary.ask('SET', 'k', '1')) === 'OK', { what: 'a good replica' });
      expect(await primary.field('min_slaves_good_slaves')).toBe('1');
      await replica.ask('CONFIG', 'SET', 'replica-serve-stale-data', 'no');
      await replica.ask('REPLICAOF', '127.0.0.1', '1');
      expect(await replica.ask('GET', 'k')).toBe(
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
      );
      await replica.ask('CONFIG', 'SET', 'replica-serve-stale-data', 'yes');
      expect(await replica.ask('PSYNC', '?', '-1')).toBe(
        "NOMASTERLINK Can't SYNC while not connected with my master",
      );
      const role = (await replica.ask('ROLE')) as unknown[];
      expect(role[4]).toBe(-1);
      await until(async () => String(await primary.ask('SET', 'k', '2')).startsWith('NOREPLICAS'));
    },
  );
});
