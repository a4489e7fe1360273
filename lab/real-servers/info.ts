/** What a real server reports about itself in INFO. */
import { type DialectName, dialectNames } from '../../server/dialects/index.ts';

/** The fields of a section of INFO. */
export type InfoFields = Readonly<Record<string, string>>;

/** Reads a section of INFO. */
export function fieldsOf(text: string): InfoFields {
  return Object.fromEntries(
    [...text.matchAll(/^(\w+):(.*)\r$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** Where a server stands in replication. */
export interface Standing {
  readonly isReplica: boolean;
  /** The id of its history, and the one before a promotion. */
  readonly id: string;
  readonly secondId: string;
  /** The offset up to which it has applied or produced the stream. */
  readonly offset: number;
  /** True for a replica that is connected to its primary. */
  readonly linkUp: boolean;
  /** How many replicas a primary sends its stream to. One that was just copied gets it after its first acknowledgement. */
  readonly online: number;
}

/** Reads INFO replication. */
export function standingOf(fields: InfoFields): Standing {
  const field = (name: string): string => fields[name] ?? '';
  return {
    isReplica: field('role') === 'slave',
    id: field('master_replid'),
    secondId: field('master_replid2'),
    offset: Number(field('master_repl_offset')),
    linkUp: field('master_link_status') === 'up',
    online: Object.entries(fields).filter(
      ([name, value]) => /^slave\d+$/.test(name) && value.includes('state=online'),
    ).length,
  };
}

/** The dialect that is nearest to a server, by the version that INFO server reports. */
export function dialectOf({ redis_version = '', valkey_version }: InfoFields): DialectName {
  const [family, version] =
    valkey_version === undefined ? ['redis', redis_version] : ['valkey', valkey_version];
  const rank = (text: string): number => {
    const [major = 0, minor = 0] = text.split('.').map(Number);
    return major * 1000 + minor;
  };
  const known = dialectNames.filter((name) => name.startsWith(`${family}-`));
  const fitting = known.filter((name) => rank(name.slice(family.length + 1)) <= rank(version));
  return fitting.at(-1) ?? (known[0] as DialectName);
}
