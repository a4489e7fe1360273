/** What servers word or check differently in scripts. */
import type { Bytes } from '../../protocol/bytes.ts';

/** The errors of one server's scripts, and when it checks what. */
export interface ScriptTexts {
  /** The table of the server's functions, as their errors name it. */
  readonly table: 'redis' | 'server';
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
  /**
   * When the names of a library's functions are checked: when each is registered, as an error of the library, or when all
   * are, with errors of their own.
   */
  readonly functionNames: 'when registered' | 'when loaded';
}

/** Redis 7.0. */
export const REDIS_7_0: ScriptTexts = {
  table: 'redis',
  noCommand: 'Please specify at least one argument for this redis lib call',
  badArgument: 'Lua redis lib command arguments must be strings or integers',
  badLevel: 'Invalid debug level.',
  setReplNeeds: 'two arguments',
  engine: 'first and as written',
  functionNames: 'when registered',
};
