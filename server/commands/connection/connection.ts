/** Commands that log in, configure and end a connection (https://redis.io/docs/latest/commands/?group=connection). */

import { asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail, SYNTAX, wrongArity } from '../../../protocol/errors.ts';
import { MapReply, OK, PONG, type Reply, SimpleString } from '../../../protocol/reply.ts';
import {
  ASKING_NEXT,
  FOLLOWS_REDIRECTS,
  IMPORT_SOURCE,
  MONITOR,
  PRIMARY_LINK,
  READS_REPLICAS,
  REPLICA_LINK,
  REPLY_SKIP,
  RESP2_SUBSCRIBER,
  UNAUTHENTICATED,
} from '../../clients/client.ts';
import { markSubscriber } from '../../clients/pubsub.ts';
import type { Caller } from '../../server.ts';
import { int32, int64, wordAt } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { SILENT } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';
import { refuseOtherDatabase } from '../node/cluster.ts';
import { listModules } from '../node/module.ts';
import { NO_CLUSTER } from '../node/no-cluster.ts';
import { checkName } from './client.ts';

const WRONGPASS = 'WRONGPASS invalid username-password pair or user is disabled.';

/** Logs the client in. Throws WRONGPASS and changes nothing if the name or the password is wrong. */
function authenticate(client: Caller, [command = '']: readonly Bytes[], user: Bytes, password: Bytes): void {
  if (!client.server.acl.authenticate(client, user, password, command)) fail(WRONGPASS);
}

function switchProtocol(client: Caller, protocol: 2 | 3): void {
  client.protocol = protocol;
  markSubscriber(client);
}

/** Reads the options of HELLO and logs the client in. Returns the name that the client gets once HELLO has succeeded. */
function applyHello(client: Caller, argv: readonly Bytes[]): Bytes | undefined {
  const oneByOne = client.server.dialect.helloOptions === 'one by one';
  let account: readonly [user: Bytes, password: Bytes] | undefined;
  let name: Bytes | undefined;
  for (let at = 2; at < argv.length; at++) {
    const option = asciiUpper(wordAt(argv, at));
    const left = argv.length - 1 - at;
    if (option === 'AUTH' && left >= 2) {
      account = [wordAt(argv, at + 1), wordAt(argv, at + 2)];
      if (oneByOne) authenticate(client, argv, ...account);
      at += 2;
    } else if (option === 'SETNAME' && left >= 1) {
      name = checkName(client, wordAt(argv, at + 1));
      if (oneByOne) client.name = name;
      at += 1;
    } else {
      fail(`ERR Syntax error in HELLO option '${cString(wordAt(argv, at))}'`);
    }
  }
  if (account !== undefined && !oneByOne) authenticate(client, argv, ...account);
  return name;
}

/** READONLY and READWRITE. Without a cluster they mean something only where replicas redirect clients: in Valkey 8. */
function readReplicas(client: Caller, allowed: boolean): Reply {
  const { cluster, dialect } = client.server;
  if (cluster === undefined && dialect.readOnlyWithoutCluster === 'refused') fail(NO_CLUSTER);
  client.mark(READS_REPLICAS, allowed);
  return OK;
}

function hello(client: Caller, argv: Argv<-1>) {
  const asked = argv[1];
  let protocol = client.protocol;
  if (asked !== undefined) {
    const version = int64(asked, 'ERR Protocol version is not an integer or out of range');
    if (version !== 2 && version !== 3) fail('NOPROTO unsupported protocol version');
    protocol = version;
  }
  const name = applyHello(client, argv);
  if (client.has(UNAUTHENTICATED)) {
    const { helloHint } = client.server.dialect;
    fail(
      `NOAUTH HELLO must be called with the client already authenticated, otherwise the ${helloHint} option can be used to authenticate the client and select the RESP protocol version at the same time`,
    );
  }
  if (name !== undefined) client.name = name;
  switchProtocol(client, protocol);
  const { server } = client;
  const { dialect, settings } = server;
  const named = settings['extended-redis-compatibility'] ? dialect.helloAsRedis : dialect.hello;
  const zone = settings['availability-zone'];
  return new MapReply([
    'server',
    named.server,
    'version',
    named.version,
    'proto',
    protocol,
    'id',
    client.id,
    'mode',
    server.mode,
    ...(server.mode === 'sentinel' ? [] : ['role', server.role === 'primary' ? 'master' : 'replica']),
    'modules',
    // A Sentinel has no data, and no modules.
    server.mode === 'sentinel' ? [] : listModules(server.dialect),
    ...(zone === '' ? [] : ['availability_zone', zone]),
  ]);
}

