/** Nodes of lostlock and of redis-server, asked and followed alike. */
import { createServer, connect as dial, type Server as Listener, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, expect } from 'vitest';
import { type LostlockServer, type StartOptions, startServer } from '../../index.ts';
import { RealClockLane } from '../../lab/real-clock/lane.ts';
import type { Server } from '../../server/server.ts';
import { INSTALLED } from './oracles.ts';
import { startRedisServer } from './redis-server.ts';
import { until } from './until.ts';

/** Everything that ends with the test. */
export const cleanups: (() => Promise<unknown> | unknown)[] = [];

/** Call it at the top of a test file: everything that a test starts ends with that test. */
export function cleanUpAfterEachTest(): void {
  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean();
  });
}

export type Kind = 'lostlock' | 'redis';

/** A client that ends with the test. */
export function clientOf(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1', { protocol: 2 });
  redis.on('error', () => {});
  cleanups.push(() => redis.disconnect());
  return redis;
}

/** A node of either kind, and the requests to it. */
export class Node {
  readonly port: number;
  readonly redis: Redis;
  /** Ends the process, if this object started it. */
  readonly stop: () => Promise<unknown>;

  constructor(port: number, stop: () => Promise<unknown> = async () => {}) {
    this.port = port;
    this.stop = stop;
    this.redis = clientOf(port);
  }

  async ask(...words: (string | Buffer)[]): Promise<unknown> {
    const [name = '', ...args] = words;
    return this.redis.call(String(name), args).catch((error: Error) => error.message);
  }

  /** Fields of INFO replication, or of the section named. */
  async fields(names: readonly string[], section = 'replication'): Promise<Record<string, string>> {
    const text = String(await this.ask('INFO', section));
    const found = [...text.matchAll(/^(\w+):(.*)\r$/gm)].map(([, name = '', value = '']) => [name, value]);
    return Object.fromEntries(found.filter(([name = '']) => names.includes(name)));
  }

  async field(name: string, section?: string): Promise<string | undefined> {
    return (await this.fields([name], section))[name];
  }

  async follow(primary: { readonly port: number }): Promise<void> {
    expect(await this.ask('REPLICAOF', '127.0.0.1', String(primary.port))).toBe('OK');
    await until(async () => (await this.field('master_link_status')) === 'up', { what: 'the link' });
  }

  /** Resolves when the primary's stream has arrived. */
  async caughtUp(primary: Node): Promise<void> {
    await until(
      async () =>
        (await this.field('master_repl_offset')) === (await primary.field('master_repl_offset')) &&
        (await this.field('master_replid')) === (await primary.field('master_replid')),
      { what: 'the stream' },
    );
  }
}

/** A node of ours, whose internals a test can inspect. */
export class OwnNode extends Node {
  readonly server: Server;

  constructor(server: LostlockServer) {
    super(server.port, () => server.stop());
    this.server = server.node;
  }
}

/** Starts a lostlock, which ends with the test. */
export async function ours(
  settings: Record<string, number> = {},
  options: Pick<StartOptions, 'dialect' | 'strict'> = {},
): Promise<OwnNode> {
  const server = await startServer({ dialect: INSTALLED, strict: false, settings, ...options });
  cleanups.push(() => server.stop());
  return new OwnNode(server);
}

/** Starts a redis-server, or another `program` that takes its arguments; it ends with the test. */
export async function real(settings: Record<string, number | string> = {}, program?: string): Promise<Node> {
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = await startRedisServer({
    tcp: true,
    args: ['--repl-diskless-sync-delay', '0', ...args],
    ...(program === undefined ? {} : { program }),
  });
  cleanups.push(() => server.stop());
  return new Node(server.port, () => server.stop());
}

/** Starts a node, which ends with the test. */
export function start(kind: Kind, settings?: Record<string, number>): Promise<Node> {
  return kind === 'lostlock' ? ours(settings) : real(settings);
}

/** A proxy before a primary: it can hold back the stream and the replica's messages. */
export class HeldLink {
  readonly commands = new RealClockLane('primary', 'replica', Math.random);
  readonly acks = new RealClockLane('replica', 'primary', Math.random);
  readonly #server: Listener;
  readonly #sockets = new Set<Socket>();
  port = 0;

  constructor(target: number) {
    this.#server = createServer((near) => {
      const far = dial(target, '127.0.0.1');
      const lead = (from: Socket, to: Socket, lane: RealClockLane): void => {
        this.#sockets.add(from);
        from.on('error', () => from.destroy());
        from.on('data', (chunk) => lane.pass(from, chunk, (content) => void to.write(content as Uint8Array)));
        from.on('close', () => to.destroy());
      };
      lead(far, near, this.commands);
      lead(near, far, this.acks);
    });
  }

  /** Breaks the connections; they may be dialled again. */
  reset(): void {
    for (const lane of [this.commands, this.acks]) lane.clear();
    for (const socket of this.#sockets) socket.destroy();
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    this.port = typeof address === 'object' && address !== null ? address.port : 0;
    cleanups.push(() => {
      this.#server.close();
      this.reset();
    });
    return this;
  }
}
