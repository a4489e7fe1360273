/** Requests that are not sent, because in the present state no two servers need answer them alike. */
import { asciiLower, asciiUpper, type Bytes } from '../../../protocol/bytes.ts';
import { IN_MULTI } from '../../../server/clients/client.ts';
import { callsOf } from '../scripts.ts';
import type { OurSide } from '../sides.ts';

/** Ranges of bytes, which mean nothing where the scores differ. */
const LEX = /^(zlexcount|zrangebylex|zrevrangebylex|zremrangebylex)$/;

function isLex(argv: readonly Bytes[]): boolean {
  return LEX.test(asciiLower(argv[0] ?? '')) || argv.some((word) => /^bylex$/i.test(word));
}

/** A sorted set of several scores: where its members lie by their bytes is left open, and up to random levels. */
function isMixed(ours: OurSide, client: number, key: Bytes): boolean {
  const value = ours.client(client)?.db.peek(key)?.read();
  if (typeof value !== 'object' || value.type !== 'zset') return false;
  const [first, last] = [value.rangeByRank(0, 0)[0], value.rangeByRank(value.size - 1, value.size - 1)[0]];
  return first?.score !== last?.score;
}

/** A part of a set that is not sorted: any members do. */
function picksAny(argv: readonly Bytes[]): boolean {
  const words = argv.map((word) => asciiUpper(word));
  const by = argv[words.lastIndexOf('BY') + 1];
  const cut = words.includes('LIMIT') && !words.includes('STORE');
  return /^SORT(_RO)?$/.test(words[0] ?? '') && words.includes('BY') && cut && !by?.includes('*');
}

const SEARCH = /^geo(radius(bymember)?(_ro)?|search(store)?)$/;
const ORDERS = /^(asc|desc|count)$/i;

/** Places in order of their distance, some of which are the same place. */
function ranksTies(argv: readonly Bytes[], ours: OurSide, client: number): boolean {
  if (!SEARCH.test(asciiLower(argv[0] ?? '')) || !argv.some((word) => ORDERS.test(word))) return false;
  return argv.slice(1, 3).some((key) => {
    const value = ours.client(client)?.db.peek(key)?.read();
    if (typeof value !== 'object' || value.type !== 'zset') return false;
    const scores = [...value.entries()].map(({ score }) => score);
    return new Set(scores).size < scores.length;
  });
}

/** A string of many megabytes, which would only take time. */
export function isHuge([name = '', ...words]: readonly Bytes[]): boolean {
  const scale = /^setrange$/i.test(name) ? 1 : /^(setbit|bitfield)$/i.test(name) ? 8 : 0;
  return words.some((word) => {
    const size = /^#?\d{8,10}$/.test(word) ? Number(word.replace('#', '')) / scale : 0;
    return size > 2 ** 24 && size < 2 ** 29;
  });
}

/** CLIENT REPLY within EXEC: the array then has fewer elements than it says, and nothing behind it can be told apart. */
function breaksReplies([name = '', sub = '']: readonly Bytes[]): boolean {
  return /^client$/i.test(name) && /^reply$/i.test(sub);
}

/** Distances with all digits: C's sine misses the nearest double now and then. */
export function storesDistances(argv: readonly Bytes[]): boolean {
  return SEARCH.test(asciiLower(argv[0] ?? '')) && argv.some((word) => /^storedist$/i.test(word));
}

/** Changes a user of the node. */
function changesUser([name = '', sub = '']: readonly Bytes[]): boolean {
  return /^acl$/i.test(name) && /^setuser$/i.test(sub);
}

/** Listens to messages. */
function subscribes([name = '']: readonly Bytes[]): boolean {
  return /^[ps]?subscribe$/i.test(name);
}

/**
 * ACL SETUSER by a connection that listens, of its own user, which may take its channels away: 7.0.15 frees the running
 * connection then, goes on using it, and dies. EXEC by what it has queued.
 */
function cutsItselfOff(argv: readonly Bytes[], ours: OurSide, index: number): boolean {
  const client = ours.client(index);
  if (client === undefined) return false;
  const ends = /^exec$/i.test(argv[0] ?? '');
  if (client.has(IN_MULTI) && !ends) return false;
  const calls = ends ? (client.transaction?.queue ?? []).map((each) => each.argv) : [argv];
  if (!calls.some(changesUser)) return false;
  return client.subscriptions.total > 0 || calls.some(subscribes);
}

/**
 * A password that may be wrong, where another reply has not been sent yet: within EXEC, or behind a request that waits.
 * Redis 7.2 and later then send no error.
 */
function losesRefusal([name = '', ...words]: readonly Bytes[], ours: OurSide, index: number): boolean {
  if (ours.server.dialect.name === 'redis-7.0') return false;
  const tells = /^auth$/i.test(name) || (/^hello$/i.test(name) && words.some((word) => /^auth$/i.test(word)));
  return tells && (ours.client(index)?.has(IN_MULTI) === true || ours.isBlocked(index));
}

