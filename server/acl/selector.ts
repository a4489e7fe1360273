/** A selector of an ACL user: commands, keys and channels that are allowed together. */
import { asciiLower, type Bytes } from '../../protocol/bytes.ts';
import { globMatch } from '../../protocol/glob.ts';
import { type Command, commandCount, NO_AUTH } from '../table/command.ts';
import { categoriesOf, findKeys } from '../table/info.ts';
import { BadRule, SYNTAX } from './bad-rule.ts';
import { type CommandList, categoriesIn, everyCommand } from './categories.ts';
import { type DatabasePlace, type Databases, parseDatabases, refusedDatabase } from './databases.ts';

/** Permission to read keys, as a bit. */
export const READ_KEYS = 1;
/** Permission to write keys, as a bit. */
export const WRITE_KEYS = 2;

interface KeyPattern {
  readonly pattern: Bytes;
  readonly permissions: number;
}

/** Why a request is refused: what is not allowed, and its position in the request. */
export interface Denial {
  readonly what: 'database' | 'command' | 'key' | 'channel';
  readonly at: number;
}

/** How close a request came to being allowed: the higher, the closer. */
export const RELEVANCE: Record<Denial['what'], number> = {
  database: 0,
  command: 1,
  key: 2,
  channel: 3,
};

/** The message for a command or a category that does not exist. */
export const UNKNOWN_RULE = 'Unknown command or category name in ACL';
const AFTER_ALL_KEYS =
  "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. Try 'resetkeys' to start with an empty list of patterns";
const AFTER_ALL_CHANNELS =
  "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. Try 'resetchannels' to start with an empty list of channels";

/** The commands with channels as arguments: whether all arguments are channels, and whether they are patterns. */
const CHANNELS: Record<Bytes, { all: boolean; literal: boolean }> = {
  publish: { all: false, literal: false },
  spublish: { all: false, literal: false },
  subscribe: { all: true, literal: false },
  ssubscribe: { all: true, literal: false },
  psubscribe: { all: true, literal: true },
};

/** A selector (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/#selectors). */
export class Selector {
  /** Whether each command may run, by serial number. */
  readonly allowed: Uint8Array = new Uint8Array(commandCount());
  /** The rules started with all commands, so commands of later versions are allowed too. */
  future = false;
  /** The first arguments that are allowed for a command that is otherwise forbidden, by serial number. */
  readonly firstArguments = new Map<number, Bytes[]>();
  keys: KeyPattern[] = [];
  allKeys = false;
  channels: Bytes[] = [];
  allChannels = false;
  databases: Databases = 'all';
  /** The rules for commands behind the first, as they were given: what a later rule replaces is left out. */
  given: readonly Bytes[] = [];
  /** The commands to which the rules apply. */
  readonly commands: CommandList;
  readonly #databaseRules: boolean;

  /** @param databaseRules whether there are rules for databases */
  constructor(commands: CommandList, databaseRules = false) {
    this.commands = commands;
    this.#databaseRules = databaseRules;
  }

  /** True if nothing is forbidden. */
  get unlimited(): boolean {
    return (
      this.future && this.allKeys && this.allChannels && this.databases === 'all' && !this.allowed.includes(0)
    );
  }

