/** Stream commands for entries (https://redis.io/docs/latest/commands/?group=stream). */

import {
  autoId,
  formatId,
  type IdParts,
  idMillis,
  idSequence,
  MAX_ID,
  MIN_ID,
  makeId,
  parseIdParts,
  type StreamId,
} from '../../../keyspace/stream/id.ts';
import { type ReferencePolicy, StreamValue, type TrimOptions } from '../../../keyspace/stream/stream.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, NO_SUCH_KEY, SYNTAX, wrongArity } from '../../../protocol/errors.ts';
import { NULL_ARRAY, OK, type Reply } from '../../../protocol/reply.ts';
import { PRIMARY_LINK } from '../../clients/client.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Caller } from '../../server.ts';
import { int64, integer, Options, wordAt } from '../../table/arguments.ts';
import { type Argv, key, noted } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { knowsProducers, type Producer, producedId, readProducer } from './idempotence.ts';
import { entryReply, INVALID_ID, intervalEnd, intervalStart, report, strictId } from './parts.ts';
import { policyOf } from './references.ts';

const SEQUENCE_MAX = 0xffffffffffffffffn;
const SMALLER = 'ERR The ID specified in XADD is equal or smaller than the target stream top item';

/** The options of XADD and XTRIM. */
interface Trimming {
  /** The whole trim option; undefined if there is none. */
  readonly trim: TrimOptions | undefined;
  /** The position of the threshold. */
  readonly at: number;
  readonly makeStream: boolean;
  /** XADD's idempotent producer. */
  readonly producer: Producer | undefined;
  /** XADD's id; undefined for '*'. */
  readonly id: IdParts | undefined;
  /** The position of the id. */
  readonly idAt: number;
}

/** Returns how many entries an approximate trim may remove if no LIMIT is given. */
function usualLimit(client: Caller): number {
  const limit = 100 * client.server.encoding.streamNodeMaxEntries;
  return limit <= 0 ? 10_000 : Math.min(limit, 1_000_000);
}

/** How many words follow IDMP and IDMPAUTO. */
const IDMP_WORDS: ReadonlyMap<Bytes, number> = new Map([
  ['IDMP', 2],
  ['IDMPAUTO', 1],
]);

/** Reads the options before XADD's id, or all options of XTRIM. Throws Redis' error for bad options. */
function parseTrimming(client: Caller, argv: readonly Bytes[], adding: boolean): Trimming {
  const options = new Options(argv, 2);
  let threshold: Threshold | undefined;
  let limit: number | undefined;
  let references: ReferencePolicy | undefined;
  let thresholdAt = 0;
  let makeStream = true;
  let producer: Producer | undefined;
  let id: IdParts | undefined;
  while (options.more()) {
    const option = options.next();
    const more = options.left > 0;
    const policy = references === undefined ? policyOf(client, option) : undefined;
    if (adding && option === '*') break;
    if ((option === 'MAXLEN' || option === 'MINID') && more) {
      if (threshold !== undefined) {
        fail('ERR syntax error, MAXLEN and MINID options at the same time are not compatible');
      }
      threshold = readThreshold(option, options);
      thresholdAt = options.at - 1;
    } else if (option === 'LIMIT' && more) {
      limit = integer(options.value());
      if (limit < 0) fail('ERR The LIMIT argument must be >= 0.');
    } else if (policy !== undefined) {
      references = policy;
    } else if (adding && option === 'NOMKSTREAM') {
      makeStream = false;
    } else if (adding && options.left >= (IDMP_WORDS.get(option) ?? Infinity) && knowsProducers(client)) {
      producer = readProducer(option, options, producer);
    } else if (adding) {
      id = parseIdParts(wordAt(argv, options.at - 1), 0n) ?? fail(INVALID_ID);
      if (producer !== undefined && !client.has(PRIMARY_LINK)) {
        fail('ERR syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs');
      }
      break;
    } else {
      fail(SYNTAX);
    }
  }
  const trim = completeTrim(client, threshold, limit, references, adding);
  return { trim, at: thresholdAt, makeStream, producer, id, idAt: options.at - 1 };
}

/** MAXLEN or MINID with its mark. */
type Threshold = Pick<TrimOptions, 'maxLength' | 'minId' | 'approximate'>;

function readThreshold(option: 'MAXLEN' | 'MINID', options: Options): Threshold {
  const mark = options.value();
  const marked = (mark === '~' || mark === '=') && options.more();
  const text = marked ? options.value() : mark;
  const approximate = marked && mark === '~';
  if (option === 'MINID') return { maxLength: undefined, minId: strictId(text), approximate };
  const maxLength = integer(text);
  if (maxLength < 0) fail('ERR The MAXLEN argument must be >= 0.');
  return { maxLength, minId: undefined, approximate };
}

