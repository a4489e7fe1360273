/** How a command is declared: one table entry, from which COMMAND, arity errors, refusals and the docs are derived. */

import { asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import type { Fix } from '../dialects/dialect.ts';
import type { Since } from '../dialects/since.ts';
import type { Outcome } from './outcome.ts';
import type { Syntax, SyntaxTable } from './syntax.ts';

/** Redis' command flags, named as in COMMAND INFO. */
export type Flag =
  | 'write'
  | 'readonly'
  | 'denyoom'
  | 'admin'
  | 'pubsub'
  | 'noscript'
  | 'random'
  | 'blocking'
  | 'loading'
  | 'stale'
  | 'skip_monitor'
  | 'skip_slowlog'
  | 'skip_commandlog'
  | 'asking'
  | 'module'
  | 'fast'
  | 'no_auth'
  | 'may_replicate'
  | 'no_async_loading'
  | 'no_multi'
  | 'movablekeys'
  | 'no_mandatory_keys'
  | 'allow_busy'
  | 'protected';

/** The flags that are tested on every call, as bits. */
export const WRITE = 1;
export const DENY_OOM = 2;
export const NO_SCRIPT = 4;
export const NO_AUTH = 8;
export const NO_MULTI = 16;
export const ALLOW_BUSY = 32;
export const STALE = 64;
export const LOADING = 128;
export const MAY_REPLICATE = 256;
export const ADMIN = 512;
export const READ = 1024;
export const SKIP_MONITOR = 2048;
export const BLOCKING = 4096;
export const PUBSUB = 8192;
export const SKIP_SLOWLOG = 16384;
/** Not a flag of COMMAND INFO: a command on data that ends in about constant time, so the clock hardly moves on. */
export const QUICK = 32768;
/** Not a flag of COMMAND INFO: a parameter may forbid the command to some clients, or to all. */
export const GUARDED = 65536;
/** Not a flag of COMMAND INFO: it runs a script or a function, which may declare flags, and return errors among its values. */
export const RUNS_SCRIPT = 131072;

const BITS: Partial<Record<Flag, number>> = {
  write: WRITE,
  readonly: READ,
  denyoom: DENY_OOM,
  noscript: NO_SCRIPT,
  no_auth: NO_AUTH,
  no_multi: NO_MULTI,
  allow_busy: ALLOW_BUSY,
  stale: STALE,
  loading: LOADING,
  may_replicate: MAY_REPLICATE,
  admin: ADMIN,
  skip_monitor: SKIP_MONITOR,
  skip_slowlog: SKIP_SLOWLOG,
  skip_commandlog: SKIP_SLOWLOG,
  blocking: BLOCKING,
  pubsub: PUBSUB,
};

/** COMMAND's groups, which are the chapters of the documentation. */
export type Group =
  | 'generic'
  | 'string'
  | 'list'
  | 'set'
  | 'sorted-set'
  | 'hash'
  | 'pubsub'
  | 'transactions'
  | 'connection'
  | 'server'
  | 'scripting'
  | 'hyperloglog'
  | 'cluster'
  | 'geo'
  | 'stream'
  | 'bitmap'
  | 'replication'
  | 'sentinel'
  /** Commands of a module that is part of the server. Their names are in capitals. */
  | 'module';

/**
 * One key specification, as in COMMAND INFO (https://redis.io/docs/latest/develop/reference/key-specs/). Positions
 * count from the command's name at 0.
 */
export interface KeySpec {
  /** RW, RO, OW or RM, then ACCESS, UPDATE, INSERT or DELETE, then rarer flags. */
  readonly flags: string;
  /** Why the flags are these, if it is not obvious. */
  readonly notes?: string;
  /** True: the keys of a request are found by reading it, because the specification may miss some. */
  readonly incomplete?: boolean;
  /** The first key's position, or the name of the option that precedes the keys. */
  readonly begin: number | { keyword: Bytes; from: number } | 'unknown';
  /**
   * The last key relative to the first (negative: from the end), the step, and the limit; or the position of a key
   * count.
   */
  readonly find:
    | { last: number; step: number; limit: number }
    | { count: number; first: number; step: number }
    | 'unknown';
}

/** Declares one key at a position. */
export function key(flags: string, begin = 1): KeySpec[] {
  return [{ flags, begin, find: { last: 0, step: 1, limit: 0 } }];
}

/**
 * Declares all arguments from a position on as keys (step 2 for key-value pairs). `last` is -2 if the last argument is
 * not a key.
 */
export function keys(flags: string, begin = 1, step = 1, last = -1): KeySpec[] {
  return [{ flags, begin, find: { last, step, limit: 0 } }];
}

/** Declares a number of keys at a position, followed by the keys. */
export function countedKeys(flags: string, begin: number): KeySpec[] {
  return [{ flags, begin, find: { count: 0, first: 1, step: 1 } }];
}

/** Returns the specifications with a reason for their flags. */
export function noted(notes: string, specs: readonly KeySpec[]): KeySpec[] {
  return specs.map((spec) => ({ ...spec, notes }));
}

type Tuple<N extends number, T extends Bytes[] = []> = T['length'] extends N ? T : Tuple<N, [...T, Bytes]>;

/** Returns the specifications as those of a command whose keys are found by reading the request. */
export function incomplete(notes: string, specs: readonly KeySpec[]): KeySpec[] {
  return noted(notes, specs).map((spec) => ({ ...spec, incomplete: true }));
}

/** The type of a request's words for an arity, the name first: 3 is exactly three words, -3 is three or more. */
export type Argv<A extends number> = number extends A
  ? readonly Bytes[]
  : `${A}` extends `-${infer N extends number}`
    ? readonly [...Tuple<N>, ...Bytes[]]
    : Readonly<Tuple<A>>;

/** What later versions declare otherwise. What it leaves out stays as it was. */
export interface EntryChange {
  readonly since: Since;
  /** Only where the dialect's server has this fix, whatever its version. */
  readonly fix?: Fix;
  readonly arity?: number;
  readonly flags?: readonly Flag[];
  readonly categories?: readonly string[];
  readonly keys?: readonly KeySpec[];
  getKeys?(argv: readonly Bytes[]): number[];
  readonly tips?: readonly string[];
}

/** The databases that a request uses: all of them, or some. */
export type DatabaseUse =
  | 'all'
  | {
      /** Returns the positions of the words that are numbers of databases. */
      named(argv: readonly Bytes[]): readonly number[];
      /** True if it also uses the client's database. */
      readonly own: boolean;
      /** True if argv[1] becomes the client's database. */
      readonly selects?: boolean;
    };

/** The declaration of one command. */
export interface CommandSpec<A extends number, C = unknown> {
  /** One sentence, shown by COMMAND DOCS and docs/commands.md. */
  readonly summary: string;
  /** Which servers have it, and since when. */
  readonly since: Since;
  /** True for a command that we serve in every dialect, unless the node is strict. */
  readonly extra?: boolean;
  /** How later versions declare it, oldest first. */
  readonly changes?: readonly EntryChange[];
  /** True for a HELP whose reply is made from the summaries of the other subcommands. */
  readonly listsSubcommands?: boolean;
  readonly complexity?: string;
  /** The arguments. Those of the server's own commands are in `commands/syntax/`. */
  readonly syntax?: string | Syntax;
  /**
   * The number of words including the command's name; negative: at least this many. A subcommand counts its container
   * too.
   */
  readonly arity: A;
  readonly flags: readonly Flag[];
  /** The parameter that says who may use the command. */
  readonly guard?: 'enable-debug-command' | 'enable-module-command';
  /** The module that brings the command. Its commands have no categories, and up to Redis 8.2 no description in COMMAND DOCS. */
  readonly module?: Bytes;
  /** True for a command that a user has registered. */
  readonly isOwn?: boolean;
  /** The type of the values that a user's command stores, as TYPE reports it. */
  readonly valueType?: Bytes;
  /** ACL categories instead of the group's own. Categories that follow from flags are added. */
  readonly categories?: readonly string[];
  readonly keys?: readonly KeySpec[];
  /** The tips of COMMAND INFO. */
  readonly tips?: readonly string[];
  /** The databases that it uses. Left out: the client's own, if the command touches data. */
  readonly databases?: DatabaseUse;
  /** Returns the flags that the request's script or function declares; undefined if it declares none. */
  declares?(client: C, argv: readonly Bytes[]): ReadonlySet<Bytes> | undefined;
  /** Finds the keys of one request if the specs cannot. Returns positions within argv. */
  getKeys?(argv: readonly Bytes[]): number[];
  /** Returns what one request does with its keys, if the specs say that it depends on the request. */
  getFlags?(argv: readonly Bytes[]): string;
  /**
   * Validates, then acts. It is a property so that a handler that reads more words than the arity proves does not
   * compile.
   */
  readonly run: (client: C, argv: Argv<A>) => Outcome;
}

/** The declaration of a container such as CLIENT, whose first argument names a subcommand. */
export interface ContainerSpec<C = unknown> {
  readonly summary: string;
  readonly since: Since;
  readonly extra?: boolean;
  readonly changes?: readonly EntryChange[];
  /** The version that introduced HELP, if later than the container. */
  readonly helpSince?: Since;
  readonly complexity?: string;
  readonly arity: -1 | -2;
  readonly flags: readonly Flag[];
  readonly categories?: readonly string[];
  readonly tips?: readonly string[];
  /** The arguments of the subcommands, by their names. */
  readonly syntax?: SyntaxTable;
  readonly subcommands: readonly Command<C>[];
  /** Runs the container without a subcommand (COMMAND alone lists all commands). */
  run?(client: C, argv: Bytes[]): Outcome;
}

/**
 * A command, as the table holds it. `C` is the type that its handler receives: the client that sent the request, typed
 * with the whole node. Mechanisms that do not run handlers leave it open.
 */
export interface Command<C = unknown> {
  readonly name: Bytes;
  /** The name in ACL rules and error texts: 'client|setname' for a subcommand, 'VADD' for a module's, else the name. */
  readonly fullName: Bytes;
  readonly group: Group;
  readonly spec: Omit<CommandSpec<number, C>, 'run'>;
  readonly arity: number;
  readonly bits: number;
  readonly subcommands: ReadonlyMap<Bytes, Command<C>> | undefined;
  /** Runs a request whose number of words fits the arity. */
  run(client: C, argv: Bytes[]): Outcome;
  /** The command's index in per-command tables such as statistics. */
  readonly serial: number;
}

let serial = 0;
/** The indexes of users' commands, by name: servers that start one after the other share them, so that tables do not grow. */
const ownSerials = new Map<Bytes, number>();

/** Returns how many commands and subcommands have been declared in this process: the length of per-command tables. */
export function commandCount(): number {
  return serial;
}

/**
 * A command's flags as bits, with `GUARDED` if it has a guard, `RUNS_SCRIPT` if a script declares more, and `QUICK` if flags
 * and complexity say so. Each call asks these bits: to look for a property of the entry takes V8 longer, because entries differ
 * in shape.
 */
export function bitsOf({
  flags,
  complexity,
  guard,
  declares,
}: Pick<CommandSpec<number>, 'flags' | 'complexity' | 'guard'> & { readonly declares?: unknown }): number {
  let bits = guard === undefined ? 0 : GUARDED;
  if (declares !== undefined) bits |= RUNS_SCRIPT;
  for (const flag of flags) bits |= BITS[flag] ?? 0;
  const brief = flags.includes('fast') || complexity === 'O(1)';
  return brief && (bits & (READ | WRITE)) !== 0 ? bits | QUICK : bits;
}

function make<C>(
  group: Group,
  name: Bytes,
  fullName: Bytes,
  spec: CommandSpec<number, C> | Omit<ContainerSpec<C>, 'syntax'>,
): Command<C> {
  const container = 'subcommands' in spec;
  const arity = container && spec.run === undefined ? -2 : spec.arity;
  return {
    name,
    fullName,
    group,
    spec,
    arity,
    bits: bitsOf(spec),
    subcommands: container ? new Map(spec.subcommands.map((sub) => [sub.name, sub])) : undefined,
    run: spec.run ?? nothing,
    serial: serial++,
  };
}

/** Declares a command that a user has registered. @param name in lower case */
export function ownCommand<C>(name: Bytes, spec: CommandSpec<number, C>): Command<C> {
  let own = ownSerials.get(name);
  if (own === undefined) ownSerials.set(name, (own = serial++));
  const { run } = spec;
  const bits = bitsOf(spec);
  return {
    name,
    fullName: name,
    group: 'module',
    spec,
    arity: spec.arity,
    bits,
    subcommands: undefined,
    run,
    serial: own,
  };
}

type Specs<A extends Record<string, number>, C> = { [Name in keyof A]: CommandSpec<A[Name], C> };

/** Declares commands whose handlers receive a `C`. */
interface Declaring<C> {
  /** Declares a group's commands. The arity in each entry types its argv. */
  defineCommands<const A extends Record<string, number>>(group: Group, specs: Specs<A, C>): Command<C>[];
  /** Declares a container and its subcommands. HELP is generated from their summaries. */
  defineContainer<const A extends Record<string, number>>(
    group: Group,
    name: Bytes,
    about: Omit<ContainerSpec<C>, 'subcommands' | 'arity'>,
    specs: Specs<A, C>,
  ): Command<C>;
}

/** Returns the functions that declare commands whose handlers receive a `C`. */
export function declaring<C>(): Declaring<C> {
  return {
    defineCommands(group, specs) {
      const all = Object.entries(specs as unknown as Record<string, CommandSpec<number, C>>);
      const shown = (name: Bytes): Bytes => (group === 'module' ? asciiUpper(name) : name);
      return all.map(([name, spec]) => make(group, name, shown(name), spec));
    },
    defineContainer(group, name, { syntax = {}, ...about }, specs) {
      const all = { ...(specs as unknown as Record<string, CommandSpec<number, C>>) };
      all.help ??= helpOf(name, about);
      const subcommands = Object.entries(all).map(([sub, { syntax: own = syntax[sub], ...spec }]) =>
        make(group, sub, `${name}|${sub}`, { ...spec, ...(own !== undefined && { syntax: own }) }),
      );
      return make(group, name, name, { categories: [], ...about, arity: -1, subcommands });
    },
  };
}

function helpOf(
  name: Bytes,
  about: { since: Since; helpSince?: Since; categories?: readonly string[] },
): CommandSpec<number> {
  return {
    listsSubcommands: true,
    summary: `Lists the subcommands of ${asciiUpper(name)}.`,
    since: about.helpSince ?? about.since,
    ...(about.categories === undefined ? {} : { categories: about.categories }),
    complexity: 'O(1)',
    arity: 2,
    flags: ['loading', 'stale'],
    run: () => [],
  };
}

function nothing(): Outcome {
  return null;
}

/** Returns whether the number of words fits the arity. */
export function arityFits(arity: number, words: number): boolean {
  return arity >= 0 ? words === arity : words >= -arity;
}
