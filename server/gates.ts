/** The states of a node that make it look closer before a command runs; none of them is set on a plain primary. */

/** `maxmemory` is set. */
export const GATE_LIMITED_MEMORY = 1;
/** The node follows a primary. */
export const GATE_REPLICA = 2;
/** CLIENT PAUSE or FAILOVER holds requests back. */
export const GATE_PAUSED = 4;
/** A script has run for so long that others are answered BUSY. */
export const GATE_BUSY = 8;
/** A dataset is being loaded. */
export const GATE_LOADING = 16;
/** `min-replicas-to-write` is set. */
export const GATE_MIN_REPLICAS = 32;
/** Writes are answered once a quorum of replicas has them. */
export const GATE_QUORUM = 64;
/** The last background save failed, and `stop-writes-on-bgsave-error` is set. */
export const GATE_DISK = 128;
/** Keys are on their way to another server (MIGRATE). */
export const GATE_MIGRATING = 256;
