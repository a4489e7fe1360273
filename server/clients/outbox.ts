/** The order in which clients are sent their output of one event: last in, first out, as in redis-server. */
import type { Client } from './client.ts';

/**
 * Clients with output that waits for the end of the current event. redis-server adds a client to the head of its list
 * with its first byte of output. So a caller is written before the clients that its command notifies, and after the
 * clients that were served before its reply (blocked clients, MONITOR, replicas). Recorded in
 * test/golden/write-order.json.
 */
export class Outbox {
  #outputs: { flush(): void }[] = [];
  /**
   * Asked before output is sent. While it returns false, the output stays queued: the writes that it acknowledges are not
   * on the disk yet. undefined: output is sent at once.
   */
  mayLeave: (() => boolean) | undefined;

  /**
   * Adds an output that will have bytes to send, or whose client is to be closed. An output adds itself once until it
   * is flushed.
   */
  add(output: { flush(): void }): void {
    this.#outputs.push(output);
  }

  /** Hands all output to the connections. */
  flush(): void {
    const outputs = this.#outputs;
    if (outputs.length === 0 || this.mayLeave?.() === false) return;
    this.#outputs = [];
    for (let at = outputs.length - 1; at >= 0; at--) outputs[at]!.flush();
  }
}

/**
 * Commands of redis-server 7.0 that write their reply before they report a keyspace event; SET with GET does so too.
 * `COMES_EARLY` lists the events that precede the reply even for these.
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

/** Events that occur while a command looks up or creates keys, before any reply. */
const COMES_EARLY: ReadonlySet<string> = new Set(['new', 'keymiss', 'expired', 'evicted']);

/**
 * Called when a client's command reports an event. If the command replies first, the client takes its place in the
 * order of writes.
 */
export function takePlace(client: Client, event: string): void {
  const name = client.lastCommand?.fullName ?? '';
  if (!REPLY_FIRST.has(name) || COMES_EARLY.has(event)) return;
  if (event !== 'del' || !DELETES_FIRST.has(name)) client.output.reserve();
}
