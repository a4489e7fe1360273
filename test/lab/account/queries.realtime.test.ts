/** pair.holders and pair.overlaps on the real clock. */
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';

test('on the real clock they need the option trace', async () => {
  await using bare = await startPair({ clock: 'real' });
  expect(() => bare.holders('k')).toThrow('holders() needs startPair with trace: true');
  expect(() => bare.overlaps()).toThrow('overlaps() needs startPair with trace: true');
  await using pair = await startPair({ clock: 'real', trace: true, locks: ['stock:*'] });
  await pair.client('A').set('stock:1', 'A');
  expect(pair.holders('stock:1')).toMatchObject([{ client: 'A', token: 'A', believes: true, granted: true }]);
});
