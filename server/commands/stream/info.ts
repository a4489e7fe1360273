/** XINFO: describes a stream, its groups and consumers (https://redis.io/docs/latest/commands/xinfo-stream/). */

import type { StreamConsumer, StreamGroup } from '../../../keyspace/stream/group.ts';
import { formatId, MAX_ID, MIN_ID } from '../../../keyspace/stream/id.ts';
import { lag } from '../../../keyspace/stream/lag.ts';
import { radixTreeNodes } from '../../../keyspace/stream/radix.ts';
import type { StreamValue } from '../../../keyspace/stream/stream.ts';
import { asciiUpper, type Bytes, cString, type Millis, narrow } from '../../../protocol/bytes.ts';
import { fail, NO_SUCH_KEY } from '../../../protocol/errors.ts';
import { MapReply, type Reply } from '../../../protocol/reply.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Caller } from '../../server.ts';
import { integer } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineContainer } from '../define.ts';
import { unknownWords } from './group.ts';
import { knowsProducers } from './idempotence.ts';
import { entryReply } from './parts.ts';

function streamOf(client: Caller, name: Bytes): StreamValue {
  return client.db.read(name, 'stream') ?? fail(NO_SUCH_KEY);
}

/** Returns a number of entries; null if it is unknown. */
function countReply(count: bigint | undefined): Reply {
  return count === undefined ? null : narrow(BigInt.asIntN(64, count));
}

/** How many items FULL lists without COUNT. */
const FULL_COUNT = 10;

/** Returns how many items FULL lists; undefined if FULL was not given. */
function fullCount(argv: Argv<-3>): number | undefined {
  if (argv.length === 3) return undefined;
  const [, sub, , full = '', word = '', text = ''] = argv;
  const counted = argv.length === 6 && asciiUpper(word) === 'COUNT';
  if (asciiUpper(full) !== 'FULL' || (argv.length !== 4 && !counted)) unknownWords('xinfo', sub);
  const count = counted ? integer(text) : FULL_COUNT;
  return count === 0 ? Infinity : count < 0 ? FULL_COUNT : count;
}

function consumerDetails(consumer: StreamConsumer, count: number, activity: boolean): Reply {
  const pending: Reply[] = [];
  for (const { id, deliveredAt, deliveries } of consumer.pending.values()) {
    if (pending.length >= count) break;
    pending.push([formatId(id), deliveredAt, countReply(deliveries)]);
  }
  const { name, seenAt } = consumer;
  return new MapReply([
    'name',
    name,
    'seen-time',
    seenAt,
    ...(activity ? ['active-time', consumer.activeAt] : []),
    'pel-count',
    consumer.pending.size,
    'pending',
    pending,
  ]);
}

/** @param released with the number of released entries */
function groupDetails(
  stream: StreamValue,
  group: StreamGroup,
  count: number,
  dialect: Dialect,
  released: boolean,
): Reply {
  const pending: Reply[] = [];
  for (const { id, consumer, deliveredAt, deliveries } of group.pending.values()) {
    if (pending.length >= count) break;
    pending.push([formatId(id), consumer.name, deliveredAt, countReply(deliveries)]);
  }
  return new MapReply([
    'name',
    group.name,
    'last-delivered-id',
    formatId(group.lastId),
    'entries-read',
    countReply(group.entriesRead),
    'lag',
    countReply(lag(stream, group, dialect.groupCounts)),
    'pel-count',
    group.pending.size,
    'pending',
    pending,
    'consumers',
    group.sortedConsumers().map((consumer) => consumerDetails(consumer, count, dialect.consumerActivity)),
    ...(released ? ['nacked-count', group.nobody.pending.size] : []),
  ]);
}

/** What a stream remembers about idempotent producers. */
function producersInfo({ idempotence }: StreamValue, now: Millis): Reply[] {
  idempotence.sweep(now);
  const producers = idempotence.producers();
  return [
    'idmp-duration',
    idempotence.duration,
    'idmp-maxsize',
    idempotence.maxSize,
    'pids-tracked',
    producers.length,
    'iids-tracked',
    producers.reduce((sum, [, ids]) => sum + ids.size, 0),
    'iids-added',
    narrow(idempotence.added),
    'iids-duplicates',
    narrow(idempotence.duplicates),
  ];
}

