/**
 * Parameter values that lostlock does not implement. They are refused, because a server that ignored them would
 * mislead.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Settings } from './settings.ts';

/** What lostlock refuses of a parameter: every value except `only`. */
interface Unimplemented<T> {
  readonly only: T;
  readonly why: string;
}

/** For each parameter, the only value that lostlock implements, and the reason. */
const REFUSALS: {
  readonly [Name in keyof Settings]?: Unimplemented<Settings[Name]>;
} = {
  appendonly: {
    only: false,
    why: 'lostlock keeps an append-only file only where dir, appenddirname or appendfilename names a place for it',
  },
  daemonize: {
    only: false,
    why: 'a server inside a process has no background to go to: the command line has',
  },
  'locale-collate': { only: '', why: 'lostlock sorts by bytes, in no locale' },
  'log-format': { only: 'legacy', why: 'lostlock writes log lines in the legacy format' },
  'log-timestamp-format': { only: 'legacy', why: 'lostlock writes log lines in the legacy format' },
  pidfile: { only: '', why: 'a server inside a process writes no file of its number: the command line does' },
  'cluster-announce-client-ipv4': { only: '', why: 'lostlock announces one address to everybody' },
  'cluster-announce-client-ipv6': { only: '', why: 'lostlock announces one address to everybody' },
  'cluster-announce-client-port': { only: 0, why: 'lostlock announces one port to everybody' },
  'cluster-announce-client-tls-port': { only: 0, why: 'lostlock announces one port to everybody' },
  'propagation-error-behavior': {
    only: 'ignore',
    why: 'lostlock goes on after a command that a replica cannot apply',
  },
  'aof-load-corrupt-tail-max-size': {
    only: 0,
    why: 'lostlock does not skip a damaged end of an append-only file',
  },
  'key-memory-histograms': { only: false, why: 'lostlock keeps no histograms of what keys take in memory' },
  'rdma-port': { only: 0, why: 'lostlock does not listen on RDMA' },
  'tls-auth-clients-user': { only: 'off', why: 'lostlock takes no user names from certificates' },
  'tls-auto-reload-interval': { only: 0, why: 'lostlock reads its certificates once, at startup' },
  'enable-debug-assert': { only: false, why: 'lostlock has no DEBUG ASSERT that ends it' },
  'lazyexpire-nested-arbitrary-keys': {
    only: true,
    why: 'lostlock expires any key that a script or a transaction reads',
  },
  'lua-enable-deprecated-api': {
    only: false,
    why: "lostlock's Lua has none of the functions that Redis has given up",
  },
  'lua-enable-insecure-api': { only: false, why: "lostlock's Lua has none of the functions that are unsafe" },
  unixsocketgroup: { only: '', why: 'lostlock leaves the group of its socket alone' },
};

/** The parameters with refused values: the only one that is accepted, and the reason. */
export const refusals: ReadonlyMap<Bytes, Unimplemented<unknown>> = new Map(Object.entries(REFUSALS));

/** True if the settings name a place for an append-only file. */
export function namesPlace(settings: Partial<Settings>): boolean {
  const { dir, appenddirname, appendfilename } = settings;
  return dir !== undefined || appenddirname !== undefined || appendfilename !== undefined;
}

/**
 * Returns why a parameter cannot have this value; undefined if it can.
 * @param stores true if the node has a place for an append-only file: then `appendonly` works
 */
export function refusalOf(name: keyof Settings, value: unknown, stores = false): string | undefined {
  const refusal: Unimplemented<unknown> | undefined = REFUSALS[name];
  if (refusal === undefined) return undefined;
  if (value === refusal.only) return undefined;
  return stores && name === 'appendonly' ? undefined : refusal.why;
}
