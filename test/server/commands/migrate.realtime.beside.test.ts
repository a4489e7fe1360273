/** MIGRATE: between two servers of ours, to a redis-server and from it; which clients wait meanwhile, and failures. */
import { describe, expect, test } from 'vitest';
import type { Connection, Receiver } from '../../../server/host/host.ts';
import { connectInMemory } from '../../../server/host/in-memory.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { cleanUpAfterEachTest, HeldLink, type Kind, type Node, ours, start } from '../../support/nodes.ts';
import { RawClient } from '../../support/raw-client.ts';
import { freePort, hasRedisServer } from '../../support/redis-server.ts';
import { TestHost } from '../../support/targets.ts';
import { until } from '../../support/until.ts';

cleanUpAfterEachTest();

/** Puts one key of each type on a node. */
async function fill(node: Node): Promise<void> {
  await node.ask('SET', 'string', 'value');
  await node.ask('SET', 'lease', 'value', 'PX', '1000000');
  await node.ask('RPUSH', 'list', 'a', 'b', 'c');
  await node.ask('SADD', 'set', '1', '2', '3');
  await node.ask('HSET', 'hash', 'field', 'value', 'other', '1');
  await node.ask('ZADD', 'zset', '1', 'one', '2.5', 'two');
  await node.ask('XADD', 'stream', '1-1', 'field', 'value');
}

const KEYS = ['string', 'lease', 'list', 'set', 'hash', 'zset', 'stream'];

async function contents(node: Node): Promise<unknown> {
  const ttl = Number(await node.ask('PTTL', 'lease'));
  return [
    await node.ask('GET', 'string'),
    ttl > 900_000 && ttl <= 1_000_000,
    await node.ask('LRANGE', 'list', '0', '-1'),
    await node.ask('SMISMEMBER', 'set', '1', '2', '3', '4'),
    await node.ask('HGET', 'hash', 'other'),
    await node.ask('ZRANGE', 'zset', '0', '-1', 'WITHSCORES'),
    await node.ask('XRANGE', 'stream', '-', '+'),
    await node.ask('DBSIZE'),
  ];
}

/** The replies of a source that uses every option. */
async function converse(source: Node, target: Node): Promise<unknown[]> {
  const port = String(target.port);
  const closed = String(await freePort());
  const migrate = (key: string, ...words: string[]) =>
    source.ask('MIGRATE', '127.0.0.1', port, key, ...words);
  await fill(source);
  const replies = [
    await migrate('nokey', '0', '5000'),
    await migrate('string', '0', '5000', 'COPY'),
    await migrate('string', '0', '5000', 'COPY'),
    await migrate('string', '0', '5000', 'COPY', 'REPLACE'),
    await migrate('string', '1', '0'),
    await migrate('list', '99', '5000'),
    await migrate('', '0', '5000', 'REPLACE', 'KEYS', 'list', 'nokey', 'set'),
    await migrate('hash', '0', '5000', 'AUTH', 'secret'),
    await migrate('hash', '0', '5000', 'AUTH2', 'ann', 'secret'),
    await source.ask('MIGRATE', '127.0.0.1', closed, 'hash', '0', '5000'),
    await source.ask('MIGRATE', '127.0.0.1', '-1', 'hash', '0', '5000'),
    await source.ask('MULTI'),
    await source.ask('SET', 'inside', '1'),
    await migrate('inside', '0', '5000'),
    await source.ask('GET', 'inside'),
    await source.ask('EXEC'),
    await source.ask('DBSIZE'),
    await source.ask('EXISTS', ...KEYS),
    await target.ask('EXISTS', ...KEYS, 'inside'),
  ];
  return replies;
}

/** The replies of a source whose target requires a password. */
async function logIn(source: Node, target: Node): Promise<unknown[]> {
  await target.ask('ACL', 'SETUSER', 'ann', 'on', '>secret', '~*', '+@all', '-restore');
  await target.ask('CONFIG', 'SET', 'requirepass', 'secret');
  await source.ask('SET', 'key', 'value');
  const migrate = (...words: string[]) =>
    source.ask('MIGRATE', '127.0.0.1', String(target.port), 'key', '2', '5000', ...words);
  return [
    await migrate(),
    await migrate('AUTH', 'wrong'),
    await migrate('AUTH2', 'bob', 'secret'),
    await migrate('AUTH2', 'ann', 'secret'),
    await migrate('AUTH', 'secret'),
    await source.ask('EXISTS', 'key'),
    await target.ask('AUTH', 'secret'),
    await target.ask('SELECT', '2'),
    await target.ask('GET', 'key'),
  ];
}

