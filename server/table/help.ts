/** HELP of the containers: a usage line and a sentence for each subcommand, from its syntax line and its summary. */
import { asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { SimpleString } from '../../protocol/reply.ts';
import { syntaxFor } from '../commands/syntax/index.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Command } from './command.ts';
import { knownArguments } from './docs.ts';
import { parseSyntax } from './syntax.ts';
import { type UsageStyle, usageOf } from './usage.ts';

/** As Redis writes its HELP: `<key> [COUNT <count>]`. */
const STYLE: UsageStyle = {
  value: ({ name, display = name }) => `<${display}>`,
  or: '|',
  isBrief: true,
  group: (choices) => (choices.includes(' ') ? `(${choices})` : choices),
};

/** Returns the container with a HELP that lists the subcommands of the dialect, if HELP is generated. */
export function withHelp<C>(container: Command<C>, dialect: Dialect): Command<C> {
  const { subcommands } = container;
  const help = subcommands?.get('help');
  if (subcommands === undefined || help?.spec.listsSubcommands !== true) return container;
  const run = (_: C, [name]: readonly Bytes[]): SimpleString[] => helpOf(container, dialect, name);
  return { ...container, subcommands: new Map(subcommands).set('help', { ...help, run }) };
}

/** Returns the lines of a container's HELP. @param name as the client has written it */
export function helpOf<C>(
  { name: own, arity, spec, subcommands }: Command<C>,
  dialect: Dialect,
  name: Bytes = own,
): SimpleString[] {
  const lines = [`${asciiUpper(name)} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`];
  if (arity === -1) lines.push('(no subcommand)', `    ${spec.summary}`);
  for (const [sub, member] of subcommands ?? []) {
    if (sub === 'help') continue;
    const { words } = syntaxFor(member, dialect);
    const known = words === undefined ? [] : knownArguments(parseSyntax(words), dialect);
    const usage = [asciiUpper(sub), usageOf(known, STYLE)].filter((part) => part !== '').join(' ');
    lines.push(usage, `    ${member.spec.summary}`);
  }
  return [...lines, 'HELP', '    Print this help.'].map((line) => new SimpleString(line));
}
