/** The text of docs/commands.md: every command of a table, by group. */

import { syntaxOf } from '../server/commands/syntax/index.ts';
import type { Command } from '../server/table/command.ts';
import { type Argument, parseSyntax } from '../server/table/syntax.ts';

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
    .map(({ fullName, spec }) =>
      [`\`${syntaxLine(fullName)}\``, spec.flags.join(' '), spec.since, spec.summary].map(cell).join(' | '),
    )
    .sort();
  const name = group[0]?.toUpperCase() + group.slice(1).replace('-', ' ');
  const head = ['| Command | Flags | Since | What it does |', '|---|---|---|---|'];
  return [`## ${name}`, '', ...head, ...rows.map((row) => `| ${row} |`), ''].join('\n');
}

/** A command as a user types it: `CLIENT PAUSE timeout [WRITE | ALL]`. */
export function syntaxLine(fullName: string): string {
  const name = fullName.replace('|', ' ').toUpperCase();
  const { words } = syntaxOf(fullName);
  return [name, ...(words === undefined ? [] : parseSyntax(words).map(shown))].join(' ');
}

/** One argument: brackets if it is optional, written twice if it can be repeated, unless it is a choice. */
function shown(argument: Argument): string {
  const { token, optional, multiple, repeatsToken } = argument;
  const value = valueText(argument, optional === true && multiple !== true);
  const once = token === undefined || argument.type === 'pure-token' ? value : `${quoted(token)} ${value}`;
  const again = repeatsToken === true ? once : value;
  const more = again.includes('|') ? '...' : `[${again} ...]`;
  const all = multiple === true ? `${once} ${more}` : once;
  return optional === true ? `[${all}]` : all;
}

function valueText({ name, type, token, parts = [] }: Argument, bracketed: boolean): string {
  if (type === 'pure-token') return quoted(token ?? '');
  if (type === 'block') return parts.map(shown).join(' ');
  if (type !== 'oneof') return name;
  const choices = parts.map(shown).join(' | ');
  return bracketed && token === undefined ? choices : `<${choices}>`;
}

/** An empty word is shown as quotes. */
function quoted(token: string): string {
  return token === '' ? '""' : token;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