const pairs: [Kind, Kind][] = [
  ['lostlock', 'lostlock'],
  ['lostlock', 'redis'],
  ['redis', 'lostlock'],
];

describe.each(pairs)('MIGRATE from %s to %s', (from, to) => {
  const both = test.skipIf((from === 'redis' || to === 'redis') && !hasRedisServer);

  both('moves every type with its time to live (redis needs redis-server)', async () => {
    const [source, target] = [await start(from), await start(to)];
    await fill(source);
    const before = await contents(source);
    const reply = await source.ask(
      'MIGRATE',
      '127.0.0.1',
      String(target.port),
      '',
      '0',
      '5000',
      'KEYS',
      ...KEYS,
    );
    expect(reply).toBe('OK');
    expect(await contents(target)).toEqual(before);
    expect(await source.ask('DBSIZE')).toBe(0);
  });
});

test.skipIf(!hasRedisServer)('answers as redis-server does (needs redis-server)', async () => {
  const truth = await converse(await start('redis'), await start('redis'));
  expect(truth.slice(0, 6)).toEqual([
    'NOKEY',
    'OK',
    'ERR Target instance replied with error: BUSYKEY Target key name already exists.',
    'OK',
    'OK',
    'ERR Target instance replied with error: ERR DB index is out of range',
  ]);
  for (const [from, to] of pairs) {
    expect(await converse(await start(from), await start(to)), `${from} to ${to}`).toEqual(truth);
  }
});

test.skipIf(!hasRedisServer)('logs in at a protected target (needs redis-server)', async () => {
  const truth = await logIn(await start('redis'), await start('redis'));
  expect(truth.slice(-3)).toEqual(['OK', 'OK', 'value']);
  for (const [from, to] of pairs) {
    expect(await logIn(await start(from), await start(to)), `${from} to ${to}`).toEqual(truth);
  }
});

test.each<Kind>(hasRedisServer ? ['lostlock', 'redis'] : ['lostlock'])(
  'a replica of %s deletes the moved keys (redis needs redis-server)',
  async (kind) => {
    const [source, target, replica] = [await start(kind), await start('lostlock'), await start(kind)];
    await fill(source);
    await target.ask('SET', 'list', 'in the way');
    await replica.follow(source);
    const monitor = await RawClient.connect({ port: replica.port });
    await monitor.ask('MONITOR');
    const port = String(target.port);
    await source.ask('MIGRATE', '127.0.0.1', port, '', '0', '5000', 'KEYS', 'string', 'list', 'nokey', 'set');
    await source.ask('MULTI');
    await source.ask('SET', 'hash', '1');
    await source.ask('MIGRATE', '127.0.0.1', port, 'hash', '0', '5000');
    await source.ask('SET', 'hash', '2');
    await source.ask('EXEC');
    await replica.caughtUp(source);
    const words = (text: string) => text.match(/"(DEL|MIGRATE|RESTORE|SET|MULTI|EXEC)".*/gi) ?? [];
    await until(() => words(monitor.received).length >= 6, { what: 'six commands' });
    expect(
      words(monitor.received).map((line) => line.replace(/^"\w+"/, (name) => name.toUpperCase())),
    ).toEqual([
      '"DEL" "string" "set"',
      '"MULTI"',
      '"SET" "hash" "1"',
      '"DEL" "hash"',
      '"SET" "hash" "2"',
      '"EXEC"',
    ]);
    monitor.close();
  },
);

