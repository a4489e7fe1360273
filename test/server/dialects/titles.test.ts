/** The name under which a Valkey server speaks in its errors, as valkey-server 8.1.1 does. */
import { expect, test } from 'vitest';
import { GATE_DISK, GATE_LOADING } from '../../../server/gates.ts';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation, TestClient } from '../../transcripts/own.ts';

const ENDLESS = 'while true do end';
const LIBRARY = `#!lua name=l\nredis.register_function('f', function() ${ENDLESS} end)`;

test.each([
  ['no', 'Valkey'],
  ['yes', 'Redis'],
])('with extended-redis-compatibility %s, errors name the server %s', (compatible, title) => {
  const host = new TestHost();
  const server = createNode(host, {
    dialect: 'valkey-8.1',
    settings: { 'busy-reply-threshold': 10 },
    scripts: { start: 1000, slice: 1000, millis: 10 },
  });
  const [runner, other] = [new TestClient(server), new Conversation(server)];
  other.ask(`CONFIG SET extended-redis-compatibility ${compatible}`);
  runner.send(['FUNCTION', 'LOAD', LIBRARY]);
  runner.received();
  for (const [kind, words] of [
    ['SCRIPT', ['EVAL', ENDLESS, '0']],
    ['FUNCTION', ['FCALL', 'f', '0']],
  ] as const) {
    runner.send(words);
    host.advance(100);
    expect(other.ask('GET k')).toBe(
      `-BUSY ${title} is busy running a script. You can only call ${kind} KILL or SHUTDOWN NOSAVE.`,
    );
    expect(other.ask(`${kind} KILL`)).toBe('+OK');
    host.advance(100);
    expect(JSON.stringify(runner.received())).toContain(`Script killed by user with ${kind} KILL. script: `);
  }
  server.gate(GATE_DISK, true);
  expect(other.ask('SET k v')).toMatch(`-MISCONF ${title} is configured to save RDB snapshots, but `);
  expect(other.ask("EVAL \"return redis.call('set', 'k', 'v')\" 0")).toContain(`check the ${title} logs`);
  server.gate(GATE_LOADING, true);
  expect(other.ask('GET k')).toBe(`-LOADING ${title} is loading the dataset in memory`);
  server.stop();
});
