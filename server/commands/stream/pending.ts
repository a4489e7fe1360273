/** XPENDING, XCLAIM and XAUTOCLAIM: unacknowledged entries, and consumers that take them over. */

import type { Pending, StreamConsumer, StreamGroup } from '../../../keyspace/stream/group.ts';
import { formatId, MIN_ID, parseId, type StreamId } from '../../../keyspace/stream/id.ts';
import type { StreamValue } from '../../../keyspace/stream/stream.ts';
import { approximate, type Bytes, cString, type Millis, narrow } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import { NULL_ARRAY, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64, integer, integerBetween, Options, wordAt } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import {
  claimEffect,
  entryReply,
  groupIn,
  groupOf,
  intervalEnd,
  intervalStart,
  noGroup,
  positionEffect,
  seeConsumer,
  strictId,
} from './parts.ts';

function summary(group: StreamGroup): Reply {
  const { pending: all } = group;
  const [first, last] = [all.minKey(), all.maxKey()];
  if (first === undefined || last === undefined) return [0, null, null, NULL_ARRAY];
  const consumers = group.sortedConsumers().filter(({ pending }) => pending.size > 0);
  return [
    all.size,
    formatId(first),
    formatId(last),
    consumers.map(({ name, pending }) => [name, String(pending.size)]),
  ];
}

function xpending(client: Caller, argv: Argv<-3>): Reply {
  const [, name, groupName] = argv;
  if (argv.length === 3) return summary(groupOf(client, name, groupName).group);
  if (argv.length < 6 || argv.length > 9) fail(SYNTAX);
  const options = new Options(argv, 3);
  let idle = 0;
  if (options.next() === 'IDLE') {
    idle = integer(options.value());
    if (argv.length < 8) fail(SYNTAX);
  } else options.back();
  const [first, last] = [options.value(), options.value()];
  const count = Math.max(0, integer(options.value()));
  const start = intervalStart(first);
  const end = intervalEnd(last);
  const { group } = groupOf(client, name, groupName);
  const wanted = options.more() ? group.consumers.get(options.value()) : group;
  if (wanted === undefined) return [];
  const { now } = client.server;
  const out: Reply[] = [];
  for (const { id, consumer, deliveredAt, deliveries } of wanted.pending.values(start)) {
    if (id > end || out.length >= count) break;
    const elapsed = now - deliveredAt;
    if (idle !== 0 && elapsed < idle) continue;
    const shown = consumer === group.nobody ? -1 : Math.max(0, elapsed);
    out.push([formatId(id), consumer.name, shown, narrow(BigInt.asIntN(64, deliveries))]);
  }
  return out;
}

/** Claims entries for one consumer and collects the effects. */
class Claimer {
  readonly effects: Bytes[][] = [];
  readonly #client: Caller;
  readonly #key: Bytes;
  readonly #stream: StreamValue;
  readonly #group: StreamGroup;
  readonly #name: Bytes;
  // The consumer; looked up or created when the first entry is claimed for it.
  #consumer: StreamConsumer | undefined;

  constructor(client: Caller, key: Bytes, stream: StreamValue, group: StreamGroup, consumer: Bytes) {
    this.#client = client;
    this.#key = key;
    this.#stream = stream;
    this.#group = group;
    this.#name = consumer;
    if (client.server.dialect.consumers === 'made at once') {
      this.#consumer = seeConsumer(client, key, group, consumer).consumer;
    }
  }

