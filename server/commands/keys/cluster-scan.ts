/** CLUSTERSCAN of Valkey 9.1: lists the keys of a cluster step by step, slot by slot (https://valkey.io/commands/clusterscan/). */
import { approximate, type Bytes } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import type { Reply } from '../../../protocol/reply.ts';
import { SLOT_COUNT, slotOf } from '../../../protocol/slot.ts';
import { tagOf } from '../../../protocol/slot-tags.ts';
import type { Caller, Server } from '../../server.ts';
import { type Argv, key } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { NO_CLUSTER } from '../node/no-cluster.ts';
import { scanned } from './scan.ts';
import { type ScanOptions, scanOptions } from './scanning.ts';

const INVALID = 'ERR Invalid cursor';
/** The reply when there is nothing more to scan. */
const END: Reply = ['0', []];
const UINT64_MAX = 2n ** 64n - 1n;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A cursor, taken apart. */
interface Cursor {
  /** The mark of the node that made it. */
  readonly mark: Bytes;
  readonly slot: number;
  /** The serial of the last key that was returned; 0 at the start of the slot. */
  readonly serial: number;
}

/** Reads a cursor. Its three parts are the mark of a node, a tag with the hash of the slot, and the place in the slot. */
function parseCursor(text: Bytes): Cursor {
  const [mark = '', tag, place = '', more] = text.split('-');
  if (tag === undefined || more !== undefined || !/^[ \t\n\v\f\r]*\+?\d+$/.test(place)) fail(INVALID);
  const value = BigInt(place.replace('+', ''));
  if (value > UINT64_MAX) fail(INVALID);
  return { mark, slot: slotOf(text), serial: approximate(value / BigInt(SLOT_COUNT)) };
}

/** A mark by which a node knows its own cursors. The places of others mean nothing to it. */
function markOf({ runId }: Server): Bytes {
  let mark = '';
  for (let at = 0; at < 12; at += 2) {
    mark += DIGITS[(31 * runId.charCodeAt(at) + runId.charCodeAt(at + 1)) % DIGITS.length];
  }
  return mark;
}

/** The slot of all keys that match a pattern; undefined if they may be in several. */
function slotOfPattern(pattern: Bytes | undefined): number | undefined {
  if (pattern === undefined) return undefined;
  const end = /^[^{]*\{[^}]+\}/.exec(pattern)?.[0].length ?? pattern.length;
  return /[*?[\\]/.test(pattern.slice(0, end)) ? undefined : slotOf(pattern);
}

/** The cursor at the start of a slot. */
function startOf(slot: number): Bytes {
  return `0-{${tagOf(slot)}}-0`;
}

/** CLUSTERSCAN cursor [MATCH pattern] [COUNT count] [TYPE type] [SLOT slot]. */
function clusterScan(client: Caller, argv: Argv<-2>): Reply {
  if (client.server.cluster === undefined) fail(NO_CLUSTER);
  const options = scanOptions(client, argv, 2, 'clusterscan');
  const { slot: only } = options;
  const matched = slotOfPattern(options.pattern);
  if (argv[1] === '0') {
    if (only !== undefined && matched !== undefined && only !== matched) return END;
    return [startOf(matched ?? only ?? 0), []];
  }
  const cursor = parseCursor(argv[1]);
  if (only !== undefined && cursor.slot !== only) fail('ERR Cursor slot mismatch with SLOT argument');
  if (matched !== undefined && matched !== cursor.slot) {
    return only === undefined && matched > cursor.slot ? [startOf(matched), []] : END;
  }
  return step(client, cursor, options, only !== undefined || matched !== undefined);
}

/**
 * One step: it goes on in the slots after that of the cursor, as long as they belong to the same node.
 * @param single whether only the slot of the cursor is scanned
 */
function step(client: Caller, cursor: Cursor, options: ScanOptions, single: boolean): Reply {
  const { db, server } = client;
  const counts = db.entries.countsOfSlots();
  const mark = markOf(server);
  const from = cursor.slot;
  const names: Bytes[] = [];
  const reply = (next: Bytes): Reply => [next, scanned(client, names, options)];
  const goOn = (slot: number, serial: number): Reply =>
    reply(`${mark}-{${tagOf(slot)}}-${BigInt(serial) * BigInt(SLOT_COUNT) + BigInt(slot)}`);
  let serial = cursor.mark === mark ? cursor.serial : 0;
  let slot = from;
  while (slot < SLOT_COUNT && (slot === from || (!single && server.cluster?.areTogether(from, slot)))) {
    if (counts[slot] !== 0) {
      if (names.length >= options.count) return goOn(slot, 0);
      const found = db.entries.scanSlot(slot, serial, options.count - names.length);
      names.push(...found.names);
      if (found.next !== 0) return goOn(slot, found.next);
    }
    serial = 0;
    slot++;
  }
  return reply(single || slot === SLOT_COUNT ? '0' : startOf(slot));
}

export const clusterScanCommands = defineCommands('cluster', {
  clusterscan: {
    summary: 'Lists the keys of a cluster step by step.',
    since: { valkey: '9.1.0' },
    complexity: 'O(1) for a step, O(N) for all, N keys of the cluster',
    arity: -2,
    flags: ['readonly'],
    categories: ['keyspace'],
    keys: key('NOT_KEY'),
    tips: ['nondeterministic_output', 'request_policy:special', 'response_policy:special'],
    run: clusterScan,
  },
});
