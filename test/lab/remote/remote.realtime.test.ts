/** LAB over the wire: another process loses a lock on demand, reads which write was lost, and gets errors for what is wrong. */
import { Redis } from 'ioredis';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { labCommand } from '../../../lab/remote/commands.ts';
import { type LabServer, startLab } from '../../../lab/remote/serve.ts';
import type { TimelineFile } from '../../../page/format.ts';
import { lackSyntax } from '../../server/table/lacking-syntax.ts';
import { until } from '../../support/until.ts';

let running: LabServer | undefined;
let control: Redis;
let client: Redis;

/** A connection without ioredis' own retries, so that each error is the server's. */
function open(port: number): Redis {
  const redis = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  redis.on('error', () => {});
  return redis;
}

async function start(options: Parameters<typeof startLab>[0] = {}): Promise<LabServer> {
  await stop();
  running = await startLab(options);
  control = open(running.labPort);
  client = new Redis(running.url, { maxRetriesPerRequest: 50, retryStrategy: () => 5 });
  client.on('error', () => {});
  return running;
}

async function stop(): Promise<void> {
  for (const each of [control, client]) each?.disconnect();
  await running?.stop();
}

beforeEach(() => start());
afterAll(stop);

const lab = (...words: (string | number)[]): Promise<unknown> => control.call('LAB', ...words);

/** A map reply as an object. */
function fields(reply: unknown): Record<string, unknown> {
  const list = reply as unknown[];
  return Object.fromEntries(list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]]] : [])));
}

test('LAB HOLDERS and OVERLAPS say who believes that it holds a lock, and LAB LOCKS says what is a lock', async () => {
  const [a, b] = [
    open(Number(new URL((await lab('ACTOR', 'A')) as string).port)),
    open(Number(new URL((await lab('ACTOR', 'B')) as string).port)),
  ];
  expect(await lab('SYNC')).toBe('OK');
  await lab('HOLD', 'redis-1', 'redis-2');
  expect(await a.set('my:lock', 'one', 'PX', 30_000, 'NX')).toBe('OK');
  await lab('FAILOVER', 'CRASH');
  await until(async () => (await b.set('my:lock', 'two', 'PX', 30_000, 'NX').catch(() => null)) === 'OK');
  await b.set('stock:1', 'x');
  const holders = ((await lab('HOLDERS', 'my:lock')) as unknown[]).map(fields);
  expect(holders).toMatchObject([
    { lock: 'my:lock', client: 'A', token: 'one', believes: 1, granted: 0, shared: 0 },
    { lock: 'my:lock', client: 'B', token: 'two', believes: 1, granted: 1, shared: 0 },
  ]);
  const [overlap, ...more] = ((await lab('OVERLAPS')) as unknown[]).map(fields);
  expect([overlap?.lock, overlap?.clients, more]).toEqual(['my:lock', ['A', 'B'], []]);
  expect(await lab('LOCKS')).toEqual(['my:lock']);
  expect(await lab('LOCKS', 'ADD', 'stock:*')).toBe('OK');
  expect(await lab('LOCKS', 'EXCLUDE', 'my:*')).toBe('OK');
  expect(await lab('LOCKS')).toEqual(['stock:1']);
  expect(await lab('HOLDERS', 'my:lock')).toEqual([]);
  expect(await lab('LOCKS', 'RESET')).toBe('OK');
  expect(await lab('LOCKS')).toEqual(['my:lock']);
  await expect(lab('LOCKS', 'ADD')).rejects.toThrow('syntax error');
  await expect(lab('LOCKS', 'ADD', 'x', 'EXCLUDE', 'y')).rejects.toThrow('syntax error');
  await expect(lab('LOCKS', 'ADD', '')).rejects.toThrow('a list of patterns');
  for (const each of [a, b]) each.disconnect();
});

