/** redis.conf's `rename-command`: other names for commands, or none. */
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';

/** The commands of a node by name, in lower and upper case. */
export type Named<C> = ReadonlyMap<Bytes, C>;

/** A command's name, and its new one; an empty one takes the command away. */
export type Renaming = readonly [name: Bytes, to: Bytes];

/** A command cannot be renamed. The message is Redis'. */
export class BadRenaming extends Error {}

/**
 * Returns the table with one command under another name.
 * @throws BadRenaming when there is no such command, or the new name is taken
 */
export function renamed<C>(commands: Named<C>, [name, to]: Renaming): Named<C> {
  const command = commands.get(asciiLower(name));
  if (command === undefined) throw new BadRenaming('No such command in rename-command');
  const table = new Map(commands);
  table.delete(asciiLower(name));
  table.delete(asciiUpper(name));
  if (to === '') return table;
  if (table.has(asciiLower(to))) throw new BadRenaming('Target command name already exists');
  table.set(asciiLower(to), command);
  table.set(asciiUpper(to), command);
  return table;
}
