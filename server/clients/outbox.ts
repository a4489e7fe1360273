/** The order in which clients get what is written for them in one event: last in, first out, as redis-server writes. */
import type { Client } from './client.ts';

/**
 * Clients with output that waits for the end of the present event. redis-server adds each to the head of its list, with
 * its first byte: a caller is written before those whom its command notifies, and after those served by the time it is
 * answered (blocked clients, MONITOR, replicas). Recorded in test/golden/write-order.json.
 */
export class Outbox {
  #outputs: { flush(): void }[] = [];

  /** A client will have output, or is to be closed. An output adds itself once until it is flushed. */
  add(output: { flush(): void }): void {
    this.#outputs.push(output);
  }

  /** Hands everything over. */
  flush(): void {
    const outputs = this.#outputs;
    if (outputs.length === 0) return;
    this.#outputs = [];
    for (let at = outputs.length - 1; at >= 0; at--) outputs[at]!.flush();
  }
}

/**
 * Commands of redis-server 7.0 that write their reply before they tell of any event; SET with GET does so, too. The
 * exceptions are events that come before the reply all the same.
 */
const REPLY_FIRST: ReadonlySet<string> = new Set(
  `getset getdel getex expire pexpire expireat pexpireat bitfield exec
   lpush rpush lpushx rpushx lset lpop rpop lmpop blpop brpop blmpop sinterstore sunionstore sdiffstore
   hset hsetnx hmset hincrby hincrbyfloat zadd zincrby geoadd zpopmin zpopmax zmpop bzpopmin bzpopmax bzmpop
   zunionstore zinterstore zdiffstore zrangestore
   xadd xsetid xreadgroup xclaim xautoclaim xgroup|create xgroup|destroy xgroup|setid`.split(/\s+/),
);
const DELETES_FIRST: ReadonlySet<string> = new Set([
  'expire',
  'pexpire',
  'expireat',
  'pexpireat',
  'sinterstore',
]);

/** Events that come while a command looks keys up and makes them, before any reply. */
const COMES_EARLY: ReadonlySet<string> = new Set(['new', 'keymiss', 'expired', 'evicted']);

/** A client's command tells of an event: the client takes its place in the order of writes, where its reply comes first. */
export function takePlace(client: Client, event: string): void {
  const name = client.lastCommand?.fullName ?? '';
  if (!REPLY_FIRST.has(name) || COMES_EARLY.has(event)) return;
  if (event !== 'del' || !DELETES_FIRST.has(name)) client.output.reserve();
}
