/** Commands for replication (https://redis.io/docs/latest/operate/oss_and_stack/management/replication/). */

import { asciiLower, asciiUpper, type Bytes, parseSafeInteger } from '../../../protocol/bytes.ts';
import { fail, NOT_POSITIVE, SYNTAX } from '../../../protocol/errors.ts';
import { splitInline } from '../../../protocol/inline.ts';
import { OK, type Reply, SimpleString } from '../../../protocol/reply.ts';
import { REPLICA_LINK } from '../../clients/client.ts';
import type { DatasetPart } from '../../data/snapshot.ts';
import type { FailoverRequest } from '../../replication/failover.ts';
import { promote, replicateFrom } from '../../replication/role.ts';
import type { Caller, Server } from '../../server.ts';
import { integer, integerBetween, wordAt } from '../../table/arguments.ts';
import type { Argv } from '../../table/command.ts';
import { type Outcome, SILENT } from '../../table/outcome.ts';
import { millisToWait } from '../../table/timeouts.ts';
import { defineCommands } from '../define.ts';
import { NO_CLUSTER } from './no-cluster.ts';

function replicaof(client: Caller, argv: Argv<-3>): Reply {
  const [, host, port] = argv;
  const { server } = client;
  if (server.cluster !== undefined) fail('ERR REPLICAOF not allowed in cluster mode.');
  if (server.replication.failover.state !== 'no-failover')
    fail('ERR REPLICAOF not allowed while failing over.');
  if (asciiLower(host) === 'no' && asciiLower(port) === 'one') {
    promote(server);
    return OK;
  }
  if (client.has(REPLICA_LINK)) fail('ERR Command is not valid when client is a replica.');
  const number = integer(port, 'ERR Invalid master port');
  if (number < 0 || number > 65535) fail('ERR Invalid master port');
  if (asciiLower(server.primary?.host ?? '') === asciiLower(host) && server.primary?.port === number) {
    return new SimpleString('OK Already connected to specified master');
  }
  replicateFrom(server, host, number);
  return OK;
}

function unknownOption(option = ''): never {
  return fail(`ERR Unrecognized REPLCONF option: ${option}`);
}

function replconf(client: Caller, argv: readonly Bytes[]): Outcome {
  if (argv.length % 2 === 0) fail(SYNTAX);
  const { replication } = client.server;
  for (let at = 1; at < argv.length; at += 2) {
    const option = asciiLower(wordAt(argv, at));
    const value = wordAt(argv, at + 1);
    switch (option) {
      case 'listening-port':
        replication.follower(client).port = integer(value);
        break;
      case 'ip-address':
        if (value.length > 255) {
          fail(`ERR REPLCONF ip-address provided by replica instance is too long: ${value.length} bytes`);
        }
        replication.follower(client).address = value;
        break;
      case 'capa':
        replication.follower(client).capabilities.add(asciiLower(value));
        break;
      case 'ack': {
        const said = asciiLower(argv[at + 2] ?? '') === 'fack' ? [value, argv[at + 3] ?? ''] : [value];
        const [offset, synced] = said.map(parseSafeInteger);
        // There is no reply to a number that is none, and nothing is noted.
        if (offset !== undefined) replication.acknowledge(client, offset, synced);
        return SILENT;
      }
      case 'getack':
        client.server.primary?.acknowledge();
        return SILENT;
      case 'rdb-only': {
        oneOrZero(value);
        break;
      }
      case 'rdb-filter-only':
        replication.follower(client).leavesOut = leftOut(value);
        break;
      case 'version':
        if (!client.server.dialect.cluster.replicatesSetSlot) return unknownOption(argv[at]);
        replication.follower(client).version = versionIn(value);
        break;
      case 'set-cluster-node-id':
        if (!client.server.dialect.cluster.passesOn) return unknownOption(argv[at]);
        if (client.server.cluster === undefined) fail(NO_CLUSTER);
        replication.follower(client).nodeId = value;
        break;
      default:
        secondChannel(client, argv[at] ?? '', value);
    }
  }
  return OK;
}

function oneOrZero(text: Bytes): void {
  const number = integer(text);
  if (number < 0 || number > 1) fail('ERR value is out of range, value must between 0 and 1');
}

/**
 * What a replica says on a connection that is to carry the dataset beside the stream. It may say that, but no replica is
 * offered such a connection here, so no client has the number that it names.
 */
