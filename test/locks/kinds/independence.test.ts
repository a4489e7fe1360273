/** When the servers of a Redlock are checked, and limits that are longer than a timer. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { startServers } from '../../../index.ts';
import { createLocks } from '../../../locks/index.ts';

const outcome = (acquired: Promise<unknown>): Promise<string> =>
  acquired.then(
    () => 'granted',
    (error: Error) => error.constructor.name,
  );

test('acquisitions that begin together all wait for the check, and later ones check again', async () => {
  await using servers = await startServers({ clock: 'virtual', seed: 1, primaries: 3 });
  const [one, two] = servers.sets;
  await servers.run(async () => {
    const locks = createLocks([one!.client('A'), one!.client('B'), two!.client('C')]);
    const both = ['a', 'b'].map((name) => outcome(locks.redlock(name).acquire()));
    expect(await Promise.all(both)).toEqual(['BadConfiguration', 'BadConfiguration']);
    expect(await outcome(locks.redlock('c').acquire())).toBe('BadConfiguration');
    locks.close();
  });
});

test('a time-out beyond the longest timer is not one of 1 ms', async () => {
  await using servers = await startServers({ clock: 'virtual', seed: 1, primaries: 3 });
  await servers.run(async () => {
    const clients = servers.sets.map((set) => set.client('A'));
    const locks = createLocks(clients, { requestTimeoutMs: 2 ** 31 });
    const held = await locks.redlock('a').acquire();
    await held.release();
    expect(() => held.assertHeld()).toThrow();
    locks.close();
  });
});