describe('while the target is silent', () => {
  async function held(): Promise<{ source: Node & { server: Server }; link: HeldLink; target: Node }> {
    const [source, target] = [await ours(), await ours()];
    const link = await new HeldLink(target.port).listen();
    link.commands.hold();
    await source.ask('MSET', 'key', '1', 'other', '2');
    return { source, link, target };
  }

  /** A connection of its own, and whether it has been answered. */
  async function asked(
    source: Node,
    ...words: string[]
  ): Promise<{ reply: () => string; client: RawClient }> {
    const client = await RawClient.connect({ port: source.port });
    await client.ask('ECHO', 'ready');
    const start = client.received.length;
    if (words.length > 0) await client.send(`${words.join(' ')}\r\n`);
    return { reply: () => client.received.slice(start), client };
  }

  test('only commands that could see or change the key wait', async () => {
    const { source, link, target } = await held();
    const moving = await asked(source, `MIGRATE 127.0.0.1 ${link.port} key 0 60000`);
    await until(async () => (await target.ask('EXISTS', 'key')) === 1, { what: 'the key there' });
    const waiting = [
      await asked(source, 'GET key'),
      await asked(source, 'SET key 3'),
      await asked(source, 'DEL other key'),
      await asked(source, "EVAL \"return redis.call('get','key')\" 0"),
      await asked(source, 'FLUSHALL'),
      await asked(source, 'MULTI\r\nGET key\r\nEXEC'),
    ];
    expect(await source.ask('GET', 'other')).toBe('2');
    expect(await source.ask('SET', 'new', '1')).toBe('OK');
    expect(await source.ask('INCR', 'new')).toBe(2);
    expect(await source.ask('CLIENT', 'UNBLOCK', '1')).toBe(0);
    expect(moving.reply()).toBe('');
    expect(waiting.map(({ reply }) => reply()).slice(0, 5)).toEqual(['', '', '', '', '']);
    expect(waiting[5]?.reply()).toBe('+OK\r\n+QUEUED\r\n');
    link.commands.release();
    await until(
      () => waiting.every(({ reply }) => /\r\n$/.test(reply())) && waiting[5]!.reply().length > 15,
      {
        what: 'their replies',
      },
    );
    expect(moving.reply()).toBe('+OK\r\n');
    expect(waiting[0]?.reply()).toBe('$-1\r\n');
    expect(waiting[1]?.reply()).toBe('+OK\r\n');
    for (const { client } of [moving, ...waiting]) client.close();
  });

  test('MIGRATE in a transaction makes all other clients wait, because the transaction is one unit', async () => {
    const { source, link, target } = await held();
    const waiting = await asked(source);
    const port = link.port;
    const moving = await asked(
      source,
      `MULTI\r\nINCR other\r\nMIGRATE 127.0.0.1 ${port} key 0 60000\r\nINCR other\r\nEXEC`,
    );
    await until(async () => (await target.ask('EXISTS', 'key')) === 1, { what: 'the key there' });
    await waiting.client.send('GET other\r\n');
    await until(() => source.server.blocking.total === 2, { what: 'the other client to wait' });
    expect(waiting.reply()).toBe('');
    link.commands.release();
    await until(() => waiting.reply() !== '', { what: 'the reply' });
    expect(waiting.reply()).toBe('$1\r\n4\r\n');
    expect(moving.reply()).toBe('+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n:3\r\n+OK\r\n:4\r\n');
    for (const { client } of [moving, waiting]) client.close();
  });

  test('the key moves although the client that sent MIGRATE has gone', async () => {
    const { source, link, target } = await held();
    const moving = await asked(source, `MIGRATE 127.0.0.1 ${link.port} key 0 60000`);
    await until(async () => (await target.ask('EXISTS', 'key')) === 1, { what: 'the key there' });
    moving.client.close();
    await until(() => source.server.blocking.total === 0, { what: 'the client to be gone' });
    link.commands.release();
    await until(async () => (await source.ask('EXISTS', 'key')) === 0, { what: 'the key to be gone' });
    expect(await target.ask('EXISTS', 'key')).toBe(1);
  });

  test('a node that becomes a replica keeps its keys and answers with an error', async () => {
    const { source, link, target } = await held();
    const moving = await asked(source, `MIGRATE 127.0.0.1 ${link.port} key 0 60000`);
    await until(async () => (await target.ask('EXISTS', 'key')) === 1, { what: 'the key there' });
    expect(await source.ask('REPLICAOF', '127.0.0.1', '1')).toBe('OK');
    link.commands.release();
    await until(() => moving.reply() !== '', { what: 'the reply' });
    expect(moving.reply()).toMatch(/^-UNBLOCKED force unblock from blocking operation/);
    expect(await source.ask('EXISTS', 'key')).toBe(1);
    moving.client.close();
  });
});

/** A host whose connections the test controls. */
class DialHost extends TestHost {
  dialled:
    | { host: string; port: number; receiver: Receiver; opened: (connection: Connection) => void }
    | undefined;

