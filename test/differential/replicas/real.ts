/** A real server as the stage of a program, reached over TCP and a unix socket. */
import { connect, createServer, type Server as Listener, type Socket } from 'node:net';
import type { Bytes } from '../../../protocol/bytes.ts';
import { RawClient } from '../../support/raw-client.ts';
import { type RealRedis, startRedisServer } from '../../support/redis-server.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { until } from '../../support/until.ts';
import { PEERS, type PeerName, type Program } from './program.ts';
import type { Ear, Stage, TesterEnd } from './stage.ts';

/** What makes the server do nothing by itself, and end a BGSAVE soon. */
const QUIET = [
  ...['--repl-ping-replica-period', '36000', '--repl-timeout', '36000', '--repl-diskless-sync', 'no'],
  ...[
    '--repl-diskless-sync-delay',
    '0',
    '--hz',
    '500',
    '--dynamic-hz',
    'no',
    '--enable-debug-command',
    'yes',
  ],
];

/** How long something may take before it is taken never to happen, in milliseconds. */
const PATIENCE = 15_000;

function endOf(socket: Socket, ear: () => Ear | undefined): TesterEnd {
  socket.setNoDelay(true);
  let left = false;
  socket.on('data', (chunk) => ear()?.hear(chunk.toString('latin1')));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    if (!left) ear()?.closed();
  });
  return {
    send: (bytes) => void socket.write(bytes, 'latin1'),
    close: () => {
      left = true;
      socket.destroy();
    },
  };
}

export class RealStage implements Stage {
  readonly port: number;
  readonly peerPorts = new Map<PeerName, number>();
  onDial: Stage['onDial'] = () => {
    throw new Error('nobody listens');
  };
  readonly #redis: RealRedis;
  readonly #admin: RawClient;
  readonly #listeners: Listener[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(redis: RealRedis, admin: RawClient) {
    this.#redis = redis;
    this.port = redis.port;
    this.#admin = admin;
  }

  static async start(program: string, { settings }: Program): Promise<RealStage> {
    const args = [...QUIET, ...settings.flatMap(([name, value]) => [`--${name}`, value])];
    const redis = await startRedisServer({ tcp: true, program, args });
    const stage = new RealStage(redis, await RawClient.connect({ path: redis.path }));
    await stage.ask('DEBUG', 'SET-ACTIVE-EXPIRE', '0');
    for (const peer of PEERS) await stage.#listen(peer);
    return stage;
  }

  async #listen(peer: PeerName): Promise<void> {
    const listener = createServer((socket) => {
      this.#keep(socket);
      let ear: Ear | undefined;
      const end = endOf(socket, () => ear);
      ear = this.onDial(peer, end);
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    this.#listeners.push(listener);
    const address = listener.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    this.peerPorts.set(peer, address.port);
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async join(ear: Ear): Promise<TesterEnd> {
    const socket = connect(this.port, '127.0.0.1');
    this.#keep(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return endOf(socket, () => ear);
  }

  /** Rejects with the report of the server's crash when it has ended. */
  async ask(...[name = '', ...words]: readonly Bytes[]): Promise<RawReply> {
    try {
      return (await this.#admin.ask(name, ...words)).value;
    } catch (error) {
      if (this.#admin.ending === undefined) throw error;
      throw new Error(`the real server has hung up: ${await this.#redis.obituary()}`);
    }
  }

  /** Goes twice around the server's event loop, and once around ours. */
  async settle(): Promise<void> {
    await this.ask('PING');
    await this.ask('PING');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }

  async until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
    try {
      return await until(condition, { limitMs: PATIENCE });
    } catch {
      return condition();
    }
  }

  /** The server's clock has moved when ours has: it is the same. */
  async pass(): Promise<void> {
    const end = Date.now() + 10;
    await this.until(() => Date.now() > end);
  }

  async stop(): Promise<void> {
    this.#admin.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const listener of this.#listeners) listener.close();
    await this.#redis.stop();
  }
}
