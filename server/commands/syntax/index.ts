/** The arguments, history and deprecation of each of the server's own commands. */
import type { Dialect } from '../../dialects/dialect.ts';
import { existsIn } from '../../dialects/since.ts';
import type { Command } from '../../table/command.ts';
import type { Syntax, SyntaxChange } from '../../table/syntax.ts';
import { clusterSyntax } from './cluster.ts';
import { collectionsSyntax } from './collections.ts';
import { connectionSyntax } from './connection.ts';
import { genericSyntax } from './generic.ts';
import { laterSyntax } from './later.ts';
import { serverSyntax } from './server.ts';
import { sortedSetSyntax } from './sorted-set.ts';
import { streamSyntax } from './stream.ts';
import { stringSyntax } from './string.ts';
import { vectorSyntax } from './vector.ts';

const TABLES = [
  stringSyntax,
  genericSyntax,
  collectionsSyntax,
  sortedSetSyntax,
  streamSyntax,
  connectionSyntax,
  serverSyntax,
  clusterSyntax,
  vectorSyntax,
];

const NOTHING: Syntax = {};

/** The syntax of a command, as a dialect's server has it: the entry's own, or that of the tables here. */
export function syntaxFor({ fullName, spec }: Command, dialect: Dialect): Syntax {
  return spec.syntax === undefined ? syntaxOf(fullName, dialect) : fitted(spec.syntax, [], dialect);
}

/** The syntax of one of the server's own commands by its full name; empty for one that no table here holds. */
export function syntaxOf(fullName: string, dialect: Dialect): Syntax {
  const found = TABLES.map((table) => ownOf(table, fullName)).find((entry) => entry !== undefined);
  return fitted(found ?? NOTHING, ownOf(laterSyntax, fullName) ?? [], dialect);
}

function fitted(declared: string | Syntax, later: readonly SyntaxChange[], dialect: Dialect): Syntax {
  const syntax = typeof declared === 'string' ? { words: declared } : declared;
  const changes = [...later, ...(syntax.changes ?? [])];
  return changes.length === 0 ? syntax : changed(syntax, changes, dialect);
}

function ownOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function changed(syntax: Syntax, changes: readonly SyntaxChange[], dialect: Dialect): Syntax {
  let made = syntax;
  for (const { since, history = [], ...rest } of changes) {
    if (!existsIn(since, dialect)) continue;
    const all = [...(made.history ?? []), ...history];
    made = { ...made, ...rest, ...(all.length === 0 ? {} : { history: all }) };
  }
  return made;
}

/** Returns the names in the tables. */
export function namesWithSyntax(): string[] {
  return [...TABLES.flatMap((table) => Object.keys(table))];
}
