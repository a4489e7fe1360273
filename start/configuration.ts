/**
 * Reads redis.conf, and the same directives from the command line
 * (https://redis.io/docs/latest/operate/oss_and_stack/management/config/).
 */
import { asciiLower, type Bytes, toBuffer } from '../protocol/bytes.ts';
import { splitInline } from '../protocol/inline.ts';
import { commandTable } from '../server/commands/index.ts';
import type { Dialect } from '../server/dialects/dialect.ts';
import { DEFAULT_DIALECT, type DialectName, dialectNamed } from '../server/dialects/index.ts';
import { entered } from '../server/host/directory.ts';
import { BadSetting } from '../server/settings/parameters.ts';
import { refusalOf } from '../server/settings/refusals.ts';
import { aliases, parameters, type Settings } from '../server/settings/settings.ts';
import { hasParameter, readSetting } from '../server/settings/variants.ts';
import { BadRenaming, type Named, type Renaming, renamed } from '../server/table/rename.ts';

/** A directive cannot be applied. The message says why, in redis-server's words where it has some. */
export class BadDirective extends Error {}

/** Parameters whose value consists of several words. */
const SEVERAL_WORDS: ReadonlySet<string> = new Set<keyof Settings>([
  'bind',
  'client-output-buffer-limit',
  'latency-tracking-info-percentiles',
  'oom-score-adj-values',
  'save',
  'shutdown-on-sigint',
  'shutdown-on-sigterm',
]);

/** Parameters that a server inside a process refuses, and the command line does itself. */
const OWN: ReadonlySet<string> = new Set<keyof Settings>(['daemonize', 'pidfile']);

/** Parameters that servers no longer have, and still accept in a file. They have no effect. */
const OUTDATED: ReadonlySet<string> = new Set([
  'list-max-ziplist-entries',
  'list-max-ziplist-value',
  'lua-replicate-commands',
]);

/** Parameters that may have several lines, which add up. */
const ADDING: ReadonlySet<string> = new Set<keyof Settings>(['client-output-buffer-limit', 'save']);

/** Directives that lostlock knows and does not implement, with the reason. */
const REFUSED: ReadonlyMap<string, string> = new Map([['loadmodule', 'lostlock loads no modules']]);

const UNKNOWN = 'Bad directive or wrong number of arguments';
const WRONG_NUMBER = 'wrong number of arguments';

/** The directives of redis.conf that lostlock knows. */
export const directives: ReadonlySet<string> = new Set([
  ...Object.keys(parameters),
  'rename-command',
  'replicaof',
  'user',
  ...OUTDATED,
  ...REFUSED.keys(),
]);

/** True for the directives that lostlock knows, also by their older names. */
export function isDirective(directive: string): boolean {
  return directives.has(nameOf(directive));
}

/** True if a directive takes more than one word. */
export function takesSeveralWords(directive: string): boolean {
  const name = nameOf(directive);
  return SEVERAL_WORDS.has(name) || ['rename-command', 'replicaof', 'user'].includes(name);
}

function nameOf(directive: Bytes): string {
  const lower = asciiLower(directive);
  if (lower === 'slaveof') return 'replicaof';
  return Object.hasOwn(aliases, lower) ? (aliases[lower] as string) : lower;
}

/** A line of sentinel.conf that begins with `sentinel`. */
export interface SentinelLine {
  /** The words behind `sentinel`. */
  readonly words: readonly Bytes[];
  readonly text: Bytes;
  /** The line's number, from 1. */
  readonly number: number;
}

/** The error of a line of a configuration file. */
export function badLine(number: number, text: Bytes, why: string): BadDirective {
  const head = `Reading the configuration file, at line ${number}`;
  return new BadDirective(`\n*** FATAL CONFIG FILE ERROR ***\n${head}\n>>> '${text}'\n${why}`);
}

/** The directives of a configuration file and of the command line, in order. A later directive replaces an earlier one. */
export class Configuration {
  readonly settings: Partial<Settings> = {};
  /** The rules of each user, separated by spaces. */
  readonly users: Record<string, string> = Object.create(null);
  /** The `sentinel` directives, in order. */
  readonly sentinelLines: SentinelLine[] = [];
  /** The commands with other names, in order. */
  readonly renamings: Renaming[] = [];
  /** The primary to follow. */
  replicaOf: { readonly host: string; readonly port: number } | undefined;
  readonly #dialect: Dialect;
  readonly #strict: boolean;
  /** The commands as the `rename-command` lines so far have left them. */
  #commands: Named<unknown> | undefined;

  /**
   * @param dialect the server whose file it is; by default the default one, and what other servers have besides
   * @param strict true: only what that server has
   */
  constructor(dialect?: DialectName, strict = dialect !== undefined) {
    this.#dialect = dialectNamed(dialect ?? DEFAULT_DIALECT);
    this.#strict = strict;
  }

