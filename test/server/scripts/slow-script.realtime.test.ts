/** Scripts that run too long: redis-server and ours in the same conversation, and ours on a clock that a test moves. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeHost } from '../../../server/host/node.ts';
import { Listener } from '../../../server/host/tcp.ts';
import { createNode } from '../../../server/index.ts';
import type { Server } from '../../../server/server.ts';
import { RawClient } from '../../support/raw-client.ts';
import { hasRedisServer, type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import { request } from '../../support/reply-text.ts';
import { recordEffects, Talk } from '../../support/talk.ts';
import { TestHost } from '../../support/targets.ts';

interface Node {
  connect(): Promise<RawClient>;
  stop(): Promise<void>;
}

async function ours(): Promise<Node> {
  const server = createNode(nodeHost());
  const listener = new Listener(server.connections);
  const { port } = await listener.listen({ host: '127.0.0.1', port: 0 });
  return {
    connect: () => RawClient.connect({ port }),
    async stop() {
      server.stop();
      await listener.close();
    },
  };
}

async function real(): Promise<Node> {
  const redis: RealRedis = await startRedisServer();
  return { connect: () => RawClient.connect({ path: redis.path }), stop: () => redis.stop() };
}

async function ask(client: RawClient, ...words: string[]): Promise<string> {
  await client.send(request(...words));
  return (await client.read()).raw;
}

/** Asks until the answer says that a script keeps the node busy. */
async function untilBusy(client: RawClient): Promise<string> {
  for (;;) {
    const answer = await ask(client, 'ping');
    if (answer.startsWith('-BUSY')) return answer;
  }
}

const ENDLESS = 'local x = 0\nwhile true do\n x = x + 1 end';
const WRITER =
  "redis.call('incr', KEYS[1]) local t = redis.call('time') while redis.call('exists', 'no') == 0 do end";

