/** The options of pairs of real servers, and how their mistakes are refused. */

import { badOption, checkInteger, checkNames } from '../../base/options.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { checkSettingNames } from '../../start/node-options.ts';
import { checkPort, nodeNames, type Starter } from '../replica-group/layout.ts';
import { findProgram } from './program.ts';

/** The options of a pair of real servers. */
export interface RealServerPairOptions {
  /** Real time over TCP. */
  readonly clock: 'real';
  /**
   * The program of each node, in the order of the nodes' names, or one for all: 'redis-server', 'valkey-server' or a
   * path. It must take redis-server's arguments.
   */
  readonly nodes: string | readonly string[];
  /** How many replicas the primary has; default 1. */
  readonly replicas?: number;
  /** Parameters of the nodes, by their names in redis.conf. */
  readonly settings?: Partial<Settings>;
  /** The TCP port of the pair's own URL. 0, the default, picks a free one. */
  readonly port?: number;
}

/** The options of several independent primaries that are real servers. */
export interface RealServersOptions extends RealServerPairOptions {
  /** How many independent primaries to start; default 1. */
  readonly primaries?: number;
}

/** The options that only lostlock nodes have, with the reason. */
const OWN_ONLY: Readonly<Record<string, string>> = {
  quorum: 'a real server answers before a majority has the write',
  sentinels: "lostlock's Sentinels would tell the nodes to replicate past the links of the lab",
  commands: 'a real server has the commands that it has',
  dialect: 'a real server answers as itself',
  strict: 'a real server answers as itself',
};

/** The settings that the lab itself gives to every process, so that it finds the process and ends it. */
const SET_BY_LAB = ['port', 'bind', 'dir', 'daemonize', 'supervised', 'cluster-enabled'] as const;

const ALLOWED = ['clock', 'nodes', 'replicas', 'settings', 'port'];

/** Throws TypeError for a wrong option. Returns each node's program as a path, by the node's name. */
export function checkRealServers(options: RealServersOptions, starter: Starter): Map<string, string> {
  for (const [name, why] of Object.entries(OWN_ONLY)) {
    const value = (options as object as Record<string, unknown>)[name];
    if (value !== undefined)
      throw badOption(`${starter}.${name}`, value, `no value together with nodes (${why})`);
  }
  checkNames(options, starter === 'startPair' ? ALLOWED : [...ALLOWED, 'primaries'], starter);
  const { primaries, replicas, port, settings = {} } = options;
  if (primaries !== undefined) checkInteger('primaries', primaries, 1, 100);
  if (replicas !== undefined) checkInteger('replicas', replicas, 0, 100);
  checkPort(port, primaries);
  checkSettingNames(settings);
  for (const name of SET_BY_LAB) {
    if (settings[name] !== undefined)
      throw badOption(`settings.${name}`, settings[name], 'no value (the lab sets it)');
  }
  return programsOf(options.nodes, nodeNames(options, starter).flat());
}

function programsOf(nodes: unknown, names: readonly string[]): Map<string, string> {
  const commands: unknown[] = Array.isArray(nodes) ? nodes : [nodes];
  const allowed = `a program on PATH or a path, such as 'redis-server', for all nodes or one for each of ${names.join(', ')}`;
  if (commands.length !== 1 && commands.length !== names.length) throw badOption('nodes', nodes, allowed);
  const paths = commands.map((command) => {
    const path = typeof command === 'string' && command !== '' ? findProgram(command) : undefined;
    if (path === undefined) throw badOption('nodes', command, allowed);
    return path;
  });
  return new Map(names.map((name, i) => [name, (paths[i] ?? paths[0]) as string]));
}

/** The path of a program. Throws TypeError when there is none. */
export function programFor(command: string): string {
  const path = findProgram(command);
  if (path !== undefined) return path;
  throw badOption('nodes', command, "a program on PATH or a path, such as 'redis-server'");
}

/** The settings as arguments of the program. */
export function argumentsOf(settings: Partial<Settings>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [
    `--${name}`,
    ...(typeof value === 'boolean' ? [value ? 'yes' : 'no'] : [String(value)]),
  ]);
}
