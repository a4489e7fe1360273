/** startCluster without a clock: servers in real time, primaries that share the slots, and their replicas, each with ports of its own. */

import { defined } from '../base/defined.ts';
import { badOption, checkInteger, checkNames } from '../base/options.ts';
import { addressOf, arrange, lackOf, showReplicas, showsReplicas } from '../cluster/arrange.ts';
import { ClusterNode } from '../cluster/node.ts';
import { type Bytes, fromText } from '../protocol/bytes.ts';
import type { DialectName } from '../server/dialects/index.ts';
import { realDelay } from '../server/host/real-time.ts';
import type { LogLevel } from '../server/ports.ts';
import type { Settings } from '../server/settings/settings.ts';
import { reachableHost } from './listening.ts';
import { checkSettingNames } from './node-options.ts';
import type { OwnCommands } from './own/own-command.ts';
import { LostlockCluster } from './running/cluster.ts';
import type { LostlockServer } from './running/server.ts';
import { startServer } from './start.ts';
import type { TlsOptions } from './tls.ts';

/** How many nodes a cluster has. */
export interface ClusterSize {
  /** The primaries, which share the slots; default 3. */
  readonly primaries?: number;
  /** The replicas of each primary; default 0. */
  readonly replicas?: number;
}

/** The options of a cluster of servers. */
export interface ClusterOptions extends ClusterSize {
  /** Servers live in real time. With a clock, `startCluster` starts a cluster of the lab. */
  readonly clock?: undefined;
  /**
   * The port of the first node; the others take the ports after it, and the bus of each the port 10,000 above. By
   * default free ports.
   */
  readonly port?: number;
  /** The address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** The password that AUTH requires, and with which replicas log in; none by default. */
  readonly password?: string;
  /**
   * TLS with these certificates for clients, replication and the bus. There is no port without TLS. The settings `tls-port`,
   * for the first node, and `tls-cert-file` and so on do the same.
   */
  readonly tls?: Omit<TlsOptions, 'port'>;
  /** How long a node may be silent before the others suspect it, in milliseconds; default 5000. */
  readonly nodeTimeout?: number;
  /** The server that the nodes answer as; 'redis-8.2' by default. */
  readonly dialect?: DialectName;
  /** True: commands and options that the dialect's server does not have are refused. */
  readonly strict?: boolean;
  /** Commands of your own, which every node has: docs/commands-of-your-own.md. */
  readonly commands?: OwnCommands;
  /** Any other parameter of every node, by its name in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** Receives every line of the log, with the role of the node that wrote it. By default nothing is logged. */
  readonly log?: (level: LogLevel, text: string, role: 'primary' | 'replica' | 'sentinel') => void;
}

const OPTIONS = [
  'primaries',
  'replicas',
  'clock',
  'port',
  'host',
  'password',
  'tls',
  'nodeTimeout',
  'dialect',
  'strict',
  'commands',
  'settings',
  'log',
];

/** The parameters that a cluster sets by itself. */
const OWN = ['port', 'cluster-enabled', 'cluster-port', 'cluster-config-file', 'dir', 'databases'] as const;

/**
 * The node timeout while a cluster is being set up, in milliseconds. All nodes connect to each other at the same time, in
 * one process. With a short timeout, a slow machine would give connections up before they are established, again and again.
 */
export const SETUP_TIMEOUT = 15_000;

/** Throws TypeError for a wrong number of nodes. @returns the numbers */
export function readSize({ primaries = 3, replicas = 0 }: ClusterSize): Required<ClusterSize> {
  checkInteger('primaries', primaries, 1, 100);
  checkInteger('replicas', replicas, 0, 10);
  return { primaries, replicas };
}

/** Throws TypeError for a parameter that a cluster sets by itself. */
export function checkClusterSettings(settings: Partial<Settings>): void {
  const timeout = settings['cluster-node-timeout'];
  if (timeout !== undefined) {
    throw badOption('settings.cluster-node-timeout', timeout, 'no value (use the option nodeTimeout)');
  }
  for (const name of OWN) {
    if (settings[name] === undefined) continue;
    throw badOption(`settings.${name}`, settings[name], 'no value (startCluster sets it)');
  }
}

/** How long a cluster may take until all nodes see each other, and another such time for each node, in milliseconds. */
const PATIENCE = 30_000;
const PATIENCE_PER_NODE = 1000;

