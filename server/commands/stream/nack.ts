/**
 * XNACK: releases pending entries without acknowledging them, so that any consumer may claim them at once
 * (https://redis.io/docs/latest/commands/xnack/, 2026-11-22). It follows the documentation of Redis 8.8.
 */
import { DELIVERIES_MAX, type StreamGroup } from '../../../keyspace/stream/group.ts';
import { formatId } from '../../../keyspace/stream/id.ts';
import { asciiUpper, type Bytes, cString } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { int64, integer, Options } from '../../table/arguments.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { groupOf, strictId } from './parts.ts';

/** What each mode makes of the number of deliveries. */
const MODES = new Map<Bytes, (deliveries: bigint) => bigint>([
  ['SILENT', (deliveries) => (deliveries > 0n ? deliveries - 1n : 0n)],
  ['FAIL', (deliveries) => deliveries],
  ['FATAL', () => DELIVERIES_MAX],
]);
const NUMIDS = 'ERR numids must be a positive integer';
const INT_MAX = 2 ** 31 - 1;

interface Release {
  readonly texts: readonly Bytes[];
  readonly deliveries: bigint | undefined;
  readonly force: boolean;
}

function parseRelease(argv: readonly Bytes[]): Release {
  const options = new Options(argv, 4);
  let texts: Bytes[] | undefined;
  let deliveries: bigint | undefined;
  let force = false;
  while (options.more()) {
    const option = options.next();
    if (option === 'IDS' && options.more()) {
      const count = integer(options.value(), NUMIDS);
      if (count < 1 || count > INT_MAX) fail(NUMIDS);
      if (count > options.left) fail("ERR number of IDs doesn't match numids");
      texts = Array.from({ length: count }, () => options.value());
    } else if (option === 'RETRYCOUNT' && options.more()) {
      deliveries = BigInt(int64(options.value()));
      if (deliveries < 0n) fail('ERR Invalid RETRYCOUNT value, must be >= 0');
    } else if (option === 'FORCE') force = true;
    else {
      options.back();
      fail(`ERR Unrecognized XNACK option '${cString(options.value())}'`);
    }
  }
  return { texts: texts ?? fail('ERR syntax error, expected IDS keyword'), deliveries, force };
}

/** Returns the replica's command for an entry that was released. */
function releaseEffect(name: Bytes, { name: group }: StreamGroup, id: Bytes, deliveries: bigint): Bytes[] {
  return ['XNACK', name, group, 'FAIL', 'IDS', '1', id, 'RETRYCOUNT', String(deliveries), 'FORCE'];
}

function xnack(client: Caller, argv: Argv<-4>): Reply {
  const { db, server } = client;
  const [, name, groupName, word] = argv;
  const { stream, group } = groupOf(client, name, groupName);
  const mode = MODES.get(asciiUpper(word)) ?? fail('ERR mode must be SILENT, FAIL, or FATAL');
  const { texts, deliveries, force } = parseRelease(argv);
  const effects: Bytes[][] = [];
  for (const id of texts.map(strictId)) {
    const pending = group.pending.get(id);
    if (pending === undefined && (!force || stream.get(id) === undefined)) continue;
    const left = deliveries ?? mode(pending?.deliveries ?? 0n);
    group.release(id, left);
    effects.push(releaseEffect(name, group, formatId(id), left));
  }
  db.world.dirty += effects.length;
  if (effects.length > 0 && server.blocking.count > 0) server.blocking.signal(db, name, 'xnack');
  if (server.effects.feeding) server.effects.propagateAs(...effects);
  return effects.length;
}

export const streamNackCommands = defineCommands('stream', {
  xnack: {
    summary: 'Releases pending entries of a consumer group for others to claim at once.',
    since: '8.8.0',
    complexity: 'O(1) for each id',
    arity: -7,
    flags: ['write', 'fast'],
    keys: key('RW UPDATE'),
    run: xnack,
  },
});
