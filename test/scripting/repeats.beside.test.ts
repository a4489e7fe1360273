/** Long blocks, whose statements are kept as tables, answer as in a real server. */
import { expect, test } from 'vitest';
import { hasRedisServer } from '../support/redis-server.ts';
import { blockScript, blockSeeds } from './long-blocks.ts';
import { LuaOracle } from './lua-golden.ts';
import { evaluate, FakeHost } from './script-host.ts';

test.skipIf(!hasRedisServer)('long blocks answer as redis-server does (needs redis-server)', async () => {
  const oracle = await LuaOracle.start();
  for (const seed of blockSeeds) {
    const source = blockScript(seed, true);
    expect(evaluate(source, new FakeHost()), source).toBe(await oracle.evaluate(source));
  }
  await oracle.stop();
});
