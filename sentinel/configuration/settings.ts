/** The settings of a Sentinel as a whole: its periods, and what it tells others about itself. */
import type { Bytes } from '../../protocol/bytes.ts';

/** Periods and limits in milliseconds, with the names of SENTINEL DEBUG. */
export interface Periods {
  'info-period': number;
  'ping-period': number;
  'ask-period': number;
  'publish-period': number;
  'default-down-after': number;
  'default-failover-timeout': number;
  'tilt-trigger': number;
  'tilt-period': number;
  'slave-reconf-timeout': number;
  'min-link-reconnect-period': number;
  'election-timeout': number;
  'script-max-runtime': number;
  'script-retry-delay': number;
}

/** The periods of a new Sentinel, in the order of SENTINEL DEBUG. */
export function defaultPeriods(): Periods {
  return {
    'info-period': 10_000,
    'ping-period': 1000,
    'ask-period': 1000,
    'publish-period': 2000,
    'default-down-after': 30_000,
    'default-failover-timeout': 180_000,
    'tilt-trigger': 2000,
    'tilt-period': 30_000,
    'slave-reconf-timeout': 10_000,
    'min-link-reconnect-period': 15_000,
    'election-timeout': 10_000,
    'script-max-runtime': 60_000,
    'script-retry-delay': 30_000,
  };
}

/** The parameters of SENTINEL CONFIG, in the order in which it lists them. `loglevel` is the node's own setting. */
export interface GlobalSettings {
  'resolve-hostnames': boolean;
  'announce-hostnames': boolean;
  'announce-ip': Bytes;
  'announce-port': number;
  'sentinel-user': Bytes;
  'sentinel-pass': Bytes;
}

/** The parameters of a new Sentinel. */
export function defaultGlobals(): GlobalSettings {
  return {
    'resolve-hostnames': false,
    'announce-hostnames': false,
    'announce-ip': '',
    'announce-port': 0,
    'sentinel-user': '',
    'sentinel-pass': '',
  };
}
