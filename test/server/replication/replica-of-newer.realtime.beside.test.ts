/** Following newer servers: supported data arrives, and unsupported data is reported in the log and in INFO. */
import { describe, expect, test } from 'vitest';
import type { Connection, Receiver } from '../../../server/host/host.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { cleanUpAfterEachTest, cleanups, Node, type OwnNode, ours } from '../../support/nodes.ts';
import { realServers } from '../../support/oracles.ts';
import { RawClient } from '../../support/raw-client.ts';
import { startRedisServer } from '../../support/redis-server.ts';
import { request } from '../../support/reply-text.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';

cleanUpAfterEachTest();

const newer = realServers().filter(([name]) => /^(redis-8|valkey-)/.test(name));

async function begin(program: string, ...args: string[]): Promise<Node> {
  const server = await startRedisServer({
    tcp: true,
    program,
    args: ['--repl-diskless-sync-delay', '0', ...args],
  });
  cleanups.push(() => server.stop());
  return new Node(server.port);
}

/** A node that follows that server. Valkey 9 sends fields with a TTL only to a replica that says it is one of Valkey 9. */
function followerOf(name: string): Promise<OwnNode> {
  return name === 'valkey-9' ? ours({}, { dialect: 'valkey-9' }) : ours();
}

function logOf(node: OwnNode): string[] {
  const lines: string[] = [];
  (node.server as { log: Server['log'] }).log = (level, text) => void lines.push(`${level} ${text}`);
  return lines;
}

const WRITES = [
  ['SET', 'string', 'value'],
  ['SET', 'lease', 'value', 'PX', '1000000'],
  ['RPUSH', 'list', 'a', '1', 'x'.repeat(300)],
  ['SADD', 'set', 'a', 'b'],
  ['SADD', 'numbers', '1', '2'],
  ['HSET', 'hash', 'field', 'value'],
  ['ZADD', 'zset', '1', 'a'],
  ['XADD', 'stream', '1-1', 'field', 'value'],
  ['XGROUP', 'CREATE', 'stream', 'group', '0'],
  ['XREADGROUP', 'GROUP', 'group', 'ann', 'STREAMS', 'stream', '>'],
  ['PFADD', 'hll', 'a', 'b'],
];
/** string, lease, list, set, numbers, hash, zset, stream, hll. */
const WRITE_KEYS = 9;
const LIBRARY = "#!lua name=lib\nredis.register_function('f', function() return 1 end)";
/** From Redis 7.4 on; other servers refuse it. */
const TIMED = ['HPEXPIRE', 'hash', '1000000', 'FIELDS', '1', 'field'];

async function digest(node: Node): Promise<unknown[]> {
  return Promise.all([
    node.ask('GET', 'string'),
    node.ask('LRANGE', 'list', '0', '-1'),
    node.ask('SORT_RO', 'set', 'ALPHA'),
    node.ask('SORT_RO', 'numbers'),
    node.ask('HGETALL', 'hash'),
    node.ask('ZRANGE', 'zset', '0', '-1', 'WITHSCORES'),
    node.ask('XRANGE', 'stream', '-', '+'),
    node.ask('XINFO', 'GROUPS', 'stream'),
    node.ask('PFCOUNT', 'hll'),
    node.ask('PEXPIRETIME', 'lease'),
    node.ask('DBSIZE'),
  ]);
}

