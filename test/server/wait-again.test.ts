/** A WAIT that timed out does not affect the next WAIT of the same client. */
import '../../lab/router.ts';
import { expect, test } from 'vitest';
import { startPair } from '../../index.ts';

test.each([
  ['WAIT', ['1', '500']],
  ['WAITAOF', ['0', '1', '500']],
])('each of two %s in a row counts the replicas for the writes before it', async (name, args) => {
  await using pair = await startPair({
    clock: 'virtual',
    seed: 1,
    network: { latency: 1, jitter: 0 },
    settings: { appendonly: true, appendfsync: 'always' },
  });
  await pair.run(async () => {
    const a = pair.client('A');
    const wait = async (): Promise<number> => [await a.call(name, ...args)].flat().map(Number).at(-1)!;
    await a.set('first', '1');
    expect(await wait()).toBe(1);
    pair.link.acks.hold();
    await a.set('second', '1');
    expect(await wait()).toBe(0);
    pair.link.commands.hold(); // The replica has the second write, and never gets the third.
    await a.set('third', '1');
    const third = wait();
    await pair.client('B').ping(); // By now A's request has arrived.
    pair.link.acks.release();
    expect(await third).toBe(0);
  });
});
