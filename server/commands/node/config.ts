/** CONFIG: reads and changes the parameters (https://redis.io/docs/latest/commands/config/). */
import { asciiLower, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { globMatch } from '../../../protocol/glob.ts';
import { MapReply, OK, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { rewriteConfiguration } from '../../settings/configuration-lines.ts';
import { isEnabledFor } from '../../settings/enabled.ts';
import { namesFields } from '../../settings/event-classes.ts';
import { BAD_EVENT_CLASS, BadSetting } from '../../settings/parameters.ts';
import { refusalOf } from '../../settings/refusals.ts';
import { parameters, type Settings } from '../../settings/settings.ts';
import { isHidden, parameterIn, parameterNames, readSetting } from '../../settings/variants.ts';
import { wordAt } from '../../table/arguments.ts';
import { defineContainer } from '../define.ts';

type Name = keyof Settings;

/** The names of the parameter that says which primary the node follows. REPLICAOF sets it. */
const PRIMARY: ReadonlySet<Bytes> = new Set(['slaveof', 'replicaof']);

function lookUp({ server }: Caller, word: Bytes): Name | undefined {
  return parameterNames(server.dialect).get(asciiLower(word));
}

function print(settings: Settings, name: Name): Bytes {
  const { print } = parameters[name] as { print: (value: unknown) => Bytes };
  return print(settings[name]);
}

function get(client: Caller, argv: readonly Bytes[]): Reply {
  /** What is shown of each parameter, by its name in lower case: the first spelling counts. */
  const found = new Map<Bytes, readonly [shown: Bytes, value: Bytes]>();
  const add = (shown: Bytes, value: Bytes): void => {
    if (!found.has(asciiLower(shown))) found.set(asciiLower(shown), [shown, value]);
  };
  const { primary } = client.server;
  const followed = primary === undefined ? '' : `${primary.host} ${primary.port}`;
  for (const pattern of argv.slice(2)) {
    // A complete name is answered in the client's spelling.
    const exact = lookUp(client, pattern);
    if (exact !== undefined && !/[?*[\]\\]/.test(pattern)) {
      add(pattern, print(client.server.settings, exact));
      continue;
    }
    for (const [shown, name] of parameterNames(client.server.dialect)) {
      // Another name of a hidden parameter is shown.
      if (shown === name && isHidden(name, client.server.dialect)) continue;
      if (globMatch(pattern, shown, true)) add(shown, print(client.server.settings, name));
    }
    for (const shown of PRIMARY) if (globMatch(pattern, shown, true)) add(shown, followed);
  }
  const pairs = [...found.values()];
  if (client.server.dialect.settingsOrder === 'by name') pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  return new MapReply(pairs.flat());
}

/** Where the server listens cannot be changed while it runs. The errors are those of a server that cannot listen there. */
const LISTENING = {
  port: 'Unable to listen on this port. Check server logs.',
  bind: 'Failed to bind to specified addresses.',
} as const;

const NO_TLS_UPDATE = 'Unable to update TLS configuration. Check server logs.';
/** The parameters that switch TLS on. */
const TLS_SWITCHES: ReadonlySet<string> = new Set<Name>(['tls-port', 'tls-replication', 'tls-cluster']);

/** The first change that a server cannot make to TLS: while it uses TLS, any; otherwise, to switch it on. */
function tlsChange(settings: Settings, changes: ReadonlyMap<Name, unknown>): Name | undefined {
  const inUse = settings['tls-port'] !== 0 || settings['tls-replication'] || settings['tls-cluster'];
  for (const [name, value] of changes) {
    if (!name.startsWith('tls-') || value === settings[name]) continue;
    if (inUse || TLS_SWITCHES.has(name)) return name;
  }
  return undefined;
}

/** Enters the new directory, and puts its whole path among the changes. Returns why it cannot be entered. */
function enter({ server }: Caller, changes: Map<Name, unknown>): string | undefined {
  const { disk } = server.host;
  if (disk.enter === undefined) return "the lab's disk has one directory";
  try {
    changes.set('dir', disk.enter(String(changes.get('dir'))));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Validates all pairs before the first is applied. */
function set(client: Caller, argv: readonly Bytes[]): Reply {
  if (argv.length % 2 !== 0) fail(SYNTAX);
  const changes = new Map<Name, unknown>();
  // A parameter and its older name do not count as duplicates: the later one applies.
  const words = new Set<Bytes>();
  const refuse = (word: Bytes, why: string): never =>
    fail(`ERR CONFIG SET failed (possibly related to argument '${cString(word)}') - ${why}`);
  for (let at = 2; at < argv.length; at += 2) {
    const word = wordAt(argv, at);
    if (PRIMARY.has(asciiLower(word))) refuse(word, "can't set immutable config");
    const name =
      lookUp(client, word) ??
      fail(`ERR Unknown option or number of arguments for CONFIG SET - '${cString(word)}'`);
    const parameter = parameterIn(name, client.server.dialect);
    const isFree =
      parameter.fixed === false ||
      (parameter.fixed === 'protected' && isEnabledFor(client, 'enable-protected-configs'));
    if (!isFree) {
      refuse(word, `can't set ${parameter.fixed === true ? 'immutable' : parameter.fixed} config`);
    }
    if (words.has(asciiLower(word))) refuse(word, 'duplicate parameter');
    words.add(asciiLower(word));
    const value = readSetting(name, wordAt(argv, at + 1), client.server.dialect);
    if (value instanceof BadSetting) refuse(word, value.why);
    const later = name === 'notify-keyspace-events' && namesFields(String(value));
    if (later && !client.server.dialect.subkeyEvents) refuse(word, BAD_EVENT_CLASS);
    const refusal = refusalOf(name, value, client.server.durability !== undefined);
    if (refusal !== undefined) refuse(word, refusal);
    changes.set(name, value);
  }
  const { settings } = client.server;
  for (const [name, why] of Object.entries(LISTENING)) {
    const value = changes.get(name as Name);
    if (value === undefined || value === settings[name as Name]) continue;
    client.server.log('warning', `CONFIG SET ${name}: lostlock does not listen elsewhere while it runs`);
    refuse(name, why);
  }
  const tls = tlsChange(settings, changes);
  if (tls !== undefined) {
    client.server.log('warning', `CONFIG SET ${tls}: lostlock does not change TLS while it runs`);
    refuse(tls, NO_TLS_UPDATE);
  }
  const before = Object.fromEntries([...changes.keys()].map((name) => [name, settings[name]]));
  const { dir } = settings;
  if (changes.has('dir')) {
    const why = enter(client, changes);
    if (why !== undefined) refuse('dir', why);
  }
  Object.assign(settings, Object.fromEntries(changes));
  const failure = client.server.durability?.configure();
  if (failure !== undefined) {
    Object.assign(settings, before);
    if (changes.has('dir')) client.server.host.disk.enter?.(dir);
    refuse('appendonly', failure);
  }
  if (changes.has('dir') || changes.has('dbfilename')) client.server.dumpFile.name();
  client.server.applySettings();
  return OK;
}

const ADMIN = ['admin', 'noscript', 'loading', 'stale'] as const;

export const configCommand = defineContainer(
  'server',
  'config',
  {
    summary: 'Commands about the configuration.',
    since: '2.0.0',
    helpSince: '5.0.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    get: {
      summary: 'Returns the parameters that match the patterns.',
      since: '2.0.0',
      complexity: 'O(N) with N the number of parameters',
      arity: -3,
      flags: ADMIN,
      run: get,
    },
    set: {
      summary: 'Changes all the given parameters, or none of them.',
      since: '2.0.0',
      complexity: 'O(N) with N the number of parameters',
      arity: -4,
      flags: ADMIN,
      tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'],
      run: set,
    },
    resetstat: {
      summary: 'Resets the statistics of INFO.',
      since: '2.0.0',
      complexity: 'O(1)',
      changes: [{ since: '7.2.0', tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'] }],
      arity: 2,
      flags: ADMIN,
      run(client) {
        const { stats, world, eviction, observer } = client.server;
        for (const { replyBuffer } of client.server.clients.values()) replyBuffer.read();
        stats.reset();
        eviction.forgetExceeded();
        observer.usage?.reset();
        // RESETSTAT itself is counted after the reset.
        const own = client.lastCommand?.fullName === 'config|resetstat' ? client.lastCommand : undefined;
        if (own !== undefined) stats.calls[own.serial] = 1;
        world.hits = 0;
        world.misses = 0;
        return OK;
      },
    },
    rewrite: {
      summary: 'Rewrites the configuration file with what is set now.',
      since: '2.8.0',
      complexity: 'O(1)',
      changes: [{ since: '7.2.0', tips: ['request_policy:all_nodes', 'response_policy:all_succeeded'] }],
      arity: 2,
      flags: ADMIN,
      run: ({ server }) => {
        const failure = rewriteConfiguration(server);
        return failure === undefined ? OK : fail(failure);
      },
    },
  },
);
