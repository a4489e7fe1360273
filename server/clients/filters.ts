/** The filters of CLIENT LIST and CLIENT KILL (https://redis.io/docs/latest/commands/client-kill/). */
import {
  approximate,
  asciiLower,
  asciiUpper,
  type Bytes,
  cString,
  parseInteger,
} from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import type { Acl } from '../acl/acl.ts';
import type { HasSettings } from '../ports.ts';
import { integer, wordAt } from '../table/arguments.ts';
import type { Vocabulary } from '../table/vocabulary.ts';
import { type Client, MONITOR, PRIMARY_LINK, REPLICA_LINK } from './client.ts';
import { connectionOf, fieldOf, idleSeconds, type ListingNode } from './info.ts';

/** The node, as the filters see it. */
interface FilteringNode extends ListingNode, HasSettings {
  readonly acl: Pick<Acl, 'users'>;
  readonly vocabulary: Vocabulary;
  /** How many databases the node has. */
  readonly databaseCount: number;
}

/** What a client is to CLIENT LIST TYPE. */
export type ClientType = 'normal' | 'master' | 'replica' | 'pubsub';

const TYPES: Record<string, ClientType> = {
  normal: 'normal',
  master: 'master',
  primary: 'master',
  slave: 'replica',
  replica: 'replica',
  pubsub: 'pubsub',
};

/** Reads the name of a client type. Throws Redis' error for any other word. */
export function clientType({ vocabulary }: FilteringNode, text: Bytes): ClientType {
  const word = asciiLower(text);
  const known = word !== 'primary' || vocabulary.knows('client|kill', 'PRIMARY');
  return (known ? TYPES[word] : undefined) ?? fail(`ERR Unknown client type '${cString(text)}'`);
}

/** Returns the type of a client for CLIENT LIST TYPE and CLIENT KILL TYPE. */
export function typeOfClient(client: Client): ClientType {
  if (client.has(PRIMARY_LINK)) return 'master';
  if (client.has(REPLICA_LINK) && !client.has(MONITOR)) return 'replica';
  return client.subscriptions.total > 0 ? 'pubsub' : 'normal';
}

/** Which clients are meant: those that fit every filter. */
export interface ClientFilter {
  address?: Bytes;
  local?: Bytes;
  ids?: Set<number>;
  type?: ClientType;
  user?: Bytes;
  /** The least age of a connection, in seconds. */
  maxAge?: number;
  skipMe: boolean;
  /** The filters of Valkey 9, by their names. */
  readonly later: Map<Bytes, (client: Client) => boolean>;
  /** The numbers of NOT-ID. */
  otherThan?: Set<number>;
}

const BAD_ID = 'ERR client-id should be greater than 0';

/**
 * Reads the filters from the third word on. Throws Redis' error for a bad one.
 * @param skipMe whether the asking client is left out if SKIPME is not given
 */
export function parseFilter(server: FilteringNode, argv: readonly Bytes[], skipMe: boolean): ClientFilter {
  const filter: ClientFilter = { skipMe, later: new Map() };
  const several = server.dialect.clientFilters === 'each takes a list';
  if (argv.length === 3) fail(SYNTAX);
  for (let at = 2; at < argv.length; at += 2) {
    const name = asciiUpper(wordAt(argv, at));
    // A list may be empty: then no client fits.
    if (name === 'ID' && several) at = readIds((filter.ids ??= new Set()), argv, at + 1) - 2;
    else if (name === 'NOT-ID' && at + 1 < argv.length && server.vocabulary.knows('client|kill', name)) {
      const next = readIds((filter.otherThan ??= new Set()), argv, at + 1);
      at = next === at + 1 ? fail(SYNTAX) : next - 2;
    } else if (at + 1 === argv.length) fail(SYNTAX);
    else readOne(server, filter, name, wordAt(argv, at + 1));
  }
  return filter;
}

/** Reads numbers from a position on. Returns the position of the first word that is none. */
function readIds(ids: Set<number>, argv: readonly Bytes[], from: number): number {
  for (let at = from; ; at++) {
    const id = parseInteger(argv[at] ?? '');
    if (id === undefined) return at;
    ids.add(id > 0 ? approximate(id) : fail(BAD_ID));
  }
}

