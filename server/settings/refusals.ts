/**
 * Parameter values that lostlock does not implement. They are refused, because a server that ignored them would
 * mislead.
 */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Settings } from './settings.ts';

/** For each parameter, the only value that lostlock implements, and the reason. */
const REFUSALS: {
  readonly [Name in keyof Settings]?: { readonly only: Settings[Name]; readonly why: string };
} = {
  aclfile: { only: '', why: 'lostlock reads no ACL file: make users with ACL SETUSER' },
  appendonly: {
    only: false,
    why: 'lostlock keeps an append-only file only where dir, appenddirname or appendfilename names a place for it',
  },
  daemonize: { only: false, why: 'lostlock stays in the foreground' },
  'enable-module-command': { only: 'no', why: 'lostlock loads no modules' },
  'enable-protected-configs': {
    only: 'no',
    why: 'lostlock does not change dir and dbfilename while it runs',
  },
  'oom-score-adj': { only: 'no', why: 'lostlock does not change how likely the kernel is to kill it' },
  'dual-channel-replication-enabled': { only: false, why: 'lostlock sends a full sync on one connection' },
  'locale-collate': { only: '', why: 'lostlock sorts by bytes, in no locale' },
  'log-format': { only: 'legacy', why: 'lostlock writes log lines in the legacy format' },
  'log-timestamp-format': { only: 'legacy', why: 'lostlock writes log lines in the legacy format' },
  pidfile: { only: '', why: 'a server inside a process writes no file of its number: the command line does' },
  supervised: { only: 'no', why: 'lostlock reports to no supervisor' },
  'cluster-announce-client-ipv4': { only: '', why: 'a lostlock cluster announces one address to everybody' },
  'cluster-announce-client-ipv6': { only: '', why: 'a lostlock cluster announces one address to everybody' },
  'cluster-link-sendbuf-limit': { only: 0, why: 'lostlock does not limit what the links of a cluster keep' },
  unixsocketgroup: { only: '', why: 'lostlock leaves the group of its socket alone' },
  'syslog-enabled': { only: false, why: 'lostlock does not log to syslog' },
};

/** The parameters with refused values, and the reason for each. */
export const refusals: ReadonlyMap<Bytes, string> = new Map(
  Object.entries(REFUSALS).map(([name, { why }]) => [name, why]),
);

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
  const refusal = REFUSALS[name];
  if (refusal === undefined || value === refusal.only) return undefined;
  return stores && name === 'appendonly' ? undefined : refusal.why;
}
