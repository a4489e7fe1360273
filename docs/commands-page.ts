/** The text of docs/commands.md: every command of a table, by group. */
import type { Command } from '../server/command.ts';

/** The page as Markdown. The same table gives the same text. */
export function commandsPage(commands: readonly Command[]): string {
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    const members = command.subcommands ? [...command.subcommands.values()] : [command];
    groups.set(command.group, [...(groups.get(command.group) ?? []), ...members]);
  }
  const chapters = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, members]) => chapter(group, members));
  const total = chapters.length === 0 ? 0 : [...groups.values()].flat().length;
  return [
    '# Commands',
    '',
    `The ${total} commands and subcommands that lostlock answers. Written by \`npm run docs\` from the command table; do not edit.`,
    'What differs from Redis 7.0 is in [differences.md](differences.md).',
    '',
    ...chapters,
  ].join('\n');
}

function chapter(group: string, commands: readonly Command[]): string {
  const rows = commands
    .map(({ fullName, arity, spec }) => {
      const words = arity < 0 ? `${-arity} or more` : `${arity}`;
      return [title(fullName), words, spec.flags.join(' '), spec.since, spec.summary].map(cell).join(' | ');
    })
    .sort();
  const name = group[0]?.toUpperCase() + group.slice(1).replace('-', ' ');
  const head = ['| Command | Words | Flags | Since | What it does |', '|---|---|---|---|---|'];
  return [`## ${name}`, '', ...head, ...rows.map((row) => `| ${row} |`), ''].join('\n');
}

/** 'client|setname' as a user types it. */
function title(fullName: string): string {
  return fullName.replace('|', ' ').toUpperCase();
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