/**
 * Makes nodes that listen a cluster: gives them all the same view, and waits until each knows the others and the replicas are in sync.
 * @param ip the address of all nodes
 * @param primaries how many of the nodes, the first ones, are primaries
 * @param wait lets a little time pass
 * @param patience how long to wait, in milliseconds of the nodes' clock
 * @throws Error that names the nodes that do not see each other
 */
export async function formCluster(
  nodes: readonly ClusterNode[],
  ip: Bytes,
  primaries: number,
  wait: () => Promise<void>,
  patience = PATIENCE + PATIENCE_PER_NODE * nodes.length,
): Promise<void> {
  const now = (): number => nodes[0]?.host.clock.now() ?? 0;
  const end = now() + patience;
  const settle = async (lack: (node: ClusterNode) => string | undefined): Promise<void> => {
    while (nodes.some((node) => lack(node) !== undefined)) {
      if (now() > end) throw new Error(`lostlock: the cluster does not form: ${lacks(nodes, lack)}`);
      await wait();
    }
  };
  arrange(
    nodes.map(({ cluster }) => ({ cluster, ip })),
    primaries,
  );
  await settle(lackOf);
  for (const node of nodes) showReplicas(node);
  await settle((node) => (showsReplicas(node) ? undefined : 'does not hear of the replicas'));
}

/** What the nodes lack, as text. */
function lacks(nodes: readonly ClusterNode[], lack: (node: ClusterNode) => string | undefined): string {
  return nodes
    .flatMap((node) => {
      const what = lack(node);
      return what === undefined ? [] : [`${addressOf(node.cluster.myself)} ${what}`];
    })
    .join('; ');
}

function pause(): Promise<void> {
  return new Promise((wake) => void realDelay(wake, 1));
}

function memberOf({ node: { cluster } }: LostlockServer): ClusterNode {
  if (!(cluster instanceof ClusterNode)) throw new Error('lostlock: the server is not a cluster node');
  return cluster;
}

/** Returns whether the node serves the slot, as it sees the cluster itself. */
function serves(server: LostlockServer, slot: number): boolean {
  const { cluster } = memberOf(server);
  return cluster.owners[slot] === cluster.myself;
}

/**
 * Starts a cluster of servers. It is set up at once: the slots are shared out, the replicas are in sync, and every
 * node knows all others. Rejects with a TypeError that names a wrong option, with Node's error for a port in use, and with an
 * Error that names nodes that do not see each other within half a minute and a second for each node.
 */
export async function startServersOfCluster(options: ClusterOptions = {}): Promise<LostlockCluster> {
  checkNames(options, OPTIONS, 'startCluster');
  const { primaries, replicas } = readSize(options);
  const { nodeTimeout = 5000, settings = {}, port = 0 } = options;
  const count = primaries * (replicas + 1);
  checkInteger('nodeTimeout', nodeTimeout, 100, 2 ** 31 - 1);
  checkInteger('port', port, 0, 55535 - count);
  checkSettingNames(settings);
  checkClusterSettings(settings);
  const firstTls = settings['tls-port'] ?? 0;
  if (firstTls !== 0) {
    checkInteger("settings['tls-port']", firstTls, 1, 55535 - count);
    if (port !== 0)
      throw badOption('port', port, "no value with settings['tls-port'] (the nodes have no plain ports)");
  }
  const tlsPort = (options.tls as TlsOptions | undefined)?.port;
  if (tlsPort !== undefined) {
    throw badOption('tls.port', tlsPort, 'no value (with tls, a cluster has no plain ports)');
  }
  const { primaries: _p, replicas: _r, clock: _c, nodeTimeout: _t, ...rest } = options;
  const nodes: LostlockServer[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const own = {
        // The nodes speak TLS with each other too, unless the settings say otherwise.
        ...(firstTls !== 0 && { 'tls-cluster': true, 'tls-replication': true }),
        // The nodes log in with each other, as with the option `password`.
        ...defined({ masterauth: settings.requirepass }),
        ...settings,
        ...(firstTls !== 0 && { 'tls-port': firstTls + i }),
        'cluster-enabled': true,
        'cluster-node-timeout': Math.max(nodeTimeout, SETUP_TIMEOUT),
        ...(options.tls !== undefined && { 'tls-cluster': true, 'tls-replication': true }),
      };
      nodes.push(await startServer({ ...rest, port: port === 0 ? 0 : port + i, settings: own }));
    }
    await formCluster(nodes.map(memberOf), fromText(reachableHost(options)), primaries, pause);
    for (const { node } of nodes) node.settings['cluster-node-timeout'] = nodeTimeout;
    return new LostlockCluster(nodes, serves);
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw error;
  }
}