function converse(start: () => Promise<Node>): void {
  let node: Node;
  let a: RawClient;
  let b: RawClient;
  let c: RawClient;

  beforeAll(async () => {
    node = await start();
  });
  afterAll(() => node.stop());
  beforeEach(async () => {
    [a, b, c] = [await node.connect(), await node.connect(), await node.connect()];
    await ask(a, 'config', 'set', 'busy-reply-threshold', '50');
    await ask(a, 'flushall');
  });
  afterEach(() => {
    for (const each of [a, b, c]) each.close();
  });

  test('an endless script leaves others BUSY until it is killed, and its client goes on', async () => {
    await a.send(request('eval', ENDLESS, '0') + request('set', 'k', 'later') + request('get', 'k'));
    expect(await untilBusy(b)).toBe(
      '-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n',
    );
    for (const words of [
      'get k',
      'eval return 0',
      'client id',
      'subscribe x',
      'script exists x',
      'function kill',
    ]) {
      const answer = await ask(b, ...words.split(' '));
      if (!words.startsWith('eval'))
        expect([words, answer.slice(0, 5)]).toEqual([
          words,
          words === 'function kill' ? answer.slice(0, 5) : '-BUSY',
        ]);
    }
    expect(await ask(b, 'hello', '2')).toContain('proto');
    expect(await ask(b, 'auth', 'x')).toMatch(/^-ERR AUTH <password> called without any password/);
    expect(await ask(b, 'nosuch')).toMatch(/^-ERR unknown command/);
    expect(await ask(b, 'get')).toMatch(/^-ERR wrong number/);
    expect(await ask(b, 'multi')).toBe('+OK\r\n');
    expect(await ask(b, 'set', 'k', 'v')).toMatch(/^-BUSY/);
    expect(await ask(b, 'discard')).toBe('+OK\r\n');
    expect(await ask(b, 'watch', 'k')).toBe('+OK\r\n');
    expect(await ask(b, 'unwatch')).toBe('+OK\r\n');
    expect(await ask(b, 'reset')).toBe('+RESET\r\n');
    const late = await node.connect();
    expect(await ask(late, 'get', 'k')).toMatch(/^-BUSY/);
    late.close();
    expect(await ask(c, 'script', 'kill')).toBe('+OK\r\n');
    const killed = (await a.read()).raw;
    expect(killed).toMatch(
      /^-ERR Script killed by user with SCRIPT KILL\.\.\. script: [0-9a-f]{40}, on @user_script:[23]\.\r\n$/,
    );
    expect((await a.read()).raw).toBe('+OK\r\n');
    expect((await a.read()).raw).toBe('$5\r\nlater\r\n');
    expect(await ask(c, 'script', 'kill')).toBe('-NOTBUSY No scripts in execution right now.\r\n');
    expect(await ask(b, 'get', 'k')).toBe('$5\r\nlater\r\n');
  });

  test('a transaction started while a script runs is aborted with BUSY', async () => {
    await a.send(request('eval', ENDLESS, '0'));
    await untilBusy(b);
    await ask(b, 'multi');
    expect(await ask(b, 'set', 'k', 'v')).toMatch(/^-BUSY/);
    const exec = await ask(b, 'exec');
    expect(exec).toBe(
      '-EXECABORT Transaction discarded because of: BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n',
    );
    expect(await ask(c, 'script', 'kill')).toBe('+OK\r\n');
    await a.read();
    expect(await ask(b, 'get', 'k')).toBe('$-1\r\n');
  });

  test('pcall does not protect a script from being killed', async () => {
    await a.send(request('eval', 'while true do pcall(function() while true do end end) end', '0'));
    await untilBusy(b);
    expect(await ask(b, 'script', 'kill')).toBe('+OK\r\n');
    expect((await a.read()).raw).toMatch(/^-ERR Script killed by user with SCRIPT KILL/);
  });

  test('a script in a transaction can be killed, and the rest of the transaction runs', async () => {
    const words = [
      ['multi'],
      ['set', 'k', '1'],
      ['eval', ENDLESS, '0'],
      ['incr', 'k'],
      ['exec'],
      ['get', 'k'],
    ];
    await a.send(words.map((each) => request(...each)).join(''));
    await untilBusy(b);
    expect(await ask(b, 'script', 'kill')).toBe('+OK\r\n');
    for (let i = 0; i < 4; i++) await a.read();
    expect((await a.read()).raw).toMatch(/^\*3\r\n\+OK\r\n-ERR Script killed[^\r]*\r\n:2\r\n$/);
    expect((await a.read()).raw).toBe('$1\r\n2\r\n');
  });

  test('a script can be killed after its client has disconnected', async () => {
    const gone = await node.connect();
    await gone.send(request('eval', ENDLESS, '0'));
    await untilBusy(b);
    gone.close();
    expect(await ask(b, 'script', 'kill')).toBe('+OK\r\n');
    for (let answer = '-BUSY'; answer.startsWith('-BUSY'); ) answer = await ask(b, 'get', 'k');
  });

  // The last case: afterwards redis-server can only be stopped.
  test('a script that has written cannot be killed', async () => {
    await a.send(request('eval', WRITER, '1', 'k'));
    await untilBusy(b);
    expect(await ask(b, 'script', 'kill')).toBe(
      '-UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command.\r\n',
    );
    expect(await ask(b, 'get', 'k')).toMatch(/^-BUSY/);
  });
}

describe('lostlock', () => converse(ours));
describe.skipIf(!hasRedisServer)('redis-server (needs redis-server)', () => converse(real));

