/**
 * XDELEX and XACKDEL, which delete entries and say what happens to references of consumer groups
 * (https://redis.io/docs/latest/commands/xdelex/).
 */
import type { StreamGroup } from '../../../keyspace/stream/group.ts';
import type { StreamId } from '../../../keyspace/stream/id.ts';
import type { ReferencePolicy, StreamValue } from '../../../keyspace/stream/stream.ts';
import type { Bytes } from '../../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { integer, Options } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { strictId } from './parts.ts';

const POLICIES: ReadonlyMap<Bytes, ReferencePolicy> = new Map([
  ['KEEPREF', 'KEEPREF'],
  ['DELREF', 'DELREF'],
  ['ACKED', 'ACKED'],
]);

/** The policy that an option of XADD or XTRIM names. undefined: another word, or the node's server has no policies. */
export function policyOf({ server }: Caller, option: Bytes): ReferencePolicy | undefined {
  const policy = POLICIES.get(option);
  return policy !== undefined && server.vocabulary.knows('xtrim', option) ? policy : undefined;
}

/** The results for one entry, in the replies of both commands. */
const DELETED = 1;
const NOT_FOUND = -1;
const STILL_REFERENCED = 2;

const BAD_COUNT = 'ERR Number of IDs must be a positive integer';

interface Deletion {
  readonly policy: ReferencePolicy;
  /** The ids as text. They are parsed only if the stream exists. */
  readonly texts: readonly Bytes[];
}

/** Parses `[KEEPREF|DELREF|ACKED] IDS numids id …` in either order. If IDS is repeated, the last one counts. */
function parseDeletion(argv: readonly Bytes[], from: number): Deletion {
  const options = new Options(argv, from);
  let policy: ReferencePolicy | undefined;
  let texts: readonly Bytes[] | undefined;
  while (options.more()) {
    const option = options.next();
    const named = POLICIES.get(option);
    if (named !== undefined && policy === undefined) policy = named;
    else if (option === 'IDS' && options.more()) {
      const count = integer(options.value(), BAD_COUNT);
      if (count <= 0) fail(BAD_COUNT);
      if (count > options.left) fail('ERR The `numids` parameter must match the number of arguments');
      texts = Array.from({ length: count }, () => options.value());
    } else fail(SYNTAX);
  }
  return { policy: policy ?? 'KEEPREF', texts: texts ?? fail(SYNTAX) };
}

/** Deletes an entry under a policy. Returns its result. */
function remove(stream: StreamValue, id: StreamId, policy: ReferencePolicy): number {
  if (policy === 'ACKED' && stream.isReferenced(id)) return STILL_REFERENCED;
  if (policy === 'DELREF') stream.forgetReferences(id);
  return stream.delete(id) ? DELETED : NOT_FOUND;
}

function xdelex(client: Caller, argv: Argv<-2>): Reply {
  const name = argv[1];
  const stream = client.db.get(name, 'stream');
  const { policy, texts } = parseDeletion(argv, 2);
  if (stream === undefined) return texts.map(() => NOT_FOUND);
  const results = texts.map(strictId).map((id) => remove(stream, id, policy));
  const deleted = results.filter((result) => result === DELETED).length;
  if (deleted > 0) client.db.changed(name, 'xdel', deleted);
  return results;
}

/** Acknowledges an entry and deletes it. Returns -1 if it was not pending, even if it exists. */
function acknowledgeAndRemove(
  stream: StreamValue,
  group: StreamGroup,
  id: StreamId,
  policy: ReferencePolicy,
): number {
  if (!group.acknowledge(id)) return NOT_FOUND;
  return remove(stream, id, policy) === STILL_REFERENCED ? STILL_REFERENCED : DELETED;
}

function xackdel(client: Caller, argv: Argv<-3>): Reply {
  const { db } = client;
  const [, name, groupName] = argv;
  const stream = db.read(name, 'stream');
  const { policy, texts } = parseDeletion(argv, 3);
  const group = stream?.groups.get(groupName);
  if (stream === undefined || group === undefined) return texts.map(() => NOT_FOUND);
  const before = stream.length;
  const results = texts.map(strictId).map((id) => acknowledgeAndRemove(stream, group, id, policy));
  const acknowledged = results.filter((result) => result !== NOT_FOUND).length;
  // An acknowledgement alone is a write, but it does not change the key's value.
  if (stream.length < before) db.changed(name, 'xdel', acknowledged);
  else db.world.dirty += acknowledged;
  return results;
}

export const streamReferenceCommands = defineCommands('stream', {
  xdelex: {
    summary: 'Deletes entries of a stream and, if asked, their references in consumer groups.',
    since: '8.2.0',
    complexity: 'O(log(N)) for each entry, N entries in the stream',
    arity: -5,
    flags: ['write', 'fast'],
    keys: key('RW DELETE'),
    run: xdelex,
  },
  xackdel: {
    summary: 'Acknowledges entries for a consumer group and deletes them.',
    since: '8.2.0',
    complexity: 'O(log(N)) for each entry, N entries in the stream',
    arity: -6,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE DELETE'),
    run: xackdel,
  },
});
