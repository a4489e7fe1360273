/**
 * A process that uses servers, pairs and clusters, prints `ready`, and then ends in the way that it is told, for
 * process-ends.realtime.test.ts. Its arguments: what it uses, separated by commas; whether that is `closed` or left `open`; the way to end.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { startCluster, startPair, startServer, startServers } from '../../../index.ts';
import { clientTls, serverTls } from '../../support/certificates/files.ts';

/** Closes what a situation has left open, also the connections of its clients. */
type Close = () => Promise<unknown>;

const portOf = (url: string): number => Number(new URL(url).port);

/** A connection that has had an answer. Its end is not the end of the process. */
async function talk(socket: Socket): Promise<Socket> {
  socket.on('error', () => {});
  socket.write('PING\r\n');
  await once(socket, 'data');
  return socket;
}

/** A client that keeps its side open when the server closes. */
const dial = (url: string): Promise<Socket> =>
  talk(connect({ port: portOf(url), host: '127.0.0.1', allowHalfOpen: true }));

/** Clients that wait, subscribe, break off within a request, and do not read a long reply. */
async function occupy(url: string): Promise<Socket[]> {
  const [blocked, subscribed, broken, lazy] = await Promise.all([dial(url), dial(url), dial(url), dial(url)]);
  blocked.write('BLPOP none 0\r\n');
  subscribed.write('SUBSCRIBE c\r\n');
  broken.write('*3\r\n$3\r\nSET\r\n$1\r\n');
  lazy.pause();
  lazy.write('SETRANGE long 9000000 x\r\nGET long\r\n');
  return [blocked, subscribed, broken, lazy];
}

/** Closes connections, and then what they led to. */
function dropping(sockets: readonly Socket[], close: Close): Close {
  return () => {
    for (const socket of sockets) socket.destroy();
    return close();
  };
}

const situations: Readonly<Record<string, () => Promise<Close>>> = {
  async server() {
    const server = await startServer();
    const sockets = await occupy(server.url);
    return dropping(sockets, () => server.stop());
  },
  /** The clients outlive the server. */
  async stopped() {
    const server = await startServer({ replicas: 1 });
    const sockets = await occupy(server.url);
    await server.stop();
    return dropping(sockets, async () => {});
  },
  async files() {
    const dir = mkdtempSync(join(tmpdir(), 'lostlock-ends-'));
    process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
    const unixSocket = join(dir, 'redis.sock');
    const server = await startServer({ unixSocket, settings: { dir, appendonly: true } });
    const socket = await talk(connect(unixSocket));
    await talk(await dial(server.url));
    return dropping([socket], () => server.stop());
  },
  async tls() {
    const server = await startServer({ tls: serverTls });
    const shy = connect(server.tlsPort as number, '127.0.0.1').on('error', () => {}); // It does not begin the handshake.
    const socket = await talk(
      connectTls({ port: server.tlsPort as number, host: '127.0.0.1', ...clientTls }),
    );
    return dropping([shy, socket], () => server.stop());
  },
  async thread() {
    const server = await startServer({ thread: true });
    const socket = await dial(server.url);
    return dropping([socket], () => server.stop());
  },
  /** A client writes to the pair's address when the primary has just crashed, so that its connection ends and is reset at once. */
  async late() {
    const pair = await startPair({ clock: 'real' });
    const { url } = await pair.actor('A');
    const socket = await dial(url);
    const crashed = pair.primary.crash();
    socket.write('PING\r\n');
    await Promise.all([crashed, once(socket, 'end')]);
    socket.destroy();
    return () => pair.close();
  },
  async held() {
    const pair = await startPair({ clock: 'real', replicas: 2, trace: true });
    const [{ url }, client] = [await pair.actor('A'), pair.client('B')];
    const sockets = await occupy(url);
    pair.link.hold();
    pair.linkTo('redis-3').delay(10_000);
    await client.set('k', 'v', 'PX', 60_000);
    pair.clientLink('A').hold();
    sockets[1]?.write('PING\r\n');
    return dropping(sockets, () => pair.close());
  },
  async reset() {
    const pair = await startPair({ clock: 'real' });
    const { url } = await pair.actor('A');
    const sockets = await occupy(url);
    for (let i = 0; i < 3; i++) {
      pair.clientLink('A').reset();
      pair.network.reset('redis-1', 'redis-2');
      await dial(url).catch(() => undefined); // It may meet the reset.
    }
    return dropping(sockets, () => pair.close());
  },
  async failedOver() {
    const pair = await startPair({ clock: 'real', replicas: 2 });
    const sockets = await occupy((await pair.actor('A')).url);
    await pair.client('B').set('k', 'v');
    await pair.failover({ crash: { silent: true } });
    await pair.restart('redis-1');
    pair.pause('redis-1');
    return dropping(sockets, () => pair.close());
  },
  async sentinels() {
    const pair = await startPair({ clock: 'real', sentinels: 3 });
    const sockets = await occupy(pair.url);
    return dropping(sockets, () => pair.close());
  },
  async redlock() {
    const servers = await startServers({ clock: 'real', primaries: 3 });
    await servers.sets[0]?.primary.crash();
    return () => servers.close();
  },
  async virtual() {
    const pair = await startPair({ clock: 'virtual', seed: 7 });
    await pair.client('A').set('k', 'v', 'PX', 60_000);
    pair.link.hold();
    await pair.failover({ crash: true });
    return () => pair.close();
  },
  async cluster() {
    const cluster = await startCluster();
    const sockets = await occupy(cluster.urls[0] as string);
    return dropping(sockets, () => cluster.stop());
  },
  async labCluster() {
    const cluster = await startCluster({ clock: 'real' });
    const sockets = await occupy(cluster.nodes[0]?.url as string);
    await cluster.nodes[0]?.crash({ silent: true });
    return dropping(sockets, () => cluster.close());
  },
  async realNodes() {
    const pair = await startPair({ clock: 'real', nodes: 'redis-server' });
    const socket = await dial((await pair.actor('A')).url);
    pair.link.hold();
    await pair.failover({ crash: true });
    return dropping([socket], () => pair.close());
  },
};

function stay(): void {
  setInterval(() => {}, 1000);
}

/** What is not an end of the process by itself happens when the parent sends the signal. */
const endings: Readonly<Record<string, () => unknown>> = {
  returning: () => {},
  exit: () => process.exit(0),
  exception: () => {
    throw new Error('on purpose');
  },
  rejection: () => void Promise.reject(new Error('on purpose')),
  signal: stay,
  handled: stay,
};

async function use(names: readonly string[], isOpen: boolean): Promise<void> {
  const closing: Close[] = [];
  for (const name of names) closing.push(await (situations[name] as () => Promise<Close>)());
  if (!isOpen) for (const close of closing) await close();
}

const [names = '', state = '', how = ''] = (isMainThread ? process.argv.slice(2) : workerData) as string[];
const inThread = /^thread (.*)$/.exec(how)?.[1];
if (inThread === undefined) {
  await use(names.split(','), state === 'open');
  // Before the parent hears that it may send the signal.
  if (how === 'handled') process.once('SIGTERM', () => process.exit(0));
  console.log('ready');
  endings[how]?.();
} else {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: [names, state, inThread === 'terminated' ? 'signal' : inThread],
    stdout: true,
  });
  worker.on('error', () => {});
  await once(worker.stdout, 'data');
  console.log('ready');
  if (inThread === 'terminated') await worker.terminate();
}
