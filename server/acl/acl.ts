/** Access control: a node's users, logins, permission checks, and the log of refusals. */
import { type Bytes, cString, type Millis } from '../../protocol/bytes.ts';
import { ReplyError } from '../../protocol/reply.ts';
import {
  type Client,
  IN_MULTI,
  RESTRICTED,
  SCRIPT,
  type Transaction,
  UNAUTHENTICATED,
} from '../clients/client.ts';
import { describeClient, type ListingNode } from '../clients/info.ts';
import type { HasDialect, HasHost, HasSettings } from '../ports.ts';
import type { Command, DatabaseUse } from '../table/command.ts';
import { BadRule } from './bad-rule.ts';
import type { CommandList } from './categories.ts';
import { type DatabasePlace, databaseNamed } from './databases.ts';
import type { Denial } from './selector.ts';
import { hashPassword, User } from './user.ts';

/** Refusals of the same kind within this many milliseconds share one log entry. */
const SAME_WITHIN = 60_000;
/** Of so many entries, the newest, the server looks for one that is alike. */
const SAME_AMONG = 10;

/** One entry of ACL LOG. */
export interface Refusal {
  /** Its number, counted from 0, and when it was first made, in milliseconds since the epoch. */
  readonly id: number;
  readonly firstAt: Millis;
  count: number;
  readonly reason: 'auth' | Denial['what'];
  readonly context: 'toplevel' | 'multi' | 'lua';
  readonly object: Bytes;
  readonly username: Bytes;
  at: Millis;
  client: Bytes;
}

/** The errors for a user without a permission, by what is not permitted. */
const UNNAMED = {
  key: 'this user has no permissions to access one of the keys used as arguments',
  channel: 'this user has no permissions to access one of the channels used as arguments',
  database: 'No permissions to access database',
};
const NAMED = {
  key: 'No permissions to access a key',
  channel: 'No permissions to access a channel',
  database: 'No permissions to access database',
};

/** The node, as access control sees it. */
interface AclNode extends HasDialect, HasHost, HasSettings, ListingNode {
  /** The commands by their own names, which rules use even where clients use others. */
  readonly declared: ReadonlyMap<Bytes, Command>;
  /** The client whose request is running. */
  readonly running: Client | undefined;
  /** How many databases the node has. */
  readonly databaseCount: number;
}

/** The commands of each table, which nodes may share, without the second names. */
const lists = new WeakMap<AclNode['declared'], CommandList>();

function listOf(commands: AclNode['declared']): CommandList {
  let list = lists.get(commands);
  if (list === undefined) lists.set(commands, (list = [...new Set(commands.values())]));
  return list;
}

/** The access control of a node (https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/). */
export class Acl {
  readonly #server: AclNode;
  readonly users = new Map<Bytes, User>();
  readonly default: User;
  /** The entries of ACL LOG, newest first. */
  log: Refusal[] = [];
  /** How many requests were refused, for each reason. CONFIG RESETSTAT leaves them alone. */
  readonly refusals = { auth: 0, command: 0, key: 0, channel: 0, database: 0 };
  #nextRefusal = 0;
  readonly commands: CommandList;
  #requirepass = '';

  constructor(server: AclNode) {
    this.#server = server;
    this.commands = listOf(server.declared);
    this.default = this.#newDefault();
    this.users.set('default', this.default);
  }

