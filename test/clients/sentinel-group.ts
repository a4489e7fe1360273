/** A real primary with two real replicas, watched by three real Sentinels. */
import { RawClient } from '../support/raw-client.ts';
import { startRealSentinel } from '../support/redis-sentinel.ts';
import { findProgram, startRedisServer } from '../support/redis-server.ts';
import { until } from '../support/until.ts';

/** The running processes. */
export interface RealGroup extends AsyncDisposable {
  readonly sentinels: readonly number[];
}

/** Shortens the periods of Sentinels, and waits until they know each other and the replicas. */
export async function hurry(ports: readonly number[], replicas = 2): Promise<void> {
  for (const port of ports) {
    const client = await RawClient.connect({ port });
    await client.ask('SENTINEL', 'DEBUG', 'info-period', '500', 'publish-period', '500');
    const counts = async (): Promise<boolean> => {
      const fields = JSON.stringify((await client.ask('SENTINEL', 'MASTER', 'mymaster')).value);
      return (
        fields.includes(`"num-slaves"],["$","${replicas}"]`) &&
        fields.includes('"num-other-sentinels"],["$","2"]')
      );
    };
    await until(counts, { what: `the Sentinel at ${port} to know everybody`, limitMs: 60_000 });
    client.close();
  }
}

/** Starts them. Resolves when the Sentinels know each other and the replicas. */
export async function startRealGroup(): Promise<RealGroup> {
  const quick = ['--repl-diskless-sync-delay', '0'];
  const primary = await startRedisServer({ tcp: true, args: quick });
  const follow = [...quick, '--replicaof', '127.0.0.1', String(primary.port)];
  const replicas = await Promise.all([1, 2].map(() => startRedisServer({ tcp: true, args: follow })));
  const lines = [
    `sentinel monitor mymaster 127.0.0.1 ${primary.port} 2`,
    'sentinel down-after-milliseconds mymaster 60000',
    'sentinel failover-timeout mymaster 60000',
  ];
  const program = findProgram('redis-server') ?? 'redis-server';
  const sentinels = await Promise.all([1, 2, 3].map(() => startRealSentinel(program, lines)));
  await hurry(sentinels.map(({ port }) => port));
  return {
    sentinels: sentinels.map(({ port }) => port),
    async [Symbol.asyncDispose]() {
      for (const each of [...sentinels, ...replicas, primary]) await each.stop();
    },
  };
}
