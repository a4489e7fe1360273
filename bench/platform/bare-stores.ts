/** What the bare servers keep, and what they answer to the requests that they know. */
import { EmptyBTree } from 'sorted-btree';

/** Answers the words of a request. */
export type Store = (words: string[]) => string;

const OK = '+OK\r\n';
const NOTHING = '$-1\r\n';

/** SET and GET on a Map: no other command, no option but NX, no types, no TTL, no errors. */
export function values(): Store {
  const store = new Map<string, string>();
  return ([command, key = '', value = '', option]) => {
    if (command === 'SET') {
      if (option === 'NX' && store.has(key)) return NOTHING;
      store.set(key, value);
      return OK;
    }
    const found = store.get(key);
    return found === undefined ? NOTHING : `$${found.length}\r\n${found}\r\n`;
  };
}

/** What a Redis knows of a key: TYPE, PTTL, OBJECT IDLETIME and MEMORY USAGE tell it. */
class Entry {
  value: unknown;
  deadline = Infinity;
  usedAt = 0;
  bytes = 0;

  constructor(value: unknown) {
    this.value = value;
  }
}

interface Command {
  readonly words: number;
  calls: number;
  readonly run: (words: string[]) => string;
}

/**
 * The same as `values`, and what every Redis must know besides: commands by name in any case, with their number of words;
 * types, deadlines, times of use and sizes of keys; how many commands ran, found a key, missed one or changed one.
 */
export function entries(): Store {
  const store = new Map<string, Entry>();
  const figures = { requests: 0, hits: 0, misses: 0, changes: 0, bytes: 0 };
  let now = Date.now();

  /** The entry of a key, if it has not expired. */
  function find(key: string): Entry | undefined {
    const entry = store.get(key);
    if (entry === undefined) return undefined;
    if (entry.deadline <= now) {
      store.delete(key);
      return undefined;
    }
    entry.usedAt = now;
    return entry;
  }

  function get(words: string[]): string {
    const entry = find(words[1]!);
    if (entry === undefined) {
      figures.misses++;
      return NOTHING;
    }
    figures.hits++;
    const { value } = entry;
    if (typeof value !== 'string') return '-WRONGTYPE\r\n';
    return `$${value.length}\r\n${value}\r\n`;
  }

  function set(words: string[]): string {
    const key = words[1]!;
    const value = words[2]!;
    let entry = find(key);
    if (entry === undefined) {
      entry = new Entry(value);
      store.set(key, entry);
    } else {
      entry.value = value;
      entry.deadline = Infinity;
    }
    const bytes = 64 + key.length + value.length;
    figures.bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    figures.changes++;
    return OK;
  }

  const reading: Command = { words: 2, calls: 0, run: get };
  const writing: Command = { words: 3, calls: 0, run: set };
  // Clients write commands in either case. Only a mixture of both must be converted.
  const commands = new Map([
    ['get', reading],
    ['GET', reading],
    ['set', writing],
    ['SET', writing],
  ]);
  return (words) => {
    // The time is read once for several requests.
    if ((figures.requests++ & 15) === 0) now = Date.now();
    const command = commands.get(words[0]!) ?? commands.get(words[0]!.toLowerCase());
    if (command === undefined) return '-ERR unknown command\r\n';
    if (command.words !== words.length) return '-ERR wrong number of arguments\r\n';
    command.calls++;
    return command.run(words);
  };
}

/** A re-entrant lock that is held. The deadline is in milliseconds since the epoch. */
interface Grant {
  owner: string;
  count: number;
  deadline: number;
}

/** EVALSHA of the bench's two lock scripts. What the scripts do is done in JavaScript on Maps. */
export function locking(): Store {
  const tokens = new Map<string, string>();
  const grants = new Map<string, Grant>();
  return ([, , , key = '', first = '', owner]) => {
    if (owner === undefined) return tokens.get(key) === first && tokens.delete(key) ? ':1\r\n' : ':0\r\n';
    const now = Date.now();
    const grant = grants.get(key);
    if (grant === undefined || grant.deadline <= now) {
      grants.set(key, { owner, count: 1, deadline: now + Number(first) });
      return NOTHING;
    }
    if (grant.owner !== owner) return `:${grant.deadline - now}\r\n`;
    grant.count++;
    grant.deadline = now + Number(first);
    return NOTHING;
  };
}

/**
 * SET with PXAT on a Map. A timer removes the keys that are due, a thousand at a time, so that other requests need not
 * wait for all of them.
 */
export function expiring(): Store {
  const store = new Map<string, string>();
  const due = new Map<number, string[]>();
  let removed = Date.now();
  const remove = (): void => {
    let left = 1000;
    for (; removed < Date.now() && left > 0; removed++) {
      for (const key of due.get(removed) ?? []) if (store.delete(key)) left--;
      due.delete(removed);
    }
    if (left > 0) setTimeout(remove, 1);
    else setImmediate(remove);
  };
  remove();
  return ([command, key = '', value = '', , at]) => {
    if (command === 'PING') return '+PONG\r\n';
    store.set(key, value);
    const keys = due.get(Number(at));
    if (keys === undefined) due.set(Number(at), [key]);
    else keys.push(key);
    return OK;
  };
}

type Place = readonly [score: number, member: string];

/** What is used of the B+ tree. */
interface Tree {
  set(place: Place, value: undefined): boolean;
  delete(place: Place): boolean;
  forRange(from: Place, to: Place, inclusive: boolean, visit: (place: Place) => unknown): unknown;
  keysArray(): Place[];
}

// keyspace/stream/ordered-map.ts says why the class is taken from an instance.
const BTree = EmptyBTree.constructor as unknown as new (
  entries: undefined,
  compare: (a: Place, b: Place) => number,
) => Tree;

/**
 * ZADD, ZRANGEBYSCORE and ZRANK on one sorted set, which is a Map of scores and a B+ tree of the package sorted-btree. The tree
 * has no ranks. They are in a Map, which the first ZRANK after a change rebuilds.
 */
export function sorted(): Store {
  const scores = new Map<string, number>();
  const order = new BTree(undefined, ([a, x], [b, y]) => a - b || (x < y ? -1 : x > y ? 1 : 0));
  let ranks: Map<string, number> | undefined;
  return (words) => {
    if (words[0] === 'ZRANK') {
      ranks ??= new Map(order.keysArray().map(([, member], rank) => [member, rank]));
      const rank = ranks.get(words[2]!);
      return rank === undefined ? NOTHING : `:${rank}\r\n`;
    }
    if (words[0] === 'ZADD') {
      const score = Number(words[2]);
      const member = words[3]!;
      const before = scores.get(member);
      if (before === score) return ':0\r\n';
      ranks = undefined;
      if (before !== undefined) order.delete([before, member]);
      scores.set(member, score);
      order.set([score, member], undefined);
      return before === undefined ? ':1\r\n' : ':0\r\n';
    }
    const found: string[] = [];
    const limit = Number(words[6]);
    order.forRange([Number(words[2]), ''], [Infinity, ''], true, ([, member]) => {
      found.push(`$${member.length}\r\n${member}\r\n`);
      return found.length === limit ? { break: 0 } : undefined;
    });
    return `*${found.length}\r\n${found.join('')}`;
  };
}