test('a lock that the replica never received is lost in a failover, and the report names the write', async () => {
  expect(await lab('SYNC')).toBe('OK');
  await lab('HOLD', 'redis-1', 'redis-2');
  expect(await client.set('lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  const failover = fields(await lab('FAILOVER', 'CRASH'));
  expect([failover.from, failover.to, failover.complete]).toEqual(['redis-1', 'redis-2', 1]);
  const [lost] = (failover.lost as unknown[]).map(fields);
  expect(lost).toMatchObject({ kind: 'key', db: 0, key: 'lock', holder: 'A', client: 'client' });
  expect(await client.set('lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
  expect(((await lab('LOST')) as unknown[]).map((each) => fields(each).holder)).toEqual(['A']);
  expect(await lab('RESTART', 'redis-1')).toBe('OK');
  await lab('RELEASE', 'redis-1', 'redis-2');
  expect(await lab('SYNC', 20_000)).toBe('OK');
  const nodes = ((await lab('NODES')) as unknown[]).map(fields);
  expect(nodes.map(({ name, role, state }) => [name, role, state])).toEqual([
    ['redis-1', 'replica', 'up'],
    ['redis-2', 'primary', 'up'],
  ]);
});

test('TRACE returns what the links, nodes and clients did as the data of a timeline, and its story', async () => {
  await lab('SYNC');
  await lab('HOLD', 'redis-1', 'redis-2');
  expect(await client.set('lock', 'A', 'PX', 30_000, 'NX')).toBe('OK');
  await lab('FAILOVER', 'CRASH');
  expect(await client.set('lock', 'B', 'PX', 30_000, 'NX')).toBe('OK');
  const file = JSON.parse(String(await lab('TRACE'))) as TimelineFile;
  const [run] = file.runs;
  expect([file.format, file.version, run?.clock]).toEqual(['lostlock-timeline', 1, 'real']);
  expect(run?.lanes).toEqual([
    { name: 'client', kind: 'client' },
    { name: 'redis-1', kind: 'node' },
    { name: 'redis-2', kind: 'node' },
  ]);
  const marks = run?.marks.map(({ lane, to, kind }) => [lane, to, kind].filter(Boolean).join(' ')) ?? [];
  expect(marks).toEqual(
    expect.arrayContaining(['redis-1 redis-2 hold', 'redis-1 crash', 'redis-2 promote', 'redis-1 lost']),
  );
  const requests = run?.messages.filter(
    ({ kind, text }) => kind === 'request' && text.startsWith('set lock'),
  );
  expect(requests?.map(({ from, to, fate }) => [from, to, fate])).toEqual([
    ['client', 'redis-1', undefined],
    ['client', 'redis-2', undefined],
  ]);
  // The part of the stream that has the write has never reached the replica.
  const held = run?.messages.filter(({ kind, text }) => kind === 'stream' && text.includes('lock'));
  expect(held?.map(({ from, to, arrived }) => [from, to, arrived])).toEqual([['redis-1', 'redis-2', null]]);
  const told = (await lab('TRACE', 'STORY')) as string[];
  expect(told.join('\n')).toMatch(
    /link from redis-1 to redis-2 is held.*redis-1 crashes.*An acknowledged write of client is lost/s,
  );
  await expect(lab('TRACE', 'TALE')).rejects.toThrow('ERR syntax error');
});

test('while TRACE is made, the nodes go on answering', async () => {
  for (let i = 0; i < 1000; i++) await client.set(`key:${i}`, 'v');
  for (const [form, part] of [
    [[], 'key:999'],
    [['STORY'], 'redis-2 becomes a replica of redis-1'],
  ] as const) {
    let made: unknown;
    void lab('TRACE', ...form).then((trace) => {
      made = trace;
    });
    let answered = 0;
    for (; made === undefined; answered++) await client.ping();
    // Made in one turn of the event loop, it would keep all but the first PINGs from being answered before.
    expect(answered).toBeGreaterThan(10);
    expect(String(made)).toContain(part);
  }
});

test('a client that has its own URL has links and losses of its own', async () => {
  const a = open(Number(new URL(String(await lab('ACTOR', 'A'))).port));
  await a.set('mine', '1');
  await lab('PARTITION', 'A', 'redis-1');
  const blocked = a.get('mine');
  await client.set('other', '2');
  await lab('HEAL', 'A', 'redis-1');
  expect(await blocked).toBe('1');
  await lab('RESET', 'A', 'redis-1');
  await until(() => a.status !== 'ready', { what: 'the reset' });
  a.disconnect();
});

test('nodes answer LAB themselves; the one that crashes does not reply', async () => {
  const node = open(running?.pair.primary.port ?? 0);
  expect(await node.call('LAB', 'CLOCK', 'redis-1', 'JUMP', '5000')).toBeGreaterThanOrEqual(5000);
  expect(await node.call('LAB', 'PAUSE', 'redis-2')).toBe('OK');
  expect(await node.call('LAB', 'RESUME', 'redis-2')).toBe('OK');
  const gone = new Promise((resolve) => node.once('close', resolve));
  node.call('LAB', 'CRASH', 'redis-1', 'KEEP', 'everything').catch(() => {});
  await gone;
  node.disconnect();
  expect(fields(((await lab('NODES')) as unknown[])[0])).toMatchObject({ name: 'redis-1', state: 'down' });
  expect(await lab('PROMOTE', 'redis-2')).toBe('OK');
});

test.each([
  [
    ['HOLD', 'redis-1', 'redis-9'],
    "ERR no party is called 'redis-9'; there are redis-1, redis-2, client, failover",
  ],
  [['CRASH', 'redis-9'], "ERR no node is called 'redis-9'"],
  [['CRASH', 'redis-1', 'KEEP', 'some'], 'ERR KEEP is NOTHING, SYNCED or EVERYTHING'],
  [['CRASH', 'redis-1', 'SOFTLY'], 'ERR syntax error'],
  [['CRASH', 'redis-1', 'SILENT', 'silent'], 'ERR syntax error'],
  [['FAILOVER', 'KEEP', 'nothing'], 'ERR KEEP and SILENT need CRASH'],
  [['FAILOVER', 'TO', 'redis-1'], 'ERR '],
  [['RELEASE', 'redis-1', 'redis-2', 'MESSAGES', '-1'], 'ERR lostlock: option release.messages is -1'],
  [['RELEASE', 'redis-1', 'redis-2', 'MESSAGES', '1', 'BYTES', '1'], 'ERR syntax error'],
  [['DELAY', 'redis-1', 'redis-2', 'x'], 'ERR value is not a valid float'],
  [['BANDWIDTH', 'redis-1', 'redis-2', '0'], 'ERR lostlock: option bandwidth is 0'],
  [['PAUSE', 'client'], 'ERR '],
  [['RESUME', 'redis-1'], 'ERR redis-1 is up, not paused'],
  [['RESTART', 'redis-2'], 'ERR redis-2 is up, not down'],
  [['ACTOR', 'client'], "ERR 'client' is the party of clients without a name; choose another name"],
  [['PARTITION', 'redis-1', 'redis-1'], 'ERR redis-1 has no link to itself'],
  [['HOLD', 'redis-2', 'redis-2'], 'ERR redis-2 has no link to itself'],
  [['SYNC', '1', '2'], "ERR wrong number of arguments for 'lab|sync' command"],
  [['DROP', 'redis-1', 'redis-2', '1', '2'], "ERR wrong number of arguments for 'lab|drop' command"],
  [['NONSENSE'], "ERR unknown subcommand 'NONSENSE'. Try LAB HELP."],
])('LAB %j is an error, and nothing happens', async (words, message) => {
  await expect(lab(...words)).rejects.toThrow(message);
  const nodes = ((await lab('NODES')) as unknown[]).map(fields);
  expect(nodes.map(({ role, state }) => [role, state])).toEqual([
    ['primary', 'up'],
    ['replica', 'up'],
  ]);
});

test('a control that a node in its state cannot suffer is refused, with the state', async () => {
  await lab('PAUSE', 'redis-2');
  await expect(lab('PAUSE', 'redis-2')).rejects.toThrow('ERR redis-2 is paused, not up');
  await expect(lab('RESTART', 'redis-2')).rejects.toThrow('ERR redis-2 is paused, not down');
  await lab('CRASH', 'redis-2');
  for (const words of [['CRASH'], ['PAUSE'], ['RESUME']] as const) {
    await expect(lab(...words, 'redis-2')).rejects.toThrow('ERR redis-2 is down, not');
  }
});

test('SYNC says at once what is in the way: a hold that is older than the roles, a partition, a pause', async () => {
  await lab('HOLD', 'redis-1', 'redis-2');
  await client.set('lock', 'A');
  await expect(lab('SYNC')).rejects.toThrow(
    'ERR the replicas cannot catch up: what redis-1 sends to redis-2 is held',
  );
  await lab('FAILOVER', 'CRASH');
  await lab('RESTART', 'redis-1');
  // The hold still stands. redis-1 is the replica now, and its request for the stream waits at it.
  await expect(lab('SYNC')).rejects.toThrow('what redis-1 sends to redis-2 is held');
  await lab('RELEASE', 'redis-1', 'redis-2');
  expect(await lab('SYNC')).toBe('OK');
  await lab('PARTITION', 'redis-1', 'redis-2');
  await client.set('lock', 'B');
  await expect(lab('SYNC')).rejects.toThrow('what redis-2 sends to redis-1 is cut off by a partition');
  await lab('HEAL', 'redis-1', 'redis-2');
  expect(await lab('SYNC')).toBe('OK');
  await lab('PAUSE', 'redis-1');
  await client.set('lock', 'C');
  await expect(lab('SYNC')).rejects.toThrow('redis-1 is paused');
  await lab('RESUME', 'redis-1');
  expect(await lab('SYNC')).toBe('OK');
  // A held acknowledgement does not keep the data back.
  await lab('HOLD', 'redis-1', 'redis-2');
  await client.set('lock', 'D');
  expect(await lab('SYNC')).toBe('OK');
});

test('LAB FAILOVER NODEMOTE leaves the old primary alone, so that two nodes accept writes', async () => {
  await lab('FAILOVER', 'NODEMOTE');
  expect(await states()).toEqual(['redis-1 primary up', 'redis-2 primary up']);
});

test("the lab's port refuses data and names the primary; it answers what clients ask when they connect", async () => {
  const { port } = running!.pair.primary;
  for (const words of [['GET', 'a'], ['set', 'a', '1'], ['EVAL', 'return 1', '0'], ['MULTI'], ['SHUTDOWN']]) {
    await expect(control.call(...(words as [string, ...string[]]))).rejects.toThrow(
      `ERR '${words[0]?.toLowerCase()}' is not for this port, which controls the lab and has no data; the primary is at ${running!.url}`,
    );
  }
  await expect(control.call('NONSENSE')).rejects.toThrow("ERR unknown command 'NONSENSE'");
  expect(await control.ping()).toBe('PONG');
  expect(await control.info('server')).toContain(`tcp_port:${running!.labPort}\r\n`);
  expect(await control.client('SETNAME', 'me')).toBe('OK');
  expect(await open(port).set('a', '1')).toBe('OK');
});

/** The nodes as LAB NODES lists them: name, role and state. */
async function states(): Promise<string[]> {
  const nodes = ((await lab('NODES')) as unknown[]).map(fields);
  return nodes.map(({ name, role, state }) => `${name} ${role} ${state}`);
}

test("a client's SHUTDOWN takes the node down, and RESTART starts it with what was saved", async () => {
  await client.set('saved', '1');
  const node = open(running!.pair.primary.port);
  node.shutdown('SAVE').catch(() => {});
  await until(async () => (await states())[0] === 'redis-1 primary down', { what: 'the end of the node' });
  expect(await lab('RESTART', 'redis-1')).toBe('OK');
  expect(await client.get('saved')).toBe('1');
  await client.set('unsaved', '1');
  await until(() => node.status === 'ready', { what: 'the new connection' });
  node.shutdown('NOSAVE').catch(() => {});
  await until(async () => (await states())[0] === 'redis-1 primary down', { what: 'the end of the node' });
  expect(await lab('RESTART', 'redis-1')).toBe('OK');
  expect(await client.get('unsaved')).toBeNull();
  node.disconnect();
});

test("NODES shows the roles as a client's REPLICAOF has changed them", async () => {
  const node = open(running!.pair.node('redis-2').port);
  await node.call('REPLICAOF', 'NO', 'ONE');
  expect(await states()).toEqual(['redis-1 primary up', 'redis-2 primary up']);
  await node.call('REPLICAOF', '127.0.0.1', String(running!.pair.primary.port));
  expect(await states()).toEqual(['redis-1 primary up', 'redis-2 replica up']);
  node.disconnect();
});

test('a delay ends for all connections at once: a late message holds up only its own connection', async () => {
  const a = open(Number(new URL(String(await lab('ACTOR', 'A'))).port));
  const b = open(Number(new URL(String(await lab('ACTOR', 'A'))).port));
  await Promise.all([a.ping(), b.ping()]);
  await lab('DELAY', 'redis-1', 'A', '100000');
  const late = a.set('k', '1').catch((error: Error) => error.message);
  await until(async () => (await client.get('k')) === '1', { what: 'the write' });
  await lab('DELAY', 'redis-1', 'A', '0');
  expect(await b.get('k')).toBe('1');
  for (const each of [a, b]) each.disconnect();
  await late;
});

test('DROP breaks the connection once the last of its messages is lost, and no later reply arrives on it', async () => {
  const a = open(Number(new URL(String(await lab('ACTOR', 'A'))).port));
  await a.set('k', '0');
  await lab('DROP', 'redis-1', 'A', '1');
  const ended = new Promise((resolve) => a.once('close', resolve));
  const lost = a.set('k', '1').catch((error: Error) => error.message);
  await ended;
  expect(await lost).toContain('retries');
  expect(await client.get('k')).toBe('1');
  expect(await a.get('k')).toBe('1');
  a.disconnect();
});

test('after a restart the replicas of a primary reach it before their next beat', async () => {
  await client.set('k', '1');
  await lab('CRASH', 'redis-1', 'KEEP', 'everything');
  const replica = running!.pair.node('redis-2');
  await until(() => replica.server.primary?.state === 'connect', { what: 'the attempt that fails' });
  await lab('RESTART', 'redis-1');
  expect(replica.server.primary?.state).not.toBe('connect');
  expect(await lab('SYNC')).toBe('OK');
});

test('LAB HELP lists the controls; LAB is refused in a transaction, and by a server without a lab', async () => {
  const help = (await lab('HELP')) as string[];
  expect(help).toEqual(
    expect.arrayContaining(['HOLD <from> <to>', 'CLOCK <node> [JUMP <milliseconds>] [DRIFT <rate>]']),
  );
  expect(
    lackSyntax([
      labCommand(
        () => running!.pair,
        async () => {},
      ),
    ]),
  ).toEqual([]);
  const node = open(running!.pair.primary.port);
  await node.call('MULTI');
  await expect(node.call('LAB', 'NODES')).rejects.toThrow('ERR Command not allowed inside a transaction');
  node.disconnect();
  await expect(startLab({ labPort: -1 })).rejects.toThrow(
    'option labPort is -1; allowed: an integer from 0 to 65535',
  );
  await expect(startLab({ reps: 1 } as never)).rejects.toThrow(
    'startLab.reps is 1; allowed: the options replicas',
  );
});
