/** Lost and repeated messages affect their connection only as TCP allows. */
import '../../../lab/router.ts';
import { expect, test } from 'vitest';
import { exchange } from '../../support/exchange.ts';

test('a lost message blocks the messages behind it until the sender gives up as Linux does', async () => {
  const { world, atNode, atClient, dial, write, send, link } = await exchange();
  const first = await dial();
  await world.advance(10);
  await write(first, '1');
  link.out.drop(1);
  await write(first, '2', '3');
  const second = await dial();
  await world.advance(10);
  await write(second, '4');
  await world.advance(10);
  expect(atNode.map(([, what]) => what).join('')).toBe('14');
  expect(world.network.lane('A', 'node').waiting).toBe(0);
  send('still heard');
  await world.advance(10);
  expect(atClient.at(-1)?.[1]).toBe('still heard');
  await world.advance(1_000_000);
  expect(atClient.slice(3)).toEqual([
    [924_610, 'error read ETIMEDOUT'],
    [924_610, 'close true'],
  ]);
  expect(atNode.at(-1)).toEqual([924_610, 'closed']);
});

test('all later messages are lost until drop(0), and connections that lost one stay broken', async () => {
  const { world, atNode, dial, write, link } = await exchange();
  const first = await dial();
  await world.advance(10);
  link.out.drop();
  await write(first, '1');
  link.out.drop(0);
  await write(first, '2');
  const second = await dial();
  await world.advance(10);
  await write(second, '3');
  await world.advance(10);
  expect(atNode.map(([, what]) => what)).toEqual(['3']);
});

test('with `duplicate` a message arrives and then its connection breaks', async () => {
  const { world, atNode, atClient, dial, write, connections, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  link.out.duplicate(1);
  await write(socket, '1', '2');
  connections[0]?.send('never heard');
  await world.advance(10);
  expect(atNode).toEqual([
    [11, '1'],
    [11, 'closed'],
  ]);
  expect(atClient.slice(1)).toEqual([
    [11, 'error read ECONNRESET'],
    [11, 'close true'],
  ]);
});