describe.skipIf(newer.length === 0)('lostlock as a replica (needs newer servers)', () => {
  test.each(newer)('of %s loads its dataset and follows its stream', async (name, program) => {
    const [primary, replica] = [await begin(program), await followerOf(name)];
    for (const words of [...WRITES, TIMED]) await primary.ask(...words);
    await replica.follow(primary);
    expect(await digest(replica)).toEqual(await digest(primary));
    const timed = await primary.ask('HPEXPIRETIME', 'hash', 'FIELDS', '1', 'field');
    if (Array.isArray(timed)) {
      expect(await replica.ask('HPEXPIRETIME', 'hash', 'FIELDS', '1', 'field')).toEqual(timed);
    }
    const log = logOf(replica);
    await primary.ask('FLUSHALL');
    for (const words of [...WRITES, TIMED]) await primary.ask(...words);
    await replica.caughtUp(primary);
    expect(await digest(replica)).toEqual(await digest(primary));
    expect(log).toEqual([]);
  });

  test.each(newer)('of %s takes a dataset from its disk', async (name, program) => {
    const [primary, replica] = [await begin(program, '--repl-diskless-sync', 'no'), await followerOf(name)];
    for (const words of [...WRITES, TIMED]) await primary.ask(...words);
    await replica.follow(primary);
    expect(await digest(replica)).toEqual(await digest(primary));
  });

  test.each(newer)('of %s takes the payloads in its stream', async (_name, program) => {
    const [primary, replica] = [await begin(program), await ours()];
    await replica.follow(primary);
    const log = logOf(replica);
    await primary.ask('FUNCTION', 'LOAD', LIBRARY);
    const functions = await primary.redis.callBuffer('FUNCTION', 'DUMP');
    for (const words of WRITES) await primary.ask(...words);
    const known = Array.isArray(await primary.ask(...TIMED));
    for (const key of ['string', 'list', 'set', 'numbers', 'hash', 'zset', 'stream']) {
      const payload = (await primary.redis.dumpBuffer(key)) as Buffer;
      await primary.ask('RESTORE', `again:${key}`, '0', payload);
    }
    await primary.ask('FUNCTION', 'RESTORE', functions as Buffer, 'REPLACE');
    await replica.caughtUp(primary);
    expect(log).toEqual([]);
    expect(await replica.ask('DBSIZE')).toBe(WRITE_KEYS + 7);
    expect(await replica.ask('HGET', 'again:hash', 'field')).toBe('value');
    const ends = await replica.ask('HPEXPIRETIME', 'again:hash', 'FIELDS', '1', 'field');
    expect(ends).toEqual(known ? await primary.ask('HPEXPIRETIME', 'hash', 'FIELDS', '1', 'field') : [-1]);
    // Its own clients are refused what a redis-server 7.0 refuses.
    const payload = (await primary.redis.dumpBuffer('string')) as Buffer;
    await replica.ask('REPLICAOF', 'NO', 'ONE');
    expect(await replica.ask('RESTORE', 'mine', '0', payload)).toBe(
      'ERR DUMP payload version or checksum are wrong',
    );
  });

  test.each(newer)('of %s in a cluster passes over the sizes of slots', async (_name, program) => {
    const [primary, replica] = [await begin(program, '--cluster-enabled', 'yes'), await ours()];
    await primary.ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await until(async () => (await primary.ask('SET', 'key', 'value')) === 'OK', { what: 'the cluster' });
    await replica.follow(primary);
    expect(await replica.ask('GET', 'key')).toBe('value');
  });

  test.each(newer.filter(([name]) => name.startsWith('redis-8')))(
    'of %s loads its vector sets, and applies the commands on them',
    async (_name, program) => {
      const [primary, replica] = [await begin(program), await ours()];
      const log = logOf(replica);
      await primary.ask('VADD', 'vectors', 'VALUES', '2', '1', '2', 'element');
      await replica.follow(primary);
      expect(await replica.ask('TYPE', 'vectors')).toBe('vectorset');
      await primary.ask('VREM', 'vectors', 'element');
      await replica.caughtUp(primary);
      expect(await replica.ask('EXISTS', 'vectors')).toBe(0);
      expect(log).toEqual([]);
    },
  );
});

/** A primary that answers every handshake at once, and always sends the same dataset. */
class HandedOver extends TestHost {
  dials: number[] = [];
  say: (text: string) => void = () => {};
  readonly #dataset: string;

  constructor(dataset: string) {
    super();
    this.#dataset = dataset;
  }

  override connect(
    _host = '',
    _port = 0,
    receiver: Receiver = { receive: () => {}, closed: () => {} },
    opened: (connection: Connection) => void = () => {},
  ): undefined {
    this.dials.push(this.clock.now());
    this.say = (text) => receiver.receive(Buffer.from(text, 'latin1'));
    const nothing = (): void => {};
    const send = (bytes: string): void => {
      if (bytes.includes('\r\nPSYNC\r\n')) {
        this.say(`+FULLRESYNC ${'a'.repeat(40)} 0\r\n$${this.#dataset.length}\r\n${this.#dataset}`);
      } else if (!bytes.includes('\r\nACK\r\n')) this.clock.soon(() => this.say('+OK\r\n'));
    };
    const rest = { close: nothing, abort: nothing, pause: nothing, resume: nothing };
    opened({ remote: 'far', local: 'near', pending: 0, send, ...rest });
  }
}