  /** The default user of a server without passwords. */
  #newDefault(): User {
    const user = this.newUser('default');
    for (const rule of ['on', 'nopass', '~*', '&*', '+@all']) user.apply(rule);
    return user;
  }

  /** Applies the settings: `requirepass` is the default user's password. */
  configure(): void {
    const { requirepass } = this.#server.settings;
    if (requirepass === this.#requirepass) return;
    this.#requirepass = requirepass;
    this.default.apply('resetpass');
    this.default.apply(requirepass === '' ? 'nopass' : `#${hashPassword(requirepass)}`);
    this.#review(this.default);
  }

  /** Creates a user without adding it to the node. */
  newUser(name: Bytes): User {
    const { settings, dialect } = this.#server;
    const openChannels = (): boolean => settings['acl-pubsub-default'] === 'allchannels';
    return new User(name, this.commands, openChannels, dialect);
  }

  /** True if a connection needs no AUTH. */
  get open(): boolean {
    return this.default.enabled && this.default.noPassword;
  }

  /** Assigns the default user to a client. The client is logged in if that user has no password. */
  admit(client: Client): void {
    client.mark(UNAUTHENTICATED, !this.open);
    client.limits.authenticated = this.open;
    this.#become(client, this.default);
  }

  /**
   * Logs a client in. Returns false, and adds a log entry, if the name or the password is wrong.
   * @param command the word that asks for it, as the client has written it
   */
  authenticate(client: Client, name: Bytes, password: Bytes, command: Bytes): boolean {
    const user = this.users.get(name);
    if (user?.accepts(password) !== true) {
      this.#note(client, 'auth', client.has(IN_MULTI) ? 'multi' : 'toplevel', command, name);
      return false;
    }
    client.mark(UNAUTHENTICATED, false);
    client.limits.authenticated = true;
    this.#become(client, user);
    return true;
  }

  #become(client: Client, user: User): void {
    client.account = user;
    client.mark(RESTRICTED, !user.unlimited);
  }

  /**
   * Applies all rules to a user or none. Creates the user if it does not exist.
   * @throws BadRule with the failed rule
   */
  change(name: Bytes, rules: readonly Bytes[]): void {
    const known = this.users.get(name);
    const changed = known?.copy() ?? this.newUser(name);
    for (const rule of rules) {
      try {
        changed.apply(rule);
      } catch (error) {
        if (error instanceof BadRule)
          throw new ReplyError(`ERR Error in ACL SETUSER modifier '${cString(rule)}': ${error.message}`);
        throw error;
      }
    }
    if (known === undefined) {
      this.users.set(name, changed);
      return;
    }
    const hadChannels = hasChannels(known);
    known.take(changed);
    this.#review(known, hadChannels);
  }

  /** Removes a user and closes its connections. Returns false if there is no such user. */
  remove(name: Bytes): boolean {
    const user = this.users.get(name);
    if (user === undefined) return false;
    this.users.delete(name);
    for (const client of [...this.#server.clients.values()]) {
      if (client.account === user) this.#cutOff(client);
    }
    return true;
  }

  /**
   * ACL LOAD: puts these users in the place of all. Connections of users that are gone are closed, and in Redis 7.0 those of every
   * user but the default one.
   */
  replace(users: ReadonlyMap<Bytes, User>): void {
    const closesAll = this.#server.dialect.aclLoad === 'closes all but the default user';
    for (const name of [...this.users.keys()]) {
      if (name !== 'default' && (closesAll || !users.has(name))) this.remove(name);
    }
    for (const [name, user] of new Map([['default', this.#newDefault()], ...users])) {
      const known = this.users.get(name);
      if (known === undefined) this.users.set(name, user);
      else {
        const hadChannels = !closesAll && hasChannels(known);
        known.take(user);
        this.#review(known, hadChannels);
      }
    }
  }

  /** Returns the users, sorted by name. */
  sorted(): User[] {
    return [...this.users.keys()].sort().map((name) => this.users.get(name) as User);
  }

  /** The database of a request, for checks. */
  placeIn(database: number): DatabasePlace {
    return { database, databases: this.#server.databaseCount };
  }

  /**
   * Returns why the client's user may not make this request, and logs it; undefined if it may.
   * @param database the database in which it runs
   * @param keys whether the rules for keys count
   */
  refuse(
    client: Client,
    command: Command,
    argv: readonly Bytes[],
    database: number,
    inScript = false,
    keys = true,
  ): Denial | undefined {
    if (client.account.unlimited) return undefined;
    const denial = client.account.check(command, argv, this.placeIn(database));
    if (denial === undefined || (denial.what === 'key' && !keys)) return undefined;
    const { what, at } = denial;
    const ofCommand = what === 'command' || (what === 'database' && at === 0);
    const object = ofCommand ? command.fullName : (argv[at] ?? '');
    const context = inScript || client.has(SCRIPT) ? 'lua' : client.has(IN_MULTI) ? 'multi' : 'toplevel';
    this.#note(client, denial.what, context, object, client.user);
    return denial;
  }

  /** Why a client's user may not run a command, in words. */
  complaint(client: Client, denial: Denial, command: Command): Bytes {
    const named = this.#server.dialect.denial === 'by name';
    if (denial.what !== 'command') return (named ? NAMED : UNNAMED)[denial.what];
    const who = named ? `User ${client.user}` : 'this user';
    return `${who} has no permissions to run the '${command.fullName}' command`;
  }

  /** Returns the error for a request that the client's user may not make; undefined if it may. */
  denied(client: Client, command: Command, argv: readonly Bytes[]): ReplyError | undefined {
    const { transaction } = client;
    const denial = this.refuse(client, command, argv, transaction?.database ?? client.db.index);
    if (denial === undefined && transaction !== undefined && command.spec.databases !== undefined)
      this.#follow(transaction, command.spec.databases, argv);
    return denial === undefined
      ? undefined
      : new ReplyError(`NOPERM ${this.complaint(client, denial, command)}`);
  }

  /** Remembers the database that a queued SELECT will choose. */
  #follow(transaction: Transaction, use: DatabaseUse, argv: readonly Bytes[]): void {
    if (use === 'all' || !use.selects) return;
    transaction.database = databaseNamed(argv[1], this.#server.databaseCount) ?? transaction.database;
  }

  #note(
    client: Client,
    reason: Refusal['reason'],
    context: Refusal['context'],
    object: Bytes,
    username: Bytes,
  ): void {
    const { host, settings } = this.#server;
    this.refusals[reason]++;
    const now = host.clock.now();
    const description = describeClient(this.#server, client);
    const place = this.log.findIndex(
      (each, index) =>
        index < SAME_AMONG &&
        each.reason === reason &&
        each.context === context &&
        each.object === object &&
        each.username === username &&
        now - each.at <= SAME_WITHIN,
    );
    const [known] = place < 0 ? [] : this.log.splice(place, 1);
    const entry = known ?? {
      count: 0,
      reason,
      context,
      object,
      username,
      at: now,
      client: description,
      id: this.#nextRefusal++,
      firstAt: now,
    };
    entry.count++;
    entry.at = now;
    entry.client = description;
    this.log.unshift(entry);
    if (this.log.length > settings['acllog-max-len']) this.log.length = settings['acllog-max-len'];
  }

  /**
   * Called when a user's rules have changed: updates its connections, and closes those with channels no longer allowed.
   */
  #review(user: User, hadChannels = false): void {
    for (const client of [...this.#server.clients.values()]) {
      if (client.account !== user) continue;
      this.#become(client, user);
      if (user === this.default && this.open) client.mark(UNAUTHENTICATED, false);
      if (hadChannels && !mayKeepChannels(client, user)) this.#cutOff(client);
    }
  }

  #cutOff(client: Client): void {
    if (client === this.#server.running) {
      this.admit(client);
      client.close();
    } else client.drop();
  }
}

/** Returns whether the user may use any channel. Otherwise Redis closes no connection, whatever its subscriptions. */
function hasChannels(user: User): boolean {
  return [user.root, ...user.selectors].some(
    ({ allChannels, channels }) => allChannels || channels.length > 0,
  );
}

/** Returns whether some selector of the user allows all of the client's subscriptions. */
function mayKeepChannels(client: Client, user: User): boolean {
  const some = (name: Bytes, literal: boolean): boolean =>
    [user.root, ...user.selectors].some((each) => each.allowsChannel(name, literal));
  return (
    [...client.subscriptions.channels, ...client.subscriptions.shardChannels].every((name) =>
      some(name, false),
    ) && [...client.subscriptions.patterns].every((name) => some(name, true))
  );
}
