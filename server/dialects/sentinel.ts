/** What differs between the servers when they run as a Sentinel. */

/** How a Sentinel answers. */
export interface SentinelTraits {
  /** How many parameters SENTINEL CONFIG GET and SET take. With several, `loglevel` is one of them. */
  readonly config: 'one parameter' | 'several parameters';
  /** Whether the flags of a primary show that it has restarted. */
  readonly showsReboot: boolean;
  /** Whether INFO counts how often the Sentinel was in TILT mode. */
  readonly countsTilts: boolean;
  /** The parameter for how long a restarted primary may be down: its name in the configuration. `master-` is always understood. */
  readonly rebootParameter: 'master-reboot-down-after-period' | 'primary-reboot-down-after-period';
  /**
   * Whether SENTINEL FAILOVER takes COORDINATED, so that the primary itself hands over with FAILOVER. A Sentinel that knows
   * this also finds a primary down while it replaces it on request, and ends a FAILOVER of a node that it reconfigures.
   */
  readonly coordinates: boolean;
}

/** Redis 7.0. */
export const sentinel70: SentinelTraits = {
  config: 'one parameter',
  showsReboot: false,
  countsTilts: false,
  rebootParameter: 'master-reboot-down-after-period',
  coordinates: false,
};
/** Redis 7.2. */
export const sentinel72: SentinelTraits = { ...sentinel70, config: 'several parameters', showsReboot: true };
/** Valkey 8.1. */
export const sentinelValkey81: SentinelTraits = {
  ...sentinel72,
  rebootParameter: 'primary-reboot-down-after-period',
};
/** Valkey 9. */
export const sentinelValkey9: SentinelTraits = { ...sentinelValkey81, coordinates: true, countsTilts: true };
/** Redis 8.2. */
export const sentinel82: SentinelTraits = { ...sentinel72, countsTilts: true };
