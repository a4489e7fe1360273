/** The names of the faults and promises of an exploration. */

/** Every fault that an exploration knows. */
export const FAULTS = [
  'failover',
  'failover-behind',
  'restart-empty',
  'restart-disk',
  'node-pause',
  'client-pause',
  'client-death',
  'partition',
  'delay',
  'lost-request',
  'lost-reply',
  'connection-reset',
  'clock-jump',
  'clock-drift',
  'script-flush',
  'busy',
  'read-only',
  'out-of-memory',
] as const;

/**
 * A fault that a network or a process can suffer.
 *
 * | name | what happens |
 * |---|---|
 * | `failover` | the primary crashes or is demoted, and a replica is promoted |
 * | `failover-behind` | the same, after replication has stalled for a while: what was written last is lost |
 * | `restart-empty` | a node crashes, and comes back without its data |
 * | `restart-disk` | a node crashes, and comes back with its data |
 * | `node-pause` | a node's process stalls, as under SIGSTOP |
 * | `client-pause` | a client's process stalls, as in a long garbage collection |
 * | `client-death` | a client's process is killed; in half of the cases a new one starts |
 * | `partition` | a client and the nodes, or the primary and its replicas, cannot reach each other |
 * | `delay` | a client's requests or replies are late |
 * | `lost-request` | a client's connection breaks, and a request that was under way is lost |
 * | `lost-reply` | a client's connection breaks, and a reply that was under way is lost |
 * | `connection-reset` | a client's connections break |
 * | `clock-jump` | the wall clock of a node or client is set forward or back |
 * | `clock-drift` | the clock of a node or client runs 0.8 % too fast or too slow |
 * | `script-flush` | SCRIPT FLUSH on every node |
 * | `busy` | the primary runs a long script and answers BUSY |
 * | `read-only` | the primary becomes a replica, and its clients stay connected to it for a while |
 * | `out-of-memory` | the primary refuses writes with OOM |
 */
export type FaultName = (typeof FAULTS)[number];

/** The name of the client that looks whether the lock can be had, when everything is over. */
export const PROBE = 'probe';

/** Every promise that an exploration knows. */
export const PROMISES = [
  'mutual-exclusion',
  'fencing',
  'durable-acks',
  'permits',
  'no-orphan',
  'progress',
  'contended',
] as const;

/**
 * Something that a lock may promise.
 *
 * | name | what is promised |
 * |---|---|
 * | `mutual-exclusion` | two clients are never inside at the same time, unless both enter as `shared`; with fences, the resource decides |
 * | `fencing` | no fence is given to two clients, and no fence is smaller than one that was in use before it was asked for |
 * | `durable-acks` | every acknowledged write outlives the failovers |
 * | `permits` | no more permits are in use than the resource has |
 * | `no-orphan` | when the holder is gone, a new client gets the lock within twice the lease |
 * | `progress` | when the faults are over, somebody gets the lock |
 * | `contended` | in at least one world a client waited for another, and in at least one a fault struck; otherwise nothing is proved |
 */
export type PromiseName = (typeof PROMISES)[number];

/**
 * The promise that every exploration checks: nothing fails in a world that no client of it catches, and every world ends.
 * It cannot be left out, because a world that fails is judged only in part.
 */
export const NO_ERROR = 'no-error';

/** A broken promise, and what was observed. */
export interface Broken {
  readonly promise: string;
  readonly what: string;
}

/** True when both are the same promise, broken in the same way as far as that can be told: by the same error. */
export function isSame(one: Broken, other: Broken): boolean {
  return keyOf(one) === keyOf(other);
}

/** What findings of the same promise have in common: for errors, what failed. */
export function keyOf({ promise, what }: Broken): string {
  return promise === NO_ERROR ? `${promise} ${gist(what)}` : promise;
}

/** An error's text without numbers and tokens, which differ from world to world. */
function gist(what: string): string {
  return what.replace(/\S*\d\S*/g, '#');
}

const BROKEN: Readonly<Record<string, string>> = {
  [NO_ERROR]: 'Something failed',
  'mutual-exclusion': 'Mutual exclusion is broken',
  fencing: 'Fencing is broken',
  'durable-acks': 'Durability is broken',
  permits: 'The limit on permits is broken',
  'no-orphan': 'The lock is orphaned',
  progress: 'There is no progress',
};

/** Says in a sentence that a promise is broken, and how. */
export function brokenText({ promise, what }: Broken): string {
  return `${BROKEN[promise] ?? `${promise} is broken`}: ${ended(what)}`;
}

/** The text with a full stop, unless it has one. */
export function ended(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}
