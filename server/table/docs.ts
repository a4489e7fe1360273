/** What COMMAND DOCS answers of a command (https://redis.io/docs/latest/commands/command-docs/). */
import { MapReply, type Reply, SetReply, SimpleString } from '../../protocol/reply.ts';
import { syntaxOf } from '../commands/syntax/index.ts';
import type { Command } from './command.ts';
import { type Argument, parseSyntax, type Syntax } from './syntax.ts';

/** A line of a history or a deprecation: the version, and the text behind it. */
function versioned(line: string): [string, string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}

function describeArgument(argument: Argument): Reply {
  const { name, type, keySpec, token, since, deprecatedSince, optional, multiple, repeatsToken, parts } =
    argument;
  const fields: Reply[] = ['name', name, 'type', type];
  if (keySpec !== undefined) fields.push('key_spec_index', keySpec);
  if (token !== undefined) fields.push('token', token);
  if (since !== undefined) fields.push('since', since);
  if (deprecatedSince !== undefined) fields.push('deprecated_since', deprecatedSince);
  const flags = [
    ...(optional === true ? ['optional'] : []),
    ...(multiple === true ? ['multiple'] : []),
    ...(repeatsToken === true ? ['multiple_token'] : []),
  ];
  if (flags.length > 0) fields.push('flags', new SetReply(flags.map((flag) => new SimpleString(flag))));
  if (parts !== undefined) fields.push('arguments', parts.map(describeArgument));
  return new MapReply(fields);
}

function describeLife({ deprecated, system, history }: Syntax): Reply[] {
  const fields: Reply[] = [];
  const flag = deprecated !== undefined ? 'deprecated' : system === true ? 'syscmd' : undefined;
  if (flag !== undefined) fields.push('doc_flags', new SetReply([new SimpleString(flag)]));
  if (deprecated !== undefined) {
    const [since, successor] = versioned(deprecated);
    fields.push('deprecated_since', since, 'replaced_by', successor);
  }
  if (history !== undefined) fields.push('history', new SetReply(history.map(versioned)));
  return fields;
}

/** The entry of COMMAND DOCS: name and map, alternating. */
export function commandDocs(command: Command): Reply[] {
  const { summary, since, complexity } = command.spec;
  const syntax = syntaxOf(command.fullName);
  const group = command.group === 'replication' ? 'server' : command.group;
  const fields: Reply[] = ['summary', summary, 'since', since, 'group', group];
  if (complexity !== undefined) fields.push('complexity', complexity);
  fields.push(...describeLife(syntax));
  if (syntax.words !== undefined) {
    fields.push('arguments', parseSyntax(syntax.words).map(describeArgument));
  }
  if (command.subcommands !== undefined) {
    fields.push('subcommands', new MapReply([...command.subcommands.values()].flatMap(commandDocs)));
  }
  return [command.fullName, new MapReply(fields)];
}
