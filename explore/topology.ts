/** The nodes of an exploration's worlds, as the user asks for them. */
import { badOption, checkInteger, checkNames } from '../base/options.ts';
import type { DialectName } from '../server/dialects/index.ts';
import type { Settings } from '../server/settings/settings.ts';

/** The nodes of a world. */
export interface Topology {
  /** How many independent primaries, as Redlock needs them; default 1. */
  readonly primaries?: number;
  /** How many replicas the primary has, or each primary of a cluster; default 1, or 0 with several independent primaries. */
  readonly replicas?: number;
  /** How many Sentinels decide on failovers; default 0: the exploration itself does what they do. */
  readonly sentinels?: number;
  /** How many primaries share the slots of a cluster, whose nodes decide on failovers by their votes; default: no cluster. */
  readonly cluster?: number;
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** The server that every node answers as. */
  readonly dialect?: DialectName;
}

/** How soon Sentinels or the nodes of a cluster find a node down, in milliseconds: worlds should not last longer than they need to. */
export const DOWN_AFTER = 1000;
/** The least that elects: with two primaries, none of them is a majority. */
const LEAST_CLUSTER = 3;

/** Throws TypeError for a topology that cannot be started. */
export function checkTopology(topology: Topology): void {
  checkNames(topology, ['primaries', 'replicas', 'sentinels', 'settings', 'dialect', 'cluster'], 'topology');
  const { primaries, replicas, sentinels, cluster } = topology;
  if (primaries !== undefined) checkInteger('topology.primaries', primaries, 1, 99);
  if (replicas !== undefined) checkInteger('topology.replicas', replicas, 0, 99);
  if (sentinels !== undefined) checkInteger('topology.sentinels', sentinels, 0, 99);
  if ((primaries ?? 1) > 1 && (sentinels ?? 0) > 0)
    throw badOption('topology.sentinels', sentinels, '0 with several primaries');
  if (cluster === undefined) return;
  checkInteger('topology.cluster', cluster, LEAST_CLUSTER, 99);
  for (const [name, value] of Object.entries({ primaries, sentinels })) {
    if (value !== undefined)
      throw badOption(`topology.${name}`, value, 'no value together with topology.cluster');
  }
}

/** How many primaries there are, and how many replicas each of them has. */
export function sizeOf({ cluster, primaries = cluster ?? 1, replicas }: Topology): {
  readonly primaries: number;
  readonly replicas: number;
} {
  return { primaries, replicas: replicas ?? (primaries > 1 && cluster === undefined ? 0 : 1) };
}
