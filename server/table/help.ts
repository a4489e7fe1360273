/** HELP of the containers: a usage line and a sentence for each subcommand, from its syntax line and its summary. */
import { asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { SimpleString } from '../../protocol/reply.ts';
import { syntaxOf } from '../commands/syntax/index.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Command } from './command.ts';
import { knownArguments } from './docs.ts';
import { type Argument, parseSyntax } from './syntax.ts';

/** The arguments as Redis' HELP writes them, such as `<key> [COUNT <count>]`. */
function usage(all: readonly Argument[], dialect: Dialect, between = ' '): string {
  return knownArguments(all, dialect)
    .map((argument) => argumentUsage(argument, dialect))
    .join(between);
}

function argumentUsage(argument: Argument, dialect: Dialect): string {
  const { name, type, token, parts = [], optional, multiple } = argument;
  let value = `<${argument.display ?? name}>`;
  if (type === 'block') value = usage(parts, dialect);
  else if (type === 'oneof') value = usage(parts, dialect, '|');
  else if (type === 'pure-token') value = '';
  const words = [token, value].filter((word) => word !== undefined && word !== '').join(' ');
  if (optional === true) return multiple === true ? `[${words} ...]` : `[${words}]`;
  if (multiple !== true) return words;
  return type === 'block' || type === 'oneof' ? `${words} ...` : `${words} [${words} ...]`;
}

/** Returns the container with a HELP that lists the subcommands of the dialect, if HELP is generated. */
export function withHelp<C>(container: Command<C>, dialect: Dialect): Command<C> {
  const { subcommands } = container;
  const help = subcommands?.get('help');
  if (subcommands === undefined || help?.spec.listsSubcommands !== true) return container;
  const run = (): SimpleString[] => helpOf(container, dialect).map((line) => new SimpleString(line));
  return { ...container, subcommands: new Map(subcommands).set('help', { ...help, run }) };
}

function helpOf<C>({ name, arity, spec, subcommands }: Command<C>, dialect: Dialect): Bytes[] {
  const lines = [`${asciiUpper(name)} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`];
  if (arity === -1) lines.push('(no subcommand)', `    ${spec.summary}`);
  for (const [sub, { fullName, spec: about }] of subcommands ?? []) {
    if (sub === 'help') continue;
    const { words } = syntaxOf(fullName, dialect);
    const rest = words === undefined ? '' : ` ${usage(parseSyntax(words), dialect)}`;
    lines.push(`${asciiUpper(sub)}${rest}`, `    ${about.summary}`);
  }
  return [...lines, 'HELP', '    Print this help.'];
}
