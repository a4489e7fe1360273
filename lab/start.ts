/** startPair, startServers and startCluster as the package exports them. They load the lab on the first call. */
import { realSoon } from '../server/host/real-time.ts';
import { hasCompiled, keepCompiled } from '../start/running/kept-code.ts';
import type * as clusters from './cluster.ts';
import type * as lab from './pair.ts';
// Imported at once, because it saves Node's own functions before anything can replace them.
import './time/current-world.ts';

/** A function of a module that is loaded on the first call. */
function later<M extends object, K extends keyof M>(load: () => Promise<M>, name: K): M[K] {
  // Kept, because each import() asks the module loader again, which takes longer than to start a node.
  let loaded: M | undefined;
  const start = async (...args: unknown[]): Promise<unknown> => {
    const isFirst = loaded === undefined;
    loaded ??= await load();
    const started = await (loaded[name] as (...all: unknown[]) => Promise<unknown>)(...args);
    if (isFirst && hasCompiled()) realSoon(keepCompiled);
    return started;
  };
  return start as M[K];
}

/**
 * Starts a cluster: primaries that share the slots, and their replicas, in sync. By default over TCP in real time; with
 * `clock: 'virtual'` in a world of its own. Rejects with TypeError for a wrong option.
 */
export const startCluster: typeof clusters.startCluster = later(() => import('./cluster.ts'), 'startCluster');

/**
 * Starts a primary with its replicas, in sync: by default in a world of their own; with `clock: 'real'`, over TCP in
 * real time, where runs are not reproducible. Rejects when ioredis is not installed, and with TypeError for a wrong
 * option.
 */
export const startPair: typeof lab.startPair = later(() => import('./pair.ts'), 'startPair');

/** Starts independent primaries, with replicas in sync. Rejects as `startPair` does. */
export const startServers: typeof lab.startServers = later(() => import('./pair.ts'), 'startServers');
