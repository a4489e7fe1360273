/** Programs that the tests of Bun and Deno run beside Node: what a world refuses, and what Deno's sanitizers must not find. */

/** An exploration of a lock that each client deletes when its work is done, also when another client holds it by then. */
export const stock = `{
  name: 'stock', topology: { replicas: 1 }, clients: 3, seed: 1, budget: { worlds: 40 },
  async client({ name, redis, sleep, resource }) {
    while ((await redis.set('stock:lock', name, 'PX', 1000, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
    await redis.del('stock:lock');
  },
}`;

/** A client in a file of its own, and what says how its modules were loaded. */
export const clientFile = `
  export async function client({ resource, redis }) {
    await redis.incr('n');
    const inside = resource('stock').enter();
    inside.write();
    inside.leave();
  }
`;
export const exploreFile = `
  import { explore } from 'lostlock/explore';
  const client = new URL('./client.mjs', import.meta.url);
  const report = await explore({ name: 'file', client, clients: 1, budget: { worlds: 2 } });
  console.log(String(report).split('\\n').find((line) => line.startsWith('modules ')));
`;

/** Prints for each way to work in real time what came of it in a world: refused, and by which name. */
export const refusals = `
  import childProcess from 'node:child_process';
  import dgram from 'node:dgram';
  import fs from 'node:fs';
  import http from 'node:http';
  import net, { connect } from 'node:net';
  import tls from 'node:tls';
  import { startPair } from 'lostlock';

  const { Bun, Deno } = globalThis;
  const heard = (event, emitter) => new Promise((done, fail) => emitter.on(event, done).on('error', fail));
  const tried = {
    fetch: () => fetch('http://127.0.0.1:9'),
    WebSocket: () => new WebSocket('ws://127.0.0.1:9'),
    'net.Socket.connect': () => heard('connect', connect(9, '127.0.0.1')),
    'net.Server.listen': () => heard('listening', net.createServer().listen(0)),
    'tls.connect': () => heard('connect', tls.connect({ port: 9 })),
    'http.get': () => heard('response', http.get('http://127.0.0.1:9')),
    'fs.readFile': () => new Promise((done) => fs.readFile('package.json', done)),
    'fs.promises.stat': () => fs.promises.stat('package.json'),
    'child_process.spawn': () => heard('exit', childProcess.spawn('true')),
    'dgram.createSocket': () => heard('listening', dgram.createSocket('udp4').bind(0)),
    ...(Bun && {
      'Bun.RedisClient': () => new Bun.RedisClient('redis://127.0.0.1:9').get('k'),
      'Bun.redis': () => Bun.redis.send('PING', []),
      'Bun.connect': () => Bun.connect({ hostname: '127.0.0.1', port: 9, socket: { data() {} } }),
      'Bun.serve': () => Bun.serve({ port: 0, fetch: () => new Response('') }),
      'Bun.spawn': () => Bun.spawn(['true']).exited,
      'Bun.$': () => Bun.$\`true\`,
      'Bun.file': () => Bun.file('package.json').text(),
      'Bun.write': () => Bun.write('written.txt', 'x'),
      'Bun.password.hash': () => Bun.password.hash('x'),
      'Bun.SQL': () => new Bun.SQL('postgres://127.0.0.1:9/x'),
    }),
    ...(Deno && {
      'Deno.connect': () => Deno.connect({ port: 9 }),
      'Deno.listen': () => Deno.listen({ port: 0 }),
      'Deno.serve': () => Deno.serve({ port: 0 }, () => new Response('')),
      'Deno.readTextFile': () => Deno.readTextFile('package.json'),
      'Deno.Command': () => new Deno.Command('true').output(),
    }),
  };
  for (const [name, code] of Object.entries(tried)) {
    const pair = await startPair();
    const outcome = await pair.run(async () => void (await code())).then(() => 'not refused', (error) => error.message);
    console.log(name + ': ' + outcome);
    await pair.close();
  }
  if (Bun) {
    const pair = await startPair({ seed: 7 });
    const seen = await pair.run(async () => {
      const begun = [Date.now(), Bun.nanoseconds()];
      await Bun.sleep(1000);
      Bun.sleepSync(500);
      return [Date.now() - begun[0], (Bun.nanoseconds() - begun[1]) / 1e6, Bun.randomUUIDv7()];
    });
    console.log('virtual: ' + JSON.stringify(seen));
    await pair.close();
  }
  process.exit();
`;

/** Tests of Deno that use everything and close it. The sanitizers find nothing. */
export const tidyTests = `
  import assert from 'node:assert/strict';
  import { Redis } from 'ioredis';
  import { startCluster, startPair, startServer, startServers } from 'lostlock';
  import { fixtures } from 'lostlock/deno-test';
  import { explore, replay } from 'lostlock/explore';
  import { createLocks } from 'lostlock/locks';

  const stock = ${stock};
  for (const clock of ['virtual', 'real']) Deno.test('a pair, clock ' + clock, async () => {
    const pair = await startPair({ clock });
    pair.link.hold();
    await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
    assert.equal((await pair.failover({ crash: true })).lost[0].holder, 'A');
    await pair.close();
  });
  Deno.test('locks that wait for each other', async () => {
    const server = await startServer();
    const redis = new Redis(server.url);
    const locks = createLocks(redis);
    for (const kind of ['reentrant', 'fair']) {
      const held = await locks[kind]('order:42').acquire();
      const waiting = locks[kind]('order:42').acquire();
      await held.release();
      await (await waiting).release();
    }
    locks.close();
    redis.disconnect();
    await server.stop();
  });
  Deno.test('a server in a thread', async () => {
    const server = await startServer({ thread: true });
    const redis = new Redis(server.url);
    assert.equal(await redis.incr('n'), 1);
    redis.disconnect();
    await server.stop();
  });
  Deno.test('a cluster, and several servers', async () => {
    const cluster = await startCluster();
    const redis = new Redis.Cluster([cluster.nodes[0].url]);
    assert.equal(await redis.incr('n'), 1);
    redis.disconnect();
    await cluster.stop();
    await (await startServers({ primaries: 3 })).close();
  });
  Deno.test('an exploration and its replay', async () => {
    const { findings } = await explore(stock);
    await replay(stock, findings[0].replay);
  });
  Deno.test('an exploration in a test', fixtures(async (lostlock) => {
    await assert.rejects(lostlock.explore(stock), /stock: .*broken promise/);
  }));
`;

/** What Deno's sanitizers must find: otherwise they are not on. */
export const untidyTest = `
  import { startPair } from 'lostlock';
  Deno.test('left open', async () => {
    const pair = await startPair();
    await pair.client('A').set('k', 'v');
  });
`;

/** A test that fails, for both runners. @param runner where its \`test\` comes from, and the entry of the fixtures */
export const failingTest = (runner: string): string => `
  ${runner}
  test('outside', fixtures(async (lostlock) => {
    const pair = await lostlock.pair();
    pair.link.hold();
    await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
    await pair.failover({ crash: true });
    throw new Error('two holders');
  }));
`;
