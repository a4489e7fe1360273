/** Checks users' commands, and makes entries of the command table of them. */
import { inspect } from 'node:util';
import { badOption, checkInteger, checkNames, checkString } from '../../base/options.ts';
import { asciiLower, type Bytes, fromText, toBuffer } from '../../protocol/bytes.ts';
import { commandTable } from '../../server/commands/index.ts';
import { DEFAULT_DIALECT, type DialectName, dialectNamed, isStrict } from '../../server/dialects/index.ts';
import type { Caller } from '../../server/server.ts';
import {
  type Command,
  type CommandSpec,
  type Flag,
  type KeySpec,
  key,
  keys,
  ownCommand,
} from '../../server/table/command.ts';
import type { OwnCommand, OwnCommands, OwnKeys, OwnType } from './own-command.ts';
import { runOwnCommand } from './run.ts';
import { typeOfCommand } from './values.ts';

const MEMBERS = ['arity', 'keys', 'flags', 'categories', 'type', 'summary', 'since', 'complexity', 'run'];
const FLAGS = [
  'write',
  'readonly',
  'denyoom',
  'admin',
  'pubsub',
  'noscript',
  'loading',
  'stale',
  'skip_monitor',
  'skip_slowlog',
  'fast',
  'no_auth',
  'no_multi',
] as const satisfies readonly Flag[];
/** The words that TYPE reports for other values, and for no value. */
const TAKEN = ['string', 'hash', 'list', 'set', 'zset', 'stream', 'vectorset', 'own', 'none'];
const KEY_FORMS =
  'the position of a key, [first, last, step], { count: position } or a function (words) => positions; a request has the name at 0';
const MOST_WORDS = 1000;
/** A word of a command or a category: no blank, no quote, nothing that an ACL rule reads otherwise. */
const WORD = /^[a-z0-9_][a-z0-9_.:-]*$/i;

/** The entries of users' commands, by what the user has declared: every node of a set has the same. */
const made = new WeakMap<OwnCommand, Map<string, Command<Caller>>>();

/** Returns the table entries of commands that have been checked. */
export function ownCommands(commands: OwnCommands = {}): Command<Caller>[] {
  return Object.entries(commands).map(([name, command]) => {
    const lower = asciiLower(name);
    let entries = made.get(command);
    if (entries === undefined) made.set(command, (entries = new Map()));
    let entry = entries.get(lower);
    if (entry === undefined) entries.set(lower, (entry = entryOf(lower, command)));
    return entry;
  });
}

function entryOf(name: Bytes, command: OwnCommand): Command<Caller> {
  const { arity, summary, since = '1.0.0', complexity, flags = [], categories = [] } = command;
  const type = typeOfCommand(name, command);
  const isReadonly = flags.includes('readonly');
  const where = command.keys;
  const runnable = {
    ...{ name, command, type, isReadonly },
    ...(typeof where === 'function' && { findKeys: (argv: readonly Bytes[]) => positionsIn(where, argv) }),
  };
  const spec: CommandSpec<number, Caller> = {
    summary: fromText(summary ?? `A command of this server's user, with values of the type ${type.name}.`),
    since,
    ...(complexity !== undefined && { complexity: fromText(complexity) }),
    arity,
    flags: ['module', ...flags, ...(typeof command.keys === 'function' ? (['movablekeys'] as const) : [])],
    categories: categories.map(asciiLower),
    isOwn: true,
    valueType: fromText(type.name),
    ...keysOf(command, isReadonly ? 'RO ACCESS' : 'RW ACCESS UPDATE'),
    run: (client, argv) => runOwnCommand(runnable, client, [...argv]),
  };
  return ownCommand(name, spec);
}

function keysOf({ keys: where }: OwnCommand, flags: string): Pick<CommandSpec<number>, 'keys' | 'getKeys'> {
  if (where === undefined || where === 0) return {};
  if (typeof where === 'number') return { keys: key(flags, where) };
  if (typeof where === 'function') {
    const spec: KeySpec = { flags, begin: 'unknown', find: 'unknown', incomplete: true };
    return { keys: [spec], getKeys: (argv) => positionsOrNone(where, argv) };
  }
  if ('count' in where) {
    return { keys: [{ flags, begin: where.count, find: { count: 0, first: 1, step: 1 } }] };
  }
  const [first, last, step] = where;
  return { keys: keys(flags, first, step, last < 0 ? last : last - first) };
}

type FindKeys = Extract<OwnKeys, (...args: never) => unknown>;

/** The positions; none if the function throws, because ACL rules and clusters ask before the command can answer its error. */
function positionsOrNone(where: FindKeys, argv: readonly Bytes[]): number[] {
  try {
    return positionsIn(where, argv);
  } catch {
    return [];
  }
}

/** The positions that a user's function returns, without those that no key can have. */
function positionsIn(where: FindKeys, argv: readonly Bytes[]): number[] {
  const found = where(argv.map((word) => toBuffer(word).toString()));
  return [...found].filter((at) => Number.isInteger(at) && at > 0 && at < argv.length);
}

/**
 * Throws TypeError for the first mistake in users' commands.
 * @param dialects the servers that the nodes answer as
 */
