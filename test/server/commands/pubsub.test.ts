/** What publishing does beyond the transcripts of redis-server 7.0 (test/transcripts/pubsub.txt). */
import { beforeEach, expect, test } from 'vitest';
import { PushMessage } from '../../../server/clients/message.ts';
import { Output } from '../../../server/clients/output.ts';
import type { Connection } from '../../../server/host/host.ts';
import { freshServerForEachTest, server } from '../../support/fresh.ts';
import { recordEffects, Talk } from '../../support/talk.ts';

/** A client as far as its output needs it. */
interface Queueing {
  readonly client: { protocol: 2 | 3 };
  readonly output: Output;
}

freshServerForEachTest();

let talk: Talk;

beforeEach(() => {
  talk = new Talk(server);
});

test('a message is encoded once for each protocol, however many subscribers there are', () => {
  const items = ['x'];
  const message = new PushMessage(items);
  const before = [message.bytes(2), message.bytes(3)];
  items.push('y');
  expect([message.bytes(2), message.bytes(3)]).toEqual(before);
  expect(new PushMessage(items).bytes(2)).not.toBe(before[0]);
});

test('thousands of subscribers of both protocols get a message', async () => {
  const listeners = Array.from({ length: 2000 }, () => new Talk(server));
  for (const [i, listener] of listeners.entries()) {
    if (i % 2 === 0) listener.send('HELLO 3', 'SUBSCRIBE a');
    else listener.send('SUBSCRIBE a');
  }
  for (const listener of listeners) await listener.hear((bytes) => bytes.includes('subscribe'));
  expect(await talk.ask('PUBLISH a hello')).toBe(':2000\r\n');
  for (const [i, listener] of listeners.entries()) {
    const sign = i % 2 === 0 ? '>' : '*';
    expect(await listener.hear()).toBe(`${sign}3\r\n$7\r\nmessage\r\n$1\r\na\r\n$5\r\nhello\r\n`);
  }
});

test('clients share output while they got the same messages, and get only their own after that', async () => {
  const listeners: [Talk, string, string][] = ['a', 'a b', 'a', 'b a'].map((channels) => [
    new Talk(server),
    channels,
    channels === 'a' ? '135' : '12345',
  ]);
  for (const [listener, channels] of listeners) await listener.ask(`SUBSCRIBE ${channels}`);
  await talk.ask('HELLO 3', 'SUBSCRIBE a');
  // One chunk: the messages stay queued until the last one is there.
  talk.send('PUBLISH a 1', 'PUBLISH b 2', 'PUBLISH a 3', 'PUBLISH b 4', 'PUBLISH a 5');
  const message = (text: string, sign = '*'): string =>
    `${sign}3\r\n$7\r\nmessage\r\n$1\r\n${Number(text) % 2 === 0 ? 'b' : 'a'}\r\n$1\r\n${text}\r\n`;
  for (const [listener, , texts] of listeners) {
    expect(await listener.hear()).toBe([...texts].map((text) => message(text)).join(''));
  }
  const own = ['1', '3', '5'].map((text) => `${message(text, '>')}:5\r\n`);
  expect(await talk.hear()).toBe(own.join(':2\r\n'));
});

test('a client that changes its protocol without a reply stops sharing its output', () => {
  const sent: string[] = [];
  const outbox = { add(): void {} };
  const [one, other] = ['one', 'other'].map((name) => {
    const connection = {
      pending: 0,
      send: (bytes: string) => sent.push(`${name} ${bytes}`),
    } as unknown as Connection;
    const owner = {
      connection,
      closing: false,
      gone: false,
      server: { outbox },
      countSent() {},
      checkOutput() {},
    };
    const client: typeof owner & { protocol: 2 | 3 } = { ...owner, protocol: 2 };
    return { client, output: new Output(client) };
  }) as unknown as [Queueing, Queueing];
  for (const text of ['1', '2', '3']) {
    const message = new PushMessage(text);
    for (const { output } of [one, other]) output.push(message);
    one.client.protocol = 3;
  }
  for (const { output } of [one, other]) output.flush();
  const inProtocols = (...signs: string[]): string =>
    signs.map((sign, i) => `${sign}1\r\n$1\r\n${i + 1}\r\n`).join('');
  expect(sent).toEqual([`one ${inProtocols('*', '>', '>')}`, `other ${inProtocols('*', '*', '*')}`]);
});

test('PUBLISH and SPUBLISH are replicated unchanged, with and without subscribers', async () => {
  const effects = recordEffects(server);
  await talk.ask('PUBLISH a x');
  await talk.ask('SPUBLISH s y');
  await talk.ask('MULTI', 'PUBLISH a z', 'SET k v', 'EXEC');
  expect(effects).toEqual(['PUBLISH a x', 'SPUBLISH s y', 'MULTI', 'PUBLISH a z', 'SET k v', 'EXEC']);
});

test('subscribers that disconnect leave nothing behind', async () => {
  await talk.ask('SUBSCRIBE a', 'PSUBSCRIBE p*', 'SSUBSCRIBE s');
  talk.hangUp();
  await new Talk(server).ask('PING');
  const { channels, patterns, shardChannels } = server.pubsub;
  expect([channels.size, patterns.size, shardChannels.size]).toEqual([0, 0, 0]);
});
