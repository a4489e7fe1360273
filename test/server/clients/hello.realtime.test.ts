/** What HELLO has done when one of its options is wrong: the same as in each real server. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LostlockServer, startServer } from '../../../index.ts';
import { oracleOf } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { type RealRedis, startRedisServer } from '../../support/redis-server.ts';

const AFTERWARDS = ['CLIENT GETNAME', 'ACL WHOAMI'];
const OPTIONS = [
  'SETNAME a BAD',
  'SETNAME a SETNAME',
  'SETNAME a SETNAME "x y"',
  'SETNAME a SETNAME b',
  'AUTH u p BAD',
  'AUTH u p AUTH',
  'AUTH u p SETNAME "x y"',
  'AUTH u p AUTH v q',
  'AUTH u p AUTH v wrong',
  'AUTH u wrong AUTH v q',
  'AUTH u wrong SETNAME "x y"',
  'AUTH u wrong BAD',
  'SETNAME a AUTH u wrong',
  'SETNAME a AUTH u p',
];

async function answers(target: { port: number } | { path: string }, options: string): Promise<string[]> {
  const client = await RawClient.connect(target);
  const replies: string[] = [];
  for (const line of [`HELLO 2 ${options}`, ...AFTERWARDS]) {
    await client.send(`${line}\r\n`);
    const { raw } = await client.read();
    // The reply to a HELLO that succeeds has the connection's number.
    replies.push(raw.startsWith('*') ? '*' : raw);
  }
  client.close();
  return replies;
}

describe.each(['redis-7.0', 'redis-8.0', 'redis-8.2', 'valkey-8.1'] as const)('%s', (dialect) => {
  const program = oracleOf(dialect);
  let redis: RealRedis;
  let server: LostlockServer;

  beforeAll(async () => {
    server = await startServer({ dialect });
    if (program !== undefined) redis = await startRedisServer({ program });
    for (const target of [{ port: server.port }, ...(program === undefined ? [] : [{ path: redis.path }])]) {
      const client = await RawClient.connect(target);
      await client.send('ACL SETUSER u on >p ~* &* +@all\r\nACL SETUSER v on >q ~* &* +@all\r\n');
      for (let i = 0; i < 2; i++) expect((await client.read()).raw).toBe('+OK\r\n');
      client.close();
    }
  });
  afterAll(async () => {
    await server.stop();
    if (program !== undefined) await redis.stop();
  });

  test.skipIf(program === undefined).each(OPTIONS)('HELLO 2 %s (needs the real server)', async (options) => {
    expect(await answers({ port: server.port }, options)).toEqual(
      await answers({ path: redis.path }, options),
    );
  });

  test('only the oldest applies options before it has read all of them', async () => {
    const [, name, user] = await answers({ port: server.port }, 'AUTH u p SETNAME a BAD');
    const applied = ['$1\r\na\r\n', '$1\r\nu\r\n'];
    expect([name, user]).toEqual(dialect === 'redis-7.0' ? applied : ['$-1\r\n', '$7\r\ndefault\r\n']);
  });
});
