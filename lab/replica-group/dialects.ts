/** Which server each node of a set answers as: all the same, or each its own, as in a rolling upgrade. */

import { badOption, checkFlag, checkNames } from '../../base/options.ts';
import type { DialectName } from '../../server/dialects/index.ts';
import { checkDialect } from '../../start/node-options.ts';

/** The server that nodes answer as. */
export interface DialectOptions {
  /** A dialect for every node, or one for each of some nodes, by name: `{ 'redis-2': 'redis-8.2' }`. */
  readonly dialect?: DialectName | { readonly [node: string]: DialectName };
  /** True: commands and options that a node's server does not have are refused. */
  readonly strict?: boolean;
}

/** How a node comes back. */
export interface RestartOptions {
  /** The server to answer as from now on; as before by default. */
  readonly dialect?: DialectName;
}

/** What a node of that name is started with. */
export function dialectFor(
  { dialect, strict }: DialectOptions,
  node: string,
): { dialect?: DialectName; strict?: boolean } {
  const own = typeof dialect === 'object' ? dialect[node] : dialect;
  return { ...(own !== undefined && { dialect: own }), ...(strict !== undefined && { strict }) };
}

/** Throws TypeError for a dialect or a node that does not exist. @param nodes the names of all nodes */
export function checkDialects({ dialect, strict }: DialectOptions, nodes: readonly string[]): void {
  if (strict !== undefined) checkFlag('strict', strict);
  if (dialect === undefined || typeof dialect === 'string') {
    if (dialect !== undefined) checkDialect('dialect', dialect);
    return;
  }
  if (typeof dialect !== 'object' || dialect === null) {
    throw badOption('dialect', dialect, 'a dialect, or an object of nodes and their dialects');
  }
  checkNames(dialect, nodes, 'dialect');
  for (const [node, name] of Object.entries(dialect)) checkDialect(`dialect.${node}`, name);
}

/** Throws TypeError for a wrong option of a restart. */
export function checkRestart(options: RestartOptions): void {
  checkNames(options, ['dialect'], 'restart');
  if (options.dialect !== undefined) checkDialect('restart.dialect', options.dialect);
}
