/** Rules of Sentinels that clients notice late: votes, repeated attempts, replicas that follow one by one, and dead connections. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../index.ts';
import { vote } from '../../sentinel/election.ts';
import type { Primary } from '../../sentinel/instances.ts';

function primaryOf(pair: Pair): Primary {
  return pair.sentinel('sentinel-1').server.sentinel.primaries.get('mymaster')!;
}

/** Moves time in small steps until the condition holds. Returns the time. */
async function until(pair: Pair, condition: () => boolean, each: () => void = () => {}): Promise<number> {
  const { world } = pair;
  for (const end = world.now + 300_000; !condition(); each()) {
    if (world.now > end) throw new Error('the condition did not come true within 300000 ms');
    await pair.advance(10);
  }
  return world.now;
}

/** How many events of a type the first Sentinel has published. */
function count(pair: Pair, type: string, text = ''): number {
  const { events } = pair.sentinel('sentinel-1');
  return events.filter((event) => event.type === type && event.text.includes(text)).length;
}

test('a Sentinel votes once in an epoch', async () => {
  await using pair = await startPair({ sentinels: 1 });
  const { sentinel } = pair.sentinel('sentinel-1').server;
  const voted = (epoch: number, candidate: string) => vote(sentinel, primaryOf(pair), epoch, candidate);
  expect(voted(5, 'a')).toEqual({ leader: 'a', epoch: 5 });
  expect(voted(5, 'b')).toEqual({ leader: 'a', epoch: 5 });
  expect(voted(4, 'b')).toEqual({ leader: 'a', epoch: 5 });
  expect(voted(6, 'b')).toEqual({ leader: 'b', epoch: 6 });
});

test('a failover that found no replica is repeated after twice the failover-timeout', async () => {
  const sentinels = { count: 1, downAfter: 1000, failoverTimeout: 5000 };
  await using pair = await startPair({ sentinels, settings: { 'replica-priority': 0 } });
  pair.primary.crash();
  const first = await until(pair, () => count(pair, '-failover-abort-no-good-slave') === 1);
  const second = await until(pair, () => count(pair, '-failover-abort-no-good-slave') === 2);
  expect(second - first).toBeGreaterThanOrEqual(10_000);
  expect(second - first).toBeLessThan(12_000);
});

test('replicas follow the new primary one by one with parallel-syncs 1, and together with 2', async () => {
  for (const parallelSyncs of [1, 2]) {
    const sentinels = { count: 1, downAfter: 1000, parallelSyncs };
    await using pair = await startPair({ replicas: 3, sentinels });
    let most = 0;
    pair.primary.crash();
    const watched = primaryOf(pair);
    const busy = () =>
      [...watched.replicas.values()].filter(
        ({ reconfiguration: step }) => step === 'sent' || step === 'inprog',
      );
    await until(
      pair,
      () => count(pair, '+switch-master') === 1,
      () => {
        most = Math.max(most, busy().length);
      },
    );
    expect(most).toBe(parallelSyncs);
  }
});

test('a Sentinel dials again when a machine has gone without notice', async () => {
  await using pair = await startPair({ sentinels: { count: 1, downAfter: 1000 } });
  const { replica } = pair;
  const [seen] = [...primaryOf(pair).replicas.values()];
  replica.crash({ silent: true });
  await until(pair, () => count(pair, '+sdown', 'slave') === 1);
  pair.restart(replica.name);
  const back = await until(pair, () => count(pair, '-sdown', 'slave') === 1);
  await until(pair, () => seen!.link.helloHeardAt > back);
  expect(seen!.isDown).toBe(false);
});
