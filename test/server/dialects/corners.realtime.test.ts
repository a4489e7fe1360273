/** Odd but legal requests, which random ones do not reach: the same answers as each real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { type RealRedis, startRedisServer } from '../../support/redis-server.ts';

const CONVERSATIONS: readonly (readonly string[])[] = [
  ['HELLO 3', 'DEBUG PROTOCOL push', 'PING'],
  ['HELLO 3', `EVAL "return {verbatim_string={string='x',format='toolong'}}" 0`],
  ['HELLO 3', `EVAL "return {verbatim_string={string='x',format='ab'}}" 0`, 'PING'],
  ['WAITAOF 2 0 0', 'WAITAOF -1 0 0', 'WAITAOF 0 -1 0', 'WAITAOF 0 abc 0', 'WAITAOF abc 0 0'],
  ['DEBUG SET-ACTIVE-EXPIRE abc', 'SET x 1 PX 1', 'DEBUG SLEEP 0.02', 'DBSIZE', 'DEBUG SET-ACTIVE-EXPIRE 1x'],
  ['DEBUG PAUSE-CRON abc', 'DEBUG PAUSE-CRON 0'],
  ['ACL SETUSER u %RR~x', 'ACL SETUSER u %WrW~x', 'ACL SETUSER u %rW~x'],
  ['CONFIG GET [h]z HZ', 'CONFIG GET HZ [h]z hz', 'CONFIG GET hZ Hz'],
  ['CLIENT PAUSE 9223372036854775807', 'PING', 'CLIENT UNPAUSE'],
  // Each conversation has the server's data as the one before has left it.
  ['FLUSHALL', 'DEBUG SET-ACTIVE-EXPIRE 0', 'SET k 1 PX 1', 'DEBUG SLEEP 0.02', 'RANDOMKEY', 'DBSIZE'],
  ['FLUSHALL', 'SET k 1 PX 1', 'SET l 1', 'DEBUG SLEEP 0.02', 'KEYS *', 'DBSIZE', 'KEYS k', 'DBSIZE'],
  ['DEBUG SET-ACTIVE-EXPIRE 1', 'FLUSHALL'],
];

/** The replies, and then the pushes. */
async function talk(
  target: { port: number } | { path: string },
  lines: readonly string[],
): Promise<string[]> {
  const client = await RawClient.connect(target);
  const replies: string[] = [];
  for (const line of lines) {
    await client.send(`${line}\r\n`);
    const { raw } = await client.read();
    replies.push(line.startsWith('HELLO') ? '' : raw);
  }
  client.close();
  return [...replies, ...client.pushes.map(({ raw }) => raw)];
}

describe.each(['redis-7.0', 'redis-8.0', 'redis-8.2', 'valkey-8.1'] as const)('%s', (dialect) => {
  const program = oracleOf(dialect);
  let redis: RealRedis | undefined;
  let server: LostlockServer;

  beforeAll(async () => {
    server = await startServer({ dialect, strict: true, settings: { 'enable-debug-command': 'yes' } });
    if (program === undefined) return;
    redis = await startRedisServer({ program, args: ['--enable-debug-command', 'yes'] });
  });
  afterAll(async () => {
    await server.stop();
    await redis?.stop();
  });

  test.skipIf(program === undefined).each(CONVERSATIONS)(
    '%s and so on (needs the real server)',
    async (...lines) => {
      expect(await talk({ port: server.port }, lines)).toEqual(await talk({ path: redis!.path }, lines));
    },
  );
});