export function checkOwnCommands(
  commands: OwnCommands | undefined,
  dialects: readonly { dialect?: DialectName; strict?: boolean }[],
): void {
  if (commands === undefined) return;
  if (typeof commands !== 'object' || commands === null || Array.isArray(commands))
    throw badOption('commands', commands, "an object of commands by their names, such as 'json.get'");
  const seen = new Set<string>();
  for (const [name, command] of Object.entries(commands)) {
    const option = `commands[${inspect(name)}]`;
    if (!WORD.test(name))
      throw badOption(option, command, 'a name of letters, digits, dots, colons, dashes and underscores');
    const lower = asciiLower(name);
    if (seen.has(lower)) throw badOption(option, command, 'one command of that name (case does not count)');
    seen.add(lower);
    for (const given of dialects) {
      const { dialect = DEFAULT_DIALECT } = given;
      const strict = isStrict(given);
      if (!commandTable([], dialectNamed(dialect), strict).has(lower)) continue;
      const has = `${dialect} has ${asciiLower(name)}${strict ? '' : ' here'}`;
      throw badOption(option, command, `a name that the server does not have (${has})`);
    }
    checkCommand(option, command, lower);
  }
}

function checkCommand(option: string, command: OwnCommand, name: string): void {
  checkNames(command, MEMBERS, option);
  const { arity, run, flags, categories, summary, since, complexity } = command;
  if (arity === 0)
    throw badOption(`${option}.arity`, arity, 'the number of words with the name, or minus the least number');
  checkInteger(`${option}.arity`, arity, -MOST_WORDS, MOST_WORDS);
  if (typeof run !== 'function')
    throw badOption(`${option}.run`, run, 'a function (args, { call, value, store })');
  if (Object.prototype.toString.call(run) === '[object AsyncFunction]')
    throw badOption(`${option}.run`, run, 'a function that is not async: a command answers at once');
  checkWords(
    `${option}.flags`,
    flags,
    (flag) => (FLAGS as readonly string[]).includes(flag),
    FLAGS.join(', '),
  );
  if (flags?.includes('write') && flags.includes('readonly'))
    throw badOption(`${option}.flags`, flags, "'write' or 'readonly', or neither");
  checkWords(
    `${option}.categories`,
    categories,
    (word) => WORD.test(word),
    'names of ACL categories without @',
  );
  for (const [member, value] of Object.entries({ summary, since, complexity }))
    if (value !== undefined) checkString(`${option}.${member}`, value);
  checkKeys(option, command);
  checkType(option, command, name);
}

function checkWords(
  option: string,
  words: readonly string[] | undefined,
  isAllowed: (word: string) => boolean,
  allowed: string,
): void {
  if (words === undefined) return;
  if (!Array.isArray(words)) throw badOption(option, words, `an array of ${allowed}`);
  for (const [i, word] of words.entries())
    if (typeof word !== 'string' || !isAllowed(word)) throw badOption(`${option}[${i}]`, word, allowed);
}

function checkKeys(option: string, { arity, keys: where }: OwnCommand): void {
  const name = `${option}.keys`;
  // A position that every request has, because the arity asks for that many words.
  const most = Math.abs(arity) - 1;
  const checkPosition = (value: unknown): void => {
    if (most < 1)
      throw badOption(name, where, `no keys with arity ${arity}: a request may be the name alone`);
    checkInteger(name, value, 1, most);
  };
  if (where === undefined || where === 0 || typeof where === 'function') return;
  if (typeof where === 'number') checkPosition(where);
  else if (Array.isArray(where) && where.length === 3) {
    const [first, last, step]: readonly unknown[] = where;
    checkPosition(first);
    checkInteger(`${name}[1]`, last, -MOST_WORDS, MOST_WORDS);
    const isBefore = (last as number) >= 0 && (last as number) < (first as number);
    if (isBefore) throw badOption(`${name}[1]`, last, 'a last key that is not before the first');
    checkInteger(`${name}[2]`, step, 1, MOST_WORDS);
  } else if (typeof where !== 'object' || where === null || Array.isArray(where)) {
    throw badOption(name, where, KEY_FORMS);
  } else {
    checkNames(where, ['count'], name);
    checkPosition((where as { count: unknown }).count);
  }
}

function checkType(option: string, command: OwnCommand, name: string): void {
  const given: unknown = command.type;
  const at = `${option}.type`;
  if (given !== undefined && typeof given !== 'string') {
    checkNames(given as object, ['name', 'encode', 'decode'], at);
    const { encode, decode } = given as OwnType;
    for (const [member, value] of Object.entries({ encode, decode }))
      if (value !== undefined && typeof value !== 'function')
        throw badOption(`${at}.${member}`, value, 'a function');
    if ((encode === undefined) !== (decode === undefined))
      throw badOption(at, given, 'a type with both encode and decode, or with neither');
  }
  const word: unknown = typeOfCommand(name, command).name;
  if (typeof word !== 'string' || !WORD.test(word) || TAKEN.includes(asciiLower(word)))
    throw badOption(at, word, `a word for TYPE that is none of ${TAKEN.join(', ')}`);
}
