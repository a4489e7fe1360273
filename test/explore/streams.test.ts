/** Streams to replicas on real servers: what came before a loss arrives however late it is sent, and the loss does not. */
import { expect, test } from 'vitest';
import { Order } from '../../explore/stage/real-servers/order.ts';
import type { ServersSet } from '../../explore/stage/real-servers/sets.ts';
import { Streams } from '../../explore/stage/real-servers/streams.ts';
import { RealClockLane } from '../../lab/real-clock/lane.ts';

/** A primary and its replica, of which the replica has `received` bytes of the stream, and a stream that loses its end at 30 ms. */
function start(received: number) {
  const lane = new RealClockLane('redis-1', 'redis-2', () => 0);
  const replica = { id: 'history', received };
  const nodes = [
    { name: 'redis-1', mirror: { id: 'history', offset: 10 } },
    { name: 'redis-2', mirror: replica },
  ];
  const set = { nodes, network: { lane: () => lane } } as unknown as ServersSet;
  const order = new Order([
    { at: 1, client: 'A', kind: 'act' },
    { at: 20, client: 'A', kind: 'write' },
    { at: 25, client: 'A', kind: 'act' },
  ]);
  const struck = order.expect(30);
  const losses = [20, 28].map((sent) => ({ from: 'redis-1', to: 'redis-2', sent, at: 30 }));
  const streams = new Streams([set], order, losses);
  const arrived: string[] = [];
  const send = (text: string): void =>
    lane.pass(lane, Buffer.from(text), (content = Buffer.alloc(0)) => {
      arrived.push(Buffer.from(content).toString());
      replica.received += content.length;
    });
  return { arrived, order, send, streams, struck };
}

test('what came before arrives late, also in one message with what is lost', () => {
  const { arrived, order, send, streams, struck } = start(4);
  streams.look();
  send('56');
  order.reached('A', 'act');
  streams.look();
  expect(arrived).toEqual(['56']);
  send('789');
  send('0lost');
  streams.look();
  expect(arrived).toEqual(['56', '789', '0']);
  streams.look();
  expect(arrived).toHaveLength(3);
  struck();
  streams.look();
  expect(arrived.at(-1)).toBe('lost');
});

test('a second loss that has not been sent yet does not open the stream', () => {
  const { arrived, order, send, streams } = start(10);
  order.reached('A', 'act');
  streams.look();
  send('lost');
  streams.look();
  expect(arrived).toEqual([]);
});

test('the stream flows before the first loss, and when the order is given up', () => {
  const { arrived, order, send, streams } = start(10);
  streams.look();
  send('a');
  order.reached('A', 'act');
  streams.look();
  send('b');
  order.giveUp();
  streams.look();
  expect(arrived).toEqual(['a', 'b']);
});
