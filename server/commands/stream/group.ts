/**
 * XGROUP and XACK: consumer groups of streams, and acknowledged entries
 * (https://redis.io/docs/latest/commands/xgroup/).
 */

import { MAX_ID, MIN_ID, type StreamId } from '../../../keyspace/stream/id.ts';
import { StreamValue } from '../../../keyspace/stream/stream.ts';
import { asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { OK, type Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64, Options } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands, defineContainer } from '../define.ts';
import { report, strictId } from './parts.ts';

const NO_STREAM =
  'ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.';

interface GroupOptions {
  readonly makeStream: boolean;
  /** ENTRIESREAD; undefined if it is not given or -1. */
  readonly read: bigint | undefined;
}

/** Throws the error for a subcommand with unknown words. */
export function unknownWords(container: Bytes, sub: Bytes): never {
  fail(
    `ERR unknown subcommand or wrong number of arguments for '${cString(sub, 128)}'. Try ${asciiUpper(container)} HELP.`,
  );
}

function parseOptions(argv: Argv<-2>, creating: boolean): GroupOptions {
  const options = new Options(argv, 5);
  let makeStream = false;
  let read: bigint | undefined;
  while (options.more()) {
    const option = options.next();
    if (creating && option === 'MKSTREAM') makeStream = true;
    else if (option === 'ENTRIESREAD' && options.more()) {
      const count = BigInt(int64(options.value()));
      if (count < -1n) fail('ERR value for ENTRIESREAD must be positive or -1');
      read = count === -1n ? undefined : count;
    } else unknownWords('xgroup', argv[1]);
  }
  return { makeStream, read };
}

/** The count of entries that a group has read, as the server stores it. */
function entriesRead({ server }: Caller, stream: StreamValue, given: bigint | undefined): bigint | undefined {
  const { entriesAdded } = stream;
  const limited = given !== undefined && given > entriesAdded && server.dialect.entriesRead === 'at most all';
  return limited ? entriesAdded : given;
}

/** Returns an existing stream and group. Throws if one of them is missing. */
function existing(client: Caller, name: Bytes, groupName: Bytes) {
  const stream = client.db.get(name, 'stream') ?? fail(NO_STREAM);
  const group =
    stream.groups.get(groupName) ??
    fail(`NOGROUP No such consumer group '${cString(groupName)}' for key name '${cString(name)}'`);
  return { stream, group };
}

function create(client: Caller, argv: Argv<-5>): Reply {
  const { db, server } = client;
  const [, , name, groupName, text] = argv;
  const { makeStream, read } = parseOptions(argv, true);
  const found = db.get(name, 'stream');
  if (found === undefined && !makeStream) fail(NO_STREAM);
  if (argv.length > 8) unknownWords('xgroup', argv[1]);
  const id = text === '$' ? (found?.lastId ?? MIN_ID) : strictId(text);
  if (found?.groups.has(groupName) === true) fail('BUSYGROUP Consumer Group name already exists');
  const stream = found ?? new StreamValue(server.encoding);
  if (found === undefined) {
    db.put(name, stream);
    db.touch(name);
    if (server.tracking.listens) server.tracking.changed(name, 'mkstream');
  }
  stream.createGroup(groupName, id, entriesRead(client, stream, read));
  report(client, name, 'xgroup-create');
  return OK;
}

function looseId(text: Bytes): StreamId {
  if (text === '-') return MIN_ID;
  return text === '+' ? MAX_ID : strictId(text);
}

function setId(client: Caller, argv: Argv<-5>): Reply {
  const [, , name, groupName, text] = argv;
  const { read } = parseOptions(argv, false);
  const { stream, group } = existing(client, name, groupName);
  if (argv.length > 7) unknownWords('xgroup', argv[1]);
  stream.position(group, text === '$' ? stream.lastId : looseId(text));
  group.entriesRead = entriesRead(client, stream, read);
  report(client, name, 'xgroup-setid');
  return OK;
}

export const xgroupCommand = defineContainer(
  'stream',
  'xgroup',
  {
    summary: 'Manages consumer groups of streams.',
    since: '5.0.0',
    complexity: 'Depends on the subcommand',
    flags: [],
  },
  {
    create: {
      summary: 'Creates a consumer group.',
      since: '5.0.0',
      complexity: 'O(1)',
      arity: -5,
      flags: ['write', 'denyoom'],
      keys: key('RW INSERT', 2),
      run: create,
    },
    createconsumer: {
      summary: 'Creates a consumer in a group.',
      since: '6.2.0',
      complexity: 'O(1)',
      arity: 5,
      flags: ['write', 'denyoom'],
      keys: key('RW INSERT', 2),
      run(client, [, , name, groupName, consumer]) {
        const { group } = existing(client, name, groupName);
        if (group.createConsumer(consumer, client.server.now) === undefined) return 0;
        report(client, name, 'xgroup-createconsumer');
        return 1;
      },
    },
    delconsumer: {
      summary: 'Deletes a consumer and its pending entries, and returns their number.',
      since: '5.0.0',
      complexity: 'O(1), and O(N) for N entries that it leaves pending',
      arity: 5,
      flags: ['write'],
      keys: key('RW DELETE', 2),
      run(client, [, , name, groupName, consumer]) {
        const { group } = existing(client, name, groupName);
        const pending = group.deleteConsumer(consumer);
        if (pending === undefined) return 0;
        report(client, name, 'xgroup-delconsumer');
        return pending;
      },
    },
    destroy: {
      summary: 'Deletes a consumer group.',
      since: '5.0.0',
      complexity: 'O(N), N entries pending',
      arity: 4,
      flags: ['write'],
      keys: key('RW DELETE', 2),
      run(client, [, , name, groupName]) {
        const stream = client.db.get(name, 'stream') ?? fail(NO_STREAM);
        const measures = client.server.dialect.destroyedGroup === 'no longer counts';
        if (!stream.destroyGroup(groupName, measures)) return 0;
        report(client, name, 'xgroup-destroy');
        return 1;
      },
    },
    setid: {
      summary: 'Moves a consumer group to another position of its stream.',
      since: '5.0.0',
      complexity: 'O(1)',
      arity: -5,
      flags: ['write'],
      keys: key('RW UPDATE', 2),
      run: setId,
    },
  },
);

export const streamGroupCommands = defineCommands('stream', {
  xack: {
    summary: 'Acknowledges pending entries of a consumer group and returns their number.',
    since: '5.0.0',
    complexity: 'O(1) for each id',
    arity: -4,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run(client, [, name, groupName, ...texts]) {
      const group = client.db.read(name, 'stream')?.groups.get(groupName);
      if (group === undefined) return 0;
      const ids = texts.map(strictId);
      let acknowledged = 0;
      for (const id of ids) if (group.acknowledge(id)) acknowledged++;
      client.db.world.dirty += acknowledged;
      return acknowledged;
    },
  },
});
