/** Links that a test controls: what each control does to messages under way, separately for each direction. */
import '../../../lab/router.ts';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { VirtualHost } from '../../../lab/virtual/host.ts';
import { World } from '../../../lab/virtual/world.ts';
import { exchange } from '../../support/exchange.ts';

test('a connection takes a round trip, and every message a latency, in order', async () => {
  const { world, atNode, atClient, dial, write, send } = await exchange(5);
  const socket = await dial();
  await write(socket, 'early');
  await world.advance(30);
  send('one');
  send('two');
  await world.advance(30);
  expect(atClient).toEqual([
    [10, 'connect'],
    [35, 'one'],
    [35, 'two'],
  ]);
  expect(atNode).toEqual([[15, 'early']]);
});

test('jitter keeps the order within a connection', async () => {
  const { world, atNode, dial, write } = await exchange(1, 50);
  const socket = await dial();
  await world.advance(200);
  const sent = Array.from({ length: 50 }, (_, i) => `message ${i}`);
  await write(socket, ...sent);
  await world.advance(200);
  expect(atNode.map(([, what]) => what)).toEqual(sent);
  expect(new Set(atNode.map(([at]) => at)).size).toBeGreaterThan(2);
});

test('release delivers what is held: everything, a number of messages, or a number of bytes', async () => {
  const { world, atNode, dial, write, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  await write(socket, 'under way');
  link.out.hold();
  await world.advance(10);
  await write(socket, 'abc', 'defg', 'hij');
  await world.advance(10);
  expect([atNode, link.out.waiting]).toEqual([[], 4]);
  link.out.release({ messages: 1 });
  await world.advance(10);
  expect(atNode).toEqual([[30, 'under way']]);
  link.out.release({ bytes: 5 });
  await world.advance(10);
  expect(atNode.slice(1)).toEqual([
    [40, 'abc'],
    [40, 'de'],
  ]);
  link.out.release();
  await write(socket, 'open again');
  await world.advance(10);
  expect(atNode.slice(3)).toEqual([
    [50, 'fg'],
    [50, 'hij'],
    [51, 'open again'],
  ]);
});

test('a lane that is held and cut is open when both have ended, in either order', async () => {
  const { world, atNode, dial, write, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  for (const [first, second] of [
    ['heal', 'release'],
    ['release', 'heal'],
  ] as const) {
    link.out.hold();
    link.out.partition();
    await write(socket, first);
    await world.advance(10);
    link.out[first]();
    await world.advance(10);
    expect([atNode.at(-1)?.[1] !== first, link.out.waiting]).toEqual([true, 1]);
    link.out[second]();
    await world.advance(10);
    expect([atNode.at(-1)?.[1], link.out.waiting]).toEqual([first, 0]);
  }
});

test('messages of a broken connection no longer wait at the gate', async () => {
  const { world, atClient, connections, dial, link } = await exchange();
  await dial();
  await dial();
  await world.advance(10);
  link.back.hold();
  connections[0]?.send('one');
  connections[1]?.send('two');
  await world.advance(10);
  connections[0]?.abort();
  await world.advance(10);
  expect(link.back.waiting).toBe(2); // The reset stands behind the other connection's message.
  link.back.release({ messages: 1 });
  await world.advance(10);
  expect(atClient.slice(2)).toEqual([[30, 'two']]);
  link.back.release();
  await world.advance(10);
  expect(atClient[3]).toEqual([40, 'error read ECONNRESET']);
});

test('pace changes only the given values, for later messages', async () => {
  const { world, atNode, dial, write, link } = await exchange(5, 3);
  const socket = await dial();
  await world.advance(30);
  link.out.pace({ jitter: 0 });
  await write(socket, 'steady');
  await world.advance(30);
  link.out.pace({ latency: 7 });
  await write(socket, 'slower');
  await world.advance(30);
  expect(atNode).toEqual([
    [35, 'steady'],
    [67, 'slower'],
  ]);
});

test('each direction is held separately', async () => {
  const { world, atNode, atClient, dial, write, send, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  link.back.hold();
  await write(socket, 'request');
  await world.advance(10);
  send('reply');
  await world.advance(10);
  expect(atNode).toEqual([[11, 'request']]);
  expect(atClient).toEqual([[2, 'connect']]);
  link.back.release();
  await world.advance(0);
  expect(atClient.at(-1)).toEqual([30, 'reply']);
});

test('a delay affects later messages, not those under way', async () => {
  const { world, atNode, dial, write, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  await write(socket, 'swift');
  link.out.delay(100);
  await write(socket, 'slow');
  link.out.delay(0);
  await write(socket, 'behind');
  await world.advance(200);
  expect(atNode).toEqual([
    [11, 'swift'],
    [111, 'slow'],
    [111, 'behind'],
  ]);
});

test('a partition stops everything, including new connections, and healing repairs it as TCP would', async () => {
  const { world, atNode, atClient, dial, write, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  link.partition();
  await write(socket, 'kept');
  const second = await dial();
  await world.advance(1000);
  expect([atNode, atClient]).toEqual([[], [[2, 'connect']]]);
  link.heal();
  await world.advance(10);
  expect(atNode).toEqual([[1010, 'kept']]);
  expect(atClient.slice(1)).toEqual([[1011, 'connect']]);
  second.destroy();
});

test('groups are partitioned from each other, but not within', async () => {
  const world = new World();
  const { network } = world;
  network.partition(['P', 'A'], ['R', 'B']);
  const cut = (from: string, to: string) => network.lane(from, to).partitioned;
  expect([cut('P', 'R'), cut('R', 'P'), cut('A', 'B'), cut('P', 'A'), cut('R', 'B')]).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  network.heal();
  expect(cut('P', 'R')).toBe(false);
});

test('a reset breaks both ends at once, whatever is under way', async () => {
  const { world, atNode, atClient, dial, write, link } = await exchange(50);
  const socket = await dial();
  await world.advance(200);
  await write(socket, 'lost');
  link.reset();
  await world.advance(200);
  expect(atNode).toEqual([[200, 'closed']]);
  expect(atClient.slice(1)).toEqual([
    [200, 'error read ECONNRESET'],
    [200, 'close true'],
  ]);
});

test('a connection to a closed port is refused after a round trip', async () => {
  const { world, host, atClient, dial } = await exchange();
  host.unlisten(7000);
  await dial();
  await world.advance(10);
  expect(atClient).toEqual([
    [2, 'error connect ECONNREFUSED node:7000'],
    [2, 'close true'],
  ]);
  host.listen(7000, () => undefined);
  expect(() => host.listen(7000, () => undefined)).toThrow('EADDRINUSE');
});

test('either side may close, and the other receives the end after everything that was sent', async () => {
  const { world, atNode, atClient, connections, dial, write, send } = await exchange();
  const first = await dial();
  await world.advance(10);
  await write(first, 'bye');
  await world.actor('A').run(() => void first.end());
  await world.advance(10);
  expect(atNode).toEqual([
    [11, 'bye'],
    [11, 'closed'],
  ]);
  expect(atClient.slice(1)).toEqual([[12, 'close false']]);

  await dial();
  await world.advance(10);
  send('last');
  connections.at(-1)?.close();
  send('too late');
  await world.advance(10);
  expect(atClient.slice(2)).toEqual([
    [22, 'connect'],
    [31, 'last'],
    [31, 'close false'],
  ]);
  expect(atNode.slice(2)).toEqual([[30, 'closed']]);
});

test('a crash ends connections, kills timers and refuses new connections; with `silent` no client is notified', async () => {
  const { world, host, atNode, atClient, dial } = await exchange();
  await dial();
  await world.advance(10);
  host.clock.at(host.clock.now() + 5, () => atNode.push([0, 'a dead timer']));
  host.crash('nothing');
  await world.advance(10);
  await dial();
  await world.advance(10);
  expect(atNode).toEqual([]);
  expect(atClient.slice(1)).toEqual([
    [11, 'close false'],
    [22, 'error connect ECONNREFUSED node:7000'],
    [22, 'close true'],
  ]);
  const again = await exchange();
  await again.dial();
  await again.world.advance(10);
  again.host.crash('nothing', true);
  await again.world.advance(1000);
  expect(again.atClient).toEqual([[2, 'connect']]);
});

test("a socket's own timeout runs on virtual time and restarts with traffic", async () => {
  const { world, atClient, dial, send } = await exchange();
  const socket = (await dial()) as Duplex & { setTimeout(ms: number): void };
  await world.advance(10);
  await world.actor('A').run(() => socket.setTimeout(100));
  await world.advance(60);
  send('traffic');
  await world.advance(99);
  expect(atClient.at(-1)?.[1]).toBe('traffic');
  await world.advance(5);
  expect(atClient.at(-1)).toEqual([171, 'timeout']);
});

test('the kernel of a paused process completes a connection, and resets it when the process is killed', async () => {
  // As a redis-server does that gets SIGSTOP, a connection and SIGKILL.
  const { world, host, atNode, atClient, dial, write } = await exchange();
  world.actor('node').pause();
  const socket = await dial();
  await world.advance(10);
  expect(atClient).toEqual([[2, 'connect']]);
  await write(socket, 'unread');
  await world.advance(10);
  host.crash();
  await world.advance(10);
  expect(atClient.slice(1)).toEqual([
    [21, 'error read ECONNRESET'],
    [21, 'close true'],
  ]);
  expect(atNode).toEqual([]);
});

test('a connection that a paused process has not accepted is reset when the process is killed, though nothing was sent', async () => {
  const { world, host, atClient, dial } = await exchange();
  world.actor('node').pause();
  await dial();
  await world.advance(10);
  host.crash();
  await world.advance(10);
  expect(atClient.slice(1)).toEqual([
    [11, 'error read ECONNRESET'],
    [11, 'close true'],
  ]);
});

test('while a reader is paused, bytes accumulate at the sender, and none are lost', async () => {
  const { world, atNode, connections, dial, write } = await exchange();
  const socket = await dial();
  await world.advance(10);
  connections[0]?.pause();
  await write(socket, 'a', 'b');
  await world.advance(10);
  expect(atNode).toEqual([]);
  connections[0]?.resume();
  await world.advance(10);
  expect(atNode.map(([, what]) => what).join('')).toBe('ab');

  await world.run(() => void socket.pause());
  const big = 'x'.repeat(100_000);
  for (let i = 0; i < 5; i++) connections[0]?.send(big);
  await world.advance(10);
  expect(connections[0]?.pending).toBeGreaterThan(300_000);
  await world.run(() => void socket.resume());
  await world.advance(10);
  expect(connections[0]?.pending).toBe(0);
  expect(socket.readableLength).toBe(0);
});

test('nodes connect to each other through their hosts', async () => {
  const { world, atNode, connections } = await exchange();
  const other = new VirtualHost(world, 'other');
  const heard: string[] = [];
  const receiver = {
    receive: (chunk: Uint8Array) => void heard.push(Buffer.from(chunk).toString()),
    closed: () => void heard.push('closed'),
  };
  other.connect('node', 7000, receiver, (connection) => connection.send('hello'));
  await world.advance(10);
  expect(atNode).toEqual([[3, 'hello']]);
  connections[0]?.send('answer');
  connections[0]?.abort();
  await world.advance(10);
  other.connect('nowhere', 1, receiver, () => heard.push('opened'));
  await world.advance(10);
  expect(heard).toEqual(['closed', 'closed']);
});

test('the error for a wait that cannot end names held links and paused actors', async () => {
  const { world, dial, link } = await exchange();
  const socket = await dial();
  await world.advance(10);
  link.out.hold();
  world.actor('node').pause();
  const wait = world.actor('A').run(() => {
    socket.write('x');
    return new Promise((resolve) => socket.once('data', resolve));
  });
  await expect(wait).rejects.toThrow(
    'no message is under way in the world; held back: A>node (0 messages); paused: node',
  );
});

test('a client of a world cannot be used outside of it', async () => {
  const { dial } = await exchange();
  const socket = await dial();
  expect(() => socket.write('x')).toThrow('used outside of it');
});