function completeTrim(
  client: Caller,
  threshold: Threshold | undefined,
  limit: number | undefined,
  references: ReferencePolicy | undefined,
  adding: boolean,
): TrimOptions | undefined {
  if (threshold === undefined) {
    if (limit !== undefined && limit !== 0) {
      fail('ERR syntax error, LIMIT cannot be used without specifying a trimming strategy');
    }
    if (!adding) fail('ERR syntax error, XTRIM must be called with a trimming strategy');
  }
  const fromPrimary = client.has(PRIMARY_LINK);
  const approximate = threshold?.approximate === true;
  if (!fromPrimary && limit !== undefined && !approximate) {
    fail('ERR syntax error, LIMIT cannot be used without the special ~ option');
  }
  if (threshold === undefined) return undefined;
  const { maxLength, minId } = threshold;
  // Written out: V8 copies an object with `...` far more slowly, and each XADD comes past here.
  return {
    maxLength,
    minId,
    approximate,
    limit: fromPrimary || !approximate ? undefined : (limit ?? usualLimit(client)),
    references,
  };
}

/** Returns the request with its approximate trim replaced by the exact result. */
function exactTrim(argv: readonly Bytes[], { trim, at }: Trimming, stream: StreamValue): Bytes[] {
  const out = [...argv];
  if (trim?.approximate !== true) return out;
  out[at - 1] = '=';
  const first = stream.headId ?? MAX_ID;
  out[at] = trim.maxLength === undefined ? formatId(first) : String(stream.length);
  return out;
}

/**
 * Returns the id of a new entry. Throws if it would not be the largest.
 * @param now the current time in milliseconds since the epoch
 */
function newId(
  stream: StreamValue | undefined,
  asked: IdParts | undefined,
  now: number,
  { noSequenceLeft }: Dialect,
): StreamId {
  const last = stream?.lastId ?? MIN_ID;
  if (last === MAX_ID) {
    fail('ERR The stream has exhausted the last possible ID, unable to add more items');
  }
  if (asked === undefined) return autoId(last, now) ?? fail(SMALLER);
  let { sequence } = asked;
  if (sequence === undefined) {
    const sameMillis = idMillis(last) === asked.ms;
    if (sameMillis && idSequence(last) === SEQUENCE_MAX) fail(noSequenceLeft);
    sequence = sameMillis ? idSequence(last) + 1n : 0n;
  }
  const id = makeId(asked.ms, sequence);
  return id > last ? id : fail(SMALLER);
}

/** Trims a stream. Returns the number of removed entries. */
function trimmed({ server }: Caller, stream: StreamValue, trim: TrimOptions): number {
  const withPolicy = trim.references !== undefined && trim.references !== 'KEEPREF';
  if (withPolicy && trim.approximate && server.dialect.approximateTrims === 'not with DELREF or ACKED')
    return 0;
  return stream.trimTo(trim);
}

function xadd(client: Caller, argv: Argv<-2>): Reply {
  const { db, server } = client;
  const name = argv[1];
  const wanted = parseTrimming(client, argv, true);
  const fields = argv.slice(wanted.idAt + 1);
  if (fields.length < 2 || fields.length % 2 === 1) throw wrongArity('xadd');
  if (wanted.id?.ms === 0n && wanted.id.sequence === 0n) {
    fail('ERR The ID specified in XADD must be greater than 0-0');
  }
  const found = db.get(name, 'stream');
  if (found === undefined && !wanted.makeStream) return null;
  const { producer } = wanted;
  const produced = producer && producedId(producer, fields);
  if (producer !== undefined && found !== undefined) {
    const known = found.idempotence.find(producer.name, produced!, server.now);
    // A primary sends an entry without its id only if the entry was a duplicate.
    const refusedByPrimary = client.has(PRIMARY_LINK) && wanted.id === undefined;
    if (known !== undefined || refusedByPrimary) {
      found.idempotence.duplicates++;
      db.world.dirty++;
      return formatId(known ?? found.lastId);
    }
  }
  const id = newId(found, wanted.id, server.now, server.dialect);
  const stream = found ?? new StreamValue(server.encoding);
  if (found === undefined) db.put(name, stream);
  stream.append(id, fields);
  if (producer !== undefined) stream.idempotence.record(producer.name, produced!, id, server.now);
  db.changed(name, 'xadd');
  if (wanted.trim !== undefined && trimmed(client, stream, wanted.trim) > 0) db.changed(name, 'xtrim', 0);
  if (server.effects.feeding) {
    const effect = exactTrim(argv, wanted, stream);
    effect[wanted.idAt] = wanted.id?.sequence === undefined ? formatId(id) : wordAt(argv, wanted.idAt);
    server.effects.propagateAs(effect);
  }
  return formatId(id);
}

function xtrim(client: Caller, argv: Argv<-2>): Reply {
  const { db, server } = client;
  const name = argv[1];
  const wanted = parseTrimming(client, argv, false);
  const stream = db.get(name, 'stream');
  if (stream === undefined) return 0;
  const removed = trimmed(client, stream, wanted.trim!);
  if (removed === 0) return 0;
  db.changed(name, 'xtrim', removed);
  if (server.effects.feeding) server.effects.propagateAs(exactTrim(argv, wanted, stream));
  return removed;
}

