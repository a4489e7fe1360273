/** Pub/sub commands (https://redis.io/docs/latest/commands/?group=pubsub). */

import type { Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { globMatch } from '../../../protocol/glob.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { IN_MULTI } from '../../clients/client.ts';
import type { SubscriptionKind } from '../../clients/subscriptions.ts';
import type { Caller } from '../../server.ts';
import { type Argv, type EntryChange, type Flag, key, keys } from '../../table/command.ts';
import { type Outcome, SILENT } from '../../table/outcome.ts';
import { defineCommands, defineContainer } from '../define.ts';

const SUBSCRIBING: readonly Flag[] = ['pubsub', 'noscript', 'loading', 'stale'];
/** Since Redis 8.6.3, which is known from its release notes alone, a subscription is refused when memory is short. */
const NEEDS_MEMORY: readonly EntryChange[] = [{ since: '8.6.3', flags: [...SUBSCRIBING, 'denyoom'] }];
const PUBLISHING: readonly Flag[] = ['pubsub', 'loading', 'stale', 'fast', 'may_replicate'];
const ASKING: readonly Flag[] = ['pubsub', 'loading', 'stale'];

function join(kind: SubscriptionKind) {
  return (client: Caller, argv: readonly Bytes[]): Outcome => {
    client.server.pubsub.subscribe(client, kind, argv.slice(1));
    return SILENT;
  };
}

function leave(kind: SubscriptionKind) {
  return (client: Caller, argv: readonly Bytes[]): Outcome => {
    client.server.pubsub.unsubscribe(client, kind, argv.slice(1));
    return SILENT;
  };
}

/** Returns the names that have subscribers, filtered by the pattern if one is given. */
function active(client: Caller, kind: SubscriptionKind, argv: readonly Bytes[]): Reply {
  if (argv.length > 3) {
    fail(`ERR unknown subcommand or wrong number of arguments for '${argv[1]}'. Try PUBSUB HELP.`);
  }
  const names = [...client.server.pubsub[kind].keys()];
  const pattern = argv[2];
  return pattern === undefined ? names : names.filter((name) => globMatch(pattern, name));
}

/** Sends a message on: to the nodes of the cluster, or else to the replicas. */
function spread({ server }: Caller, argv: Argv<3>, sharded: boolean): void {
  if (server.cluster !== undefined) server.cluster.publish(argv[1], argv[2], sharded);
  else if (server.effects.feeding) server.effects.propagateAs(argv);
}

function counts(client: Caller, kind: SubscriptionKind, names: readonly Bytes[]): Reply {
  const listeners = client.server.pubsub[kind];
  return names.flatMap((name) => [name, listeners.get(name)?.size ?? 0]);
}

export const pubsubCommands = defineCommands('pubsub', {
  subscribe: {
    summary: 'Subscribes to channels.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of channels',
    arity: -2,
    flags: SUBSCRIBING,
    changes: NEEDS_MEMORY,
    run: join('channels'),
  },
  unsubscribe: {
    summary: 'Unsubscribes from the given channels, or from all.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of channels',
    arity: -1,
    flags: SUBSCRIBING,
    run: leave('channels'),
  },
  psubscribe: {
    summary: 'Subscribes to every channel whose name matches a pattern.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of patterns',
    arity: -2,
    flags: SUBSCRIBING,
    changes: NEEDS_MEMORY,
    run: join('patterns'),
  },
  punsubscribe: {
    summary: 'Unsubscribes from the given patterns, or from all.',
    since: '2.0.0',
    complexity: 'O(N) with N the number of patterns',
    arity: -1,
    flags: SUBSCRIBING,
    run: leave('patterns'),
  },
  ssubscribe: {
    summary: 'Subscribes to shard channels.',
    since: '7.0.0',
    complexity: 'O(N) with N the number of shard channels',
    arity: -2,
    flags: SUBSCRIBING,
    changes: NEEDS_MEMORY,
    keys: keys('NOT_KEY'),
    run(client, argv) {
      if (client.has(IN_MULTI)) fail("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
      client.server.pubsub.subscribe(client, 'shardChannels', argv.slice(1));
      return SILENT;
    },
  },
  sunsubscribe: {
    summary: 'Unsubscribes from the given shard channels, or from all.',
    since: '7.0.0',
    complexity: 'O(N) with N the number of shard channels',
    arity: -1,
    flags: SUBSCRIBING,
    keys: keys('NOT_KEY'),
    run: leave('shardChannels'),
  },
  publish: {
    summary: "Sends a message to a channel's subscribers and returns their number.",
    since: '2.0.0',
    complexity: "O(N+M) with N the channel's listeners and M all patterns",
    arity: 3,
    flags: PUBLISHING,
    run(client, argv) {
      const { server } = client;
      const receivers = server.pubsub.publish(argv[1], argv[2]);
      spread(client, argv, false);
      return receivers;
    },
  },
  spublish: {
    summary: "Sends a message to a shard channel's subscribers and returns their number.",
    since: '7.0.0',
    complexity: "O(N) with N the shard channel's listeners",
    arity: 3,
    flags: PUBLISHING,
    keys: key('NOT_KEY'),
    run(client, argv) {
      const { server } = client;
      const { pubsub, observer } = server;
      observer.usage?.delivered(argv[1], argv[2], pubsub.shardChannels.get(argv[1]));
      const receivers = pubsub.publishShard(argv[1], argv[2]);
      spread(client, argv, true);
      return receivers;
    },
  },
});

export const pubsubCommand = defineContainer(
  'pubsub',
  'pubsub',
  {
    summary: 'Commands about channels and their subscribers.',
    since: '2.8.0',
    helpSince: '6.2.0',
    complexity: 'Depends on subcommand.',
    flags: [],
  },
  {
    channels: {
      summary: 'Lists the channels that have subscribers.',
      since: '2.8.0',
      complexity: 'O(N) with N the number of such channels',
      arity: -2,
      flags: ASKING,
      run: (client, argv) => active(client, 'channels', argv),
    },
    numpat: {
      summary: 'Counts the patterns that have subscribers.',
      since: '2.8.0',
      complexity: 'O(1)',
      arity: 2,
      flags: ASKING,
      run: (client) => client.server.pubsub.patterns.size,
    },
    numsub: {
      summary: 'Counts the subscribers of channels.',
      since: '2.8.0',
      complexity: 'O(N) with N the number of channels asked for',
      arity: -2,
      flags: ASKING,
      run: (client, argv) => counts(client, 'channels', argv.slice(2)),
    },
    shardchannels: {
      summary: 'Lists the shard channels that have subscribers.',
      since: '7.0.0',
      complexity: 'O(N) with N the number of such channels',
      arity: -2,
      flags: ASKING,
      run: (client, argv) => active(client, 'shardChannels', argv),
    },
    shardnumsub: {
      summary: 'Counts the subscribers of shard channels.',
      since: '7.0.0',
      complexity: 'O(N) with N the number of channels asked for',
      arity: -2,
      flags: ASKING,
      run: (client, argv) => counts(client, 'shardChannels', argv.slice(2)),
    },
  },
);