/** Resets a client to the state of a new connection. */
function reset(client: Caller): void {
  const { server } = client;
  // A client that monitors is marked as a replica.
  if (client.has(PRIMARY_LINK) || (client.has(REPLICA_LINK) && !client.has(MONITOR)))
    fail('ERR can only reset normal client connections');
  client.discard();
  server.pubsub.forget(client);
  server.observer.forget(client);
  server.tracking.disable(client);
  // A reply that CLIENT REPLY SKIP suppresses stays suppressed. What the client can do, it can still do.
  const kept = server.dialect.resetImport === 'goes on' ? IMPORT_SOURCE : 0;
  client.state &= REPLY_SKIP | FOLLOWS_REDIRECTS | kept;
  client.protocol = 2;
  client.name = '';
  client.db = server.db(0);
  server.acl.admit(client);
}

export const connectionCommands = defineCommands('connection', {
  ping: {
    summary: 'Returns PONG, or the message it was given.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['fast'],
    tips: ['request_policy:all_shards', 'response_policy:all_succeeded'],
    run(client, argv) {
      if (argv.length > 2) throw wrongArity('ping');
      if (client.has(RESP2_SUBSCRIBER)) return ['pong', argv[1] ?? ''];
      return argv[1] ?? PONG;
    },
  },
  echo: {
    summary: 'Returns the message it was given.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['loading', 'stale', 'fast'],
    run: (_client, argv) => argv[1],
  },
  select: {
    summary: 'Makes another database the current one.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['loading', 'stale', 'fast'],
    changes: [{ since: { valkey: '9.0.0' }, flags: ['loading', 'stale', 'fast', 'allow_busy'] }],
    databases: { named: () => [1], own: false, selects: true },
    run(client, argv) {
      const index = int32(argv[1]);
      if (index !== 0) refuseOtherDatabase(client, 'SELECT');
      if (index < 0 || index >= client.server.databaseCount) fail('ERR DB index is out of range');
      client.db = client.server.db(index);
      return OK;
    },
  },
  quit: {
    summary: 'Closes the connection after the replies so far.',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
    run(client) {
      client.reply(OK);
      client.close();
      return SILENT;
    },
  },
  auth: {
    summary: 'Logs the connection in.',
    since: '1.0.0',
    complexity: 'O(N) with N the number of passwords of the user',
    arity: -2,
    flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
    run(client, argv) {
      if (argv.length > 3) fail(SYNTAX);
      const [, first, second] = argv;
      const [user, password] = second === undefined ? ['default', first] : [first, second];
      if (argv.length === 2 && client.server.acl.default.noPassword) {
        fail(
          'ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?',
        );
      }
      authenticate(client, argv, user, password);
      return OK;
    },
  },
  hello: {
    summary: 'Chooses the protocol version; may log in and name the connection at the same time.',
    since: '6.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
    run: hello,
  },
  reset: {
    summary: 'Brings the connection back to the state it was opened in.',
    since: '6.2.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['noscript', 'loading', 'stale', 'fast', 'no_auth', 'allow_busy'],
    run(client) {
      reset(client);
      return new SimpleString('RESET');
    },
  },
});

export const clusterStateCommands = defineCommands('cluster', {
  readonly: {
    summary: 'Allows reads from a replica of a cluster.',
    since: '3.0.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['loading', 'stale', 'fast'],
    categories: ['connection'],
    run: (client) => readReplicas(client, true),
  },
  readwrite: {
    summary: 'Forbids reads from a replica of a cluster again.',
    since: '3.0.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['loading', 'stale', 'fast'],
    categories: ['connection'],
    run: (client) => readReplicas(client, false),
  },
  asking: {
    summary: 'Follows an ASK redirect of a cluster.',
    since: '3.0.0',
    complexity: 'O(1)',
    arity: 1,
    flags: ['fast'],
    categories: ['connection'],
    run(client) {
      if (client.server.cluster === undefined) fail(NO_CLUSTER);
      client.mark(ASKING_NEXT, true);
      return OK;
    },
  },
});
