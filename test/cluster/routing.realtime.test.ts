/** Which error a request gets whose keys are in several slots, some of them served by nobody. */
import { expect, test } from 'vitest';
import { startServer } from '../../index.ts';
import { slotOf } from '../../protocol/slot.ts';
import { RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { askNode } from './nodes.ts';

test('the destination of ZUNIONSTORE and its kin is looked at last, as in Redis', async () => {
  await using server = await startServer({ port: 0, settings: { 'cluster-enabled': true } });
  const client = await RawClient.connect({ port: server.port });
  await askNode(client, 'CLUSTER', 'ADDSLOTS', String(slotOf('served')));
  for (const name of ['ZUNIONSTORE', 'ZINTERSTORE', 'ZDIFFSTORE']) {
    expect(await askNode(client, name, 'served', '1', 'nobody')).toContain(
      'CLUSTERDOWN Hash slot not served',
    );
    expect(await askNode(client, name, 'nobody', '1', 'served')).toContain('CROSSSLOT');
  }
  // A destination that is a plain first key is looked at first.
  expect(await askNode(client, 'SUNIONSTORE', 'served', 'nobody')).toContain('CROSSSLOT');
  client.close();
});

test('in Valkey, EXEC of a transaction that cannot run does not look at the keys; in Redis it does', async () => {
  for (const dialect of ['redis-8.2', 'valkey-8.1'] as const) {
    await using server = await startServer({ port: 0, dialect, settings: { 'cluster-enabled': true } });
    const [client, other] = [
      await RawClient.connect({ port: server.port }),
      await RawClient.connect({ port: server.port }),
    ];
    await askNode(client, 'CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await until(async () => (await askNode(client, 'CLUSTER', 'INFO')).includes('state:ok'));
    const queue = async (): Promise<void> => {
      for (const words of [['MULTI'], ['GET', 'a'], ['GET', 'b']]) await askNode(client, ...words);
    };
    const wanted = (ofValkey: string): string => (dialect === 'valkey-8.1' ? ofValkey : '-CROSSSLOT');
    await queue();
    await askNode(client, 'NOSUCH');
    expect(await askNode(client, 'EXEC')).toContain(wanted('-EXECABORT'));
    await askNode(client, 'WATCH', 'x');
    await queue();
    await askNode(other, 'SET', 'x', '1');
    expect(await askNode(client, 'EXEC')).toContain(wanted('nil*'));
    // What is queued after a watched key has changed is not kept.
    await askNode(client, 'WATCH', 'x');
    await askNode(other, 'SET', 'x', '2');
    await queue();
    expect(await askNode(client, 'EXEC')).toBe('nil*');
    client.close();
    other.close();
  }
});
