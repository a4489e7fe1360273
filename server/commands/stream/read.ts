/**
 * XREAD and XREADGROUP: entries after an id, or new to a consumer group. Both can wait
 * (https://redis.io/docs/latest/commands/xread/).
 */

import { DELIVERIES_MAX, type StreamConsumer, type StreamGroup } from '../../../keyspace/stream/group.ts';
import { formatId, MAX_ID, MIN_ID, type StreamId } from '../../../keyspace/stream/id.ts';
import { advance } from '../../../keyspace/stream/lag.ts';
import { type StreamEntry, StreamValue } from '../../../keyspace/stream/stream.ts';
import { typeOf } from '../../../keyspace/value.ts';
import { asciiUpper, type Bytes, cString, type Millis, narrow } from '../../../protocol/bytes.ts';
import { fail, WRONGTYPE } from '../../../protocol/errors.ts';
import { MapReply, NULL_ARRAY, type Reply, ReplyError } from '../../../protocol/reply.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Caller } from '../../server.ts';
import { wordAt } from '../../table/arguments.ts';
import { type EntryChange, incomplete, type KeySpec } from '../../table/command.ts';
import type { Outcome } from '../../table/outcome.ts';
import { defineCommands } from '../define.ts';
import { claimEffect, entryReply, groupOf, positionEffect, seeConsumer, strictId } from './parts.ts';
import { parseReading, type Reading } from './reading.ts';

/** One stream of the request and the id after which to read; '>' stands for entries that are new to the group. */
interface Source {
  readonly name: Bytes;
  readonly after: StreamId | '>';
}

function meaningless(id: '$' | '+'): never {
  fail(
    `ERR The ${id} ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The ${id} ID would just return an empty result set.`,
  );
}

/** The id after which only the last entry is, or only the entry of the last id that was added. */
function beforeLast(stream: StreamValue | undefined, readLast: Dialect['readLast']): StreamId {
  if (stream === undefined) return MIN_ID;
  if (readLast === 'the last id' && stream.lastId === MIN_ID) fail('ERR the stream last element ID is 0-0');
  const last = readLast === 'the last entry' ? stream.lastEntry()?.id : stream.lastId;
  return last === undefined || stream.length === 0 ? stream.lastId : last - 1n;
}

function resolveSource(client: Caller, name: Bytes, text: Bytes, group: Bytes | undefined): Source {
  const stream =
    group === undefined
      ? client.db.read(name, 'stream')
      : groupOf(client, name, group, ' in XREADGROUP with GROUP option').stream;
  if (text === '$') {
    if (group !== undefined) meaningless('$');
    return { name, after: stream?.lastId ?? MIN_ID };
  }
  const { readLast } = client.server.dialect;
  if (text === '+' && readLast !== 'refused') {
    if (group !== undefined) meaningless('+');
    return { name, after: beforeLast(stream, readLast) };
  }
  if (text === '>') {
    if (group === undefined) {
      fail(
        'ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.',
      );
    }
    return { name, after: '>' };
  }
  const after = strictId(text);
  // Redis itself writes '>' as the largest id.
  return { name, after: group !== undefined && after === MAX_ID ? '>' : after };
}

/** The number of deliveries after another one. It stays at its maximum. */
function oneMore(deliveries: bigint): bigint {
  return deliveries === DELIVERIES_MAX ? deliveries : deliveries + 1n;
}

/** Reads streams and collects the effects. */
class StreamReader {
  readonly effects: Bytes[][] = [];
  readonly #client: Caller;
  readonly #reading: Reading;

  constructor(client: Caller, reading: Reading) {
    this.#client = client;
    this.#reading = reading;
  }