  /**
   * Applies one directive.
   * @param words the directive's name and its arguments
   * @throws BadDirective
   */
  apply([directive = '', ...values]: readonly Bytes[]): void {
    const name = nameOf(directive);
    const refused = REFUSED.get(name);
    if (refused !== undefined) throw new BadDirective(refused);
    if (name === 'replicaof') this.#follow(values.flatMap((value) => value.split(' ')));
    else if (name === 'user') this.#addUser(values);
    else if (name === 'rename-command') this.#rename(values);
    else if (OUTDATED.has(name) && values.length === 1) return;
    else this.#set(name, values);
  }

  #rename([name, to, ...more]: readonly Bytes[]): void {
    if (name === undefined || to === undefined || more.length > 0) throw new BadDirective(UNKNOWN);
    this.#commands ??= commandTable([], this.#dialect, this.#strict);
    try {
      this.#commands = renamed(this.#commands, [name, to]);
    } catch (error) {
      throw error instanceof BadRenaming ? new BadDirective(error.message) : error;
    }
    this.renamings.push([name, to]);
  }

  #set(name: string, values: readonly Bytes[]): void {
    if (!Object.hasOwn(parameters, name)) {
      throw new BadDirective(UNKNOWN);
    }
    const key = name as keyof Settings;
    if (values.length === 0 || (values.length > 1 && !SEVERAL_WORDS.has(name))) {
      throw new BadDirective(WRONG_NUMBER);
    }
    const value = values.join(' ');
    if (this.#strict && !hasParameter(key, this.#dialect)) throw new BadDirective(UNKNOWN);
    const earlier = ADDING.has(name) && value !== '' ? (this.settings[key] ?? '') : '';
    const read = readSetting(key, earlier === '' ? value : `${earlier} ${value}`, this.#dialect);
    if (read instanceof BadSetting) throw new BadDirective(read.why);
    // A later directive may name a place for the append-only file.
    const why = OWN.has(name) ? undefined : refusalOf(key, read, true);
    if (why !== undefined) throw new BadDirective(why);
    Object.assign(this.settings, { [name]: key === 'dir' ? this.#enter(value) : read });
  }

  /** Enters a directory, from which later lines are read. */
  #enter(directory: Bytes): Bytes {
    try {
      return entered(this.settings.dir, directory);
    } catch (error) {
      throw new BadDirective((error as Error).message);
    }
  }

  #follow(values: readonly Bytes[]): void {
    if (values.length !== 2) throw new BadDirective(WRONG_NUMBER);
    const [host = '', portText = ''] = values;
    if (asciiLower(host) === 'no' && asciiLower(portText) === 'one') {
      this.replicaOf = undefined;
      return;
    }
    const port = /^\d+$/.test(portText) ? Number(portText) : 0;
    if (port < 1 || port > 65535) throw new BadDirective('Invalid master port');
    this.replicaOf = { host, port };
  }

  #addUser(words: readonly Bytes[]): void {
    const [name, ...rules] = words.map((word) => toBuffer(word).toString());
    if (name === undefined) throw new BadDirective(UNKNOWN);
    if (Object.hasOwn(this.users, name)) {
      const why = 'Duplicate user found. A user can only be defined once in config files';
      throw new BadDirective(`Error in user declaration '${words[0]}': ${why}`);
    }
    this.users[name] = rules.join(' ');
  }

  /**
   * Applies the lines of a configuration file.
   * @param text the file's bytes
   * @param include reads the files that the path of an `include` line names, seen from the directory that is entered by then
   * @param loaded is called at the end of each file
   * @throws BadDirective with the line's number and text
   */
  load(text: Bytes, include: (path: Bytes) => readonly Bytes[], loaded = (): void => {}): void {
    for (const [index, raw] of text.split('\n').entries()) {
      const line = raw.replace(/^[ \t\r]+|[ \t\r]+$/g, '');
      if (line === '' || line.startsWith('#')) continue;
      const words = splitInline(line);
      try {
        if (words === undefined) throw new BadDirective('Unbalanced quotes in configuration line');
        const directive = asciiLower(words[0] ?? '');
        if (directive === 'sentinel') {
          this.sentinelLines.push({ words: words.slice(1), text: line, number: index + 1 });
        } else if (directive !== 'include') this.apply(words);
        else if (words.length !== 2) throw new BadDirective(UNKNOWN);
      } catch (error) {
        if (!(error instanceof BadDirective)) throw error;
        throw badLine(index + 1, line, error.message);
      }
      // The errors of an included file carry their own line.
      if (asciiLower(words[0] ?? '') !== 'include') continue;
      for (const file of include(words[1] ?? '')) this.load(file, include, loaded);
    }
    loaded();
  }
}
