/** Whether two replies say the same, where Redis leaves an order, a time or a name of its own open. */
import { RdbError } from '../../../keyspace/format/errors.ts';
import { formatOfPayload, restoreValue } from '../../../keyspace/rdb/dump.ts';
import { MAX_ID, MIN_ID } from '../../../keyspace/stream/id.ts';
import type { Value } from '../../../keyspace/value.ts';
import { allCommands } from '../../../server/commands/index.ts';
import type { RawReply } from '../../support/reply-text.ts';
import { added } from './known.ts';
import type { Rule } from './rule.ts';

/** How far apart the two servers may carry out the same request, in milliseconds and in seconds. */
const TOLERANCE = 5000;
const TOLERANCE_SECONDS = 5;

function items(reply: RawReply): readonly RawReply[] | undefined {
  return Array.isArray(reply[1]) ? (reply[1] as readonly RawReply[]) : undefined;
}

function sorted(list: readonly RawReply[], by = 1): string[] {
  const out: string[] = [];
  for (let i = 0; i < list.length; i += by) out.push(JSON.stringify(list.slice(i, i + by)));
  return out.sort();
}

function sameSets(mine: readonly RawReply[], theirs: readonly RawReply[], by: number): boolean {
  return mine.length === theirs.length && sorted(mine, by).join() === sorted(theirs, by).join();
}

function near(mine: RawReply, theirs: RawReply, tolerance = TOLERANCE): boolean {
  const [a, b] = [mine[1], theirs[1]];
  if (typeof a !== 'string' || typeof b !== 'string' || !/^\d+$/.test(a) || !/^\d+$/.test(b)) return false;
  return mine[0] === theirs[0] && Math.abs(Number(a) - Number(b)) <= tolerance;
}

/** RESP3's pairs may be arrays of two (ZRANGE WITHSCORES) or follow each other. */
function pairWidth(list: readonly RawReply[]): number {
  return list.every((item) => items(item)?.length === 2) ? 1 : 2;
}

function behindCursor(mine: RawReply, theirs: RawReply, by: number): boolean {
  const [a, b] = [items(mine), items(theirs)];
  if (a?.length !== 2 || b?.length !== 2) return false;
  const [one, other] = [items(a[1]!), items(b[1]!)];
  return (
    String(a[0]) === String(b[0]) && one !== undefined && other !== undefined && sameSets(one, other, by)
  );
}

/** How FUNCTION DUMP's payloads begin. */
const LIBRARY = '\xf5';

/** The value of a payload; undefined for a form that is not known here. */
function readable(payload: string): Value | undefined {
  try {
    return restoreValue(payload, undefined, formatOfPayload(payload));
  } catch (error) {
    if (error instanceof RdbError) return undefined;
    throw error;
  }
}

function samePayload(mine: string, theirs: string): boolean {
  const compressed = theirs.includes('\xc3');
  // FUNCTION DUMP: libraries in their order.
  if (mine[0] === LIBRARY) return mine[0] === theirs[0] && (compressed || mine.length === theirs.length);
  const [a, b] = [readable(mine), readable(theirs)];
  // Forms that other versions write are compared when they can be read.
  if (a === undefined || b === undefined) return a === b;
  if (mine[0] !== theirs[0] || contentOf(a) !== contentOf(b)) return false;
  return (
    compressed ||
    mine.length === theirs.length ||
    (typeof a === 'object' && (a.type === 'list' || a.type === 'stream' || a.type === 'vectorset'))
  );
}

/** What a value holds, where its order is open in one order. */
function contentOf(value: Value): string {
  if (typeof value === 'string') return value;
  switch (value.type) {
    case 'list':
      return JSON.stringify(value.range(0, value.size - 1));
    case 'set':
      return JSON.stringify([...value.values()].sort());
    case 'hash':
      return JSON.stringify([...value.entries()].sort());
    case 'zset':
      return JSON.stringify([...value.entries()]);
    case 'stream':
      return JSON.stringify(value.range(MIN_ID, MAX_ID).map(({ id, fields }) => [String(id), ...fields]));
    case 'vectorset':
      return JSON.stringify(
        [...value.nodes()].map(({ element, attributes, data }) => [element, attributes, [...data]]).sort(),
      );
    case 'own':
      return value.data;
  }
}