function streamInfo(client: Caller, argv: Argv<-3>): Reply {
  const { server } = client;
  const stream = streamOf(client, argv[2]);
  const count = fullCount(argv);
  const common: Reply[] = [
    'length',
    stream.length,
    'radix-tree-keys',
    stream.nodes().length,
    'radix-tree-nodes',
    radixTreeNodes(stream),
    'last-generated-id',
    formatId(stream.lastId),
    'max-deleted-entry-id',
    formatId(stream.maxDeletedId),
    'entries-added',
    narrow(stream.entriesAdded),
    'recorded-first-entry-id',
    formatId(stream.firstId),
    ...(knowsProducers(client) ? producersInfo(stream, client.server.now) : []),
  ];
  if (count !== undefined) {
    return new MapReply([
      ...common,
      'entries',
      stream.range(MIN_ID, MAX_ID, count).map(entryReply),
      'groups',
      stream
        .sortedGroups()
        .map((group) => groupDetails(stream, group, count, server.dialect, server.declared.has('xnack'))),
    ]);
  }
  const [first, last] = [stream.firstEntry(), stream.lastEntry()];
  return new MapReply([
    ...common,
    'groups',
    stream.groups.size,
    'first-entry',
    first === undefined ? null : entryReply(first),
    'last-entry',
    last === undefined ? null : entryReply(last),
  ]);
}

function groupInfo(stream: StreamValue, group: StreamGroup, dialect: Dialect): Reply {
  return new MapReply([
    'name',
    group.name,
    'consumers',
    group.consumers.size,
    'pending',
    group.pending.size,
    'last-delivered-id',
    formatId(group.lastId),
    'entries-read',
    countReply(group.entriesRead),
    'lag',
    countReply(lag(stream, group, dialect.groupCounts)),
  ]);
}

export const xinfoCommand = defineContainer(
  'stream',
  'xinfo',
  {
    summary: 'Commands about streams, their groups and consumers.',
    since: '5.0.0',
    complexity: 'Depends on the subcommand',
    flags: [],
  },
  {
    stream: {
      summary: 'Describes a stream; with FULL also its entries, groups and consumers.',
      since: '5.0.0',
      complexity: 'O(1), with FULL O(N) for N items listed',
      arity: -3,
      flags: ['readonly'],
      keys: key('RO ACCESS', 2),
      run: streamInfo,
    },
    groups: {
      summary: "Lists a stream's consumer groups.",
      since: '5.0.0',
      complexity: 'O(1) for each group',
      arity: 3,
      flags: ['readonly'],
      keys: key('RO ACCESS', 2),
      run(client, [, , name]) {
        const stream = streamOf(client, name);
        return stream.sortedGroups().map((group) => groupInfo(stream, group, client.server.dialect));
      },
    },
    consumers: {
      summary: "Lists a group's consumers.",
      since: '5.0.0',
      complexity: 'O(1) for each consumer',
      arity: 4,
      flags: ['readonly'],
      tips: ['nondeterministic_output'],
      keys: key('RO ACCESS', 2),
      run(client, [, , name, groupName]) {
        const group =
          streamOf(client, name).groups.get(groupName) ??
          fail(`NOGROUP No such consumer group '${cString(groupName)}' for key name '${cString(name)}'`);
        const { now, dialect } = client.server;
        const activity = dialect.consumerActivity;
        return group
          .sortedConsumers()
          .map(
            ({ name: consumer, pending, seenAt, activeAt }) =>
              new MapReply([
                'name',
                consumer,
                'pending',
                pending.size,
                'idle',
                Math.max(0, now - seenAt),
                ...(activity ? ['inactive', activeAt < 0 ? -1 : Math.max(0, now - activeAt)] : []),
              ]),
          );
      },
    },
  },
);
