/** How many Sentinels to start, and what they are configured with. The defaults are those of Redis' tutorial. */

import { badOption, checkInteger, checkNames, checkString } from '../base/options.ts';
import { fromText } from '../protocol/bytes.ts';
import { announceMonitored, monitor } from '../sentinel/primaries.ts';
import type { SentinelServer } from '../sentinel/server.ts';

/** The Sentinels of one primary. */
export interface SentinelsOptions {
  /** How many to start; default 3. */
  readonly count?: number;
  /** The name of the primary, by which clients ask for it; default 'mymaster'. */
  readonly name?: string;
  /** How many Sentinels must agree that the primary is down; default a majority. */
  readonly quorum?: number;
  /** How long the primary may be silent, in milliseconds; default 5000. */
  readonly downAfter?: number;
  /** Sentinel's failover-timeout, in milliseconds; default 60,000. A failed attempt is repeated after twice that time. */
  readonly failoverTimeout?: number;
  /** How many replicas may follow the new primary at the same time; default 1. */
  readonly parallelSyncs?: number;
  /** The port of the first Sentinel; the others take the ports after it. By default free ports. */
  readonly port?: number;
  /** The password that the Sentinels require from clients and from each other; none by default. */
  readonly password?: string;
}

const NAMES = [
  'count',
  'name',
  'quorum',
  'downAfter',
  'failoverTimeout',
  'parallelSyncs',
  'port',
  'password',
];
const LONGEST = 2 ** 31 - 1;

/** Reads the option `sentinels`: a number, or an object. Throws TypeError for a wrong one. */
export function readSentinels(
  value: number | SentinelsOptions | undefined,
): SentinelsOptions & { count: number } {
  if (value === undefined || typeof value === 'number') {
    if (value !== undefined) checkInteger('sentinels', value, 0, 100);
    return { count: value ?? 0 };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badOption('sentinels', value, 'an integer from 0 to 100, or an object of options');
  }
  checkNames(value, NAMES, 'sentinels');
  const { count = 3, name, quorum, password, port } = value;
  if (port !== undefined) checkInteger('sentinels.port', port, 0, 65535 - count);
  checkInteger('sentinels.count', count, 1, 100);
  if (name !== undefined && (typeof name !== 'string' || !/^[\w.-]+$/.test(name))) {
    throw badOption('sentinels.name', name, 'letters, digits, and the characters . - _');
  }
  if (quorum !== undefined) checkInteger('sentinels.quorum', quorum, 1, 100);
  for (const time of ['downAfter', 'failoverTimeout', 'parallelSyncs'] as const) {
    if (value[time] !== undefined) checkInteger(`sentinels.${time}`, value[time], 1, LONGEST);
  }
  if (password !== undefined) checkString('sentinels.password', password);
  return { ...value, count };
}

/** The primary that Sentinels are told to monitor. */
export interface WatchedPrimary {
  readonly host: string;
  readonly port: number;
  readonly password: string | undefined;
}

/** Makes a Sentinel monitor a primary with these options. */
export function watch(
  { sentinel }: SentinelServer,
  { host, port, password }: WatchedPrimary,
  options: SentinelsOptions,
): void {
  const { count = 3, name = 'mymaster', downAfter = 5000, failoverTimeout = 60_000 } = options;
  const quorum = options.quorum ?? Math.floor(count / 2) + 1;
  const primary = monitor(sentinel, fromText(name), { host: fromText(host), port }, quorum);
  if (primary === undefined) return;
  primary.downAfter = downAfter;
  primary.failoverTimeout = failoverTimeout;
  primary.parallelSyncs = options.parallelSyncs ?? 1;
  if (password !== undefined) primary.password = fromText(password);
  sentinel.enter(() => announceMonitored(sentinel, primary));
}
