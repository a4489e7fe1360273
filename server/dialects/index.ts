/** The dialects by name. */
import type { Dialect } from './dialect.ts';
import { redis70 } from './redis-7.0.ts';
import { redis80 } from './redis-8.0.ts';
import { redis82 } from './redis-8.2.ts';
import { redis86 } from './redis-8.6.ts';
import { redis88 } from './redis-8.8.ts';
import { valkey81 } from './valkey-8.1.ts';
import { valkey9 } from './valkey-9.ts';

export type { Dialect };

const DIALECTS = {
  'redis-7.0': redis70,
  'redis-8.0': redis80,
  'redis-8.2': redis82,
  'redis-8.6': redis86,
  'redis-8.8': redis88,
  'valkey-8.1': valkey81,
  'valkey-9': valkey9,
} as const satisfies Record<string, Dialect>;

/** The servers that a node can answer as. */
export type DialectName = keyof typeof DIALECTS;

export const dialectNames = Object.keys(DIALECTS) as readonly DialectName[];

/** The dialect of a node that was started without one. */
export const DEFAULT_DIALECT: DialectName = 'redis-8.2';

/** Returns the dialect with that name. Throws RangeError if there is none. */
export function dialectNamed(name: string): Dialect {
  const found = Object.hasOwn(DIALECTS, name) ? DIALECTS[name as DialectName] : undefined;
  if (found !== undefined) return found;
  throw new RangeError(`dialect ${name}: must be one of ${dialectNames.join(', ')}`);
}

/**
 * True if a node refuses what its dialect's server does not have. Unless `strict` says otherwise, a node with a named dialect
 * does, and the default one serves the lock commands of other servers too.
 */
export function isStrict({ dialect, strict }: { dialect?: DialectName; strict?: boolean }): boolean {
  return strict ?? dialect !== undefined;
}