  /** Returns an independent copy. */
  copy(): Selector {
    const copy = new Selector(this.commands, this.#databaseRules);
    copy.allowed.set(this.allowed);
    copy.future = this.future;
    copy.given = this.given;
    for (const [serial, args] of this.firstArguments) copy.firstArguments.set(serial, [...args]);
    copy.keys = [...this.keys];
    copy.allKeys = this.allKeys;
    copy.channels = [...this.channels];
    copy.allChannels = this.allChannels;
    copy.databases = this.databases;
    return copy;
  }

  /** Applies one rule. Throws BadRule if that fails. */
  apply(rule: Bytes): void {
    switch (asciiLower(rule)) {
      case '':
        return;
      case 'allkeys':
      case '~*':
        this.allKeys = true;
        this.keys = [];
        return;
      case 'resetkeys':
        this.allKeys = false;
        this.keys = [];
        return;
      case 'allchannels':
      case '&*':
        this.allChannels = true;
        this.channels = [];
        return;
      case 'resetchannels':
        this.allChannels = false;
        this.channels = [];
        return;
      case 'allcommands':
      case '+@all':
        this.#setAll(true);
        return;
      case 'nocommands':
      case '-@all':
        this.#setAll(false);
        return;
    }
    if (this.#databaseRules && this.#applyToDatabases(rule)) return;
    const [sign, rest] = [rule.slice(0, 1), rule.slice(1)];
    if (sign === '~' || sign === '%') this.#addKeys(rule);
    else if (sign === '&') this.#addChannels(rest);
    else if ((sign === '+' || sign === '-') && rest.startsWith('@')) {
      this.setCategory(rest.slice(1), sign === '+');
      this.#note(sign, rest);
    } else if (sign === '+') {
      this.#allow(rest);
      this.#note(sign, rest);
    } else if (sign === '-') {
      this.set(this.#find(rest) ?? bad(UNKNOWN_RULE), false);
      this.#note(sign, rest);
    } else bad(SYNTAX);
  }

  /** Applies a rule about databases. Returns false for any other rule. */
  #applyToDatabases(rule: Bytes): boolean {
    const name = asciiLower(rule);
    if (name === 'alldbs') this.databases = 'all';
    else if (name === 'resetdbs') this.databases = [];
    else if (name.startsWith('db=')) this.databases = parseDatabases(rule.slice(3));
    else return false;
    return true;
  }

  /** A rule takes the place of one for the same command or category, and of those for its subcommands. */
  #note(sign: Bytes, rest: Bytes): void {
    const name = asciiLower(rest);
    const kept = this.given.filter((rule) => rule.slice(1) !== name && !rule.slice(1).startsWith(`${name}|`));
    this.given = [...kept, sign + name];
  }

  /** Allows or forbids a command and all its subcommands. */
  set(command: Command, on: boolean): void {
    this.#mark(command, on);
    for (const sub of command.subcommands?.values() ?? []) this.#mark(sub, on);
  }

  /** Allows or forbids a category. Throws BadRule if it is unknown. */
  setCategory(name: Bytes, on: boolean): void {
    const category = `@${asciiLower(name)}`;
    if (!categoriesIn(this.commands).includes(category.slice(1))) bad(UNKNOWN_RULE);
    for (const command of everyCommand(this.commands)) {
      if (categoriesOf(command).includes(category)) this.#mark(command, on);
    }
  }

  /** Returns whether the command may run with any arguments. */
  allows(command: Command): boolean {
    return this.allowed[command.serial] === 1;
  }

  /**
   * Returns why a request is not allowed; undefined if it is.
   * @param place the database in which it would run
   */
  check(command: Command, argv: readonly Bytes[], place: DatabasePlace): Denial | undefined {
    if (this.databases !== 'all') {
      const at = refusedDatabase(this.databases, command, argv, place);
      if (at !== undefined) return { what: 'database', at };
    }
    if (!this.allows(command) && (command.bits & NO_AUTH) === 0) {
      const args = this.firstArguments.get(command.serial);
      const first = argv[1];
      if (args === undefined || first === undefined || !args.includes(asciiLower(first))) {
        return { what: 'command', at: 0 };
      }
    }
    if (!this.allKeys) {
      for (const { at, flags } of findKeys(command, argv) ?? []) {
        if (flags.includes('NOT_KEY')) continue;
        if (!this.allowsKey(argv[at] ?? '', permissionsOf(flags))) return { what: 'key', at };
      }
    }
    return this.allChannels ? undefined : this.#checkChannels(command, argv);
  }

  /** Returns whether a key may be used with all the permissions. */
  allowsKey(name: Bytes, permissions: number): boolean {
    return this.keys.some(
      (each) => (each.permissions & permissions) === permissions && globMatch(each.pattern, name),
    );
  }

  /** Returns whether a channel may be used. `literal`: the channel is a pattern, which must be allowed literally. */
  allowsChannel(name: Bytes, literal: boolean): boolean {
    if (this.allChannels) return true;
    return this.channels.some((pattern) => (literal ? pattern === name : globMatch(pattern, name)));
  }

  /** Returns the rules for keys, as in ACL LIST. */
  describeKeys(): Bytes[] {
    if (this.allKeys) return ['~*'];
    return this.keys.map(({ pattern, permissions }) => {
      if (permissions === (READ_KEYS | WRITE_KEYS)) return `~${pattern}`;
      return `${permissions === READ_KEYS ? '%R~' : '%W~'}${pattern}`;
    });
  }

  /** Returns the rules for channels, as in ACL LIST. */
  describeChannels(): Bytes[] {
    return this.allChannels ? ['&*'] : this.channels.map((pattern) => `&${pattern}`);
  }

  #setAll(on: boolean): void {
    this.allowed.fill(on ? 1 : 0);
    this.future = on;
    this.given = [];
    this.firstArguments.clear();
  }

