/** COMMAND: describes the command table (https://redis.io/docs/latest/commands/command/). */
import { asciiLower, type Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { globMatch } from '../../../protocol/glob.ts';
import { MapReply, type Reply, ReplyError, SetReply, SimpleString } from '../../../protocol/reply.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Caller, Server } from '../../server.ts';
import { Options } from '../../table/arguments.ts';
import { type Argv, arityFits, type Command } from '../../table/command.ts';
import { commandDocs } from '../../table/docs.ts';
import { categoriesOf, commandInfo, type FoundKey, findKeys, keyFlags } from '../../table/info.ts';
import { commandOf } from '../../table/resolve.ts';
import { defineContainer } from '../define.ts';

/** The lists of tables that were asked for. A table does not change. */
const lists = new WeakMap<Server['commands'], readonly Command[]>();

/** Returns the table's commands, each once. */
export function eachCommand({ commands }: Server): readonly Command[] {
  const known = lists.get(commands);
  if (known !== undefined) return known;
  const list = [...new Set(commands.values())];
  lists.set(commands, list);
  return list;
}

/** What COMMAND has answered about a command in a dialect. A command does not change. */
type Answered<T> = WeakMap<Command, Map<Dialect, T>>;
const infos: Answered<Reply> = new WeakMap();
const docs: Answered<readonly Reply[]> = new WeakMap();
const categories = new WeakMap<Command, readonly string[]>();

function answered<T>(
  answers: Answered<T>,
  command: Command,
  dialect: Dialect,
  make: (command: Command, dialect: Dialect) => T,
): T {
  let known = answers.get(command);
  if (known === undefined) answers.set(command, (known = new Map()));
  let each = known.get(dialect);
  if (each === undefined) known.set(dialect, (each = make(command, dialect)));
  return each;
}

function infoOf(command: Command, { server }: Caller): Reply {
  return answered(infos, command, server.dialect, commandInfo);
}

function docsOf(command: Command, dialect: Dialect): readonly Reply[] {
  return answered(docs, command, dialect, commandDocs);
}

/** The tables' commands and their subcommands, which COMMAND LIST names. */
const families = new WeakMap<readonly Command[], readonly Command[]>();

function withSubcommands(commands: readonly Command[]): readonly Command[] {
  let all = families.get(commands);
  if (all === undefined) {
    all = commands.flatMap((each) => [each, ...(each.subcommands?.values() ?? [])]);
    families.set(commands, all);
  }
  return all;
}

/** Returns a command by its full name, which may be that of a subcommand such as 'config|get'. */
function named(server: Server, name: Bytes): Command | undefined {
  const [outer = '', inner, ...more] = asciiLower(name).split('|');
  const command = more.length > 0 ? undefined : server.commands.get(outer);
  return inner === undefined ? command : command?.subcommands?.get(inner);
}

function list(client: Caller, argv: readonly Bytes[]): Reply {
  const { server } = client;
  const all = withSubcommands(eachCommand(server));
  const options = new Options(argv, 2);
  if (!options.more()) return all.map((each) => each.fullName);
  if (options.next() !== 'FILTERBY' || options.left !== 2) fail(SYNTAX);
  const kind = options.next();
  const value = options.value();
  const keep: ((command: Command) => boolean) | undefined =
    kind === 'MODULE'
      ? (each) => each.spec.module === value
      : kind === 'ACLCAT'
        ? inCategory(`@${asciiLower(value)}`)
        : kind === 'PATTERN'
          ? (each) => globMatch(value, each.fullName, true)
          : undefined;
  return keep === undefined ? fail(SYNTAX) : all.filter(keep).map((each) => each.fullName);
}

function inCategory(category: Bytes): (command: Command) => boolean {
  return (command) => {
    let all = categories.get(command);
    if (all === undefined) categories.set(command, (all = categoriesOf(command)));
    return all.includes(category);
  };
}

function keysOf(client: Caller, argv: Argv<-3>): { request: Bytes[]; found: FoundKey[] } {
  const [, , ...request] = argv;
  const command = commandOf(client.server.commands, request);
  if (command === undefined) throw new ReplyError('ERR Invalid command specified');
  // Channels have key specifications, but are not keys.
  const takesKeys = (command.spec.keys ?? []).some(({ flags }) => !flags.includes('NOT_KEY'));
  if (!takesKeys && command.spec.getKeys === undefined) {
    fail('ERR The command has no key arguments');
  }
  if (!arityFits(command.arity, request.length))
    fail('ERR Invalid number of arguments specified for command');
  const found = findKeys(command, request) ?? fail('ERR Invalid arguments specified for command');
  if (found.length === 0 && !command.spec.flags.includes('no_mandatory_keys')) {
    fail('ERR Invalid arguments specified for command');
  }
  return { request, found };
}

const FLAGS = ['loading', 'stale'] as const;
const about = { since: '2.8.13', complexity: 'O(N) with N the number of commands', flags: FLAGS };

export const commandCommand = defineContainer(
  'server',
  'command',
  {
    summary: 'Describes every command.',
    ...about,
    helpSince: '5.0.0',
    categories: ['connection'],
    tips: ['nondeterministic_output_order'],
    run: (client) => eachCommand(client.server).map((each) => infoOf(each, client)),
  },
  {
    count: {
      summary: 'Counts the commands.',
      ...about,
      complexity: 'O(1)',
      arity: 2,
      categories: ['connection'],
      run: (client) => eachCommand(client.server).length,
    },
    docs: {
      summary: 'Documents the commands.',
      ...about,
      since: '7.0.0',
      arity: -2,
      categories: ['connection'],
      tips: ['nondeterministic_output_order'],
      run(client, argv) {
        const names = argv.slice(2);
        const chosen =
          names.length === 0
            ? eachCommand(client.server)
            : names.flatMap((name) => named(client.server, name) ?? []);
        return new MapReply(chosen.flatMap((command) => docsOf(command, client.server.dialect)));
      },
    },
    info: {
      summary: 'Describes the named commands.',
      ...about,
      arity: -2,
      categories: ['connection'],
      tips: ['nondeterministic_output_order'],
      run(client, argv) {
        const names = argv.slice(2);
        if (names.length === 0) return eachCommand(client.server).map((each) => infoOf(each, client));
        return names.map((name) => {
          const command = named(client.server, name);
          return command === undefined ? null : infoOf(command, client);
        });
      },
    },
    list: {
      summary: "Lists the commands' names.",
      ...about,
      since: '7.0.0',
      arity: -2,
      categories: ['connection'],
      tips: ['nondeterministic_output_order'],
      run: list,
    },
    getkeys: {
      summary: 'Finds the keys in a request.',
      ...about,
      complexity: 'O(N) with N the number of arguments',
      changes: [{ since: '7.2.0', arity: -3 }],
      arity: -4,
      categories: ['connection'],
      run(client, argv) {
        const { request, found } = keysOf(client, argv);
        return found.map(({ at }) => request[at] ?? '');
      },
    },
    getkeysandflags: {
      summary: 'Finds the keys in a request and how each is used.',
      ...about,
      since: '7.0.0',
      complexity: 'O(N) with N the number of arguments',
      changes: [{ since: '7.2.0', arity: -3 }],
      arity: -4,
      categories: ['connection'],
      run(client, argv) {
        const { request, found } = keysOf(client, argv);
        return found.map(({ at, flags }) => [
          request[at] ?? '',
          new SetReply(keyFlags(flags).map((word) => new SimpleString(word))),
        ]);
      },
    },
  },
);