function replicaOf(dataset: string) {
  const host = new HandedOver(dataset);
  const log: string[] = [];
  const server = createNode(host, { log: (level, text) => void log.push(`${level} ${text}`) });
  const client = new RawClient(connectInMemory(server.connections));
  const info = async (field: string): Promise<string | undefined> => {
    const { raw } = await client.ask('INFO', 'everything');
    return new RegExp(`^${field}:(.*)\\r$`, 'm').exec(raw)?.[1];
  };
  return { host, server, client, log, info };
}

test('a dataset that cannot be read is requested less and less often', async () => {
  const { host, client, log, info } = replicaOf('REDIS0099\xff');
  await client.ask('REPLICAOF', 'far', '7000');
  const began = host.clock.now();
  host.advance(300_000);
  const seconds = host.dials.map((at) => Math.round((at - began) / 1000));
  expect(seconds).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
  const why = 'Cannot load the dataset of primary far:7000: RDB version 99, known are 1 to 14';
  expect(log.slice(0, 2)).toEqual([
    `warning ${why}; trying again in 1 s`,
    `warning ${why}; trying again in 2 s`,
  ]);
  expect(await info('master_link_error')).toBe(`${why}; trying again in 60 s`);
  expect(await info('master_link_status')).toBe('down');
});

test.each([
  ['VALKEY081\xff', 'VALKEY RDB version 81, known are 80'],
  ['TREDIS012\xff', "bad RDB data: wrong signature 'TREDIS012'"],
  [
    'REDIS0012\x07\x03key\x81\x45\xe2\x52\x38\xdf\x91\x2c\x03',
    "bad RDB data: a value of the module type 'ReJSON-RL', which is not known here (key 'key', RDB version 12)",
  ],
  ['REDIS0012\xfa\x0aredis-ver2\x038.6\xf2', 'bad RDB data: unknown section 242 (RDB version 12)'],
  [
    'REDIS0012\xfa\x09redis-ver\x038.6\xf2',
    'bad RDB data: unknown section 242 (RDB version 12, redis-ver 8.6)',
  ],
])('%j is refused with the reason', async (dataset, reason) => {
  const { host, client, info } = replicaOf(dataset);
  await client.ask('REPLICAOF', 'far', '7000');
  host.advance(0);
  expect(await info('master_link_error')).toContain(`far:7000: ${reason}; trying again`);
});

test('a transaction of the stream with an unknown command is logged, and the stream goes on', async () => {
  const { host, client, log, info } = replicaOf('REDIS0012\xff\0\0\0\0\0\0\0\0');
  await client.ask('REPLICAOF', 'far', '7000');
  host.advance(0);
  const stream = [['MULTI'], ['SET', 'a', '1'], ['XNEW', 's'], ['EXEC'], ['set', 'b', '2']];
  host.say(stream.map(([name = '', ...words]) => request(name, ...words)).join(''));
  const sent = 'warning == CRITICAL == This replica is sending an error to its master:';
  expect(log).toEqual([
    `${sent} 'unknown command 'XNEW', with args beginning with: 's' ' after processing the command '<unknown>'`,
    `${sent} 'EXECABORT Transaction discarded because of previous errors.' after processing the command 'exec'`,
  ]);
  expect(await info('unexpected_error_replies')).toBe('2');
  expect((await client.ask('GET', 'a')).raw).toBe('$-1\r\n');
  expect((await client.ask('GET', 'b')).raw).toBe('$1\r\n2\r\n');
});

test('a command of the stream that fails is logged as by redis-server, and counted', async () => {
  const { host, client, log, info } = replicaOf('REDIS0010\xff\0\0\0\0\0\0\0\0');
  await client.ask('REPLICAOF', 'far', '7000');
  host.advance(0);
  expect(await info('master_link_status')).toBe('up');
  host.say('*1\r\n$3\r\nFOO\r\n*2\r\n$3\r\nSET\r\n$1\r\na\r\n*3\r\n$4\r\nLPOP\r\n$1\r\nz\r\n$1\r\nx\r\n');
  const sent = 'warning == CRITICAL == This replica is sending an error to its master:';
  expect(log).toEqual([
    `${sent} 'unknown command 'FOO', with args beginning with: ' after processing the command '<unknown>'`,
    `${sent} 'wrong number of arguments for 'set' command' after processing the command 'set'`,
    `${sent} 'value is out of range, must be positive' after processing the command 'lpop'`,
  ]);
  expect(await info('unexpected_error_replies')).toBe('3');
  expect(await info('slave_repl_offset')).toBe('61');
});
