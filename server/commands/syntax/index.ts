/** What is known of each command besides its table entry: arguments, history, successors. It is read only when COMMAND DOCS asks. */
import type { Syntax } from '../../table/syntax.ts';
import { clusterSyntax } from './cluster.ts';
import { collectionsSyntax } from './collections.ts';
import { connectionSyntax } from './connection.ts';
import { genericSyntax } from './generic.ts';
import { serverSyntax } from './server.ts';
import { sortedSetSyntax } from './sorted-set.ts';
import { streamSyntax } from './stream.ts';
import { stringSyntax } from './string.ts';

const TABLES = [
  stringSyntax,
  genericSyntax,
  collectionsSyntax,
  sortedSetSyntax,
  streamSyntax,
  connectionSyntax,
  serverSyntax,
  clusterSyntax,
];

const NOTHING: Syntax = {};

/** The syntax of a command by its full name; empty for one that no table holds. */
export function syntaxOf(fullName: string): Syntax {
  for (const table of TABLES) {
    const found = Object.hasOwn(table, fullName) ? table[fullName] : undefined;
    if (found !== undefined) return typeof found === 'string' ? { words: found } : found;
  }
  return NOTHING;
}

/** The names that the tables hold. */
export function namesWithSyntax(): string[] {
  return TABLES.flatMap((table) => Object.keys(table));
}
