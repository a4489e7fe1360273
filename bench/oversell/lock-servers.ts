/** The lock servers of a step: one, a pair that fails over behind one address, or three independent ones. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { freePort, type RealRedis, startRedisServer } from '../../test/support/redis-server.ts';

/** Lock servers that can fail. */
export interface LockServers {
  /** The ports at which the service reaches them. */
  readonly ports: number[];
  /** Crashes the primary, some milliseconds after its replica last received data from it. */
  fail(): Promise<void>;
  stop(): Promise<void>;
}

/** How long the replica has received nothing when it is promoted, in milliseconds. */
export const BEHIND_MS = 100;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Forwards a port to the current primary. */
class Address {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  target: number;

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((inward) => {
      const outward = connect(this.target, '127.0.0.1');
      for (const socket of [inward, outward]) {
        this.#sockets.add(socket);
        socket.setNoDelay(true);
        socket.on('error', () => {});
        socket.on('close', () => {
          this.#sockets.delete(socket);
          inward.destroy();
          outward.destroy();
        });
      }
      inward.pipe(outward).pipe(inward);
    });
  }

  static async open(target: number, port: number): Promise<Address> {
    const address = new Address(target);
    await new Promise<void>((resolve) => address.#server.listen(port, '127.0.0.1', resolve));
    return address;
  }

  /** Breaks every connection. Later ones lead to the new target. */
  move(target: number): void {
    this.target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** A primary with one replica. */
export async function startPair(): Promise<LockServers> {
  const args = ['--repl-diskless-sync-delay', '0'];
  const nodes = [await startRedisServer({ tcp: true, args }), await startRedisServer({ tcp: true, args })];
  const admins = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  const port = await freePort();
  const address = await Address.open(nodes[0]!.port, port);
  let primary = 0;
  const follow = async (): Promise<void> => {
    await admins[1 - primary]!.replicaof('127.0.0.1', nodes[primary]!.port);
    while ((await admins[primary]!.call('WAIT', '1', '20')) !== 1) await pause(5);
  };
  await follow();
  return {
    ports: [port],
    fail: async () => {
      await admins[1 - primary]!.replicaof('NO', 'ONE');
      await pause(BEHIND_MS);
      primary = 1 - primary;
      address.move(nodes[primary]!.port);
      await follow();
    },
    stop: async () => {
      address.close();
      for (const admin of admins) admin.disconnect();
      for (const node of nodes) await node.stop();
    },
  };
}

/** Independent servers. `fail` restarts one after another without its data. */
export async function startIndependent(count: number): Promise<LockServers> {
  const nodes: RealRedis[] = [];
  for (let i = 0; i < count; i++) nodes.push(await startRedisServer({ tcp: true }));
  const admins = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
  let next = 0;
  return {
    ports: nodes.map(({ port }) => port),
    fail: async () => {
      const admin = admins[next++ % count]!;
      await admin.flushall();
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    },
    stop: async () => {
      for (const admin of admins) admin.disconnect();
      for (const node of nodes) await node.stop();
    },
  };
}