function readOne(server: FilteringNode, filter: ClientFilter, name: Bytes, value: Bytes): void {
  if (name === 'ID') {
    const id = integer(value, BAD_ID);
    filter.ids = new Set([id > 0 ? id : fail(BAD_ID)]);
  } else if (name === 'TYPE') filter.type = clientType(server, value);
  else if (name === 'ADDR') filter.address = value;
  else if (name === 'LADDR') filter.local = value;
  else if (name === 'USER') {
    filter.user = server.acl.users.has(value) ? value : fail(`ERR No such user '${cString(value)}'`);
  } else if (name === 'SKIPME') {
    const word = asciiLower(value);
    filter.skipMe = word === 'yes' || (word === 'no' ? false : fail(SYNTAX));
  } else if (name === 'MAXAGE' && server.vocabulary.knows('client|kill', name)) {
    const age = integer(value, 'ERR maxage is not an integer or out of range');
    filter.maxAge = age > 0 ? age : fail('ERR maxage should be greater than 0');
  } else if (server.vocabulary.knows('client|kill', name)) {
    filter.later.set(name, laterFilter(server, name, value));
  } else fail(SYNTAX);
}

/** The flags that CLIENT LIST can show in Valkey 9. */
const FLAGS = 'ABEIMNOPRSTUbcdeirtux';

/** Reads a filter of Valkey 9. `NOT-` turns it around. Throws Valkey's error for a bad value. */
function laterFilter(server: FilteringNode, name: Bytes, value: Bytes): (client: Client) => boolean {
  if (!name.startsWith('NOT-')) return positiveFilter(server, name, name, value);
  const fits = positiveFilter(server, name.slice(4), name, value);
  return (client) => !fits(client);
}

function positiveFilter(
  server: FilteringNode,
  kind: Bytes,
  name: Bytes,
  value: Bytes,
): (client: Client) => boolean {
  const is = (text: Bytes | undefined): boolean => text !== undefined && text !== '' && text === value;
  const hasAll = (shown: (client: Client) => Bytes | number, known: Bytes, what: Bytes) => {
    const where = name === kind ? 'provided' : name;
    if ([...value].some((letter) => !known.includes(letter)))
      fail(`ERR Unknown ${what} found in the ${where} filter: ${cString(value)}`);
    return (client: Client) => [...value].every((letter) => String(shown(client)).includes(letter));
  };
  switch (kind) {
    case 'NAME':
      return (client) => is(client.name);
    case 'LIB-NAME':
      return (client) => is(client.library.name);
    case 'LIB-VER':
      return (client) => is(client.library.version);
    case 'IP':
      return (client) => is(connectionOf(server, client)?.remote.replace(/:\d+$/, ''));
    case 'ADDR':
      return (client) => connectionOf(server, client)?.remote === value;
    case 'LADDR':
      return (client) => connectionOf(server, client)?.local === value;
    case 'FLAGS':
      return hasAll((client) => fieldOf(server, client, 'flags'), FLAGS, 'flags');
    case 'CAPA':
      return hasAll((client) => fieldOf(server, client, 'capa'), 'r', 'capa');
    case 'TYPE': {
      const type = clientType(server, value);
      return (client) => typeOfClient(client) === type;
    }
    case 'USER': {
      if (!server.acl.users.has(value)) fail(`ERR No such user '${cString(value)}'`);
      return (client) => client.user === value;
    }
    case 'DB': {
      const last = server.databaseCount - 1;
      const index = integer(value, `ERR ${name} is not an integer or out of range`);
      if (index < 0 || index > last) fail(`ERR ${name} number should be between 0 and ${last}`);
      return (client) => client.db.index === index;
    }
    case 'IDLE': {
      const seconds = integer(value, 'ERR idle is not an integer or out of range');
      if (seconds <= 0) fail('ERR idle should be greater than 0');
      return (client) => idleSeconds(server, client) >= seconds;
    }
    default:
      return fail(SYNTAX);
  }
}

/**
 * True when the client fits every filter.
 * @param asking the client that sent the request
 */
export function fits(server: FilteringNode, filter: ClientFilter, client: Client, asking: Client): boolean {
  const { address, local, ids, otherThan, type, user, maxAge = 0, skipMe, later } = filter;
  const connection = connectionOf(server, client);
  const age = Math.floor(server.now / 1000) - Math.floor(client.createdAt / 1000);
  return (
    (address === undefined || connection?.remote === address) &&
    (local === undefined || connection?.local === local) &&
    (ids === undefined || ids.has(client.id)) &&
    otherThan?.has(client.id) !== true &&
    [...later.values()].every((fits) => fits(client)) &&
    (type === undefined || typeOfClient(client) === type) &&
    (user === undefined || client.user === user) &&
    age >= maxAge &&
    !(skipMe && client === asking)
  );
}
