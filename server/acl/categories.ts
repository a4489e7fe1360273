/** The ACL categories, and the commands to which rules apply. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Command } from '../table/command.ts';

/** The table of commands as selectors see it. */
export type CommandList = readonly Command[];

/** The categories, in Redis' order. */
export const CATEGORIES: readonly Bytes[] =
  'keyspace read write set sortedset list hash string bitmap hyperloglog geo stream pubsub admin fast slow blocking dangerous connection transaction scripting'.split(
    ' ',
  );

/** Returns the categories of these commands: Redis' own, then those that a user's commands bring. */
export function categoriesIn(commands: CommandList): readonly Bytes[] {
  const own = commands.flatMap(({ spec }) => (spec.isOwn === true ? (spec.categories ?? []) : []));
  return own.length === 0 ? CATEGORIES : [...new Set([...CATEGORIES, ...own])];
}

/** Yields commands and subcommands, each container before its subcommands. */
export function* everyCommand(commands: CommandList): Iterable<Command> {
  for (const command of commands) {
    yield command;
    yield* command.subcommands?.values() ?? [];
  }
}
