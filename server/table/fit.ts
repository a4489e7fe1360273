/** Selects the commands of a dialect from the command table, each as that server declares it. */
import type { Dialect } from '../dialects/dialect.ts';
import { existsIn, type Since } from '../dialects/since.ts';
import { bitsOf, type Command, type EntryChange } from './command.ts';
import { withHelp } from './help.ts';

/** A command or option that only some servers have. */
interface Aged {
  readonly since: Since;
  /** True: every node serves it unless the node is strict. */
  readonly extra?: boolean;
}

/** True when a node of that dialect serves it. */
export function isServed({ since, extra = false }: Aged, dialect: Dialect, strict: boolean): boolean {
  return (extra && !strict) || existsIn(since, dialect);
}

/** The entry as the dialect's server declares it. undefined: a node of that dialect does not have the command. */
export function fitted<C>(command: Command<C>, dialect: Dialect, strict: boolean): Command<C> | undefined {
  const { spec, subcommands } = command;
  if (!isServed(spec, dialect, strict)) return undefined;
  const changes = (spec.changes ?? []).filter(
    ({ since, fix }) => existsIn(since, dialect) && (fix === undefined || dialect.fixes.has(fix)),
  );
  // A command that the server itself has is not an extra there.
  const native = spec.extra === true && existsIn(spec.since, dialect);
  const members = [...(subcommands?.values() ?? [])];
  const fit = members.map((sub) => fitted(sub, dialect, strict));
  if (changes.length === 0 && !native && fit.every((sub, i) => sub === members[i])) {
    return withHelp(command, dialect);
  }
  return withHelp({ ...changed(command, changes, native), subcommands: subcommands && named(fit) }, dialect);
}

function changed<C>(command: Command<C>, changes: readonly EntryChange[], native: boolean): Command<C> {
  const { since: _, fix: __, ...rest }: Partial<EntryChange> = Object.assign({}, ...changes);
  const spec = { ...command.spec, ...rest, ...(native ? { extra: false } : {}) };
  return { ...command, spec, arity: rest.arity ?? command.arity, bits: bitsOf(spec) };
}

function named<C>(subcommands: readonly (Command<C> | undefined)[]): ReadonlyMap<string, Command<C>> {
  return new Map(subcommands.flatMap((sub) => (sub === undefined ? [] : [[sub.name, sub]])));
}
