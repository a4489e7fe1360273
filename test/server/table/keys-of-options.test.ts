/**
 * The keys of requests whose options could hide them from ACL rules, with and without the fix that Debian's redis-server
 * 8.0.2-3+deb13u3 has. The replies of 8.0 were recorded there, the others on redis-server 8.2.3.
 */
import { expect, test } from 'vitest';
import type { DialectName } from '../../../server/dialects/index.ts';
import { createNode } from '../../../server/index.ts';
import { TestHost } from '../../support/targets.ts';
import { Conversation } from '../../transcripts/own.ts';

const INVALID = '-ERR Invalid arguments specified for command';

/** The replies that one client of a new server gets. */
function replies(dialect: DialectName, ...requests: string[]): unknown[] {
  const server = createNode(new TestHost(), { dialect });
  const client = new Conversation(server);
  const heard = requests.map((request) => client.ask(request));
  server.stop();
  return heard;
}

test.each([
  ['XREADGROUP COUNT 1 GROUP g streams STREAMS secret >', '["secret"]', '["STREAMS"]'],
  ['XREADGROUP GROUP streams c NOACK STREAMS a b > >', '["a" "b"]', '["a" "b"]'],
  ['XREAD BLOCK streams STREAMS a 0', '["a"]', '["STREAMS"]'],
  ['XREAD STREAMS a b 0', INVALID, '["a"]'],
  ['XREAD FOO 1 STREAMS a 0', INVALID, '["a"]'],
  ['GEORADIUS a 1 1 1 km STORE b STORE c', '["a" "c"]', '["a" "b"]'],
  ['GEORADIUS a 1 1 1 km STORE b STOREDIST c', '["a" "c"]', '["a" "b" "c"]'],
  ['GEORADIUS a 1 1 1 km STORE STORE b', '["a" "STORE"]', '["a" "STORE"]'],
  ['GEORADIUSBYMEMBER a store 1 km STORE b', '["a" "b"]', '["a" "b"]'],
  ['GEORADIUSBYMEMBER a m 1 km STORE', '["a"]', '["a"]'],
])('%s', (request, fixed, before) => {
  const ask = `COMMAND GETKEYS ${request}`;
  expect([...replies('redis-8.0', ask), ...replies('redis-8.2', ask)]).toEqual([fixed, before]);
});

test('with the fix, a consumer named streams does not open a stream that the user may not read', () => {
  const steps = [
    'ACL SETUSER u on nopass ~STREAMS +@all',
    'ACL DRYRUN u XREADGROUP COUNT 1 GROUP g streams STREAMS secret >',
  ];
  expect(replies('redis-8.2', ...steps)[1]).toBe('+OK');
  expect(replies('redis-8.0', ...steps)[1]).toContain("has no permissions to access the 'secret' key");
});
