/**
 * HyperLogLogs: estimate the number of distinct elements (https://redis.io/docs/latest/commands/?group=hyperloglog).
 */
import type { Entry } from '../../../keyspace/entry.ts';
import { countRegisters, HyperLogLog, REGISTERS } from '../../../keyspace/hyperloglog/hyperloglog.ts';
import { asciiLower, type Bytes, cString, narrow } from '../../../protocol/bytes.ts';
import { fail } from '../../../protocol/errors.ts';
import { OK, type Reply, SimpleString } from '../../../protocol/reply.ts';
import type { Caller } from '../../server.ts';
import { noteEncoding } from '../../settings/encodings.ts';
import { wordAt } from '../../table/arguments.ts';
import { type Argv, key, keys, noted } from '../../table/command.ts';
import { defineCommands } from '../define.ts';
import { stringOf } from './string.ts';

const NOT_ONE = 'WRONGTYPE Key is not a valid HyperLogLog string value.';
const CORRUPT = 'INVALIDOBJ Corrupted HLL object detected';

function readEntry(entry: Entry): HyperLogLog {
  return HyperLogLog.read(stringOf(entry)) ?? fail(NOT_ONE);
}

function sparseMax(client: Caller): number {
  return client.server.settings['hll-sparse-max-bytes'];
}

function keep(client: Caller, name: Bytes, hll: HyperLogLog): void {
  noteEncoding(client.db.put(name, hll.bytes(), true), 'raw');
}

function add(client: Caller, argv: Argv<-2>): Reply {
  const { db } = client;
  const name = argv[1];
  const entry = db.find(name);
  const hll = entry === undefined ? HyperLogLog.empty() : readEntry(entry);
  let changes = entry === undefined ? 1 : 0;
  for (let i = 2; i < argv.length; i++) {
    const change = hll.add(wordAt(argv, i), sparseMax(client));
    if (change === 'changed') changes++;
    if (change !== 'corrupt') continue;
    // As in Redis, the elements that were counted before the damage was found stay, without an event.
    keep(client, name, hll);
    fail(CORRUPT);
  }
  if (changes > 0) {
    hll.invalidate();
    keep(client, name, hll);
    db.changed(name, 'pfadd', changes);
  } else if (entry !== undefined) noteEncoding(entry, 'raw');
  return changes > 0 ? 1 : 0;
}

function count(client: Caller, argv: Argv<-2>): Reply {
  if (argv.length > 2) {
    const { dense, ranks = new Uint8Array(REGISTERS) } = mergeAll(client, argv);
    dense?.mergeInto(ranks);
    return countRegisters(ranks);
  }
  const name = argv[1];
  const entry = client.db.lookup(name);
  if (entry === undefined) return 0;
  const hll = readEntry(entry);
  noteEncoding(entry, 'raw');
  const cached = hll.cached();
  if (cached !== undefined) return narrow(cached);
  const counted = hll.count() ?? fail(CORRUPT);
  // The estimate is cached in the value, so this reading command also writes.
  hll.cache(counted);
  keep(client, name, hll);
  client.db.reformed(name);
  if (client.server.tracking.listens) client.server.tracking.changed(name, 'pfcount');
  return counted;
}

/** What several HyperLogLogs have together: the dense ones as one, and the ranks of the sparse ones, each if there are any. */
interface Together {
  dense: HyperLogLog | undefined;
  ranks: Uint8Array | undefined;
}

function mergeAll(client: Caller, argv: readonly Bytes[]): Together {
  const all: Together = { dense: undefined, ranks: undefined };
  for (let i = 1; i < argv.length; i++) {
    const entry = client.db.lookup(wordAt(argv, i));
    if (entry === undefined) continue;
    const hll = readEntry(entry);
    if (!hll.dense) {
      all.ranks ??= new Uint8Array(REGISTERS);
      if (!hll.mergeInto(all.ranks)) fail(CORRUPT);
    } else if (all.dense === undefined) all.dense = hll;
    else all.dense.raiseTo(hll);
  }
  return all;
}

function merge(client: Caller, argv: Argv<-2>): Reply {
  const name = argv[1];
  const { dense, ranks } = mergeAll(client, argv);
  const entry = client.db.find(name);
  const hll = entry === undefined ? HyperLogLog.empty() : readEntry(entry);
  if (dense !== undefined) hll.takeRegisters(dense);
  if (ranks !== undefined) hll.raiseAll(ranks, sparseMax(client));
  hll.invalidate();
  keep(client, name, hll);
  client.db.changed(name, 'pfadd');
  return OK;
}

