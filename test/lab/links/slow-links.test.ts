/** A limited bandwidth and a delayed end of connections, on the virtual clock. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { exchange } from '../../support/exchange.ts';

test('with a limited bandwidth a message arrives when its last byte does, behind those of all connections', async () => {
  const { world, atNode, dial, write, link } = await exchange();
  const [first, second] = [await dial(), await dial()];
  await world.advance(10);
  link.bandwidth(1000);
  await write(first, 'x'.repeat(50));
  await write(second, 'y'.repeat(20));
  await world.advance(100);
  link.bandwidth(Infinity);
  await write(first, 'z'.repeat(1000));
  await world.advance(10);
  expect(atNode.map(([at, what]) => [at, what.length])).toEqual([
    [61, 50],
    [81, 20],
    [111, 1000],
  ]);
});

test('a direction that was idle does not save up bandwidth', async () => {
  const { world, atNode, dial, write, link } = await exchange();
  const socket = await dial();
  link.out.bandwidth(1000);
  await world.advance(1000);
  await write(socket, 'x'.repeat(50));
  await world.advance(100);
  expect(atNode.map(([at]) => at)).toEqual([1051]);
});

test('slowClose delays the end of a connection, not its last bytes', async () => {
  const { world, atNode, dial, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  link.slowClose(500);
  await world.actor('A').run(() => void socket.end('last'));
  await world.advance(1000);
  expect(atNode).toEqual([
    [11, 'last'],
    [511, 'closed'],
  ]);
});
