/** The memory that connections use, and `maxmemory-clients`, which closes those that use the most. */

import type { Statistics } from '../figures/statistics.ts';
import type { HasClients, HasLog, HasSettings } from '../ports.ts';
import { bytesOf } from '../settings/parameters.ts';
import { type Client, NO_EVICT, PRIMARY_LINK, REPLICA_LINK } from './client.ts';

/** The bytes that a connection itself counts for, with its output buffer. */
const CONNECTION = 18 * 1024;
const SUBSCRIPTION = 64;
/** A lower limit than this counts as this one, in bytes. */
const LEAST_LIMIT = 128 * 1024;

/** Returns the memory of the transaction that is being queued, in bytes. */
export function queuedBytes({ transaction }: Client): number {
  if (transaction === undefined || transaction.queue.length === 0) return 0;
  let bytes = 8;
  for (const { argv } of transaction.queue) {
    bytes += 16;
    for (const word of argv) bytes += word.length;
  }
  return bytes;
}

/** Estimates the memory that redis-server would need for the connection, in bytes. */
export function memoryOf(client: Client): number {
  const subscriptions = client.subscriptions.total;
  const buffers = client.decoder.buffered + client.output.pending;
  return CONNECTION + SUBSCRIPTION * subscriptions + buffers + queuedBytes(client);
}

/**
 * Closes the largest clients until the others fit into `maxmemory-clients`
 * (https://redis.io/docs/latest/develop/reference/clients/#client-eviction).
 */
export function evictClients(
  server: HasClients & HasLog & HasSettings & { readonly stats: Statistics },
): void {
  const { settings, stats } = server;
  const allowed = bytesOf(settings['maxmemory-clients'], settings.maxmemory);
  if (allowed === 0) return;
  const limit = Math.max(allowed, LEAST_LIMIT);
  const clients = [...server.clients.values()]
    .filter((client) => !client.has(REPLICA_LINK | PRIMARY_LINK))
    .map((client) => ({ client, bytes: memoryOf(client) }))
    .sort((a, b) => b.bytes - a.bytes);
  let total = clients.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { client, bytes } of clients) {
    if (total <= limit) return;
    if (client.has(NO_EVICT)) continue;
    server.log(
      'warning',
      `Client ${client.id} is closed: the clients use more memory than maxmemory-clients`,
    );
    stats.evictedClients++;
    total -= bytes;
    client.cut();
  }
}