  /** Returns the entries after an id, for XREAD. */
  plain(stream: StreamValue, after: StreamId): Reply {
    return after === MAX_ID ? [] : stream.range(after + 1n, MAX_ID, this.#reading.count).map(entryReply);
  }

  /** Returns the consumer's own pending entries after an id. */
  history(stream: StreamValue, group: StreamGroup, consumer: StreamConsumer, after: StreamId): Reply {
    const out: Reply[] = [];
    const { now } = this.#client.server;
    for (const pending of consumer.pending.values(after + 1n)) {
      if (out.length >= this.#reading.count) break;
      const entry = stream.get(pending.id);
      if (entry === undefined) out.push([formatId(pending.id), NULL_ARRAY]);
      else {
        out.push(entryReply(entry));
        group.redeliver(pending, now);
        pending.deliveries++;
      }
    }
    if (this.#client.server.dialect.readHistory === 'counts as a change') this.#client.db.world.dirty++;
    return out;
  }

  /** Delivers entries that are new to the group. */
  deliver(
    name: Bytes,
    stream: StreamValue,
    group: StreamGroup,
    consumer: StreamConsumer,
    count = this.#reading.count,
  ): StreamEntry[] {
    const { noAck } = this.#reading;
    const { server, db } = this.#client;
    const before = group.lastId;
    const entries = before === MAX_ID ? [] : stream.range(before + 1n, MAX_ID, count);
    for (const { id } of entries) {
      advance(stream, group, id, server.dialect.groupCounts);
      if (noAck) continue;
      const pending = group.deliver(id, consumer, server.now);
      const position = server.dialect.deliveredPosition === 'before the delivery' ? before : group.lastId;
      this.effects.push(claimEffect(name, group, pending, undefined, position));
    }
    const tells = noAck || server.dialect.consumers === 'made at once';
    if (tells && entries.length > 0) this.effects.push(positionEffect(name, group));
    db.world.dirty++;
    return entries;
  }

  /** Takes over the pending entries that have been idle for long enough, longest first. */
  claim(
    name: Bytes,
    stream: StreamValue,
    group: StreamGroup,
    consumer: StreamConsumer,
    idle: Millis,
  ): Reply[] {
    const { server, db } = this.#client;
    const out: Reply[] = [];
    for (const pending of group.deliveredBy(server.now - idle)) {
      if (out.length >= this.#reading.count) break;
      const entry = stream.get(pending.id);
      if (entry === undefined) continue;
      const { deliveredAt, deliveries } = pending;
      out.push([
        formatId(pending.id),
        entry.fields,
        server.now - deliveredAt,
        narrow(BigInt.asIntN(64, deliveries)),
      ]);
      group.assign(pending.id, consumer, server.now, oneMore(deliveries));
      consumer.activeAt = server.now;
      this.effects.push(claimEffect(name, group, pending));
      db.world.dirty++;
    }
    return out;
  }

  /**
   * Returns the consumer, and creates it if it is missing. The creation is propagated if no delivered entry implies it.
   */
  consumer(name: Bytes, group: StreamGroup): StreamConsumer {
    const { consumer, noAck } = this.#reading;
    const seen = seeConsumer(this.#client, name, group, consumer);
    if (seen.created && noAck) this.effects.push(['XGROUP', 'CREATECONSUMER', name, group.name, consumer]);
    return seen.consumer;
  }
}

/** Returns streams with their entries, as both commands answer them. */
function streamsReply(client: Caller, streams: readonly (readonly [Bytes, Reply])[]): Reply {
  return client.protocol === 3 ? new MapReply(streams.flat()) : streams;
}

/** What a consumer reads of one stream with '>'. */
interface GroupSource {
  readonly name: Bytes;
  readonly stream: StreamValue;
  readonly group: StreamGroup;
  readonly claim: Millis | undefined;
  readonly count: number;
}

/** Returns the entries that are pending for too long, with CLAIM, and then those that are new to the group. */
function readGroup(
  reader: StreamReader,
  { name, stream, group, claim, count }: GroupSource,
): readonly Reply[] {
  const hasNew = (stream.lastEntry()?.id ?? MIN_ID) > group.lastId;
  if (claim === undefined) {
    return hasNew ? reader.deliver(name, stream, group, reader.consumer(name, group)).map(entryReply) : [];
  }
  const claimed = reader.claim(name, stream, group, reader.consumer(name, group), claim);
  if (!hasNew || claimed.length >= count) return claimed;
  const added = reader.deliver(name, stream, group, reader.consumer(name, group), count - claimed.length);
  return [...claimed, ...added.map(({ id, fields }) => [formatId(id), fields, 0, 0])];
}

/** Reads the available entries without waiting. Streams without new entries are left out. */
function readNow(client: Caller, reading: Reading, reader: StreamReader, sources: readonly Source[]) {
  const out: [Bytes, Reply][] = [];
  let { claim } = reading;
  for (const { name, after } of sources) {
    // Redis looks the key up again, and reports another miss.
    const stream = client.db.read(name, 'stream');
    if (stream === undefined) continue;
    const last = stream.lastEntry()?.id;
    const joined = reading.group === undefined ? undefined : stream.groups.get(reading.group);
    if (joined !== undefined && client.server.dialect.consumers === 'made at once')
      reader.consumer(name, joined);
    if (reading.group === undefined) {
      if (after !== '>' && last !== undefined && last > after) out.push([name, reader.plain(stream, after)]);
      continue;
    }
    const group = stream.groups.get(reading.group)!;
    if (after === '>') {
      const entries = readGroup(reader, { name, stream, group, claim, count: reading.count });
      if (entries.length > 0) out.push([name, entries]);
      continue;
    }
    out.push([name, reader.history(stream, group, reader.consumer(name, group), after)]);
    // As in Redis, CLAIM does not count from here on.
    claim = undefined;
  }
  return out;
}

/** The error for a client that waits on a deleted stream or group. */
function lost({ server, db }: Caller, name: Bytes, group: Bytes, since: ReplyError): ReplyError {
  if (server.dialect.lostStream === 'that it is gone') return since;
  const entry = db.peek(name);
  if (entry !== undefined && typeOf(entry.held) !== 'stream') return new ReplyError(WRONGTYPE);
  const where = ' in XREADGROUP with GROUP option';
  return new ReplyError(
    `NOGROUP No such key '${cString(name)}' or consumer group '${cString(group)}'${where}`,
  );
}

/** The error for a client whose key was deleted or replaced. Servers that run its request again look the key up for it. */
function gone(client: Caller, name: Bytes, group: Bytes): ReplyError {
  if (client.server.dialect.lostStream !== 'that it is gone') client.db.lookup(name);
  return lost(client, name, group, KEY_GONE);
}

const GROUP_GONE = new ReplyError('NOGROUP the consumer group this client was blocked on no longer exists');
const KEY_GONE = new ReplyError('UNBLOCKED the stream key no longer exists');

/** Serves a waiting client from a stream that may have new entries for it. */
function serve(client: Caller, reading: Reading, name: Bytes, sources: readonly Source[]): Reply | undefined {
  const stream = client.db.get(name, 'stream');
  const source = sources.find((each) => each.name === name);
  if (stream === undefined || source === undefined) return undefined;
  const { server } = client;
  const reader = new StreamReader(client, reading);
  if (reading.group === undefined) {
    const after = source.after as StreamId;
    return stream.lastId > after ? streamsReply(client, [[name, reader.plain(stream, after)]]) : undefined;
  }
  const group = stream.groups.get(reading.group);
  if (group === undefined) return lost(client, name, reading.group, GROUP_GONE);
  if (stream.lastId <= group.lastId) return undefined;
  const entries = reader.deliver(name, stream, group, reader.consumer(name, group)).map(entryReply);
  for (const effect of reader.effects) server.effects.propagateAlso(client.db, effect);
  return streamsReply(client, [[name, entries]]);
}

/** Serves a waiting client by running its request again. */
function serveAgain(client: Caller, reading: Reading, sources: readonly Source[]): Reply | undefined {
  for (const { name } of sources) {
    const stream = client.db.read(name, 'stream');
    if (reading.group !== undefined && stream?.groups.has(reading.group) !== true)
      return lost(client, name, reading.group, GROUP_GONE);
  }
  const reader = new StreamReader(client, reading);
  const found = readNow(client, reading, reader, sources);
  for (const effect of reader.effects) client.server.effects.propagateAlso(client.db, effect);
  return found.length === 0 ? undefined : streamsReply(client, found);
}

/** When the longest pending entry can be claimed: a millisecond after its time has come, as in Redis. */
function claimableAt({ db, server }: Caller, { claim = 0, group, names }: Reading): Millis {
  let first = Infinity;
  for (const name of names) {
    const held = db.peek(name)?.held;
    const stream = held instanceof StreamValue ? held : undefined;
    for (const { id, deliveredAt } of stream?.groups.get(group!)?.deliveredBy(Infinity) ?? []) {
      if (stream?.get(id) === undefined) continue;
      first = Math.min(first, deliveredAt);
      break;
    }
  }
  return (first === Infinity ? server.now : first) + claim + 1;
}

function read(client: Caller, argv: readonly Bytes[], command: 'xread' | 'xreadgroup'): Outcome {
  const { server } = client;
  const reading = parseReading(client, argv, command);
  const { names, ids, group } = reading;
  const sources = names.map((name, i) => resolveSource(client, name, wordAt(ids, i), group));
  const reader = new StreamReader(client, reading);
  const found = readNow(client, reading, reader, sources);
  if (group !== undefined && server.effects.feeding) server.effects.propagateAs(...reader.effects);
  if (found.length > 0) return streamsReply(client, found);
  if (reading.block === undefined) return NULL_ARRAY;
  return server.blocking.block(client, {
    type: 'stream',
    keys: names,
    timeout: reading.block,
    serve: (ready) =>
      server.dialect.serveWaiting === 'from the ready key' && reading.claim === undefined
        ? serve(client, reading, wordAt(ready, 0), sources)
        : serveAgain(client, reading, sources),
    timeoutReply: NULL_ARRAY,
    ...(reading.claim === undefined ? {} : { wakeAt: () => claimableAt(client, reading) }),
    ...(group === undefined ? {} : { gone: (name: Bytes) => gone(client, name, group) }),
  });
}

function streamsFrom(from: number): KeySpec[] {
  return [{ flags: 'RO ACCESS', begin: { keyword: 'STREAMS', from }, find: { last: -1, step: 1, limit: 2 } }];
}

/** Returns the positions of the first half of the words after STREAMS. */
function streamKeys(argv: readonly Bytes[], from: number): number[] {
  const first = argv.findIndex((word, i) => i >= from && asciiUpper(word) === 'STREAMS') + 1;
  if (first === 0) return [];
  return Array.from({ length: Math.floor((argv.length - first) / 2) }, (_, i) => first + i);
}

/** With the fix, STREAMS is where the options before it end: no group or consumer of that name is taken for it. */
function afterOptions(from: number): EntryChange {
  return {
    since: '8.0.2',
    fix: 'keys of repeated options',
    keys: incomplete(
      'STREAMS is searched behind the other options, which may contain that word',
      streamsFrom(from),
    ),
    getKeys(argv) {
      const argumentsAt = (i: number): number | undefined => ARGUMENTS.get(asciiUpper(argv[i] ?? ''));
      let at = 1;
      for (let count = argumentsAt(at); count !== undefined; count = argumentsAt(at)) at += 1 + count;
      const words = argv.length - at - 1;
      if (asciiUpper(argv[at] ?? '') !== 'STREAMS' || words <= 0 || words % 2 !== 0) return [];
      return Array.from({ length: words / 2 }, (_, i) => at + 1 + i);
    },
  };
}

/** The number of arguments of each option before STREAMS. */
const ARGUMENTS: ReadonlyMap<Bytes, number> = new Map([
  ['BLOCK', 1],
  ['COUNT', 1],
  ['GROUP', 2],
  ['NOACK', 0],
]);

export const streamReadCommands = defineCommands('stream', {
  xread: {
    summary: 'Returns the entries of streams after given ids; can wait for new ones.',
    since: '5.0.0',
    complexity: 'O(N), N entries answered',
    arity: -4,
    flags: ['readonly', 'blocking', 'movablekeys'],
    keys: streamsFrom(1),
    changes: [afterOptions(1)],
    getKeys: (argv) => streamKeys(argv, 1),
    run: (client, argv) => read(client, argv, 'xread'),
  },
  xreadgroup: {
    summary: "Delivers a consumer group's new entries, or a consumer's pending ones; can wait.",
    since: '5.0.0',
    complexity: 'O(N), N entries answered',
    arity: -7,
    flags: ['write', 'blocking', 'movablekeys'],
    keys: streamsFrom(4),
    changes: [afterOptions(4)],
    getKeys: (argv) => streamKeys(argv, 4),
    run: (client, argv) => read(client, argv, 'xreadgroup'),
  },
});
