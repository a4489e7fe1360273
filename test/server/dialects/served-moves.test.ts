/** What the replication stream says of clients that waited for a list, as each dialect's server (recorded). */
import { expect, test } from 'vitest';
import type { DialectName } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { recordEffects, Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';

test.each<[DialectName, string]>([
  ['redis-7.0', 'LMOVE src dst left right'],
  ['redis-8.0', 'LMOVE src dst left Right'],
])('%s writes the directions of a served BLMOVE in its own way', async (dialect, effect) => {
  const server = createNode(new TestHost(0), { dialect });
  const effects = recordEffects(server);
  const waiting = new Talk(server);
  waiting.send('BLMOVE src dst left Right 0');
  await new Talk(server).ask('LPUSH src x');
  expect(effects).toContain(effect);
});

test.each<[DialectName, string]>([
  ['redis-7.0', 'DEL k'],
  ['redis-8.0', 'SET other 1'],
])('%s: SWAPDB brings an expired list to a client that waits for it', async (dialect, next) => {
  const host = new TestHost(0);
  const server = createNode(host, { dialect });
  const talk = new Talk(server);
  await talk.ask('DEBUG SET-ACTIVE-EXPIRE 0', 'SELECT 1', 'RPUSH k hello', 'PEXPIRE k 100');
  const effects = recordEffects(server);
  const waiting = new Talk(server);
  await waiting.ask('SELECT 9');
  waiting.send('BRPOP k 0');
  host.advance(101);
  await talk.ask('SWAPDB 1 9');
  await talk.ask('SELECT 9', 'SET other 1');
  expect(waiting.heard).toBe('');
  const written = effects.filter((line) => !line.startsWith('SELECT'));
  expect(written.slice(0, 2)).toEqual(['SWAPDB 1 9', next]);
});

test.each<[DialectName, string, string]>([
  ['redis-7.0', '*2\r\n$1\r\nl\r\n$1\r\n1\r\n', ':0'],
  ['redis-8.0', '', ':1'],
])('%s: a client that waits for a list during a pause of writes', async (dialect, heard, length) => {
  const host = new TestHost(0);
  const server = createNode(host, { dialect });
  const [waiting, talk] = [new Talk(server), new Talk(server)];
  waiting.send('BLPOP l 0');
  await talk.ask('RPUSH m 1', 'MULTI', 'RENAME m l', 'CLIENT PAUSE 200 WRITE', 'EXEC');
  expect(waiting.heard).toBe(heard);
  expect(await talk.ask('LLEN l')).toContain(length);
  host.advance(201);
  expect(waiting.heard).toBe('*2\r\n$1\r\nl\r\n$1\r\n1\r\n');
  expect(await talk.ask('LLEN l')).toContain(':0');
});