/** Converts the sparse form to the dense one and propagates that. Returns whether it was sparse. */
function makeDense(client: Caller, name: Bytes, hll: HyperLogLog): boolean {
  if (hll.dense) return false;
  if (!hll.toDense()) fail(CORRUPT);
  keep(client, name, hll);
  client.db.reformed(name);
  return true;
}

/** PFDEBUG SIMD ON | OFF. There are no such instructions here, so all counts are those that it gives when it is off. */
function switchSimd(word: Bytes): Reply {
  const wanted = asciiLower(word);
  if (wanted !== 'on' && wanted !== 'off') return fail('ERR Argument must be ON or OFF');
  return new SimpleString(wanted === 'on' ? 'enabled' : 'disabled');
}

function debug(client: Caller, word: Bytes, name: Bytes): Reply {
  if (client.server.dialect.switchesSimd && asciiLower(word) === 'simd') return switchSimd(name);
  const entry = client.db.find(name) ?? fail('ERR The specified key does not exist');
  const hll = readEntry(entry);
  noteEncoding(entry, 'raw');
  switch (asciiLower(word)) {
    case 'getreg':
      makeDense(client, name, hll);
      return hll.registers();
    case 'decode': {
      if (hll.dense) return fail('ERR HLL encoding is not sparse');
      const runs = [...hll.runs()];
      return runs
        .map(({ name, value, length }) => `${name}:${value > 0 ? `${value},` : ''}${length}`)
        .join(' ');
    }
    case 'encoding':
      return new SimpleString(hll.dense ? 'dense' : 'sparse');
    case 'todense':
      return makeDense(client, name, hll) ? 1 : 0;
    default:
      return fail(`ERR Unknown PFDEBUG subcommand '${cString(word)}'`);
  }
}

/** Counts known numbers of elements, sparse and dense, and checks that both forms agree and the estimates are good. */
function selfTest(): Reply {
  const [sparse, dense] = [HyperLogLog.empty(), HyperLogLog.empty()];
  dense.toDense();
  for (let i = 1; i <= 1000; i++) {
    sparse.add(`element ${i}`, Infinity);
    dense.add(`element ${i}`, 0);
    if (i % 100 !== 0) continue;
    const counted = dense.count() ?? 0;
    if (counted !== sparse.count()) return fail(`ERR TESTFAILED The two forms differ at ${i} elements`);
    if (Math.abs(counted - i) > i * 0.05) return fail(`ERR TESTFAILED ${counted} is too far from ${i}`);
  }
  return OK;
}

export const hyperloglogCommands = defineCommands('hyperloglog', {
  pfadd: {
    summary: 'Adds elements to a HyperLogLog; returns 1 when its estimate may have changed.',
    since: '2.8.9',
    complexity: 'O(1) per element',
    arity: -2,
    flags: ['write', 'denyoom', 'fast'],
    keys: key('RW INSERT'),
    run: add,
  },
  pfcount: {
    summary: 'Estimates the number of different elements in one or several HyperLogLogs.',
    since: '2.8.9',
    complexity: 'O(1) while the estimate is kept, O(N) for N keys',
    arity: -2,
    flags: ['readonly', 'may_replicate'],
    keys: noted('RW: it may store the estimate with the key, and tell the replicas', keys('RW ACCESS')),
    run: count,
  },
  pfmerge: {
    summary: 'Merges HyperLogLogs into one.',
    since: '2.8.9',
    complexity: 'O(N), N keys',
    arity: -2,
    flags: ['write', 'denyoom'],
    keys: [...key('RW ACCESS INSERT'), ...keys('RO ACCESS', 2)],
    run: merge,
  },
  pfdebug: {
    summary: 'Shows the internals of a HyperLogLog: GETREG, DECODE, ENCODING, TODENSE.',
    since: '2.8.9',
    complexity: 'O(1)',
    arity: 3,
    flags: ['write', 'denyoom', 'admin'],
    keys: key('RW ACCESS', 2),
    run: (client, [, word, name]) => debug(client, word, name),
  },
  pfselftest: {
    summary: 'Tests the estimates of HyperLogLogs.',
    since: '2.8.9',
    complexity: 'O(1)',
    arity: 1,
    flags: ['admin'],
    run: selfTest,
  },
});
