/** Which error a request gets whose keys are in several slots, some of them served by nobody. */
import { expect, test } from 'vitest';
import { startServer } from '../../index.ts';
import { slotOf } from '../../protocol/slot.ts';
import { RawClient } from '../support/raw-client.ts';
import { askNode } from './nodes.ts';

test('the destination of ZUNIONSTORE and its kin is looked at last, as in Redis', async () => {
  await using server = await startServer({ port: 0, settings: { 'cluster-enabled': true } });
  const client = await RawClient.connect({ port: server.port });
  await askNode(client, 'CLUSTER', 'ADDSLOTS', String(slotOf('served')));
  for (const name of ['ZUNIONSTORE', 'ZINTERSTORE', 'ZDIFFSTORE']) {
    expect(await askNode(client, name, 'served', '1', 'nobody')).toContain('CLUSTERDOWN Hash slot not served');
    expect(await askNode(client, name, 'nobody', '1', 'served')).toContain('CROSSSLOT');
  }
  // A destination that is a plain first key is looked at first.
  expect(await askNode(client, 'SUNIONSTORE', 'served', 'nobody')).toContain('CROSSSLOT');
  client.close();
});