function secondChannel({ server }: Caller, option: Bytes, value: Bytes): void {
  const { syncChannel } = server.dialect;
  if (syncChannel !== undefined && asciiLower(option) === 'rdb-channel') oneOrZero(value);
  else if (syncChannel?.option === asciiLower(option)) fail(`${syncChannel.unknown}${integer(value)}`);
  else unknownOption(option);
}

/** The version that a replica of Valkey names: three numbers of a byte each. */
function versionIn(text: Bytes): Bytes {
  const isVersion = /^(\d\d?|1\d\d|2[0-4]\d|25[0-5])(\.(\d\d?|1\d\d|2[0-4]\d|25[0-5])){2}$/.test(text);
  return isVersion ? text : fail(`ERR Unrecognized version format: ${text}`);
}

/** The parts of the dataset that are not in the list after `REPLCONF rdb-filter-only`. */
function leftOut(list: Bytes): ReadonlySet<DatasetPart> {
  const words = splitInline(list) ?? fail('ERR Missing rdb-filter-only values');
  const unknown = words.find((word) => asciiLower(word) !== 'functions');
  if (unknown !== undefined) fail(`ERR Unsupported rdb-filter-only option: ${unknown}`);
  return new Set<DatasetPart>(words.length === 0 ? ['data', 'functions'] : ['data']);
}

function psync(client: Caller, argv: Argv<-1>): Outcome {
  const { server } = client;
  const { replication } = server;
  if (client.has(REPLICA_LINK)) return SILENT;
  const [name, id = '', from = ''] = argv;
  const partial = asciiLower(name) === 'psync';
  if (partial && asciiLower(argv[3] ?? '') === 'failover') takeOver(server, id);
  if (replication.failover.state !== 'no-failover') fail("NOMASTERLINK Can't SYNC while failing over");
  if (server.role === 'replica' && server.primary?.linkUp !== true) {
    fail("NOMASTERLINK Can't SYNC while not connected with my master");
  }
  const known = replication.followers.get(client);
  if (known !== undefined && known.leavesOut.size > 0 && !known.capabilities.has('eof')) {
    fail('ERR Filtered replica requires EOF capability');
  }
  if (partial) {
    replication.synchronize(client, id, integer(from));
  } else {
    replication.follower(client).silent = true;
    replication.sendDataset(client);
  }
  return SILENT;
}

/** PSYNC … FAILOVER: takes over the primary's role. Throws if the node is a primary or does not share its history. */
function takeOver(server: Server, id: Bytes): void {
  if (server.role === 'primary') fail("ERR PSYNC FAILOVER can't be sent to a master.");
  if (asciiLower(id) !== server.replication.id) fail('ERR PSYNC FAILOVER replid must match my replid.');
  promote(server);
}

function failover(client: Caller, argv: readonly Bytes[]): Reply {
  if (client.server.cluster !== undefined) {
    fail('ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.');
  }
  const coordinator = client.server.replication.failover;
  if (argv.length === 2 && asciiUpper(argv[1] ?? '') === 'ABORT') {
    if (coordinator.state === 'no-failover') fail('ERR No failover in progress.');
    coordinator.abort();
    return OK;
  }
  let timeout = 0;
  let force = false;
  let target: FailoverRequest['target'];
  for (let at = 1; at < argv.length; at++) {
    const word = asciiUpper(wordAt(argv, at));
    if (word === 'TIMEOUT' && at + 1 < argv.length && timeout === 0) {
      timeout = integer(wordAt(argv, ++at));
      if (timeout <= 0) fail('ERR FAILOVER timeout must be greater than 0');
    } else if (word === 'TO' && at + 2 < argv.length && target === undefined) {
      target = { host: wordAt(argv, at + 1), port: integer(wordAt(argv, at + 2)) };
      at += 2;
    } else if (word === 'FORCE' && !force) {
      force = true;
    } else {
      fail(SYNTAX);
    }
  }
  coordinator.begin({ timeout, force, ...(target && { target }) });
  return OK;
}

function role(client: Caller): Reply {
  const { server } = client;
  const { replication, primary } = server;
  if (primary === undefined) {
    const followers = replication
      .online()
      .map((each) => [replication.addressOf(each), String(each.port), String(each.acknowledged)]);
    return ['master', replication.offset, followers];
  }
  return [
    'slave',
    primary.host,
    primary.port,
    primary.state,
    primary.state === 'connected' ? replication.offset : -1,
  ];
}

