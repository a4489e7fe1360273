/** Finds the commands that no test names, so that a command cannot be added without a test. */
import type { Command } from '../../server/table/command.ts';

/**
 * The full names of the commands that occur nowhere in the tests' text: in capitals, as a quoted word, or as a
 * client's method. A subcommand counts where it follows its container's name.
 */
export function untestedCommands(commands: readonly Command[], tests: string): string[] {
  const all = commands.flatMap((command) =>
    command.subcommands ? [...command.subcommands.values()] : [command],
  );
  const text = tests.replace(/\\[rnt]/g, ' '); // The escapes of source text would glue words together.
  // Every container has the same HELP, made in one place.
  const names = all.map((command) => command.fullName).filter((name) => !name.endsWith('|help'));
  return names.filter((name) => !isNamed(name, text));
}

function isNamed(fullName: string, tests: string): boolean {
  const [name = '', sub] = fullName.split('|').map((word) => word.replace(/[^\w]/g, '\\$&'));
  if (sub !== undefined) return new RegExp(`\\b${name}\\b\\W+${sub}\\b`, 'i').test(tests);
  const capitals = `\\b${name.toUpperCase()}\\b`;
  return new RegExp(`${capitals}|['"\`]${name}(?=['"\` ])|\\.${name}\\(`).test(tests);
}
