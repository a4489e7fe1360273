/** CLIENT TRACKING: its counts and its redirections, on redis-server and on ours in the same conversation. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeHost } from '../../../server/host/node.ts';
import { Listener } from '../../../server/host/tcp.ts';
import { createNode } from '../../../server/index.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer, startRedisServer } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';

interface Node {
  connect(): Promise<RawClient>;
  stop(): Promise<unknown>;
}

async function ours(): Promise<Node> {
  const server = createNode(nodeHost());
  const listener = new Listener(server.connections);
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  return {
    connect: () => RawClient.connect({ port }),
    stop() {
      server.stop();
      return listener.close();
    },
  };
}

async function real(): Promise<Node> {
  const redis = await startRedisServer({ args: ['--enable-debug-command', 'yes'] });
  return { connect: () => RawClient.connect({ path: redis.path }), stop: () => redis.stop() };
}

const FLUSHED = '>2\r\n$10\r\ninvalidate\r\n_\r\n';

const about = (key: string): string => `>2\r\n$10\r\ninvalidate\r\n*1\r\n$${key.length}\r\n${key}\r\n`;

function converse(start: () => Promise<Node>): void {
  let node: Node;
  let a: RawClient;
  let b: RawClient;
  let c: RawClient;

  beforeEach(async () => {
    node = await start();
    [a, b, c] = [await node.connect(), await node.connect(), await node.connect()];
  });
  afterEach(() => {
    for (const each of [a, b, c]) each.close();
    return node.stop();
  });

  const ask = async (client: RawClient, line: string): Promise<string> =>
    (await client.ask(...(line.split(' ') as [string]))).raw;

  const push = async (client: RawClient): Promise<string> => (await client.readPush()).raw;

  async function track(client: RawClient, options = ''): Promise<void> {
    await ask(client, 'HELLO 3');
    expect(await ask(client, `CLIENT TRACKING ON${options}`)).toBe('+OK\r\n');
  }

  test('a client that tracks all keys twice has their prefix once', async () => {
    await track(a, ' BCAST PREFIX z');
    await track(a, ' BCAST');
    await track(a, ' BCAST');
    expect(await ask(a, 'CLIENT TRACKINGINFO')).toMatch(/\$8\r\nprefixes\r\n\*2\r\n\$0\r\n\r\n\$1\r\nz\r\n$/);
    await ask(b, 'SET zz 1');
    expect(await push(a)).toBe(about('zz'));
    expect(await push(a)).toBe(about('zz'));
    expect(await ask(a, 'PING')).toBe('+PONG\r\n');
  });

  /** Keys, items, prefixes and clients, as INFO counts them. */
  async function counts(): Promise<string[]> {
    const info = await ask(c, 'INFO all');
    const names = [
      'tracking_total_keys',
      'tracking_total_items',
      'tracking_total_prefixes',
      'tracking_clients',
    ];
    return names.map((name) => new RegExp(`${name}:(\\d+)`).exec(info)?.[1] ?? '');
  }

  test('tracked keys and their readers are counted until they are invalidated; broadcasting counts none', async () => {
    await track(a);
    await track(b);
    for (const each of [a, b]) await ask(each, 'GET x');
    await ask(a, 'GET y');
    expect(await counts()).toEqual(['2', '3', '0', '2']);
    await ask(c, 'SET x 1');
    for (const each of [a, b]) expect(await push(each)).toBe(about('x'));
    expect(await counts()).toEqual(['1', '1', '0', '2']);
    await ask(b, 'CLIENT TRACKING OFF');
    await track(b, ' BCAST PREFIX p PREFIX z');
    await ask(b, 'GET y');
    await ask(b, 'GET w');
    expect(await counts()).toEqual(['1', '1', '2', '2']);
    await ask(c, 'FLUSHALL');
    for (const each of [a, b]) expect(await push(each)).toBe(FLUSHED);
    expect(await counts()).toEqual(['0', '0', '2', '2']);
    await ask(b, 'CLIENT TRACKING OFF');
    expect(await counts()).toEqual(['0', '0', '0', '1']);
  });

  test.each(['ZINCRBY a', 'NOSUCH', 'CLIENT NOSUCH'])(
    'CLIENT CACHING is over after %s, which is refused',
    async (refused) => {
      await track(a, ' OPTOUT');
      await track(b, ' OPTIN');
      await ask(a, 'CLIENT CACHING NO');
      await ask(b, 'CLIENT CACHING YES');
      for (const each of [a, b]) {
        await ask(each, refused);
        await ask(each, 'GET x');
      }
      await ask(c, 'SET x 1');
      expect(await push(a)).toBe(about('x'));
      expect([await ask(b, 'PING'), b.pushes]).toEqual(['+PONG\r\n', []]);
    },
  );

  test('a full table invalidates one key as if it had changed', async () => {
    await ask(c, 'CONFIG SET tracking-table-max-keys 2');
    await track(a);
    for (const key of ['x', 'y']) await ask(a, `GET ${key}`);
    expect([await counts(), a.pushes]).toEqual([['2', '2', '0', '1'], []]);
    await ask(a, 'GET z');
    expect(['x', 'y', 'z'].map(about)).toContain(await push(a));
    expect(await counts()).toEqual(['2', '2', '0', '1']);
  });

  test('a lower limit invalidates the keys above it, even for the NOLOOP client that lowers it', async () => {
    await track(a, ' NOLOOP');
    for (const key of ['x', 'y', 'z']) await ask(a, `GET ${key}`);
    await ask(a, 'CONFIG SET tracking-table-max-keys 1');
    const told = [await push(a), await push(a)];
    expect(['x', 'y', 'z'].map(about)).toEqual(expect.arrayContaining(told));
    expect(await counts()).toEqual(['1', '1', '0', '1']);
    expect(a.pushes).toEqual([]);
  });

  test('a client gets the invalidation of its own change after the reply, and none with NOLOOP', async () => {
    await track(a);
    await ask(a, 'GET x');
    await ask(a, 'SET x 1');
    expect(await push(a)).toBe(about('x'));
    await ask(a, 'CLIENT TRACKING OFF');
    await track(a, ' NOLOOP');
    for (const key of ['x', 'y']) await ask(a, `GET ${key}`);
    await ask(a, 'SET x 2');
    await ask(c, 'SET y 2');
    expect(await push(a)).toBe(about('y'));
    expect(a.pushes).toEqual([]);
  });

  test('NOLOOP does not suppress the invalidation of an expired key, even when its own reader made it expire', async () => {
    await ask(a, 'DEBUG SET-ACTIVE-EXPIRE 0');
    await track(a, ' BCAST NOLOOP');
    await ask(a, 'SET k v PX 1');
    await until(async () => (await ask(a, 'GET k')) === '_\r\n', { what: 'the end of the key' });
    expect(await push(a)).toBe(about('k'));
    expect(a.pushes).toEqual([]);
  });

  test("a redirected flush message is null in the tracked connection's protocol, not in the receiver's", async () => {
    const id = /:(\d+)/.exec(await ask(b, 'CLIENT ID'))?.[1];
    await ask(b, 'SUBSCRIBE __redis__:invalidate');
    await track(a, ` REDIRECT ${id}`);
    await ask(a, 'GET x');
    await ask(c, 'FLUSHALL');
    const head = '*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n';
    await until(() => b.received.includes(head), { what: 'the message' });
    await until(() => b.received.endsWith(`${head}_\r\n`), { what: 'its end' });
    expect(b.received.split(head)).toHaveLength(2);
  });

  test('a RESP2 connection that has not subscribed gets no redirected invalidations', async () => {
    const id = /:(\d+)/.exec(await ask(b, 'CLIENT ID'))?.[1];
    await track(a, ` REDIRECT ${id}`);
    await ask(a, 'GET x');
    await ask(c, 'SET x 1');
    expect(await ask(b, 'PING')).toBe('+PONG\r\n');
    await ask(b, 'HELLO 3');
    await ask(a, 'GET x');
    await ask(c, 'SET x 1');
    expect(await push(b)).toBe(about('x'));
  });

  test('a client whose redirection target is gone gets a push message, and TRACKINGINFO shows it', async () => {
    const id = /:(\d+)/.exec(await ask(b, 'CLIENT ID'))?.[1];
    await track(a, ` REDIRECT ${id}`);
    await ask(a, 'GET x');
    b.close();
    await until(async () => !(await ask(c, 'CLIENT LIST')).includes(`id=${id} `), { what: 'the end of b' });
    await ask(c, 'SET x 1');
    expect(await push(a)).toBe(`>2\r\n$21\r\ntracking-redir-broken\r\n:${id}\r\n`);
    expect(await ask(a, 'CLIENT TRACKINGINFO')).toContain('broken_redirect');
  });
}

describe('lostlock', () => converse(ours));
describe.skipIf(!hasRedisServer)('redis-server (needs redis-server)', () => converse(real));
