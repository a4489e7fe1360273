/**
 * Uses a server, the lab and an exploration among the globals of other runtimes, for browser-globals.realtime.alone.test.ts, and prints what
 * they did. Jest's jsdom has timers that return numbers, and neither immediates nor TextDecoder. On Deno, timers are accessors and
 * zlib is frozen. On Bun, `performance.now` is an own property.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import zlib from 'node:zlib';

const { setTimeout: realTimeout, setInterval: realInterval } = globalThis;
const handles = new Map<number, NodeJS.Timeout>();
const numbered =
  (make: (...args: never[]) => NodeJS.Timeout) =>
  (...args: never[]): number => {
    handles.set(handles.size + 1, make(...args));
    return handles.size;
  };
const clear = (handle: number | NodeJS.Timeout): void =>
  clearInterval(typeof handle === 'number' ? handles.get(handle) : handle);
const timers = {
  setTimeout: numbered(realTimeout as never),
  setInterval: numbered(realInterval as never),
  clearTimeout: clear,
};
for (const [name, value] of Object.entries(timers)) {
  let current: unknown = value;
  Object.defineProperty(globalThis, name, {
    get: () => current,
    set: (other) => {
      current = other;
    },
    configurable: true,
    enumerable: true,
  });
}
for (const name of ['setImmediate', 'clearImmediate', 'TextDecoder']) {
  Object.defineProperty(globalThis, name, { value: undefined, configurable: true, writable: true });
}
Object.freeze(zlib);
const own = performance.now.bind(performance);
const { timeOrigin } = performance;
Object.setPrototypeOf(performance, {});
Object.assign(performance, { now: own, timeOrigin });

const { startPair, startServer } = await import('../../../index.ts');
const { explore } = await import('../../../explore/index.ts');

const server = await startServer();
const socket = connect(server.port, '127.0.0.1');
socket.write('CONFIG SET notify-keyspace-events Ex\r\nSUBSCRIBE __keyevent@0__:expired\r\n');
await once(socket, 'data');
const other = connect(server.port, '127.0.0.1');
other.write('SET k v PX 5\r\n');
let heard = '';
for await (const text of socket) if ((heard += String(text)).includes('\r\nk\r\n')) break;
other.destroy();
await server.stop();

const pair = await startPair({ clock: 'virtual', seed: 7 });
const waited = await pair.run(async () => {
  const begun = Date.now();
  await new Promise((resolve) => globalThis.setTimeout(resolve, 1000));
  return Date.now() - begun;
});
const set = await pair.client('A').set('my:lock', 'A', 'PX', 30_000, 'NX');
await pair.close();

const { findings } = await explore({
  name: 'stock',
  topology: { replicas: 1 },
  clients: 2,
  budget: { worlds: 20 },
  async client({ name, redis, sleep, resource }) {
    while ((await redis.set('lock', name, 'PX', 200, 'NX')) !== 'OK') await sleep(50);
    const inside = resource('stock').enter();
    await sleep(300);
    inside.write();
    inside.leave();
  },
});
console.log(JSON.stringify({ expired: heard.includes('expired'), waited, set, found: findings[0]?.promise }));
