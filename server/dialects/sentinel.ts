/** What differs between the servers when they run as a Sentinel. */

/** How a Sentinel answers. */
export interface SentinelTraits {
  /** How many parameters SENTINEL CONFIG GET and SET take. With several, `loglevel` is one of them. */
  readonly config: 'one parameter' | 'several parameters';
  /** Whether the flags of a primary show that it has restarted. */
  readonly showsReboot: boolean;
  /** Whether INFO counts how often the Sentinel was in TILT mode. */
  readonly countsTilts: boolean;
}

/** Redis 7.0. */
export const sentinel70: SentinelTraits = { config: 'one parameter', showsReboot: false, countsTilts: false };
/** Redis 7.2, and Valkey. */
export const sentinel72: SentinelTraits = { ...sentinel70, config: 'several parameters', showsReboot: true };
/** Redis 8.2. */
export const sentinel82: SentinelTraits = { ...sentinel72, countsTilts: true };
