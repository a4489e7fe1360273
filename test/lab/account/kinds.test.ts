/** Every kind of lock of lostlock/locks: the account has its grant and its release, and never two holders of it. */
import { expect, test } from 'vitest';
import { startPair, startServers } from '../../../index.ts';
import { createLocks } from '../../../locks/index.ts';
import { everyKind } from '../../locks/every-kind.ts';
import { accountIn } from './played.ts';

for (const { name, acquire, primaries, inner } of everyKind) {
  test(`${name}: A holds it, gives it back, and B gets it; nobody believes what is not so`, async () => {
    await using world = await (primaries === 1
      ? startPair({ clock: 'virtual', seed: 3 })
      : startServers({ clock: 'virtual', seed: 3, primaries }));
    const locksOf = (client: string) =>
      'client' in world ? createLocks(world.client(client)) : createLocks(world.clients(client));
    const [a, b] = [locksOf('A'), locksOf('B')];
    const held = await world.run(() => acquire(a));
    await world.advance(50);
    const between = accountIn(world);
    expect(between.holds.map(({ client, to }) => [client, to])).toContainEqual(['A', null]);
    expect(between.tenures.filter(({ end }) => end === undefined).map(({ client }) => client)).toContain('A');
    expect(between.others).toEqual([]);
    await world.run(() => held.release());
    await world.run(() => a.close());
    const next = await world.run(() => acquire(b));
    await world.advance(50);
    const account = accountIn(world);
    expect(account.holds.at(-1)?.client).toBe('B');
    expect(account.overlaps).toEqual([]);
    expect(account.ghosts).toEqual([]);
    expect(account.crowds).toEqual([]);
    expect(account.tenures.filter(({ client, end }) => client === 'A' && end === undefined)).toEqual([]);
    for (const { end } of account.tenures)
      expect(['released', inner ? 'expired' : 'released', undefined]).toContain(end?.how);
    await world.run(() => next.release());
    await world.run(() => b.close());
  });
}
