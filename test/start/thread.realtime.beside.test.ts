/** A server in a thread of its own: it answers while the program is blocked, and has the methods of any other server. */
import { execFileSync } from 'node:child_process';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type ThreadedServer } from '../../index.ts';
import { until } from '../support/until.ts';

/** A program that sends requests and prints the replies, run while this thread stands still. */
function askBlocked(port: number, ...requests: string[]): string {
  const sent = [...requests, 'PING'].map((each) => `${each}\r\n`).join('');
  const program = `
    let received = '';
    const socket = require('node:net').connect(${port}, '127.0.0.1', () => socket.write(${JSON.stringify(sent)}));
    socket.on('data', (bytes) => {
      received += bytes;
      if (received.endsWith('+PONG\\r\\n')) socket.destroy();
    });
    socket.on('close', () => console.log(received));`;
  return execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 50_000 });
}

// A thread takes a second to load the sources, so most tests share one.
let server: ThreadedServer;
beforeAll(async () => {
  server = await startServer({ thread: true, password: 'secret', seed: { stock: 5 } });
});
afterAll(() => server.stop());

test('it answers while the event loop of the program is blocked', () => {
  const printed = askBlocked(server.port, 'AUTH secret', 'DECR stock', 'GET stock');
  expect(printed).toContain(':4\r\n$1\r\n4\r\n');
  server.flush();
});

const DATA = {
  text: 'é',
  bytes: Buffer.from([255, 0]),
  list: ['a'],
  set: new Set(['m']),
  hash: { f: 1 },
};

test('data, clock, rules, recordings and connections are controlled as in the same thread', async () => {
  server.seed(DATA);
  await using other = await startServer();
  other.seed(DATA);
  expect(server.dump()).toEqual(other.dump());
  expect(server.dump()[1]?.value).toEqual(Buffer.from([255, 0]));
  server.flush();
  expect(server.dump()).toEqual([]);

  const redis = new Redis({
    Connector: server.connector,
    password: 'secret',
    retryStrategy: () => 1,
  });
  redis.on('error', () => {});
  using recording = server.requests();
  const rule = server.intercept({ command: 'get' }, { reply: Buffer.from('intercepted') });
  expect(await redis.get('key')).toBe('intercepted');
  expect([rule.matches, rule.hits]).toEqual([1, 1]);
  rule.remove();
  expect(await redis.get('key')).toBe(null);
  expect(recording.entries.filter(({ command }) => command === 'get')).toHaveLength(2);
  recording.clear();
  expect(recording.entries).toEqual([]);

  await redis.set('short', 'v', 'PX', 1000);
  server.fastForward(1000);
  expect(await redis.exists('short')).toBe(0);
  server.setTime(new Date('2031-05-06T12:00:00Z'));
  expect(Number((await redis.time())[0])).toBeGreaterThan(1_900_000_000);
  await redis.set('kept', 'v');
  server.restart();
  expect(await redis.get('kept')).toBe('v');
  expect(server.disconnectAll()).toBe(1);
  server.connected = false;
  expect(server.connected).toBe(false);
  const cut = await new Promise((resolve) => server.connect().once('error', resolve));
  expect(cut).toMatchObject({ code: 'ECONNRESET' });
  server.connected = true;
  expect(await redis.get('kept')).toBe('v');
  await redis.call('no.such').catch(() => {});
  expect(server.unknownCommands()).toEqual([{ command: 'no.such', count: 1 }]);
  redis.disconnect();
});

test('replicas and Sentinels run in the same thread, which ends when the server shuts down', async () => {
  const lines: string[] = [];
  const log = (_level: string, text: string, role: string): void => void lines.push(`${role}: ${text}`);
  const set = await startServer({ thread: true, replicas: 1, sentinels: 1, log });
  const [replica] = set.replicas;
  const redis = new Redis(set.url, { retryStrategy: null });
  await redis.set('key', 'v');
  expect(await redis.wait(1, 0)).toBe(1);
  expect(replica?.dump()[0]?.key).toBe('key');
  expect(askBlocked(set.sentinels[0]?.port as number, 'SENTINEL CKQUORUM mymaster')).toContain(
    'usable Sentinels',
  );
  await redis.debug('LOG', 'hello');
  await until(() => lines.some((line) => /^primary: .*hello/.test(line)), { what: 'a line of the log' });
  await replica?.stop();
  await set.sentinels[0]?.stop();
  expect(() => replica?.dump()).toThrow('has stopped');
  redis.on('error', () => {});
  await redis.call('SHUTDOWN', 'NOSAVE').catch(() => {});
  redis.disconnect();
  const refusal = await until(() => {
    try {
      return set.dump() && undefined;
    } catch (error) {
      return (error as Error).message;
    }
  });
  expect(refusal).toBe('lostlock: dump() on a server that has stopped');
  await set.stop();
});

test('wrong options and calls are refused with the errors of any other server', async () => {
  await expect(startServer({ thread: 1 } as never)).rejects.toThrow(
    'option thread is 1; allowed: true or false',
  );
  await expect(startServer({ thread: true, clock: 'ambient' })).rejects.toThrow('option clock');
  expect(() => server.seed({ key: (() => 1) as never })).toThrow('functions cannot be sent');
  expect(() => server.seed({ key: { nested: { deep: 1 } } as never })).toThrow(TypeError);
  expect(() => server.intercept({ when: () => true } as never, { reply: 1 })).toThrow('option when');
  expect(() => server.intercept({ command: 'gte' }, { reply: 1 })).toThrow("'gte'");
  expect(() => server.fastForward(-1)).toThrow('option fastForward is -1');
  expect(() => {
    server.connected = undefined as never;
  }).toThrow('option connected is undefined');
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
  expect(() => server.dump()).toThrow('dump() on a server that has stopped');
});