/** Scripts or functions are removed by a request that ran behind one that waited: Redis 8.2 dies of it. */
function flushesCode(
  [name = '', sub = '', ...words]: readonly Bytes[],
  ours: OurSide,
  index: number,
): boolean {
  if (ours.server.dialect.name === 'redis-7.0' || !ours.isBlocked(index)) return false;
  return /^(function|script)$/i.test(name) && [sub, ...words].some((word) => /^flush$/i.test(word));
}

/**
 * RESTORE with a TTL that overflows: from Redis 7.2 on the deadline is below zero, and the key expires at some moment. An
 * assertion of Valkey fails then.
 */
function overflowsTtl([name = '', , ttl = '', ...words]: readonly Bytes[], dialect: string): boolean {
  if (dialect === 'redis-7.0' || !/^restore(-asking)?$/i.test(name)) return false;
  return ttl.length >= 19 && !words.some((word) => /^absttl$/i.test(word));
}

/** FUNCTION LIST with an unknown word that has a line end: Valkey 9 sends it as it is, which breaks its reply. */
function endsLine([name = '', sub = '', ...words]: readonly Bytes[], dialect: string): boolean {
  if (dialect !== 'valkey-9') return false;
  return /^function$/i.test(name) && /^list$/i.test(sub) && words.some((word) => /[\r\n]/.test(word));
}

/** HSETEX with a time and a field that is named twice, where the hash is or becomes a table: Redis 8.6.2 aborts. */
function setsFieldTwice([name = '', ...words]: readonly Bytes[], dialect: string): boolean {
  if (dialect !== 'redis-8.6' || !/^hsetex$/i.test(name)) return false;
  const first = words.findIndex((word) => /^fields$/i.test(word)) + 2;
  const fields = words.filter((_, i) => i >= first && (i - first) % 2 === 0);
  const isTimed = words.some((word) => /^[ep]x(at)?$/i.test(word));
  return isTimed && new Set(fields).size < fields.length;
}

/** MSETEX of several keys with a time that is over: they leave in the order of a hash table. */
function expireTogether([name = '', keys = '', ...words]: readonly Bytes[]): boolean {
  if (!/^msetex$/i.test(name) || keys === '1') return false;
  const at = words.findIndex((word) => /^(px|ex)at$/i.test(word));
  const unit = /^exat$/i.test(words[at] ?? '') ? 1000 : 1;
  return at >= 0 && Number(words[at + 1]) * unit <= Date.now();
}

/** VSIM with a COUNT of which the size of the results overflows: Redis 8.0 and 8.2 abort. */
function overflowsResults([name = '', ...words]: readonly Bytes[]): boolean {
  return /^vsim$/i.test(name) && words.some((word) => /^\d{11,}$/.test(word));
}

/**
 * CLIENT NO-TOUCH ON: Redis 8.0.2 and Valkey 8.1.1 crash when this client then writes to a key that another client waits
 * for (https://github.com/valkey-io/valkey/pull/2347).
 */
function stopsTouching([name = '', sub = '', mode = '']: readonly Bytes[], ours: OurSide): boolean {
  if (!/^(redis-8\.0|valkey-8\.1)$/.test(ours.server.dialect.name)) return false;
  return /^client$/i.test(name) && /^no-touch$/i.test(sub) && /^on$/i.test(mode);
}

/** Stores members of a set that is a hash table, which has no order of its own; a listpack keeps the one that it was given. */
function storesFromTable(argv: readonly Bytes[], ours: OurSide, client: number): boolean {
  if (!/^s(inter|diff|union)store$/i.test(argv[0] ?? '')) return false;
  return argv.slice(2).some((key) => {
    const value = ours.client(client)?.db.peek(key)?.read();
    return typeof value === 'object' && value.type === 'set' && value.encoding() === 'hashtable';
  });
}

/** True for a request that ends the real server of a dialect, or breaks its reply. */
export function breaksServer(argv: readonly Bytes[], dialect: string): boolean {
  return (
    endsLine(argv, dialect) ||
    setsFieldTwice(argv, dialect) ||
    overflowsTtl(argv, dialect) ||
    overflowsResults(argv)
  );
}

/** True for a request that had better not be sent now. */
export function unspecified(argv: readonly Bytes[], ours: OurSide, client: number): boolean {
  const calls = callsOf(argv) ?? [argv];
  if (calls.some((call) => isHuge(call) || storesDistances(call))) return true;
  if (ours.client(client)?.has(IN_MULTI) && breaksReplies(argv)) return true;
  if (calls.some((call) => breaksServer(call, ours.server.dialect.name))) return true;
  if (calls.some(expireTogether)) return true;
  if (cutsItselfOff(argv, ours, client) || losesRefusal(argv, ours, client)) return true;
  if (flushesCode(argv, ours, client) || stopsTouching(argv, ours)) return true;
  if (calls.some((call) => storesFromTable(call, ours, client))) return true;
  const lex = calls.filter(isLex);
  if (calls.length === 1 && picksAny(argv)) return true;
  if (calls.some((call) => ranksTies(call, ours, client))) return true;
  if (lex.length === 0) return false;
  // What runs before it may make such a set.
  if (calls.length > 1 || ours.client(client)?.has(IN_MULTI)) return true;
  return lex[0]!.slice(1).some((key) => isMixed(ours, client, key));
}
