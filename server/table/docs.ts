/** Builds the reply of COMMAND DOCS (https://redis.io/docs/latest/commands/command-docs/). */
import { MapReply, type Reply, SetReply, SimpleString } from '../../protocol/reply.ts';
import { syntaxFor } from '../commands/syntax/index.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { existsIn, shownSince } from '../dialects/since.ts';
import type { Command } from './command.ts';
import { type Argument, parseSyntax, type Syntax } from './syntax.ts';

/** Splits a line of a history or a deprecation into the version and the text. */
function versioned(line: string): [string, string] {
  const end = line.indexOf(' ');
  return [line.slice(0, end), line.slice(end + 1)];
}

function describeArgument(argument: Argument, dialect: Dialect): Reply {
  const {
    name,
    type,
    display = name,
    keySpec,
    token,
    since,
    deprecatedSince,
    optional,
    multiple,
    repeatsToken,
    parts,
  } = argument;
  const fields: Reply[] = ['name', name, 'type', type];
  if (dialect.displayText && type !== 'oneof' && type !== 'block') fields.push('display_text', display);
  if (keySpec !== undefined) fields.push('key_spec_index', keySpec);
  if (token !== undefined) fields.push('token', token);
  if (since !== undefined) fields.push('since', shownSince(since, dialect));
  if (deprecatedSince !== undefined) fields.push('deprecated_since', deprecatedSince);
  const flags = [
    ...(optional === true ? ['optional'] : []),
    ...(multiple === true ? ['multiple'] : []),
    ...(repeatsToken === true ? ['multiple_token'] : []),
  ];
  if (flags.length > 0) fields.push('flags', new SetReply(flags.map((flag) => new SimpleString(flag))));
  if (parts !== undefined)
    fields.push(
      'arguments',
      parts.map((part) => describeArgument(part, dialect)),
    );
  return new MapReply(fields);
}

/** The arguments that the dialect's server knows. */
export function knownArguments(all: readonly Argument[], dialect: Dialect): Argument[] {
  return all
    .filter(({ since }) => since === undefined || existsIn(since, dialect))
    .map((argument) =>
      argument.parts === undefined
        ? argument
        : { ...argument, parts: knownArguments(argument.parts, dialect) },
    );
}

function describeLife({ deprecated, system, history }: Syntax): Reply[] {
  const fields: Reply[] = [];
  const flag = (deprecated ?? '') !== '' ? 'deprecated' : system === true ? 'syscmd' : undefined;
  if (flag !== undefined) fields.push('doc_flags', new SetReply([new SimpleString(flag)]));
  if (deprecated !== undefined && deprecated !== '') {
    const [since, successor] = versioned(deprecated);
    fields.push('deprecated_since', since, 'replaced_by', successor);
  }
  if (history !== undefined) fields.push('history', new SetReply(history.map(versioned)));
  return fields;
}

/** Returns a command's entry in COMMAND DOCS: its name, then its map. */
export function commandDocs(command: Command, dialect: Dialect): Reply[] {
  const { summary, since, module } = command.spec;
  const origin = module === undefined ? [] : ['module', module];
  if (module !== undefined && !dialect.describesModules)
    return [command.fullName, new MapReply(['group', 'module', ...origin])];
  const syntax = syntaxFor(command, dialect);
  const own = module === undefined ? (command.spec.complexity ?? '') : '';
  const { complexity = own, introduced = shownSince(since, dialect) } = syntax;
  const group = command.group === 'replication' ? 'server' : command.group;
  const fields: Reply[] = ['summary', summary, 'since', introduced, 'group', group, ...origin];
  if (complexity !== '') fields.push('complexity', complexity);
  fields.push(...describeLife(syntax));
  if (syntax.words !== undefined && syntax.words !== '') {
    const known = knownArguments(parseSyntax(syntax.words), dialect);
    fields.push(
      'arguments',
      known.map((argument) => describeArgument(argument, dialect)),
    );
  }
  if (command.subcommands !== undefined) {
    const members = [...command.subcommands.values()];
    fields.push('subcommands', new MapReply(members.flatMap((sub) => commandDocs(sub, dialect))));
  }
  return [command.fullName, new MapReply(fields)];
}
