/** The ways a lock library reaches a server: each client, over TCP and, for ioredis, in memory. */
import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient } from 'redis';
import type { LostlockServer } from '../../index.ts';

/** An ioredis client of either version; the tests use what both have. */
export type AnyRedis = Redis6;

/** One way to connect and disconnect. */
export interface Way {
  readonly name: string;
  open(server: LostlockServer): AnyRedis;
}

const quiet = { maxRetriesPerRequest: 2 };

function ioredis(name: string, make: (server: LostlockServer) => AnyRedis): Way {
  return {
    name,
    open(server) {
      const redis = make(server);
      redis.on('error', () => {});
      return redis;
    },
  };
}

/** Version 5 behaves the same in everything used here, but has other types. */
const five = Redis5 as unknown as typeof Redis6;

export const ioredisWays: readonly Way[] = [
  ioredis('ioredis 6 over TCP', (server) => new Redis6(server.url, quiet)),
  ioredis('ioredis 6 in memory', (server) => new Redis6({ ...quiet, Connector: server.connector })),
  ioredis('ioredis 6 with RESP2 over TCP', (server) => new Redis6(server.url, { ...quiet, protocol: 2 })),
  ioredis('ioredis 5 over TCP', (server) => new five(server.url, quiet)),
  ioredis('ioredis 5 in memory', (server) => new five({ ...quiet, Connector: server.connector })),
];

/** A connected node-redis client. */
export async function nodeRedis(server: LostlockServer, protocol: 2 | 3 = 3) {
  const client = createClient({ url: server.url, RESP: protocol });
  client.on('error', () => {});
  await client.connect();
  return client;
}
