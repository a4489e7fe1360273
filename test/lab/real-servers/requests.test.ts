/** Which client of a real server a write of its stream is attributed to: the requests and replies on the links tell. */
import { expect, test } from 'vitest';
import type { ConnectionTap, NetworkConnection } from '../../../lab/real-clock/network.ts';
import { SeenRequests } from '../../../lab/real-servers/requests.ts';
import { nodeHost } from '../../../server/host/node.ts';
import { createNode } from '../../../server/index.ts';

const server = createNode(nodeHost());
const seen = () => new SeenRequests(() => server);

/** A connection of a client, which a test can end. */
function connectionOf(from: string): NetworkConnection & { ended: boolean } {
  const nothing = (): void => {};
  return {
    ...{ from, to: 'redis-1', port: 1, ended: false },
    ...{ reset: nothing, silence: nothing, wasRead: nothing, tookUpTo: () => true },
  };
}

function ask(tap: ConnectionTap, ...words: string[]): void {
  const parts = words.map((word) => `$${word.length}\r\n${word}\r\n`);
  tap.asked(Buffer.from(`*${words.length}\r\n${parts.join('')}`));
}

const reply = (tap: ConnectionTap, text: string): void => tap.answered(Buffer.from(`${text}\r\n`));
const deletes = (requests: SeenRequests) => requests.explain([{ db: 0, argv: ['del', 'my:lock'] }]).client;

test('a script that the server does not have has written nothing', () => {
  const requests = seen();
  const [a, b] = [requests.tap(connectionOf('A')), requests.tap(connectionOf('B'))];
  ask(a, 'EVALSHA', 'f00', '1', 'my:lock', 'token-a');
  reply(a, '-NOSCRIPT No matching script.');
  ask(a, 'EVALSHA', 'f00', '1', 'my:lock', 'token-a');
  expect(deletes(requests)).toBe('A');
  reply(a, ':1');
  // The next release is the other client's.
  ask(b, 'EVALSHA', 'f00', '1', 'my:lock', 'token-b');
  expect(deletes(requests)).toBe('B');
});

test('a script may have written before it failed', () => {
  const requests = seen();
  const a = requests.tap(connectionOf('A'));
  ask(a, 'EVALSHA', 'f00', '1', 'my:lock', 'token-a');
  reply(a, '-ERR something in the script');
  expect(deletes(requests)).toBe('A');
});

test('a request whose connection broke before its reply explains a write less well than one that can be seen to go on', () => {
  const requests = seen();
  const broken = connectionOf('A');
  ask(requests.tap(broken), 'SET', 'my:lock', 'token-a', 'NX', 'PX', '300');
  broken.ended = true;
  ask(requests.tap(connectionOf('B')), 'EVALSHA', 'f00', '1', 'my:lock', 'token-b');
  expect(deletes(requests)).toBe('B');
  // Where nothing else fits, it may have been executed all the same.
  expect(requests.explain([{ db: 0, argv: ['set', 'my:lock', 'token-a', 'PXAT', '9'] }]).client).toBe('A');
});

test('a command of the name of the write explains it better than a script', () => {
  const requests = seen();
  ask(requests.tap(connectionOf('A')), 'EVALSHA', 'f00', '1', 'my:lock', 'token-a');
  ask(requests.tap(connectionOf('B')), 'DEL', 'my:lock');
  expect(deletes(requests)).toBe('B');
});
