/** The nodes of an exploration's worlds, as the user asks for them and as the lab starts them. */
import { badOption, checkInteger, checkNames } from '../embed/options.ts';
import { startPair, startServers } from '../lab/start.ts';
import type { ReplicaSet } from '../lab/virtual/set.ts';
import type { World } from '../lab/virtual/world.ts';
import type { DialectName } from '../server/dialects/index.ts';
import type { Settings } from '../server/settings/settings.ts';

/** The nodes of a world. */
export interface Topology {
  /** How many independent primaries, as Redlock needs them; default 1. */
  readonly primaries?: number;
  /** How many replicas the primary has; default 1, or 0 when there are several primaries. */
  readonly replicas?: number;
  /** How many Sentinels decide on failovers; default 0: the exploration itself does what they do. */
  readonly sentinels?: number;
  /** Not supported yet. */
  readonly cluster?: never;
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** The server that every node answers as. */
  readonly dialect?: DialectName;
}

/** How soon Sentinels find a primary down, in milliseconds: worlds should not last longer than they need to. */
const DOWN_AFTER = 1000;

/** Throws TypeError for a topology that cannot be started. */
export function checkTopology(topology: Topology): void {
  checkNames(topology, ['primaries', 'replicas', 'sentinels', 'settings', 'dialect', 'cluster'], 'topology');
  const { primaries, replicas, sentinels, cluster } = topology as Topology & { cluster?: unknown };
  if (cluster !== undefined) {
    throw badOption('topology.cluster', cluster, 'primaries, replicas and sentinels: worlds have no cluster');
  }
  if (primaries !== undefined) checkInteger('topology.primaries', primaries, 1, 99);
  if (replicas !== undefined) checkInteger('topology.replicas', replicas, 0, 99);
  if (sentinels !== undefined) checkInteger('topology.sentinels', sentinels, 0, 99);
  if ((primaries ?? 1) > 1 && (sentinels ?? 0) > 0)
    throw badOption('topology.sentinels', sentinels, '0 with several primaries');
}

/** The nodes of one world. */
export interface Nodes {
  readonly world: World;
  /** Each primary with its replicas. */
  readonly sets: readonly ReplicaSet[];
  close(): Promise<void>;
}

/** Starts the nodes in a world of their own. */
export async function startNodes(topology: Topology, seed: number, jitter: number): Promise<Nodes> {
  const { primaries = 1, replicas = primaries > 1 ? 0 : 1, sentinels = 0, settings, dialect } = topology;
  const common = {
    seed,
    patience: 1e9,
    network: { latency: 1, jitter },
    ...(settings !== undefined && { settings }),
    ...(dialect !== undefined && { dialect }),
  };
  if (primaries > 1) return await startServers({ ...common, primaries, replicas });
  const pair = await startPair({
    ...common,
    replicas,
    ...(sentinels > 0 && { sentinels: { count: sentinels, downAfter: DOWN_AFTER } }),
  });
  return { world: pair.world, sets: [pair.set], close: () => pair.close() };
}