  override connect(
    host = '',
    port = 0,
    receiver: Receiver = { receive: () => {}, closed: () => {} },
    opened: (connection: Connection) => void = () => {},
  ): undefined {
    this.dialled = { host, port, receiver, opened };
  }

  /** Makes the target accept the connection; returns the bytes sent to it. */
  open(): () => string {
    let sent = '';
    const nothing = (): void => {};
    this.dialled?.opened({
      remote: 'far',
      local: 'near',
      pending: 0,
      send: (bytes) => void (sent += bytes),
      close: nothing,
      abort: nothing,
      pause: nothing,
      resume: nothing,
    });
    return () => sent;
  }

  say(text: string): void {
    this.dialled?.receiver.receive(Buffer.from(text));
  }
}

describe('MIGRATE that fails', () => {
  function begin(...words: string[]) {
    const host = new DialHost();
    const server = createNode(host);
    const client = new RawClient(connectInMemory(server.connections));
    const ask = async (): Promise<void> => {
      await client.ask('MSET', 'a', '1', 'b', '2');
      await client.send(`MIGRATE far 7000 ${words.join(' ')}\r\n`);
      await until(() => host.dialled, { what: 'the call' });
    };
    const read = async (): Promise<string> => (await client.read()).raw;
    return { host, server, client, ask, read };
  }

  test('times out while it connects', async () => {
    const { host, client, ask, read } = begin('a', '0', '700');
    await ask();
    expect(host.dialled).toMatchObject({ host: 'far', port: 7000 });
    host.advance(699);
    expect(client.received).toBe('+OK\r\n');
    host.advance(1);
    expect(await read()).toBe('-IOERR error or timeout connecting to the client\r\n');
    expect((await client.ask('GET', 'a')).raw).toBe('$1\r\n1\r\n');
    // A late reply is ignored.
    host.open();
    host.say('+OK\r\n');
    expect((await client.ask('GET', 'a')).raw).toBe('$1\r\n1\r\n');
  });

  test('times out while it reads, with a separate time-out for each answer', async () => {
    const { host, client, ask, read } = begin(
      '""',
      '3',
      '700',
      'AUTH2',
      'ann',
      'pw',
      'REPLACE',
      'KEYS',
      'a',
      'b',
    );
    await ask();
    const sent = host.open();
    expect(sent()).toMatch(
      /^\*3\r\n\$4\r\nAUTH\r\n\$3\r\nann\r\n\$2\r\npw\r\n\*2\r\n\$6\r\nSELECT\r\n\$1\r\n3\r\n\*5\r\n\$7\r\nRESTORE/,
    );
    for (const answer of ['+O', 'K\r\n', '+OK\r\n', '+OK\r\n']) {
      host.say(answer);
      host.advance(answer.endsWith('\n') ? 699 : 1);
    }
    expect(client.received).toBe('+OK\r\n');
    host.advance(1);
    expect(await read()).toBe('-IOERR error or timeout reading to target instance\r\n');
    expect((await client.ask('MGET', 'a', 'b')).raw).toBe('*2\r\n$-1\r\n$1\r\n2\r\n');
  });

  test('fails when the connection is refused or breaks', async () => {
    const refused = begin('a', '0', '700');
    await refused.ask();
    refused.host.dialled?.receiver.closed();
    expect(await refused.read()).toBe('-IOERR error or timeout writing to target instance\r\n');
    const cut = begin('a', '0', '0');
    await cut.ask();
    cut.host.open();
    cut.host.advance(999);
    cut.host.dialled?.receiver.closed();
    expect(await cut.read()).toBe('-IOERR error or timeout reading to target instance\r\n');
    expect((await cut.client.ask('GET', 'a')).raw).toBe('$1\r\n1\r\n');
  });

  test('leaves the keys to a node that stops', async () => {
    const { host, server, ask } = begin('a', '0', '700');
    await ask();
    host.open();
    server.stop();
    host.say('+OK\r\n+OK\r\n');
    expect(server.db(0).peek('a')).toBeDefined();
  });

  test('is refused in a script, because a script cannot wait', async () => {
    const { client } = begin();
    await client.ask('SET', 'a', '1');
    const eval_ = (key: string) =>
      client.ask('EVAL', `return redis.pcall('migrate', 'far', '1', '${key}', '0', '100')`, '0');
    expect((await eval_('a')).raw).toBe('-ERR This Redis command is not allowed from script\r\n');
    expect((await eval_('none')).raw).toBe('+NOKEY\r\n');
  });
});
