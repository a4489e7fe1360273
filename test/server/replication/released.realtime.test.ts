/** A server that has stopped is not kept in memory by timers of its replication. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startCluster } from '../../../index.ts';
import { until } from '../../support/until.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Plays with a cluster, stops it, and keeps no strong reference. */
async function stoppedPrimary(): Promise<WeakRef<object>> {
  await using cluster = await startCluster({ replicas: 1 });
  const { node } = cluster.primaryOf('key');
  await until(() => node.replication.online().length === 1, { what: 'the replica' });
  return new WeakRef(node.replication);
}

test('a primary that has stopped is released, although its replica leaves later', async () => {
  const primary = await stoppedPrimary();
  await until(
    () => {
      collect();
      return primary.deref() === undefined;
    },
    { what: 'the end of a server that nobody uses' },
  );
  expect(primary.deref()).toBeUndefined();
});
