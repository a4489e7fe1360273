/** The locks' conformance suite on the real redis-server. */
import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { lockConformance } from './conformance.ts';

describe.skipIf(!hasRedisServer)('locks (needs redis-server)', () => {
  lockConformance('on redis-server', async () => {
    const server = await startRedisServer();
    return {
      client: () => new Redis({ path: server.path }),
      stop: () => server.stop(),
    };
  });
});