  /** Claims an entry for the consumer. Returns the entry, or only its id. */
  take(id: StreamId, deliveredAt: Millis, deliveries: bigint, justId: boolean, text?: Bytes): Reply {
    this.#consumer ??= seeConsumer(this.#client, this.#key, this.#group, this.#name).consumer;
    this.#consumer.activeAt = this.#client.server.now;
    this.#note(this.#group.assign(id, this.#consumer, deliveredAt, deliveries), text);
    return justId ? formatId(id) : entryReply(this.#stream.get(id)!);
  }

  /** Removes a pending entry that was deleted from the stream. */
  forget(pending: Pending, text?: Bytes): void {
    this.#note(pending, text);
    this.#group.acknowledge(pending.id);
  }

  /** Replicas receive an id in the client's spelling. */
  #note(pending: Pending, text?: Bytes): void {
    this.effects.push(claimEffect(this.#key, this.#group, pending, text));
    this.#client.db.world.dirty++;
  }
}

interface ClaimOptions {
  readonly deliveredAt: Millis;
  readonly deliveries: bigint | undefined;
  readonly force: boolean;
  readonly justId: boolean;
  readonly lastId: StreamId;
}

function parseClaim(argv: readonly Bytes[], from: number, now: Millis): ClaimOptions {
  const options = new Options(argv, from);
  let [deliveredAt, deliveries, force, justId, lastId] = [-1, -1n, false, false, MIN_ID];
  while (options.more()) {
    const option = options.next();
    const more = options.more();
    const exact = (): number | bigint =>
      int64(options.value(), `ERR Invalid ${option} option argument for XCLAIM`);
    const amount = (): number => approximate(exact());
    if (option === 'FORCE') force = true;
    else if (option === 'JUSTID') justId = true;
    else if (option === 'IDLE' && more) deliveredAt = now - amount();
    else if (option === 'TIME' && more) deliveredAt = amount();
    else if (option === 'RETRYCOUNT' && more) deliveries = BigInt(exact());
    else if (option === 'LASTID' && more) lastId = strictId(options.value());
    else {
      options.back();
      fail(`ERR Unrecognized XCLAIM option '${cString(options.value())}'`);
    }
  }
  const sane = deliveredAt >= 0 && deliveredAt <= now;
  return {
    deliveredAt: sane ? deliveredAt : now,
    deliveries: deliveries >= 0n ? deliveries : undefined,
    force,
    justId,
    lastId,
  };
}

function xclaim(client: Caller, argv: Argv<-5>): Reply {
  const { server, db } = client;
  const [, name, groupName, consumer, idleText] = argv;
  const { stream, group } = groupOf(client, name, groupName);
  const idle = integer(idleText, 'ERR Invalid min-idle-time argument for XCLAIM');
  let at = 5;
  while (at < argv.length && parseId(wordAt(argv, at)) !== undefined) at++;
  const texts = argv.slice(5, at);
  const ids = texts.map(strictId);
  const { now } = server;
  const { deliveredAt, deliveries, force, justId, lastId } = parseClaim(argv, at, now);
  const moved = lastId > group.lastId;
  if (moved) stream.position(group, lastId);
  const claimer = new Claimer(client, name, stream, group, consumer);
  const out: Reply[] = [];
  for (const [i, id] of ids.entries()) {
    const pending = group.pending.get(id);
    if (stream.get(id) === undefined) {
      if (pending !== undefined) claimer.forget(pending, texts[i]);
      continue;
    }
    if (pending === undefined && !force) continue;
    if (pending !== undefined && idle > 0 && now - pending.deliveredAt < idle) continue;
    const counted = (pending?.deliveries ?? 1n) + (justId ? 0n : 1n);
    out.push(claimer.take(id, deliveredAt, deliveries ?? counted, justId, texts[i]));
  }
  if (moved && claimer.effects.length === 0) {
    claimer.effects.push(positionEffect(name, group));
    db.world.dirty++;
  }
  if (server.effects.feeding) server.effects.propagateAs(...claimer.effects);
  return out;
}

/** XAUTOCLAIM examines this many entries for each one that it may return. */
const ATTEMPTS = 10;
const BAD_COUNT = 'ERR COUNT must be > 0';
const COUNT_MAX = Math.floor((2 ** 63 - 1) / 16);

function xautoclaim(client: Caller, argv: Argv<-6>): Reply {
  const { server } = client;
  const [, name, groupName, consumer, idleText, startText] = argv;
  // As in Redis, the key is looked up first, but its absence is reported last.
  const found = client.db.lookup(name) !== undefined;
  const idle = integer(idleText, 'ERR Invalid min-idle-time argument for XAUTOCLAIM');
  const start = intervalStart(startText);
  const options = new Options(argv, 6);
  let [count, justId] = [100, false];
  while (options.more()) {
    const option = options.next();
    if (option === 'COUNT' && options.more()) {
      count = integerBetween(options.value(), 1, COUNT_MAX, BAD_COUNT, BAD_COUNT);
    } else if (option === 'JUSTID') justId = true;
    else fail(SYNTAX);
  }
  if (!found) noGroup(name, groupName);
  const { stream, group } = groupIn(client.db.get(name, 'stream'), name, groupName);
  const claimer = new Claimer(client, name, stream, group, consumer);
  const { now } = server;
  let attempts = count * ATTEMPTS;
  let cursor = MIN_ID;
  const [claimed, deleted, chosen]: [Reply[], Reply[], Pending[]] = [[], [], []];
  // The tree must not change during the iteration, so the entries are collected first.
  for (const pending of group.pending.values(start)) {
    if (attempts-- <= 0 || chosen.length >= count) {
      cursor = pending.id;
      break;
    }
    const exists = stream.get(pending.id) !== undefined;
    if (!exists || idle <= 0 || now - pending.deliveredAt >= idle) chosen.push(pending);
  }
  for (const pending of chosen) {
    const { id, deliveries } = pending;
    if (stream.get(id) === undefined) {
      claimer.forget(pending);
      deleted.push(formatId(id));
    } else claimed.push(claimer.take(id, now, justId ? deliveries : deliveries + 1n, justId));
  }
  if (server.effects.feeding) server.effects.propagateAs(...claimer.effects);
  return [formatId(cursor), claimed, deleted];
}

export const streamPendingCommands = defineCommands('stream', {
  xpending: {
    summary: 'Returns the pending entries of a consumer group: a summary, or each entry.',
    since: '5.0.0',
    complexity: 'O(N), N entries answered',
    arity: -3,
    flags: ['readonly'],
    tips: ['nondeterministic_output'],
    keys: key('RO ACCESS'),
    run: xpending,
  },
  xclaim: {
    summary: 'Assigns pending entries to another consumer.',
    since: '5.0.0',
    complexity: 'O(log(N)) for each id, N entries pending',
    arity: -6,
    flags: ['write', 'fast'],
    tips: ['nondeterministic_output'],
    keys: key('RW UPDATE'),
    run: xclaim,
  },
  xautoclaim: {
    summary: 'Assigns entries that have been pending long enough to another consumer.',
    since: '6.2.0',
    complexity: 'O(1) with a small COUNT',
    arity: -6,
    flags: ['write', 'fast'],
    tips: ['nondeterministic_output'],
    keys: key('RW DELETE'),
    run: xautoclaim,
  },
});
