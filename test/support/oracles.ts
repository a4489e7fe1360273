/** The installed real servers other than redis-server 7.0. */
import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { DialectName } from '../../server/dialects/index.ts';
import { findProgram } from './redis-server.ts';

/** The dialect of the redis-server that `.ci/run` installs, which most tests compare with. */
export const INSTALLED: DialectName = 'redis-7.0';

/** Where they are: programs that take redis-server's arguments, named `<server>-<version>`. */
const FOLDER = process.env.LOSTLOCK_ORACLES ?? join(homedir(), '.cache', 'lostlock-oracles', 'bin');

function programsIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** The real server of a dialect, by its name; undefined where it is not on this machine. redis-server counts as 7.0. */
export function oracleOf(dialect: string): string | undefined {
  const named = new Map(realServers());
  return named.get(dialect) ?? (dialect === INSTALLED ? named.get('redis-server') : undefined);
}

/** Name and program of every real server of this machine, redis-server first; Valkey by its own name too. */
export function realServers(): [name: string, program: string][] {
  const installed = ['redis-server', 'valkey-server'].flatMap((name): [string, string][] => {
    const program = findProgram(name);
    return program === undefined ? [] : [[name, program]];
  });
  return [...installed, ...programsIn(FOLDER).map((name): [string, string] => [name, join(FOLDER, name)])];
}
