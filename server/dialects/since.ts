/** Which version of which server first had a command or option, and whether a dialect's server has it. */
import type { Dialect } from './dialect.ts';

/**
 * The version that first had a command or option. A plain version is one of Redis; Valkey has it too if the version is at
 * most 7.2.4, where Valkey left Redis. In an object, a server that is not named does not have it. `tair` is the module
 * TairString.
 */
export type Since = string | { readonly redis?: string; readonly valkey?: string; readonly tair?: string };

/** The Redis version from which Valkey was forked. */
const FORK = '7.2.4';

/** Versions as numbers that are in the versions' order. A node's start asks for a few of them a thousand times. */
const ranks = new Map<string, number>();

/** Larger than any part of a version. */
const PARTS = 1000;

function rankOf(version: string): number {
  let rank = ranks.get(version);
  if (rank === undefined) {
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    ranks.set(version, (rank = (major * PARTS + minor) * PARTS + patch));
  }
  return rank;
}

const compareVersions = (a: string, b: string): number => rankOf(a) - rankOf(b);

/** The version of the dialect's server that first had it. undefined: no version of that server has it. */
export function sinceIn(since: Since, { server }: Dialect): string | undefined {
  if (typeof since !== 'string') return since[server.family];
  return server.family === 'redis' || compareVersions(since, FORK) <= 0 ? since : undefined;
}

/** True when the dialect's server has it. */
export function existsIn(since: Since, dialect: Dialect): boolean {
  const version = sinceIn(since, dialect);
  return version !== undefined && compareVersions(version, dialect.server.version) <= 0;
}

/** The version that COMMAND DOCS shows: of the dialect's own server, or else of a server that has it. */
export function shownSince(since: Since, dialect: Dialect): string {
  if (typeof since === 'string') return since;
  return sinceIn(since, dialect) ?? since.redis ?? since.valkey ?? since.tair ?? '';
}

/** Adds a mark of a syntax line, such as 8.4.0 or valkey-8.1.0, to the earlier ones. */
export function laterSince(before: Since | undefined, mark: string): Since {
  const known = typeof before === 'string' ? { redis: before } : before;
  if (mark.startsWith('valkey-')) return { ...known, valkey: mark.slice('valkey-'.length) };
  return known === undefined ? mark : { ...known, redis: mark };
}
