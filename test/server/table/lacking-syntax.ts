/** Finds commands that take arguments and do not say which. */
import { syntaxFor } from '../../../server/commands/syntax/index.ts';
import { dialectNamed } from '../../../server/dialects/index.ts';
import type { Command } from '../../../server/table/command.ts';
import { INSTALLED } from '../../support/oracles.ts';

/** The names of the commands and subcommands that take arguments and have no syntax line. */
export function lackSyntax(commands: readonly Command[]): string[] {
  return commands
    .flatMap((command) => [...(command.subcommands?.values() ?? [command])])
    .filter(({ arity, fullName }) => arity > fullName.split('|').length)
    .filter((command) => syntaxFor(command, dialectNamed(INSTALLED)).words === undefined)
    .map(({ fullName }) => fullName);
}
