/** With many clients, a replica's reads right after acknowledged writes are not older than those of redis-server. */
import { expect, test } from 'vitest';
import { ensureBuilt } from '../../support/built.ts';
import { findProgram, hasRedisServer } from '../../support/redis-server.ts';
import { countStale, startReplicated } from './stale-reads.ts';

const CLIENTS = 8;
const TRIES = 2000;
/** The scheduler of a busy machine may stop a process between two writes: so many old reads are no difference. */
const CHANCE = 10;

async function measure(program: string | undefined): Promise<number> {
  const servers = await startReplicated(program, CLIENTS);
  return countStale(servers, TRIES).finally(() => servers.stop());
}

test.skipIf(!hasRedisServer)(
  'a replica in a process of its own answers stale no more often than redis-server (needs redis-server)',
  async () => {
    await ensureBuilt();
    const real = await measure(findProgram('redis-server'));
    expect(await measure(undefined)).toBeLessThanOrEqual(real + CHANCE);
  },
  // It may have to build the package first.
  120_000,
);