describe('on a clock that a test moves', () => {
  let host: TestHost;
  let server: Server;
  let a: Talk;
  let b: Talk;

  beforeEach(() => {
    host = new TestHost();
    server = createNode(host, { scripts: { start: 1000, slice: 1000, millis: 10 } });
    [a, b] = [new Talk(server), new Talk(server)];
  });
  afterEach(() => server.stop());

  /** Lets written bytes arrive. */
  const arrive = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('requests wait before the threshold and get BUSY after it', async () => {
    a.send(`EVAL "while true do end" 0`);
    await arrive();
    b.send('GET k', 'HELLO 2');
    await arrive();
    host.advance(4990);
    expect(b.heard).toBe('');
    host.advance(10);
    expect(await b.hear()).toMatch(/^-BUSY [^\r]*\r\n\*14\r\n/);
    expect(await b.ask('SCRIPT KILL')).toBe('+OK\r\n');
    host.advance(10);
    expect(await a.hear()).toContain('Script killed by user');
  });

  test('no client is evicted by maxmemory-clients until the script has ended', async () => {
    await b.ask('CONFIG SET maxmemory-clients 128kb');
    a.send(`EVAL "while true do end" 0`);
    await arrive();
    b.send('GET k', `SET k ${'x'.repeat(200_000)}`, 'SCRIPT KILL');
    await arrive();
    host.advance(4990);
    expect(server.stats.evictedClients).toBe(0);
    host.advance(10);
    expect(await b.hear()).toMatch(/^(-BUSY [^\r]*\r\n){2}\+OK\r\n$/);
  });

  test('a long script is replicated as one unit, at one instant, in the order of its calls', async () => {
    const lines = recordEffects(server);
    await a.ask('SET gone v PX 25', 'SET k 0');
    lines.length = 0;
    const script = `for i = 1, 5 do redis.call('INCR', 'k') for j = 1, 1500 do end end return {redis.call('GET', 'k'), redis.call('EXISTS', 'gone')}`;
    a.send(`EVAL "${script}" 0`, 'GET gone');
    await arrive();
    b.send('GET k');
    await arrive();
    expect(a.heard + b.heard).toBe('');
    expect(lines).toEqual([]);
    host.advance(500);
    expect(await a.hear()).toBe('*2\r\n$1\r\n5\r\n:1\r\n$-1\r\n');
    expect(await b.hear()).toBe('$1\r\n5\r\n');
    expect(lines).toEqual(['MULTI', ...Array(5).fill('INCR k'), 'EXEC', 'DEL gone']);
  });

  test('two long scripts in one transaction, and blocked clients served after it', async () => {
    b.send('BLPOP l 0');
    await arrive();
    const push = `EVAL "redis.call('RPUSH', 'l', ARGV[1]) for i = 1, 5000 do end return ARGV[1]" 0`;
    a.send('MULTI', `${push} x`, `${push} y`, 'LLEN l', 'EXEC', 'LLEN l');
    await arrive();
    expect(b.heard).toBe('');
    host.advance(1000);
    expect(await a.hear()).toBe(
      '+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n$1\r\nx\r\n$1\r\ny\r\n:2\r\n:1\r\n',
    );
    expect(await b.hear()).toBe('*2\r\n$1\r\nl\r\n$1\r\nx\r\n');
  });

  test('a script is stopped before it uses all the memory, and its writes stay', async () => {
    let heap = 10e6;
    const meter = { limit: 100e6, used: () => ({ heap, all: heap }), collect: () => {} };
    server.stop();
    server = createNode(Object.assign(host, { heap: meter }), {
      scripts: { start: 1000, slice: 1000, millis: 10 },
    });
    [a, b] = [new Talk(server), new Talk(server)];
    a.send(`EVAL "redis.call('SET', 'k', 'v') pcall(function() while true do end end)" 0`);
    await arrive();
    host.advance(200);
    expect(a.heard).toBe('');
    heap = 36e6;
    host.advance(20);
    expect(await a.hear()).toMatch(
      /^-ERR the script exceeds the memory limit of one request script: [0-9a-f]{40}, on @user_script:1\.\r\n$/,
    );
    expect(await b.ask('GET k')).toBe('$1\r\nv\r\n');
  });

  test('with a threshold of 0, other clients wait until the script ends', async () => {
    await a.ask('CONFIG SET busy-reply-threshold 0');
    a.send(`EVAL "for i = 1, 100000 do end return 1" 0`);
    await arrive();
    b.send('GET k');
    await arrive();
    host.advance(900);
    expect(b.heard).toBe('');
    host.advance(10000);
    expect(await b.hear()).toBe('$-1\r\n');
    expect(await a.hear()).toBe(':1\r\n');
  });
});
