/** Since when servers have something, and whether the server of a dialect has it. */
import type { Dialect } from './dialect.ts';

/**
 * The version that first had something. A version alone is Redis', and counts for Valkey too if Valkey took it over when
 * it left Redis at 7.2.4. Servers that are not named do not have it; `tair` is the module TairString.
 */
export type Since = string | { readonly redis?: string; readonly valkey?: string; readonly tair?: string };

/** The Redis version that Valkey began with. */
const FORK = '7.2.4';

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map((part) => +part));
  for (let i = 0; i < 3; i++) {
    const order = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}

/** The version in which the dialect's server got something; undefined when no version of that server has it. */
export function sinceIn(since: Since, { server }: Dialect): string | undefined {
  if (typeof since !== 'string') return since[server.family];
  return server.family === 'redis' || compareVersions(since, FORK) <= 0 ? since : undefined;
}

/** True when the dialect's server has something that exists since then. */
export function existsIn(since: Since, dialect: Dialect): boolean {
  const version = sinceIn(since, dialect);
  return version !== undefined && compareVersions(version, dialect.server.version) <= 0;
}

/** The version to show: the dialect's server's own, or that of whoever has it. */
export function shownSince(since: Since, dialect: Dialect): string {
  if (typeof since === 'string') return since;
  return sinceIn(since, dialect) ?? since.redis ?? since.valkey ?? since.tair ?? '';
}

/** Adds a mark such as 8.4.0 or valkey-8.1.0 to those before it. */
export function laterSince(before: Since | undefined, mark: string): Since {
  const known = typeof before === 'string' ? { redis: before } : before;
  if (mark.startsWith('valkey-')) return { ...known, valkey: mark.slice('valkey-'.length) };
  return known === undefined ? mark : { ...known, redis: mark };
}
