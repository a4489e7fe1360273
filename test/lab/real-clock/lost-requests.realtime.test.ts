/** The timeline of a pair on the real clock tells which requests never arrived. */
import { expect, onTestFinished, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { until } from '../../support/until.ts';

test('a request that waited when its connection was reset is lost, also when the link is released later', async () => {
  const pair = await startPair({ clock: 'real', trace: true });
  onTestFinished(() => pair.close());
  const redis = pair.client('A', { maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on('error', () => {});
  await redis.set('first', '1');
  const link = pair.clientLink('A');
  link.hold();
  const refused = redis.set('held', '1').catch((error: Error) => error.message);
  await until(() => link.out.waiting > 0, { what: 'the request at the gate' });
  link.reset();
  link.release();
  await refused;
  const requests = pair
    .timelineData()
    .messages.filter(({ kind, from }) => kind === 'request' && from === 'A');
  const sets = requests.filter(({ text }) => /^set /.test(text));
  expect(sets.map(({ text, fate = 'arrived' }) => [text, fate])).toEqual([
    ['set first 1', 'arrived'],
    ['set held 1', 'lost'],
  ]);
});
