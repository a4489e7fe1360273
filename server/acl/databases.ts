/** The databases that a user may use: Valkey 9.1's rules `db=`, `alldbs` and `resetdbs`, and what they allow. */
import { approximate, type Bytes, parseInteger, parseSafeInteger } from '../../protocol/bytes.ts';
import { type Command, READ, WRITE } from '../table/command.ts';
import { categoriesOf } from '../table/info.ts';
import { BadRule, SYNTAX } from './bad-rule.ts';

/** The databases that a selector allows: some, in ascending order, or all of them. */
export type Databases = readonly number[] | 'all';

/** The database of a request, and how many there are. */
export interface DatabasePlace {
  readonly database: number;
  readonly databases: number;
}

const LAST = 2 ** 31 - 1;

/**
 * Returns the databases of a rule's list, such as `0,3`. Numbers are read as C's strtol reads them.
 * @throws BadRule if one is no number, or none that a database can have
 */
export function parseDatabases(list: Bytes): number[] {
  const found = new Set<number>();
  for (const word of list.split(',')) {
    const number = /^[ \t-\r]*([+-]?\d+)$/.exec(word)?.[1];
    if (number === undefined) throw new BadRule(SYNTAX);
    const value = approximate(parseInteger(number.replace(/^\+?(-?)0*(?=\d)/, '$1')) ?? Infinity);
    if (value < 0 || value > LAST) throw new BadRule('The provided database ID is out of range');
    found.add(value);
  }
  return [...found].sort((a, b) => a - b);
}

/** Returns the rule that gives these databases, as ACL LIST shows it; undefined for all. */
export function describeDatabases(databases: Databases): Bytes | undefined {
  if (databases === 'all') return undefined;
  return databases.length === 0 ? 'resetdbs' : `db=${databases.join(',')}`;
}

/** Returns whether a request touches the data of its own database. */
function touchesData(command: Command): boolean {
  if ((command.bits & (READ | WRITE)) !== 0) return true;
  if (command.spec.keys?.some(({ flags }) => !flags.includes('NOT_KEY'))) return true;
  return categoriesOf(command).includes('@keyspace');
}

/** Returns the database that a word of a request names; undefined if there is none of that number. */
export function databaseNamed(word: Bytes | undefined, count: number): number | undefined {
  const index = parseSafeInteger(word ?? '');
  return index !== undefined && index >= 0 && index < count ? index : undefined;
}

/**
 * Returns undefined if a request may use its databases. Otherwise returns the position of the word that names the forbidden
 * database, or 0 if no word names it. Numbers that no database has are not checked: the command reports them.
 */
export function refusedDatabase(
  allowed: readonly number[],
  command: Command,
  argv: readonly Bytes[],
  { database, databases }: DatabasePlace,
): number | undefined {
  const use = command.spec.databases;
  if (use === 'all') {
    for (let i = 0; i < databases; i++) if (!allowed.includes(i)) return 0;
    return undefined;
  }
  for (const at of use?.named(argv) ?? []) {
    const index = databaseNamed(argv[at], databases);
    if (index !== undefined && !allowed.includes(index)) return at;
  }
  const usesOwn = use === undefined ? touchesData(command) : use.own;
  return usesOwn && !allowed.includes(database) ? 0 : undefined;
}
