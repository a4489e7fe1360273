/** The states of a node that require extra checks before a command runs. A plain primary has none of them. */

/** `maxmemory` is set. */
export const GATE_LIMITED_MEMORY = 1;
/** The node follows a primary. */
export const GATE_REPLICA = 2;
/** CLIENT PAUSE or FAILOVER holds requests back. */
export const GATE_PAUSED = 4;
/** A script has exceeded its time limit; other clients are answered BUSY. */
export const GATE_BUSY = 8;
/** A dataset is being loaded. */
export const GATE_LOADING = 16;
/** `min-replicas-to-write` is set. */
export const GATE_MIN_REPLICAS = 32;
/** A write is answered only when a quorum of replicas has it. */
export const GATE_QUORUM = 64;
/** The last background save failed, and `stop-writes-on-bgsave-error` is set. */
export const GATE_DISK = 128;
/** The node is part of a cluster: it serves some slots only. */
export const GATE_CLUSTER = 1024;
/** MIGRATE is sending keys to another server. */
export const GATE_MIGRATING = 256;
/** The append-only file cannot be written. */
export const GATE_AOF = 512;
