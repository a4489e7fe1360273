/** Sentinels of a pair on the real clock: they decide over TCP, behind the pair's links. */
import { expect, test } from 'vitest';
import { type RealClockPair, startPair } from '../../../index.ts';
import { until } from '../../support/until.ts';

async function start(): Promise<RealClockPair> {
  const pair = await startPair({
    clock: 'real',
    replicas: 1,
    trace: true,
    sentinels: { count: 3, downAfter: 2000, failoverTimeout: 10_000 },
  });
  // A busy machine is no reason for TILT.
  for (const { server } of pair.sentinels) server.sentinel.periods['tilt-trigger'] = 600_000;
  return pair;
}

test('Sentinels on the real clock replace a primary that crashes, and the old one follows when it is back', async () => {
  await using pair = await start();
  const client = pair.client('A', { retryStrategy: () => 20, maxRetriesPerRequest: null } as never);
  pair.link.hold();
  expect(await client.set('lock', 'A')).toBe('OK');
  const { from, to, lost } = await pair.failover({ crash: true });
  expect([from, to]).toEqual(['redis-1', 'redis-2']);
  expect(lost.map(({ key }) => key)).toEqual(['lock']);
  expect(await client.set('lock', 'B', 'NX')).toBe('OK');
  // One Sentinel is paused and another one dies: the third still answers.
  pair.pause('sentinel-1');
  await pair.sentinel('sentinel-2').crash();
  const { server } = pair.sentinel('sentinel-3');
  const announced = (): boolean => pair.sentinel('sentinel-3').announcedPort === pair.node('redis-2').port;
  await until(announced, { what: 'the third Sentinel to follow', limitMs: 30_000 });
  expect(server.sentinel.primaries.get('mymaster')?.configEpoch).toBeGreaterThan(0);
  pair.resume('sentinel-1');
  await pair.restart('redis-1');
  for (const each of pair.sentinels)
    Object.assign(each.server.sentinel.periods, { 'publish-period': 200, 'info-period': 500 });
  const turned = (): boolean => pair.node('redis-1').server.primary?.port === pair.node('redis-2').port;
  await until(turned, { what: 'the old primary to follow the new one', limitMs: 60_000 });
  await pair.sentinel('sentinel-2').restart();
  const marks = pair.timelineData().marks.map(({ lane, kind }) => `${lane} ${kind}`);
  const noted = ['sentinel-1 pause', 'sentinel-2 crash', 'sentinel-1 resume', 'sentinel-2 restart'];
  expect(marks.filter((mark) => noted.includes(mark))).toEqual(noted);
});
