/** Visits, as explorations know them: the grant is the request whose reply let the client enter, whatever command it was. */
import { expect, test } from 'vitest';
import { startPair } from '../../../index.ts';
import { accountOf } from '../../../lab/account/account.ts';
import { readMessages } from '../../../lab/timeline/connections.ts';
import { recordedWorld } from '../../../lab/timeline/world.ts';
import type { TimelineHold } from '../../../page/format.ts';

test('each visit has its grant, and the tenure if the grant was a lock', async () => {
  await using pair = await startPair({ clock: 'virtual', seed: 3 });
  const [a, b] = [pair.client('A'), pair.client('B')];
  const visits: TimelineHold[] = [];
  const visit = async (client: string, key: string): Promise<void> => {
    const from = pair.world.elapsed();
    await pair.advance(5);
    const common = { client, key, kind: 'visit' as const, lease: null, renewals: [] };
    visits.push({ ...common, from, to: pair.world.elapsed() });
  };
  await a.set('k', 'A', 'PX', 30_000, 'NX');
  await visit('A', 'stock');
  await b.incr('turn');
  await b.wait(1, 10);
  await visit('B', 'stock');
  await visit('B', 'stock');
  await a.get('k');
  await visit('A', 'stock');
  const run = { ...recordedWorld(pair.world, [pair], {}), visits };
  const { entries, tenures } = accountOf(run, readMessages(run.messages));
  expect(entries.map(({ grant }) => grant?.words.slice(0, 2).join(' '))).toEqual([
    'set k',
    'incr turn',
    // Nothing was answered since B's last visit ended.
    undefined,
    'get k',
  ]);
  expect(entries.map(({ tenure }) => tenure)).toEqual([tenures[0], undefined, undefined, tenures[0]]);
});