function range(client: Caller, argv: Argv<-4>, reverse: boolean): Reply {
  const start = intervalStart(argv[reverse ? 3 : 2]);
  const end = intervalEnd(argv[reverse ? 2 : 3]);
  const options = new Options(argv, 4);
  let count: number | undefined;
  while (options.more()) {
    if (options.next() !== 'COUNT') fail(SYNTAX);
    // Redis itself writes -1 for "no COUNT". A client's negative COUNT counts as 0.
    count = Math.max(0, integer(options.value()));
  }
  const stream = client.db.read(argv[1], 'stream');
  if (stream === undefined) return [];
  return count === 0 ? NULL_ARRAY : stream.range(start, end, count, reverse).map(entryReply);
}

function xdel(client: Caller, [, name, ...texts]: Argv<-3>): Reply {
  const stream = client.db.get(name, 'stream');
  if (stream === undefined) return 0;
  const ids = texts.map(strictId);
  let deleted = 0;
  for (const id of ids) if (stream.delete(id)) deleted++;
  if (deleted > 0) client.db.changed(name, 'xdel', deleted);
  return deleted;
}

function xsetid(client: Caller, argv: Argv<-3>): Reply {
  const id = strictId(argv[2]);
  const options = new Options(argv, 3);
  let added: bigint | undefined;
  let deletedId = MIN_ID;
  while (options.more()) {
    const option = options.next();
    if (option === 'ENTRIESADDED' && options.more()) {
      added = BigInt(int64(options.value()));
      if (added < 0n) fail('ERR entries_added must be positive');
    } else if (option === 'MAXDELETEDID' && options.more()) {
      deletedId = strictId(options.value());
      if (id < deletedId) {
        fail('ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id');
      }
    } else fail(SYNTAX);
  }
  const stream = client.db.get(argv[1], 'stream') ?? fail(NO_SUCH_KEY);
  const { setIdBelowDeleted } = client.server.dialect;
  if (id < stream.maxDeletedId && setIdBelowDeleted === 'refused') {
    fail('ERR The ID specified in XSETID is smaller than current max_deleted_entry_id');
  }
  const last = stream.lastEntry();
  if (last !== undefined) {
    if (id < last.id) fail('ERR The ID specified in XSETID is smaller than the target stream top item');
    if (added !== undefined && stream.length > added) {
      fail('ERR The entries_added specified in XSETID is smaller than the target stream length');
    }
  }
  stream.lastId = id;
  if (added !== undefined) stream.entriesAdded = added;
  if (deletedId !== MIN_ID) stream.maxDeletedId = deletedId;
  report(client, argv[1], 'xsetid');
  return OK;
}

export const streamCommands = defineCommands('stream', {
  xadd: {
    summary: 'Adds an entry to a stream, creates the stream if it is missing, and trims it if asked to.',
    since: '5.0.0',
    complexity: 'O(1), and O(N) for N entries trimmed',
    arity: -5,
    flags: ['write', 'denyoom', 'fast'],
    tips: ['nondeterministic_output'],
    keys: noted('UPDATE, not INSERT: it may trim the stream', key('RW UPDATE')),
    run: xadd,
  },
  xlen: {
    summary: 'Returns the number of entries of a stream.',
    since: '5.0.0',
    complexity: 'O(1)',
    arity: 2,
    flags: ['readonly', 'fast'],
    keys: key('RO'),
    run: (client, [, name]) => client.db.read(name, 'stream')?.length ?? 0,
  },
  xrange: {
    summary: 'Returns the entries between two ids.',
    since: '5.0.0',
    complexity: 'O(log(N)+M), N entries in the stream, M of them returned',
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => range(client, argv, false),
  },
  xrevrange: {
    summary: 'Returns the entries between two ids, the newest first.',
    since: '5.0.0',
    complexity: 'O(log(N)+M), N entries in the stream, M of them returned',
    arity: -4,
    flags: ['readonly'],
    keys: key('RO ACCESS'),
    run: (client, argv) => range(client, argv, true),
  },
  xdel: {
    summary: 'Deletes entries of a stream.',
    since: '5.0.0',
    complexity: 'O(log(N)) for each entry, N entries in the stream',
    arity: -3,
    flags: ['write', 'fast'],
    keys: key('RW DELETE'),
    run: xdel,
  },
  xtrim: {
    summary: 'Removes the oldest entries of a stream.',
    since: '5.0.0',
    complexity: 'O(N), N entries removed',
    arity: -4,
    flags: ['write'],
    tips: ['nondeterministic_output'],
    keys: key('RW DELETE'),
    run: xtrim,
  },
  xsetid: {
    summary: 'Sets the last id of a stream; replication uses it.',
    since: '5.0.0',
    complexity: 'O(1)',
    arity: -3,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW UPDATE'),
    run: xsetid,
  },
});
