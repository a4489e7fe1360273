/** What INFO counts as freed in another thread, as each server does. */
import { expect, test } from 'vitest';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

const LIBRARY = (i: number): string =>
  `FUNCTION LOAD "#!lua name=l${i}\\nredis.register_function('f${i}', function() return 1 end)"`;

// Measured on the real servers: the counts after FUNCTION FLUSH and SCRIPT FLUSH of so many functions and scripts.
test.each([
  ['redis-7.0', 65, 'ASYNC', 65, 65],
  ['redis-8.0', 65, 'ASYNC', 66, 65],
  ['redis-8.2', 65, 'ASYNC', 66, 65],
  ['redis-8.2', 65, '', 0, 0],
  ['redis-8.0', 64, 'ASYNC', 0, 0],
  ['valkey-8.1', 65, 'ASYNC', 65, 65],
  ['valkey-8.1', 65, '', 65, 65],
  ['valkey-8.1', 65, 'SYNC', 0, 0],
] as const)('%s: FLUSH of %i functions and scripts, %s', (dialect, count, mode, functions, scripts) => {
  const server = createNode(new TestHost(), { dialect });
  const client = new Conversation(server);
  const freed = (): number => Number(/lazyfreed_objects:(\d+)/.exec(client.ask('INFO memory'))?.[1]);
  for (let i = 0; i < count; i++) {
    expect(client.ask(LIBRARY(i))).toBe(`"l${i}"`);
    client.ask(`SCRIPT LOAD "return ${i}"`);
  }
  expect(client.ask(`FUNCTION FLUSH ${mode}`)).toBe('+OK');
  expect(freed()).toBe(functions);
  client.ask('CONFIG RESETSTAT');
  expect(client.ask(`SCRIPT FLUSH ${mode}`)).toBe('+OK');
  expect(freed()).toBe(scripts);
  client.ask('CONFIG RESETSTAT');
  client.ask('CONFIG SET lazyfree-lazy-user-flush yes');
  client.ask('SET k v');
  client.ask('FLUSHALL');
  expect(freed()).toBe(1);
  server.stop();
});
