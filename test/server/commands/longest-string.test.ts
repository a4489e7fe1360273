/** A string longer than JavaScript can hold is refused as Redis refuses one above proto-max-bulk-len. */
import { expect, test } from 'vitest';
import { STRING_MAX } from '../../../protocol/bytes.ts';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation, TestClient } from '../../transcripts/own.ts';

const TOO_LONG = '-ERR string exceeds maximum allowed size (proto-max-bulk-len)';

test.each([
  ['by default: the limit is that of JavaScript', {}, STRING_MAX],
  ['at a lower proto-max-bulk-len', { 'proto-max-bulk-len': 2 ** 20 }, 2 ** 20],
])('strings cannot be made longer than allowed, %s', (_, settings, most) => {
  const server = createNode(new TestHost(), { settings });
  const a = new Conversation(server);
  expect(a.ask('SET k v')).toBe('+OK');
  expect(a.ask(`SETRANGE k ${most} x`)).toBe(TOO_LONG);
  expect(a.ask(`SETBIT k ${most * 8} 1`)).toBe('-ERR bit offset is not an integer or out of range');
  expect(a.ask(`BITFIELD k SET u8 ${most * 8} 1`)).toBe('-ERR bit offset is not an integer or out of range');
  expect(a.ask('GET k')).toBe('"v"');
  expect(server.stats.internalErrors).toBe(0);
});

test('APPEND stops at the limit, and a longer argument is a protocol error', () => {
  const server = createNode(new TestHost(), { settings: { 'proto-max-bulk-len': 2 ** 20 } });
  const a = new Conversation(server);
  expect(a.ask(`SETRANGE k ${2 ** 20 - 1} x`)).toBe(`:${2 ** 20}`);
  expect(a.ask('APPEND k y')).toBe(TOO_LONG);
  expect(a.ask('STRLEN k')).toBe(`:${2 ** 20}`);
  const client = new TestClient(server);
  client.client.receive(Buffer.from(`*2\r\n$3\r\nGET\r\n$${2 ** 20 + 1}\r\n`));
  expect(client.received()).toEqual([['-', 'ERR Protocol error: invalid bulk length']]);
});
