/** The text of docs/commands.md: every command of a table, by group. */
import { syntaxFor } from '../../server/commands/syntax/index.ts';
import type { Dialect } from '../../server/dialects/dialect.ts';
import { DEFAULT_DIALECT, dialectNamed } from '../../server/dialects/index.ts';
import type { Since } from '../../server/dialects/since.ts';
import type { Command } from '../../server/table/command.ts';
import { fitted } from '../../server/table/fit.ts';
import { parseSyntax } from '../../server/table/syntax.ts';
import { type UsageStyle, usageOf } from '../../server/table/usage.ts';

/** The page as Markdown, in the syntax of the default dialect. The same table gives the same text. */
export function commandsPage(table: readonly Command[]): string {
  const dialect = dialectNamed(DEFAULT_DIALECT);
  const commands = table.map((command) => fitted(command, dialect, false) ?? command);
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    const members = command.subcommands ? [...command.subcommands.values()] : [command];
    groups.set(command.group, [...(groups.get(command.group) ?? []), ...members]);
  }
  const chapters = [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, members]) => chapter(group, members, dialect));
  const total = chapters.length === 0 ? 0 : [...groups.values()].flat().length;
  return [
    '# Commands',
    '',
    `The ${total} commands and subcommands that lostlock answers. Written by \`npm run docs\` from the command table; do not edit.`,
    `Syntax and flags are those of the dialect ${dialect.name}. A version alone is that of Redis; Valkey has it too if it is not`,
    'later than 7.2.4. What differs from the real servers is in [differences.md](differences.md).',
    '',
    ...chapters,
  ].join('\n');
}

function chapter(group: string, commands: readonly Command[], dialect: Dialect): string {
  const rows = commands
    .map((command) => ({ line: syntaxLine(command, dialect), ...command }))
    .map(({ line, spec }) =>
      [`\`${line}\``, spec.flags.join(' '), sinceText(spec.since), spec.summary].map(cell).join(' | '),
    )
    .sort();
  const name = group[0]?.toUpperCase() + group.slice(1).replace('-', ' ');
  const head = ['| Command | Flags | Since | What it does |', '|---|---|---|---|'];
  return [`## ${name}`, '', ...head, ...rows.map((row) => `| ${row} |`), ''].join('\n');
}

const SERVERS = { redis: 'Redis', valkey: 'Valkey', tair: 'Tair' } as const;

/** The servers that have a command, and since when: a version alone is Redis', and Valkey's too up to 7.2.4. */
function sinceText(since: Since): string {
  if (typeof since === 'string') return since;
  const names = Object.keys(SERVERS) as (keyof typeof SERVERS)[];
  return names
    .flatMap((name) => (since[name] === undefined ? [] : `${SERVERS[name]} ${since[name]}`))
    .join(', ');
}

const STYLE: UsageStyle = {
  value: ({ name }) => name,
  or: ' | ',
  group: (choices) => `<${choices}>`,
  isBrief: false,
};

/** A command as a user types it: `CLIENT PAUSE timeout [WRITE | ALL]`. */
function syntaxLine(command: Command, dialect: Dialect): string {
  const name = command.fullName.replace('|', ' ').toUpperCase();
  const { words } = syntaxFor(command, dialect);
  return words === undefined ? name : `${name} ${usageOf(parseSyntax(words), STYLE)}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
