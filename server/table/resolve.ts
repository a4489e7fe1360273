/** Finds the table entry for a request's words, with Redis' errors if there is none. */
import { asciiLower, asciiUpper, type Bytes, cString } from '../../protocol/bytes.ts';
import { wrongArity } from '../../protocol/errors.ts';
import { ReplyError } from '../../protocol/reply.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { arityFits, type Command } from './command.ts';

/** Counts calls of unknown commands. */
interface Counting {
  readonly dialect: Pick<Dialect, 'unknownWithoutArguments'>;
  readonly stats: { unknown(name: Bytes): void };
}

/** The commands of a node, by name. */
interface Spoken<C> {
  readonly commands: ReadonlyMap<Bytes, Command<C>>;
  /** The commands of every server, by name. */
  readonly everyCommand: ReadonlyMap<Bytes, Command<C>>;
  /** Commands that no table lists, or the errors for those that are elsewhere, by name in lower case. */
  readonly elsewhere: ReadonlyMap<Bytes, Bytes | Command<C>>;
}

/**
 * Finds the table entry of a request by its case-insensitive name. Returns a ReplyError if there is none.
 * @param every true: commands of other servers count too, because a primary of another dialect may send them
 */
export function resolve<C>(
  { commands, dialect, elsewhere, everyCommand, stats }: Spoken<C> & Counting,
  argv: readonly Bytes[],
  every: boolean,
): Command<C> | ReplyError {
  const name = asciiLower(argv[0] ?? '');
  const command = commands.get(name) ?? (every ? everyCommand.get(name) : undefined);
  if (command !== undefined) return command;
  const other = elsewhere.get(name);
  if (typeof other === 'object') return other;
  stats.unknown(name);
  return new ReplyError(other ?? unknownText(argv, dialect));
}

function unknownText(argv: readonly Bytes[], dialect: Counting['dialect']): Bytes {
  const name = cString(argv[0] ?? '', 128);
  if (argv.length === 1 && dialect.unknownWithoutArguments === 'by its name alone') {
    return `ERR unknown command '${name}'`;
  }
  let args = '';
  for (let i = 1; i < argv.length && args.length < 128; i++) {
    args += `'${cString(argv[i] ?? '', 128 - args.length)}' `;
  }
  return `ERR unknown command '${name}', with args beginning with: ${args}`;
}

/** Finds the command or subcommand that the words within another request name; undefined if there is none. */
export function commandOf<C>(
  commands: ReadonlyMap<Bytes, Command<C>>,
  words: readonly Bytes[],
): Command<C> | undefined {
  const [name = '', sub] = words;
  // The table has names in either case. Only a mixture of both must be converted.
  const command = commands.get(name) ?? commands.get(asciiLower(name));
  if (command?.subcommands === undefined || sub === undefined) return command;
  return command.subcommands.get(asciiLower(sub));
}

/** Goes from a container to the subcommand that the request names; undefined if there is none. */
export function step<C>(command: Command<C>, argv: readonly Bytes[]): Command<C> | undefined {
  if (command.subcommands === undefined || argv.length === 1) return command;
  return command.subcommands.get(asciiLower(argv[1] ?? ''));
}

/** The error for a subcommand that does not exist. */
export function unknownSubcommand([name = '', sub = '']: readonly Bytes[]): ReplyError {
  // A script that catches the error sees spaces, as a client does.
  const shown = cString(sub, 128).replaceAll(/[\r\n]/g, ' ');
  return new ReplyError(`ERR unknown subcommand '${shown}'. Try ${asciiUpper(name)} HELP.`);
}

/** Goes from a container to its subcommand, and checks the number of words. Returns a ReplyError if either fails. */
export function checkWords<C>(
  { stats }: Counting,
  command: Command<C>,
  argv: readonly Bytes[],
): Command<C> | ReplyError {
  const found = step(command, argv);
  if (found === undefined) {
    stats.unknown(`${command.name} ${argv[1]}`);
    return unknownSubcommand(argv);
  }
  const runs = found.subcommands === undefined || found.arity === -1;
  return arityFits(found.arity, argv.length) && runs ? found : wrongArity(found.fullName);
}
