/** The logs of writes on the real clock, of servers of ours and of real ones: what a node does by itself is no client's write. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startPair } from '../../../lab/pair.ts';
import { oracleOf } from '../../support/oracles.ts';
import { hasRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

/** How long A's keys and fields last, in milliseconds. */
const LEASE = 50;

const lease = (a: Redis): Promise<unknown> => a.set('k', 'A', 'PX', LEASE);

const leaseOfField = async (a: Redis): Promise<void> => {
  await a.hset('h', { f: '1', g: '2' });
  await a.call('HPEXPIRE', 'h', LEASE, 'FIELDS', '1', 'f');
};

const settings = { 'enable-debug-command': 'yes' } as const;

test('on the real clock, the removal of an expired key is not credited to the client that reads it', async () => {
  await using pair = await startPair({ clock: 'real', settings });
  await expectNobodysRemoval(pair, 'k', lease, (b) => b.get('k'));
});

test.skipIf(!hasRedisServer)(
  'of a real server, the removal of an expired key is not credited to the client that reads it (needs redis-server)',
  async () => {
    await using pair = await startPair({ clock: 'real', nodes: 'redis-server', settings });
    await expectNobodysRemoval(pair, 'k', lease, (b) => b.get('k'));
  },
);

const newer = oracleOf('redis-8.2');

test.skipIf(newer === undefined)(
  'of a real server, the removal of an expired field is not credited to the client whose script reads it (needs redis-8.2)',
  async () => {
    await using pair = await startPair({ clock: 'real', nodes: newer!, settings });
    await expectNobodysRemoval(pair, 'h', leaseOfField, (b) =>
      b.eval("return redis.call('hget', KEYS[1], 'f')", 1, 'h'),
    );
  },
);

/** What the test asks of a pair on the real clock, of whatever servers. */
interface RealPair {
  client(name: string): Redis;
  readonly primary: {
    readonly log: { readonly writes: readonly { client: string | undefined; command: readonly string[] }[] };
  };
  synchronize(): Promise<void>;
}

/** Lets B touch what A's lease has left, which has expired, and expects the removal to be nobody's. */
async function expectNobodysRemoval(
  pair: RealPair,
  key: string,
  before: (a: Redis) => Promise<unknown>,
  after: (b: Redis) => Promise<unknown>,
): Promise<void> {
  const [a, b] = [pair.client('A'), pair.client('B')];
  await a.call('DEBUG', 'SET-ACTIVE-EXPIRE', '0');
  await before(a);
  const granted = Date.now();
  // To ask the server whether it has expired would remove it.
  await until(() => Date.now() > granted + LEASE + 10);
  await after(b);
  await pair.synchronize();
  const removals = pair.primary.log.writes.filter(({ command }) => /^h?del$/i.test(command[0] ?? ''));
  expect(removals.map(({ client, command: [, of] }) => [client, of])).toEqual([[undefined, key]]);
}
