/** What servers word or check differently in scripts. */
import type { Bytes } from '../../protocol/bytes.ts';
import { REDIS_WORDS, type WordRules } from '../../protocol/inline.ts';
import type { StringHash } from './table.ts';

/** What the scripts of one server have, their errors, and when it checks what. */
export interface ScriptTexts {
  /** The table of the server's functions, as their errors name it. */
  readonly table: 'redis' | 'server';
  /** The constants of that table which name the server and its version, in the order in which it sets them. */
  readonly names: readonly (readonly [name: Bytes, value: Bytes | number])[];
  /** Whether scripts have a table `os`, with nothing but a clock. */
  readonly clock: boolean;
  /** Whether cjson encodes a table as an array if its metatable says so, and has a function that marks decoded arrays. */
  readonly marksArrays: boolean;
  /** Whether the table for a map or set of a reply is made for as many entries as it gets, which decides their order too. */
  readonly sizesReplies: boolean;
  /** How tables hash strings. */
  readonly stringHash: StringHash;
  /** Whose rights `cmsgpack._COPYRIGHT` names. */
  readonly packer: Bytes;
  /** The error of redis.call without arguments. */
  readonly noCommand: Bytes;
  /** The error of redis.call with an argument that is neither a string nor a number. */
  readonly badArgument: Bytes;
  /** The error of redis.log with a level that does not exist. */
  readonly badLevel: Bytes;
  /** How many arguments the error of redis.set_repl says that it requires. It always requires one. */
  readonly setReplNeeds: 'two arguments' | 'one argument';
  /** When the name of the engine in a script's first line is looked up: before its options, or after them and in any case. */
  readonly engine: 'first and as written' | 'last and in any case';
  /** How the first line of scripts and libraries is split, and an inline request. */
  readonly words: WordRules;
  /**
   * When the names of a library's functions are checked: when each is registered, as an error of the library, or when all
   * are, with errors of their own.
   */
  readonly functionNames: 'when registered' | 'when loaded';
  /** Whether the place of an error in a script names the script or function. */
  readonly errorPlace: 'with its name' | 'without its name';
}

/** The constants with a server's version: as a number, a byte for each part, and as text. */
export function versionNames(
  server: 'REDIS' | 'VALKEY',
  version: Bytes,
): [name: Bytes, value: Bytes | number][] {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => +part);
  return [
    [`${server}_VERSION_NUM`, (major << 16) | (minor << 8) | patch],
    [`${server}_VERSION`, version],
  ];
}

/** Redis 7.0. */
export const REDIS_7_0: ScriptTexts = {
  table: 'redis',
  names: versionNames('REDIS', '7.0.15'),
  clock: false,
  marksArrays: false,
  sizesReplies: false,
  stringHash: 'Lua',
  packer: 'Salvatore Sanfilippo',
  noCommand: 'Please specify at least one argument for this redis lib call',
  badArgument: 'Lua redis lib command arguments must be strings or integers',
  badLevel: 'Invalid debug level.',
  setReplNeeds: 'two arguments',
  engine: 'first and as written',
  words: REDIS_WORDS,
  errorPlace: 'with its name',
  functionNames: 'when registered',
};
