/** How a client learns that it no longer holds its lock: replies that a release or a renewal changed nothing. */
import { expect, test } from 'vitest';
import { type Pair, startPair } from '../../../index.ts';
import { createLocks } from '../../../locks/index.ts';
import type { Timeline } from '../../../page/format.ts';

/** A acquires the fair lock, loses it by a stranger's DEL, and releases it when B has it or nobody has. */
async function lostFairLock(pair: Pair, taken: boolean): Promise<Timeline> {
  const [a, b] = [createLocks(pair.client('A')), createLocks(pair.client('B'))];
  const held = await a.fair('lock').acquire({ leaseMs: 60_000 });
  await pair.client('operator').del('lock');
  if (taken) await b.fair('lock').acquire({ leaseMs: 60_000 });
  await expect(pair.run(() => held.release())).rejects.toThrow('is not locked by current owner');
  const run = pair.timelineData();
  await pair.run(() => Promise.all([a.close(), b.close()]));
  return run;
}

for (const taken of [true, false]) {
  test(`the fair lock's refusal -1 ends the hold when it arrives, ${taken ? 'when another client has the lock' : 'when nobody has the lock'}`, async () => {
    await using pair = await startPair({ clock: 'virtual', seed: 3 });
    const { holds, messages, story } = await lostFairLock(pair, taken);
    const refusal = messages.find(({ kind, to, text }) => kind === 'reply' && to === 'A' && text === '-1');
    expect(refusal).toBeDefined();
    expect(holds[0]).toMatchObject({ client: 'A', key: 'lock', ended: 'denied', to: refusal?.arrived });
    expect(story.map(({ text }) => text)).toContain('A learns that it no longer holds lock.');
    expect(holds.slice(1).map(({ client, ended }) => [client, ended])).toEqual(
      taken ? [['B', undefined]] : [],
    );
  });
}
