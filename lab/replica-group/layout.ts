/** How many sets of nodes `startPair` and `startServers` start, how large they are, and what their nodes are called. */

import { badOption, checkFlag, checkInteger, checkNames } from '../../base/options.ts';
import { parameters, type Settings } from '../../server/settings/settings.ts';
import { checkSettings } from '../../start/node-options.ts';
import { checkOwnCommands } from '../../start/own/declare.ts';
import type { OwnCommands } from '../../start/own/own-command.ts';
import { readSentinels, type SentinelsOptions } from '../../start/sentinel-options.ts';
import { checkDialects, type DialectOptions, dialectFor } from './dialects.ts';

/** The nodes of one set, by role. */
export interface NodesInRoles<N> {
  /** The current primary. */
  readonly primary: N;
  /** The other nodes. */
  readonly replicas: readonly N[];
}

/** All nodes of the sets, the primaries first. */
export function primariesFirst<N>(sets: readonly NodesInRoles<N>[]): readonly N[] {
  return [...sets.map((set) => set.primary), ...sets.flatMap((set) => set.replicas)];
}

/** How many sets to start and how large they are: independent primaries, and replicas of each. */
export interface SetSizes {
  readonly primaries?: number;
  readonly replicas?: number;
}

/** The function that starts them, for error messages. */
export type Starter = 'startPair' | 'startServers';

/** The node names of each set, the primary's first: redis-1, redis-2 and so on through all sets. */
export function nodeNames({ primaries = 1, replicas }: SetSizes, starter: Starter): string[][] {
  const size = (replicas ?? (starter === 'startPair' ? 1 : 0)) + 1;
  return Array.from({ length: primaries }, (_, i) =>
    Array.from({ length: size }, (_, k) => `redis-${i * size + k + 1}`),
  );
}

/** Throws TypeError unless the options name a known clock; the default is the virtual clock. */
export function checkClock(starter: Starter, options: unknown): void {
  if (typeof options !== 'object' || options === null)
    throw badOption(starter, options, 'an object of options');
  const { clock } = options as { clock?: unknown };
  if (clock !== undefined && clock !== 'virtual' && clock !== 'real') {
    throw badOption('clock', clock, "'virtual' (the default) or 'real'");
  }
}

/**
 * Throws TypeError for a wrong option of sets on either clock.
 * @param names further options that are allowed
 * @param most the largest number of primaries and of replicas
 */
export function checkSets(
  options: SetSizes &
    DialectOptions & {
      readonly quorum?: boolean;
      readonly commands?: OwnCommands;
      readonly settings?: Partial<Settings>;
      readonly sentinels?: number | SentinelsOptions;
    },
  names: readonly string[],
  starter: Starter,
  most: number,
): void {
  const { primaries, replicas, quorum, settings = {} } = options;
  const sizes = starter === 'startPair' ? ['replicas', 'sentinels'] : ['primaries', 'replicas'];
  checkNames(
    options,
    ['clock', ...sizes, 'settings', 'commands', 'labCommands', 'quorum', 'dialect', 'strict', ...names],
    starter,
  );
  if (primaries !== undefined) checkInteger('primaries', primaries, 1, most);
  if (replicas !== undefined) checkInteger('replicas', replicas, 0, most);
  if (quorum !== undefined) checkFlag('quorum', quorum);
  if (options.quorum === true && readSentinels(options.sentinels).count > 0) {
    throw badOption('quorum', true, 'false with Sentinels: they promote replicas that lack writes');
  }
  const nodes = nodeNames(options, starter).flat();
  checkDialects(options, nodes);
  checkOwnCommands(
    options.commands,
    nodes.map((node) => dialectFor(options, node)),
  );
  for (const dialect of new Set(nodes.map((node) => dialectFor(options, node).dialect))) {
    checkSettings(settings, { dialect, stores: true, isInLab: true });
  }
  if (settings['cluster-enabled'] === true) {
    throw badOption('settings.cluster-enabled', true, 'false (startCluster starts the nodes of a cluster)');
  }
  refuseTls(settings);
}

/** Throws TypeError for a wrong port of the URL that leads to the primary. */
export function checkPort(port: number | undefined, primaries = 1): void {
  if (port === undefined) return;
  checkInteger('port', port, 0, 65535);
  if (port !== 0 && primaries > 1)
    throw badOption('port', port, '0 with several primaries: each has its own URL');
}

/** Throws TypeError for parameters that ask for TLS. */
export function refuseTls(settings: Partial<Settings>): void {
  for (const name of ['tls-port', 'tls-replication', 'tls-cluster'] as const) {
    const value = settings[name];
    if (value !== undefined && value !== parameters[name].initial)
      throw badOption(`settings.${name}`, value, `${parameters[name].initial}: nodes of the lab have no TLS`);
  }
}

/** The options and members that only a virtual clock can offer, with the reason. */
const VIRTUAL_ONLY: Readonly<Record<string, string>> = {
  seed: 'real threads and sockets are not reproducible',
  start: "the machine's clock cannot be set; a node's own clock can: node.clock.jump(ms)",
  patience: 'real time passes by itself',
  network: 'links are paced one by one: network.lane(from, to).pace({ latency, jitter })',
  scripts: 'a slice of a script takes the time that it takes',
};

/** Throws TypeError for an option of the virtual clock. @param starter the function that was called */
export function refuseVirtual(options: object, starter: Starter | 'startCluster'): void {
  for (const [name, why] of Object.entries(VIRTUAL_ONLY)) {
    const value = (options as Record<string, unknown>)[name];
    if (value !== undefined)
      throw badOption(`${starter}.${name}`, value, `only with clock: 'virtual' (${why})`);
  }
}
