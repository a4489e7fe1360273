/** startCluster: a cluster of servers, or a cluster of the lab, over TCP in real time or in a world with a virtual clock. */

import { badOption, checkFlag, checkInteger, checkNames } from '../base/options.ts';
import type { DialectName } from '../server/dialects/index.ts';
import type { Settings } from '../server/settings/settings.ts';
import {
  type ClusterOptions,
  type ClusterSize,
  checkClusterSettings,
  readSize,
  startServersOfCluster,
} from '../start/cluster.ts';
import { checkSettings } from '../start/node-options.ts';
import { checkOwnCommands } from '../start/own/declare.ts';
import type { OwnCommands } from '../start/own/own-command.ts';
import type { LostlockCluster } from '../start/running/cluster.ts';
import { replaceNodeFunctions } from './node-functions/node-functions.ts';
import { RealClockCluster } from './real-clock/cluster.ts';
import { checkDialects, dialectFor } from './replica-group/dialects.ts';
import { refuseTls, refuseVirtual } from './replica-group/layout.ts';
import { type ClusterConstructor, loadClusterClient } from './virtual/client.ts';
import { LabCluster } from './virtual/cluster.ts';
import { checkWorld, World, type WorldOptions } from './virtual/world.ts';

/** The options of a cluster of the lab, on either clock. */
export interface LabClusterOptions extends ClusterSize {
  /** How long a node may be silent before the others suspect it, in milliseconds of the cluster's clock; default 5000. */
  readonly nodeTimeout?: number;
  /** The server that the nodes answer as; 'redis-8.2' by default. */
  readonly dialect?: DialectName;
  /** True: commands and options that the dialect's server does not have are refused. */
  readonly strict?: boolean;
  /** Commands of your own, which every node has: docs/commands-of-your-own.md. */
  readonly commands?: OwnCommands;
  /** Parameters of every node, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
}

/** The options of a cluster on the virtual clock. */
export interface VirtualClusterOptions extends WorldOptions, LabClusterOptions {
  /** Time moves only when the test moves it. */
  readonly clock: 'virtual';
}

/** The options of a cluster of the lab in real time. */
export interface RealClockClusterOptions extends LabClusterOptions {
  /** Real time over TCP, with links that a test holds and cuts. */
  readonly clock: 'real';
  /** The TCP port of the first node; the others take the ports after it. 0, the default, picks free ones. */
  readonly port?: number;
  /** True: what happens is recorded, for `timelineData` and `timeline`. Default false. */
  readonly trace?: boolean;
}

const OPTIONS = [
  'primaries',
  'replicas',
  'clock',
  'nodeTimeout',
  'dialect',
  'strict',
  'commands',
  'settings',
];

/** Throws TypeError for a wrong option. Returns what every node is started with. @param names further options */
function readOptions(options: LabClusterOptions, names: readonly string[]) {
  checkNames(options, [...OPTIONS, ...names], 'startCluster');
  const size = readSize(options);
  const { nodeTimeout = 5000, settings = {}, dialect, strict, commands } = options;
  checkInteger('nodeTimeout', nodeTimeout, 100, 2 ** 31 - 1);
  checkDialects(options, []);
  checkOwnCommands(commands, [dialectFor(options, '')]);
  checkSettings(settings, { dialect, stores: true, isInLab: true });
  checkClusterSettings(settings);
  refuseTls(settings);
  const node = {
    settings: { ...settings, 'cluster-node-timeout': nodeTimeout },
    ...(commands !== undefined && { commands }),
    ...(dialect !== undefined && { dialect }),
    ...(strict !== undefined && { strict }),
  };
  return { size, nodeTimeout, node };
}

/** Loads ioredis after Node's functions are replaced, because another cluster may later need it in a world. */
function clientIfInstalled(): Promise<ClusterConstructor | undefined> {
  replaceNodeFunctions();
  return loadClusterClient().catch(() => undefined);
}

async function startVirtualCluster(options: VirtualClusterOptions): Promise<LabCluster> {
  const { size, node } = readOptions(options, ['seed', 'start', 'patience', 'network']);
  checkWorld(options);
  const ioredis = await clientIfInstalled();
  const cluster = new LabCluster(new World(options), size, node, ioredis);
  await cluster.start();
  return cluster;
}

async function startRealCluster(options: RealClockClusterOptions): Promise<RealClockCluster> {
  refuseVirtual(options, 'startCluster');
  const { size, nodeTimeout, node } = readOptions(options, ['port', 'trace']);
  const { port = 0, trace = false } = options;
  checkInteger('port', port, 0, 65535 - size.primaries * (size.replicas + 1));
  checkFlag('trace', trace);
  const cluster = new RealClockCluster(size, node, await clientIfInstalled(), trace);
  await cluster.start(port, nodeTimeout);
  return cluster;
}

/** Starts a cluster of servers over TCP, in real time. Rejects with TypeError for a wrong option. */
export async function startCluster(options?: ClusterOptions): Promise<LostlockCluster>;
/** Starts a cluster in a world of its own, on a virtual clock. Rejects with TypeError for a wrong option. */
export async function startCluster(options: VirtualClusterOptions): Promise<LabCluster>;
/** Starts a cluster over TCP in real time, behind the lab's links. Rejects with TypeError for a wrong option. */
export async function startCluster(options: RealClockClusterOptions): Promise<RealClockCluster>;
export async function startCluster(
  options: ClusterOptions | VirtualClusterOptions | RealClockClusterOptions = {},
): Promise<LostlockCluster | LabCluster | RealClockCluster> {
  // A caller without types may pass null, which is refused below.
  const clock: unknown = (options as typeof options | null)?.clock;
  if (clock === 'virtual') return startVirtualCluster(options as VirtualClusterOptions);
  if (clock === 'real') return startRealCluster(options as RealClockClusterOptions);
  if (clock !== undefined) throw badOption('clock', clock, "'real' or 'virtual'");
  return startServersOfCluster(options as ClusterOptions);
}
