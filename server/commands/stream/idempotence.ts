/**
 * Idempotent producers: XADD's IDMP and IDMPAUTO, XCFGSET and XIDMPRECORD
 * (https://redis.io/docs/latest/develop/data-types/streams/idempotency/).
 */
import type { StreamId } from '../../../keyspace/stream/id.ts';
import { DURATION_MAX, PRODUCER_IDS_MAX } from '../../../keyspace/stream/idempotence.ts';
import type { StreamValue } from '../../../keyspace/stream/stream.ts';
import { entryHash } from '../../../keyspace/xxh128.ts';
import { type Bytes, fromBuffer, toBuffer } from '../../../protocol/bytes.ts';
import { fail, NO_SUCH_KEY, SYNTAX } from '../../../protocol/errors.ts';
import { OK, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { strictId } from './parts.ts';

/** A producer's name and the id of its entry; without an id, the entry's content names it. */
export interface Producer {
  readonly name: Bytes;
  readonly id: Bytes | undefined;
}

/** True when the node's server knows idempotent producers. */
export function knowsProducers({ server }: Caller): boolean {
  return server.vocabulary.knows('xadd', 'IDMP');
}

/** Reads what follows IDMP or IDMPAUTO. Throws Redis' error for a second one, and for empty words. */
export function readProducer(option: Bytes, options: Options, earlier: Producer | undefined): Producer {
  if (earlier !== undefined) fail('ERR syntax error, IDMP/IDMPAUTO specified multiple times');
  const name = options.value();
  if (name === '') fail(`ERR syntax error, ${option} requires a non-empty producer ID`);
  if (option === 'IDMPAUTO') return { name, id: undefined };
  const id = options.value();
  if (id === '') fail('ERR syntax error, IDMP requires a non-empty idempotent ID');
  return { name, id };
}

/** The id under which an entry is remembered. */
export function producedId({ id }: Producer, fields: readonly Bytes[]): Bytes {
  return id ?? fromBuffer(entryHash(fields.map((text) => toBuffer(text))));
}

function limitOf(options: Options, earlier: number | undefined, what: string, max: number): number {
  const [name, unit] = what === 'seconds' ? ['IDMP-DURATION', what] : ['IDMP-MAXSIZE', what];
  if (earlier !== undefined) fail(`ERR ${name} specified multiple times`);
  const value = integer(options.value());
  return value < 1 || value > max ? fail(`ERR ${name} must be between 1 and ${max} ${unit}`) : value;
}

function existing(client: Caller, name: Bytes): StreamValue {
  return client.db.get(name, 'stream') ?? fail(NO_SUCH_KEY);
}

/** XCFGSET key [IDMP-DURATION seconds] [IDMP-MAXSIZE count]. */
function xcfgset(client: Caller, argv: Argv<-2>): Reply {
  const stream = existing(client, argv[1]);
  const options = new Options(argv, 2);
  let [duration, maxSize]: (number | undefined)[] = [undefined, undefined];
  while (options.more()) {
    const option = options.next();
    if (option === 'IDMP-DURATION' && options.more())
      duration = limitOf(options, duration, 'seconds', DURATION_MAX);
    else if (option === 'IDMP-MAXSIZE' && options.more())
      maxSize = limitOf(options, maxSize, 'entries', PRODUCER_IDS_MAX);
    else fail(SYNTAX);
  }
  if (duration === undefined && maxSize === undefined) fail('ERR At least one parameter must be specified');
  if (stream.idempotence.configure(duration, maxSize)) client.db.world.dirty++;
  return OK;
}

/** XIDMPRECORD key producer id entry: remembers an id for an entry that exists. */
function xidmprecord(client: Caller, [, name, producer, id, text]: Argv<5>): Reply {
  const entry: StreamId = strictId(text);
  if (producer === '') fail('ERR producer ID must be non-empty');
  if (id === '') fail('ERR idempotent ID must be non-empty');
  const stream = existing(client, name);
  if (stream.get(entry) === undefined) fail('ERR No such message in stream');
  const known = stream.idempotence.find(producer, id, client.server.now);
  if (known === entry) return OK;
  if (known !== undefined) fail('ERR IID already exists for this producer with a different stream ID');
  stream.idempotence.record(producer, id, entry, client.server.now);
  client.db.world.dirty++;
  return OK;
}

export const streamIdempotenceCommands = defineCommands('stream', {
  xcfgset: {
    summary: 'Sets how long, and how many, ids of idempotent producers a stream remembers.',
    since: '8.6.0',
    complexity: 'O(1)',
    arity: -2,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: xcfgset,
  },
  xidmprecord: {
    summary: "Remembers the id of an idempotent producer's entry; servers use it to restore a stream.",
    since: '8.6.2',
    complexity: 'O(1)',
    arity: 5,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW UPDATE'),
    run: xidmprecord,
  },
});