const WAITAOF_REPLICA =
  'ERR WAITAOF cannot be used with replica instances. Please also note that writes to replicas are just local and are not propagated.';

/** Returns the offset that WAIT and WAITAOF of the client wait for. */
function waitedFor(client: Caller): number {
  const { dialect, running } = client.server;
  return (dialect.waitInScript === "its caller's" ? (running ?? client) : client).writeOffset;
}

const ADMIN = ['admin', 'noscript', 'stale', 'no_async_loading'] as const;

export const replicationCommands = defineCommands('replication', {
  replicaof: {
    summary: 'Makes the node a replica of a primary, or a primary.',
    since: '5.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ADMIN,
    run: replicaof,
  },
  slaveof: {
    summary: 'Makes the node a replica of a primary, or a primary (the old name of REPLICAOF).',
    since: '1.0.0',
    complexity: 'O(1)',
    arity: 3,
    flags: ADMIN,
    run: replicaof,
  },
  failover: {
    summary: 'Hands the role of primary over to a replica that is in sync.',
    since: '6.2.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['admin', 'noscript', 'stale'],
    run: failover,
  },
  replconf: {
    summary: 'Tells the primary about the replica and its offset.',
    since: '3.0.0',
    complexity: 'O(1)',
    arity: -1,
    flags: ['admin', 'noscript', 'loading', 'stale', 'allow_busy'],
    run: replconf,
  },
  psync: {
    summary: 'Asks a primary for its stream, from an offset on.',
    since: '2.8.0',
    arity: -3,
    flags: ['admin', 'noscript', 'no_async_loading', 'no_multi'],
    run: psync,
  },
  sync: {
    summary: 'Asks a primary for its dataset and its stream.',
    since: '1.0.0',
    arity: 1,
    flags: ['admin', 'noscript', 'no_async_loading', 'no_multi'],
    run: psync,
  },
  role: {
    summary: "Returns the node's role in replication.",
    since: '2.8.12',
    complexity: 'O(1)',
    arity: 1,
    flags: ['noscript', 'loading', 'stale', 'fast'],
    categories: ['admin', 'dangerous'],
    run: role,
  },
});

export const waitCommands = defineCommands('generic', {
  wait: {
    summary: "Waits until replicas have acknowledged this connection's writes.",
    since: '3.0.0',
    complexity: 'O(1)',
    changes: [{ since: '7.2.0', flags: ['blocking'] }],
    arity: 3,
    flags: ['noscript'],
    categories: ['connection'],
    tips: ['request_policy:all_shards', 'response_policy:agg_min'],
    run(client, argv) {
      const { server } = client;
      const writeOffset = waitedFor(client);
      if (server.role === 'replica') fail(server.dialect.waitOnReplica);
      const wanted = integer(argv[1]);
      const timeout = millisToWait(client, argv[2]);
      const count = (): number => server.replication.countAcknowledged(writeOffset);
      return server.waiting.wait(client, timeout, () => (count() >= wanted ? count() : undefined), count);
    },
  },
  waitaof: {
    summary: "Waits until this connection's writes are durable here and on replicas.",
    since: '7.2.0',
    extra: true,
    complexity: 'O(1)',
    changes: [{ since: '7.2.0', flags: ['blocking'] }],
    arity: 4,
    flags: ['noscript'],
    categories: ['connection'],
    tips: ['request_policy:all_shards', 'response_policy:agg_min'],
    run(client, argv) {
      const { server } = client;
      const writeOffset = waitedFor(client);
      const local = integer(argv[1]);
      if (local < 0 || local > 1) fail('ERR value is out of range, value must between 0 and 1');
      const wanted = integerBetween(argv[2], 0, Number.MAX_VALUE, NOT_POSITIVE, NOT_POSITIVE);
      const timeout = millisToWait(client, argv[3]);
      if (server.role === 'replica') fail(WAITAOF_REPLICA);
      if (local > 0 && !server.settings.appendonly) {
        fail('ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.');
      }
      const count = (): [number, number] => [
        (server.durability?.syncedOffset() ?? -1) >= writeOffset ? 1 : 0,
        server.replication.countSynced(writeOffset),
      ];
      const ready = (): Reply | undefined => {
        const [here, there] = count();
        return here >= local && there >= wanted ? [here, there] : undefined;
      };
      return server.waiting.wait(client, timeout, ready, count);
    },
  },
});