/** Every list in one order, without the notes of key specifications. */
function plain(reply: RawReply): unknown {
  const list = items(reply);
  if (list === undefined) return reply;
  const notes = list.findIndex((item) => item[1] === 'notes');
  const kept = notes < 0 ? list : list.filter((_, i) => i !== notes && i !== notes + 1);
  return [reply[0], kept.map((item) => JSON.stringify(plain(item))).sort()];
}

/**
 * The same names of fields in the same order, but for those of databases. Where each server lists other databases, in any
 * order: a script's table with one more field may have another order altogether.
 */
function sameNames(mine: readonly RawReply[], theirs: readonly RawReply[]): boolean {
  const [a, b] = [mine, theirs].map((list) => {
    const names = list.filter((_, i) => i % 2 === 0).map(([, name]) => String(name));
    const isDatabase = (name: string): boolean => /^db\.\d+$/.test(name);
    return {
      fields: names.filter((name) => !isDatabase(name)),
      databases: names.filter(isDatabase).sort().join(),
    };
  });
  if (a === undefined || b === undefined) return false;
  if (a.fields.join() === b.fields.join()) return true;
  return a.databases !== b.databases && a.fields.sort().join() === b.fields.sort().join();
}

/** Prose of COMMAND DOCS, which is in our own words. */
const PROSE = new Set(['summary', 'complexity', 'history', 'replaced_by']);

/** COMMAND DOCS without its prose; of RESP2 and RESP3. */
function withoutProse([marker, value]: RawReply): unknown {
  if (!Array.isArray(value)) return [marker, value];
  const list = value as readonly RawReply[];
  const isProse = (at: number): boolean => PROSE.has(String(list[at]?.[1]));
  return [marker, list.filter((_, i) => !isProse(i - (i % 2))).map(withoutProse)];
}

/** The fields of INFO that tell what the program did, or how the server is set up. */
const TOLD = new RegExp(
  `^(${[
    'redis_mode|process_supervised|arch_bits',
    'blocked_clients|tracking_clients|pubsub_clients|watching_clients|total_watched_keys|total_blocking_keys\\w*',
    'maxmemory|maxmemory_human|maxmemory_policy|number_of_\\w+',
    'loading|async_loading|rdb_bgsave_in_progress|rdb_last_bgsave_status|aof_\\w*(enabled|in_progress|scheduled|status)',
    'keyspace_hits|keyspace_misses|expired_keys|expired_subkeys|evicted_\\w+|pubsub\\w*|tracking_total_\\w+',
    'unexpected_error_replies|total_error_replies',
    'role|connected_slaves|master_failover_state|repl_backlog_active',
    'errorstat_.*|cmdstat_.*|db\\d+|cluster_enabled|paused_\\w+',
  ].join('|')}):`,
);

/** What the tester itself asks the real server for. */
const ASKED_BESIDE = /^cmdstat_(ping|client\|unblock):/;

/** The lines of INFO that both servers have alike, those of hash tables in one order. */
export function toldLines([, value]: RawReply): string {
  const lines = String(value)
    .replace(/^txt:/, '')
    .split('\r\n')
    .filter((line) => TOLD.test(line) && !ASKED_BESIDE.test(line))
    // Redis counts a hash whose fields end no more until it would have looked at it.
    .map((line) => line.replace(/,(avg_ttl|subexpiry|usec|usec_per_call)=[\d.]+/g, ''));
  return lines.sort().join('\n');
}

/** Fields of a connection that each server has for itself. */
const OWN_FIELD =
  /^(addr|laddr|fd|age|idle|qbuf|qbuf-free|argv-mem|multi-mem|rbs|rbp|obl|oll|omem|tot-mem|tot-net-in|tot-net-out|io-thread)=/;

function withoutOwnFields([, value]: RawReply): string {
  return (
    String(value)
      .replace(/^txt:/, '')
      .split('\n')
      .map((line) => line.split(' ').filter((field) => !OWN_FIELD.test(field)))
      // The tester reaches the real server over a unix socket, which is a flag too.
      .map((fields) =>
        fields.map((field) => field.replace(/^(flags=\w*)U(\w*)$/, '$1$2').replace(/^flags=$/, 'flags=N')),
      )
      .join('\n')
  );
}

/** A single command in a user's rules. */
const COMMAND = /^[+-](?!@)/;

