/** startPair and startServers as the package exports them: the lab is loaded when the first of its nodes is started. */
import type * as lab from './pair.ts';
import './time/present.ts'; // At once: it keeps Node's own functions from before anybody replaces them.

type Start = (...args: unknown[]) => Promise<never>;

const startPairLater: Start = async (...args) => ((await import('./pair.ts')).startPair as Start)(...args);
const startServersLater: Start = async (...args) =>
  ((await import('./pair.ts')).startServers as Start)(...args);

/**
 * Starts a primary with its replicas, in sync: in a world of their own, or on the real clock over TCP, where traces are
 * not promised. Rejects when ioredis is not installed, and with TypeError for an option that is wrong.
 */
export const startPair = startPairLater as typeof lab.startPair;

/** Starts independent primaries, with replicas in sync. Rejects as `startPair` does. */
export const startServers = startServersLater as typeof lab.startServers;
