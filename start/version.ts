/** The dialect for a version or an image of a server, as other tools name them. */

import { badOption } from '../base/options.ts';
import { type DialectName, dialectNamed, dialectNames } from '../server/dialects/index.ts';

/** The minor version that a bare 8 stands for: the newest one whose answers are compared with its server. */
const MEANT = 2;

/** Words for the newest version. */
const NEWEST = new Set(['', 'stable', 'latest', 'alpine', 'bookworm', 'trixie']);

/**
 * The dialect of a version such as '7.2.4' or '8.2-alpine'; undefined for words that mean the newest one. A version between two
 * dialects counts as the older one.
 * @param server 'redis' or 'valkey'
 * @throws TypeError for a version that no dialect answers as
 */
export function dialectOfVersion(option: string, version: string, server = 'redis'): DialectName | undefined {
  if (server === 'redis' && NEWEST.has(version)) return undefined;
  const [, major = '', minor] = /^v?(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  const known = dialectNames.filter((name) => new RegExp(`^${server}-${major}\\b`).test(name));
  const asked = minor === undefined ? MEANT : Number(minor);
  const fitting = known.filter((name) => Number(name.split('.')[1] ?? 0) <= asked);
  const dialect = fitting.at(-1) ?? known[0];
  if (major !== '' && dialect !== undefined) return dialect;
  if (server === 'valkey' && NEWEST.has(version)) return 'valkey-8.1';
  throw badOption(option, version, `versions of ${dialectNames.join(', ')}`);
}

/**
 * Says which server answers for a version that no dialect has, such as '8.4'; undefined for a version that one has, and for words
 * such as 'latest'.
 * @param image what was asked for, such as 'redis:8.4'
 */
export function substituteFor(image: string, dialect: DialectName | undefined): string | undefined {
  const [, major, minor, patch] =
    /(?:^|:)v?(\d+)(?:\.(\d+))?(?:\.(\d+))?[^:/]*$/.exec(image.replace(/@.*$/, '')) ?? [];
  if (major === undefined || dialect === undefined) return undefined;
  const { family, version } = dialectNamed(dialect).server;
  const asked = [major, minor, patch].filter((part) => part !== undefined).join('.');
  if (asked === version || version.startsWith(`${asked}.`)) return undefined;
  return `${image} is answered as ${family}-server ${version}, the dialect ${dialect}`;
}

/**
 * The dialect of an image such as 'redis:8.2-alpine' or 'valkey/valkey:8.1'; undefined for the newest Redis. The digest of an
 * image says no version.
 * @throws TypeError for an image of another server
 */
export function dialectOfImage(option: string, image: string): DialectName | undefined {
  const [, repository = '', tag = ''] = /^(?:.*\/)?([^/:@]+)(?::([^@]*))?(?:@.*)?$/.exec(image) ?? [];
  if (repository !== 'redis' && repository !== 'valkey') {
    throw badOption(option, image, "an image of redis or valkey, such as 'redis:8.2'");
  }
  return dialectOfVersion(option, tag, repository);
}
