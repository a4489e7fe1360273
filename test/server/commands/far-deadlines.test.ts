/** Deadlines at the end of 64 bits: rounded to a double's 53 bits, they must not leave the range that replicas and files hold. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';

const LAST = 2n ** 63n - 1n;

test.each([
  ['PEXPIREAT k 9223372036854775807'],
  ['SET k v PXAT 9223372036854775807'],
  ['GETEX k PXAT 9223372036854775807'],
])('%s stores a deadline that a replica accepts and a dump can hold', async (command) => {
  const server = createNode(new TestHost());
  const talk = new Talk(server);
  await talk.ask('SET k v');
  await talk.ask(command);
  const before = await talk.ask('PEXPIRETIME k');
  expect(BigInt(before.slice(1).trim())).toBeGreaterThan(LAST - 2048n);
  expect(BigInt(before.slice(1).trim())).toBeLessThanOrEqual(LAST);
  expect(await talk.ask('DEBUG RELOAD')).toBe('+OK\r\n');
  expect(await talk.ask('GET k')).toBe('$1\r\nv\r\n');
  server.stop();
});

test('a deadline after 2^53 milliseconds is the same after DEBUG RELOAD', async () => {
  const server = createNode(new TestHost());
  const talk = new Talk(server);
  await talk.ask('SET k v PXAT 9223372036854000000');
  const before = await talk.ask('PEXPIRETIME k');
  expect(await talk.ask('DEBUG RELOAD')).toBe('+OK\r\n');
  expect(await talk.ask('PEXPIRETIME k')).toBe(before);
  server.stop();
});
