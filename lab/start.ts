/** startPair, startServers and startCluster as the package exports them. They load the lab on the first call. */
import type * as clusters from './cluster.ts';
import type * as lab from './pair.ts';
// Imported at once, because it saves Node's own functions before anything can replace them.
import './time/current-world.ts';

type Start = (...args: unknown[]) => Promise<never>;

// Kept, because each import() asks the module loader again, which takes longer than to start a node.
let pairs: typeof lab | undefined;
let clustered: typeof clusters | undefined;

const startPairLater: Start = async (...args) => {
  pairs ??= await import('./pair.ts');
  return (pairs.startPair as Start)(...args);
};
const startServersLater: Start = async (...args) => {
  pairs ??= await import('./pair.ts');
  return (pairs.startServers as Start)(...args);
};
const startClusterLater: Start = async (...args) => {
  clustered ??= await import('./cluster.ts');
  return (clustered.startCluster as Start)(...args);
};

/**
 * Starts a cluster: primaries that share the slots, and their replicas, in sync. By default over TCP in real time; with
 * `clock: 'virtual'` in a world of its own. Rejects with TypeError for a wrong option.
 */
export const startCluster = startClusterLater as typeof clusters.startCluster;

/**
 * Starts a primary with its replicas, in sync: by default in a world of their own; with `clock: 'real'`, over TCP in
 * real time, where runs are not reproducible. Rejects when ioredis is not installed, and with TypeError for a wrong
 * option.
 */
export const startPair = startPairLater as typeof lab.startPair;

/** Starts independent primaries, with replicas in sync. Rejects as `startPair` does. */
export const startServers = startServersLater as typeof lab.startServers;