/** Every command and subcommand of ours, by full name. */
const ours = new Set(
  allCommands.flatMap((each) => [
    each.name,
    ...[...(each.subcommands?.values() ?? [])].map((sub) => sub.fullName),
  ]),
);

/** Both servers have the command, perhaps of a first argument. */
function isShared(name: string): boolean {
  return added[name] === undefined && (ours.has(name) || ours.has(name.slice(0, name.indexOf('|'))));
}

/** Every text with the single commands of its rules in one order, behind everything else. */
function sortedRules([marker, value]: RawReply): unknown {
  if (Array.isArray(value)) return [marker, (value as readonly RawReply[]).map(sortedRules)];
  if (typeof value !== 'string') return [marker, value];
  const words = value.split(' ');
  const commands = words.filter((word) => COMMAND.test(word) && isShared(word.slice(1)));
  return [marker, words.filter((word) => !COMMAND.test(word)), commands.sort()];
}

/** The rule for one element. */
function ruleAt(rule: Exclude<Rule, string>, list: readonly RawReply[], at: number): Rule {
  if ('every' in rule) return rule.every;
  if ('each' in rule) return rule.each[at] ?? 'exact';
  return at % 2 === 1 ? (rule.fields[String(list[at - 1]?.[1])] ?? 'exact') : 'exact';
}

/** Compares two replies by a rule. */
export function same(rule: Rule, mine: RawReply, theirs: RawReply): boolean {
  if (JSON.stringify(mine) === JSON.stringify(theirs)) return true;
  if (rule === 'exact' || mine[0] !== theirs[0]) return false;
  const [a, b] = [items(mine), items(theirs)];
  if (typeof rule === 'object') {
    if (a === undefined || a.length !== b?.length) return false;
    return a.every((item, i) => same(ruleAt(rule, a, i), item, b[i]!));
  }
  switch (rule) {
    case 'near':
      return near(mine, theirs);
    case 'nearSeconds':
      return near(mine, theirs, TOLERANCE_SECONDS);
    case 'shape':
      return (
        mine[0] !== '-' &&
        (a === undefined) === (b === undefined) &&
        (mine[1] === null) === (theirs[1] === null)
      );
    case 'report':
      return mine[0] !== '-' && toldLines(mine) === toldLines(theirs);
    case 'docs':
      return JSON.stringify(withoutProse(mine)) === JSON.stringify(withoutProse(theirs));
    case 'payload':
      return typeof mine[1] === 'string' && typeof theirs[1] === 'string' && samePayload(mine[1], theirs[1]);
    case 'client':
      return withoutOwnFields(mine) === withoutOwnFields(theirs);
    case 'info':
      return JSON.stringify(plain(mine)) === JSON.stringify(plain(theirs));
    case 'rules':
      return JSON.stringify(sortedRules(mine)) === JSON.stringify(sortedRules(theirs));
    case 'scan':
      return behindCursor(mine, theirs, 1);
    case 'scanPairs':
      return behindCursor(mine, theirs, 2);
  }
  if (rule === 'size') return sizeOf(mine) === sizeOf(theirs);
  if (a === undefined || b === undefined) return false;
  switch (rule) {
    case 'unordered':
      return sameSets(a, b, 1);
    case 'pairs':
      return sameSets(a, b, pairWidth(a));
    case 'names':
      return sameNames(a, b);
  }
}

/** How many elements or bytes a reply has; undefined for nil and errors. */
function sizeOf([marker, value]: RawReply): number | undefined {
  return marker === '-' ? undefined : (value?.length ?? undefined);
}

/** Compares two effects of the replication stream: times near the present may differ a little. */
export function sameEffect(mine: RawReply, theirs: RawReply): boolean {
  const [a, b] = [items(mine) ?? [], items(theirs) ?? []];
  if (a.length !== b.length) return false;
  if (a.every((word, i) => word[1] === b[i]![1] || isNearInstant(word, b[i]!))) return true;
  // Members of a hash table leave in the table's order, and so do fields that Valkey 9 removes together.
  const leave = a[0]?.[1] === 'SREM' || a[0]?.[1] === 'HDEL';
  return leave && a[1]?.[1] === b[1]?.[1] && sameSets(a, b, 1);
}

function isNearInstant(mine: RawReply, theirs: RawReply): boolean {
  return /^\d{12,19}$/.test(String(mine[1])) && near(mine, theirs);
}