  #mark(command: Command, on: boolean): void {
    this.allowed[command.serial] = on ? 1 : 0;
    this.firstArguments.delete(command.serial);
  }

  #find(text: Bytes): Command | undefined {
    const [name = '', sub, ...more] = asciiLower(text).split('|');
    const command = this.commands.find((each) => each.name === name);
    if (more.length > 0) return undefined;
    return sub === undefined ? command : command?.subcommands?.get(sub);
  }

  #allow(text: Bytes): void {
    const command = this.#find(text);
    if (command !== undefined) {
      this.set(command, true);
      return;
    }
    const place = text.lastIndexOf('|');
    const parent = (place < 0 ? undefined : this.#find(text.slice(0, place))) ?? bad(UNKNOWN_RULE);
    if (text.indexOf('|') < place) bad('Allowing first-arg of a subcommand is not supported');
    const argument = asciiLower(text.slice(place + 1));
    if (argument === '') bad(SYNTAX);
    if (parent.subcommands !== undefined) bad(UNKNOWN_RULE);
    const known = this.firstArguments.get(parent.serial) ?? [];
    if (!known.includes(argument)) this.firstArguments.set(parent.serial, [...known, argument]);
  }

  #addKeys(rule: Bytes): void {
    if (this.allKeys) bad(AFTER_ALL_KEYS);
    let permissions = rule.startsWith('%') ? 0 : READ_KEYS | WRITE_KEYS;
    let at = 1;
    if (permissions === 0) {
      for (; at < rule.length && rule[at] !== '~'; at++) {
        const letter = asciiLower(rule.charAt(at));
        const bit = letter === 'r' ? READ_KEYS : letter === 'w' ? WRITE_KEYS : 0;
        if (bit === 0 || (permissions & bit) !== 0) bad(SYNTAX);
        permissions |= bit;
      }
      if (permissions === 0) bad(SYNTAX);
      at++;
    }
    const pattern = rule.slice(at);
    checkPattern(pattern);
    const place = this.keys.findIndex((each) => each.pattern === pattern);
    if (place < 0) this.keys.push({ pattern, permissions });
    else this.keys[place] = { pattern, permissions: this.keys[place]!.permissions | permissions };
  }

  #addChannels(pattern: Bytes): void {
    if (this.allChannels) bad(AFTER_ALL_CHANNELS);
    checkPattern(pattern);
    if (!this.channels.includes(pattern)) this.channels.push(pattern);
  }

  #checkChannels(command: Command, argv: readonly Bytes[]): Denial | undefined {
    const use = Object.hasOwn(CHANNELS, command.name) ? CHANNELS[command.name] : undefined;
    if (use === undefined) return undefined;
    const end = use.all ? argv.length : 2;
    for (let at = 1; at < end; at++) {
      if (!this.allowsChannel(argv[at] ?? '', use.literal)) return { what: 'channel', at };
    }
    return undefined;
  }
}

function permissionsOf(flags: string): number {
  const reads = flags.includes('ACCESS') ? READ_KEYS : 0;
  return reads | (/INSERT|DELETE|UPDATE/.test(flags) ? WRITE_KEYS : 0);
}

function checkPattern(pattern: Bytes): void {
  for (let i = 0; i < pattern.length; i++) {
    const code = pattern.charCodeAt(i);
    if (code === 0 || code === 32 || (code >= 9 && code <= 13)) bad(SYNTAX);
  }
}

function bad(why: string): never {
  throw new BadRule(why);
}
