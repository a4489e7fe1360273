/** Every known difference from redis-server 7.0.15: the tester reads its exceptions here, and docs/differences.md is made of it. */
import { refusals } from '../../../server/settings/refusals.ts';
import { tuning } from '../../../server/settings/settings.ts';
import type { Rule } from './rule.ts';

/** Commands that redis-server 7.0 has not; the tests that hold them to their documentation are named. */
export const added: Record<string, string> = {
  cad: 'Tair (the module TairString); test/server/commands/lock.test.ts',
  cas: 'Tair (the module TairString); test/server/commands/lock.test.ts',
  delex: 'Redis 8.4; test/server/commands/lock.test.ts',
  delifeq: 'Valkey 9; test/server/commands/lock.test.ts',
  digest: 'Redis 8.4; checked against xxhash',
  msetex: 'Redis 8.4; test/server/commands/lock.test.ts',
  hexpire: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hexpireat: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hexpiretime: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hpersist: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hpexpire: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hpexpireat: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hpexpiretime: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hpttl: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  httl: 'Redis 7.4; test/server/commands/hash-expiry.test.ts',
  hgetdel: 'Redis 8.0; test/server/commands/hash-expiry.test.ts',
  hgetex: 'Redis 8.0; test/server/commands/hash-expiry.test.ts',
  hsetex: 'Redis 8.0; test/server/commands/hash-expiry.test.ts',
  'client|setinfo': 'Redis 7.2; test/server/clients/handshake.test.ts',
  'client|no-touch': 'Redis 7.2; test/server/figures/observer.test.ts',
  'client|capa': 'Valkey 8.0; test/server/dialects/new-commands.test.ts',
  'client|import-source': 'Valkey 8.1; test/server/dialects/new-commands.test.ts',
  'script|show': 'Valkey 8.0; test/server/dialects/new-commands.test.ts',
  xackdel: 'Redis 8.2; test/server/dialects/new-commands.test.ts',
  xdelex: 'Redis 8.2; test/server/dialects/new-commands.test.ts',
  waitaof: 'Redis 7.2; test/server/replication/replication.test.ts',
};

/** Commands that are not generated, each with the reason; they are tested by hand. */
export const excluded: Record<string, string> = {
  'acl|genpass': 'it answers at random; test/server/acl/acl.test.ts',
  'acl|log': 'it describes connections; test/server/acl/acl.test.ts',
  bgrewriteaof: 'it starts another process, which ends when it likes; test/server/data/saving.test.ts',
  'module|list': 'there is nothing to vary; test/transcripts',
  'module|load': 'it is refused; test/transcripts',
  'module|loadex': 'it is refused; test/transcripts',
  'module|unload': 'it is refused; test/transcripts',
  bgsave: 'it starts another process, which ends when it likes; test/server/data/saving.test.ts',
  'client|kill':
    'its filters would reach the connections of the tester itself; kills by number are generated',
  'client|list': "its fields are the server's own",
  'client|pause': 'it holds back every connection for a time',
  'command|docs': 'its prose is in our own words; test/server/table/docs.test.ts holds all else',
  'command|list': 'the two servers have not the same commands',
  'config|rewrite': 'there is no configuration file',
  'script|debug': 'there is no debugger here; test/transcripts',
  debug: 'its subcommands are about the inside of the server',
  failover: 'it hands the role over to a replica; test/server',
  lolwut: 'its picture is our own; test/server/commands/lolwut.test.ts',
  pfselftest: 'it tests the server itself, in its own words; test/transcripts',
  'latency|doctor': 'it is advice in words',
  'latency|graph': 'it is drawn our own way; test/server/figures/observer.test.ts',
  'latency|histogram': 'it is about time; test/server/figures/observer.test.ts',
  'latency|history': 'it is about time; test/server/figures/observer.test.ts',
  'latency|latest': 'it is about time; test/server/figures/observer.test.ts',
  'memory|doctor': 'it is advice in words',
  'memory|malloc-stats': "its figures are the allocator's",
  'memory|stats': "its figures are the server's own; test/server/data/eviction.test.ts",
  migrate: 'it talks to other servers; test/server/commands/migrate.test.ts',
  monitor: 'it turns the connection into one that only listens; test/server/figures/observer.test.ts',
  psync: 'it turns the connection into a replication link, whose stream the tester compares all the time',
  replconf: 'it turns the connection into a replication link',
  replicaof: 'it gives the dataset away',
  save: 'it writes a file; test/server/data/saving.test.ts',
  'slowlog|get': 'it is about time; test/server/figures/observer.test.ts',
  'slowlog|len': 'it is about time; test/server/figures/observer.test.ts',
  shutdown: 'it ends the server',
  slaveof: 'it gives the dataset away',
  sync: 'it turns the connection into a replication link',
  wait: 'it depends on when replicas acknowledge',
  waitaof: 'it depends on when replicas acknowledge; test/server/replication/replication.test.ts',
};

/** Prose that each server has in its own words. */
export const helpReason = 'HELP of every container is made from our own summaries';

const RULES =
  'single commands come in the order of a hash table, and those that only one server has are named only by it';

/** Commands whose answers are compared by a rule weaker than byte for byte, with the reason. */
export const loose: Record<string, readonly [Rule, string]> = {
  'acl|cat': ['shape', 'the two servers have not the same commands'],
  'acl|getuser': ['rules', RULES],
  'acl|list': ['rules', RULES],
  'client|info': ['shape', "its fields are the server's own"],
  info: ['shape', "its fields are the server's own"],
  lastsave: ['shape', 'it is the time of the last save'],
  randomkey: ['shape', 'it answers at random'],
  role: ['shape', 'its offsets count the bytes since the server started'],
  time: ['shape', 'it is the clock'],
  'client|getredir': ['shape', 'connections are numbered from the start of each server'],
  'client|trackinginfo': [
    { fields: { redirect: 'shape' } },
    'connections are numbered from the start of each server',
  ],
  'client|id': ['shape', 'connections are numbered from the start of each server'],
  'command|': ['shape', 'the two servers have not the same commands'],
  'command|count': ['shape', 'the two servers have not the same commands'],
  'command|getkeysandflags': ['info', 'sets have no order'],
  'command|info': ['info', 'sets have no order; notes on key specifications are in our own words'],
  'config|get': ['pairs', 'several parameters come in the order of a hash table'],
  'function|dump': ['payload', 'a hash table is written in the order of its buckets'],
  'function|list': ['info', 'hash tables have no order'],
  dump: [
    'payload',
    'a hash table is written in the order of its buckets; the nodes of lists and streams are as their history left them, ours without gaps',
  ],
  hello: ['hello', "the connection's number"],
  hgetall: ['pairs', 'a hash table has no order'],
  hkeys: ['unordered', 'a hash table has no order'],
  hvals: ['unordered', 'a hash table has no order'],
  keys: ['unordered', 'the keyspace has no order'],
  'object|refcount': ['shape', 'it counts who holds the value, a request that is queued or running too'],
  'object|idletime': ['near', 'it counts seconds'],
  'memory|usage': ['shape', 'tables, lists and streams are reckoned; exact ones are in test/transcripts'],
  pexpiretime: ['near', 'a relative expiry counts from when each server carries it out'],
  expiretime: ['near', 'a relative expiry counts from when each server carries it out'],
  pttl: ['near', 'time passes between the two servers'],
  'pubsub|channels': ['unordered', 'a hash table has no order'],
  'pubsub|shardchannels': ['unordered', 'a hash table has no order'],
  sdiff: ['unordered', 'a hash table has no order'],
  sinter: ['unordered', 'a hash table has no order'],
  smembers: ['unordered', 'a hash table has no order'],
  spop: ['unordered', 'a hash table has no order; only counts are generated that take all members'],
  sunion: ['unordered', 'a hash table has no order'],
  ttl: ['near', 'time passes between the two servers'],
};

/** A difference that is accepted where it shows. */
export interface Accepted {
  readonly name: string;
  readonly reason: string;
  /** The data differ from here on: nothing more of the program can be compared. */
  readonly ends?: boolean;
  /** True for a request whose answers are allowed to differ so; the replies are printed bytes. */
  applies(argv: readonly string[], mine: string, theirs: string): boolean;
}

const TAKEN = /(Function|Library) \w+ already exists/;

const NO_WEIGHT = "One or more scores can't be converted into double";

/** The last instant that Redis' 64 bits hold, as its Lua hands it on, and the last that ours hold. */
const ENDS = ['-9223372036854775808', '9223372036854774784'] as const;

export const accepted: readonly Accepted[] = [
  {
    name: 'PEXPIRETIME of the last instant, in a script',
    reason:
      "Times beyond 2^53 ms (the year 287396): Redis: exact, and the last of them overflows where a script hands it on; here: rounded to a double's 53 bits (times are numbers).",
    applies: (_argv, mine, theirs) => mine.includes(ENDS[1]) && theirs.replaceAll(...ENDS) === mine,
  },
  {
    name: 'SORT after a number that was out of range',
    reason:
      "7.0 does not clear C's errno before it reads a weight, and takes the error of an earlier request (a cursor, a score) for its own",
    ends: true,
    applies: (_argv, mine, theirs) => theirs.includes(NO_WEIGHT) && !mine.includes(NO_WEIGHT),
  },
  {
    name: 'FUNCTION LOAD and RESTORE of several names that are taken',
    reason:
      'FUNCTION LOAD and RESTORE where several names are taken: Redis: complains about the first in the order of a hash table; here: about the first in the code.',
    applies: (argv, mine, theirs) =>
      /^function$/i.test(argv[0] ?? '') &&
      TAKEN.test(mine) &&
      TAKEN.exec(mine)?.[1] === TAKEN.exec(theirs)?.[1],
  },
];

const PENDING: Rule = { every: { each: ['exact', 'exact', 'near', 'exact'] } };
const CONSUMER: Rule = {
  fields: { 'seen-time': 'near', pending: { every: { each: ['exact', 'near', 'exact'] } } },
};
/** XINFO STREAM FULL: the times of delivery. */
export const streamInfo: Rule = {
  fields: { groups: { every: { fields: { pending: PENDING, consumers: { every: CONSUMER } } } } },
};

const DELIVERED = 'times of delivery are those of each server';
loose.xpending = [PENDING, DELIVERED];
loose['xinfo|stream'] = [streamInfo, DELIVERED];
loose['xinfo|consumers'] = [{ every: { fields: { idle: 'near' } } }, DELIVERED];

function list(names: Iterable<string>): string {
  return [...names].sort().join(', ');
}

/** Differences that no generated request shows, in the page's words. */
export const prose: readonly string[] = [
  'A dataset that a replica cannot read (a vector set of Redis 8, an unknown version): Redis: asks for it again at once, for ever, and has dropped its own; here: keeps its own, asks again after 1, 2, 4 … at most 60 s, and gives the reason in the log and in `master_link_error` of INFO.',
  'MIGRATE: Redis: nobody is served until the target has answered, and the connection is kept for the next MIGRATE with its user and its database; here: only requests that could see or change one of the keys wait (in a transaction all wait), each MIGRATE has a connection of its own, a host whose name is unknown is one that cannot be written to, and a script cannot call it.',
  'Times in INFO commandstats and latencystats, LATENCY HISTOGRAM: Redis: of every call; here: of every 64th call of a command, and of all while SLOWLOG asks for less than a millisecond, LATENCY or MONITOR is on (two readings of the clock take a third of the time of a SET).',
  'SLOWLOG at its usual thresholds: Redis: to the microsecond; here: to the millisecond, and a transaction or a script as a whole.',
  'DEBUG: Redis: refused unless enable-debug-command allows it; here: allowed unless that is no (this is a server for tests); without HTSTATS, STRUCTSIZE, SDSLEN and others about the inside. LOADAOF, without an AOF: Redis: dies; here: an error.',
  'SHUTDOWN: Redis: waits up to shutdown-timeout for replicas that lag; here: ends at once.',
  'LATENCY DOCTOR, LATENCY GRAPH, MEMORY DOCTOR: our own words and drawing.',
  'ACL LIST and ACL GETUSER: single commands behind the categories: Redis: in the order of a hash table; here: in the order of our table (repeatable).',
  'INFO: the instantaneous figures: Redis: of the last second and a half; here: since INFO was last asked. Memory and times are our own figures; fields about C, its compiler and its threads are left out.',
  'SORT with BY or GET reports missed keys in the order of its look-ups, which is that of a hash table in Redis.',
  'QUIT closes a connection that has turned replies off; 7.0 leaves it open without reading on.',
  'CONFIG: without the parameters of TLS, clusters, defragmentation and processors; port, bind and unixsocket cannot be changed while running; sizes beyond 2^53 bytes are rounded; repl-backlog-size may be below 16 KiB.',
  `Parameters that are taken and change no answer, here and mostly in Redis too: ${list(Object.keys(tuning))}.`,
  `Parameters of which only the value that describes a server without them is taken; others are refused when the server starts, and by CONFIG SET, with the reason: ${list(refusals.keys())} (the lab takes appendonly, for its virtual disk; the command line takes pidfile).`,
  'SAVE and BGSAVE: Redis: a file; here: kept in memory unless a dump file was named (`rdbFile`, `--dir`, `--dbfilename`). BGSAVE and BGREWRITEAOF: Redis: another process; here: under way for one turn of `hz` (a tenth of a second), and BGREWRITEAOF writes nothing.',
  'DEBUG RELOAD NOFLUSH without MERGE, where a key of the dump exists: Redis: dies; here: an error, and nothing changes.',
  'DUMP does not compress its payloads.',
  'COMMAND DOCS: summaries, complexities, histories and successors are in our own words; versions, arguments and flags are the same. COMMAND COUNT and COMMAND LIST include the commands we add.',
  'TIME stands still inside a script and a transaction, as from Redis 7.2 on; in 7.0 it moves.',
  'Values are at most 1 KiB shorter than 512 MiB, since V8 has no longer strings: what is longer is refused in the words that Redis has for what is above proto-max-bulk-len.',
  'repl-diskless-sync-delay is 0 unless set (Redis: 5 s); a dataset is always sent with its length, whatever repl-diskless-sync says.',
  "A RESP3 client's own messages (PUBLISH to oneself, keyspace events): Redis: before or after the reply, and while EXEC runs between the elements of its array, which breaks it; here: before the reply, and behind EXEC's (clients that read RESP3 lose count otherwise; Redis 7.2 holds them back too).",
  'One client with several patterns that match: Redis: in the order of a hash table seeded at start; here: in the order of subscribing (repeatable).',
  'UNSUBSCRIBE, PUNSUBSCRIBE, SUNSUBSCRIBE without names; PUBSUB CHANNELS: Redis: in the order of a hash table; here: in the order of subscribing (repeatable).',
  'Members and fields of hash tables (SMEMBERS, HGETALL of large or mixed collections): Redis: in the order of a hash table; here: in the order of adding (repeatable).',
  'Cursors of SCAN, HSCAN, SSCAN and ZSCAN: Redis: positions in a hash table, so that an item may come twice when the table shrinks; here: numbers of items, from the newest to the oldest (what stays is returned exactly once, what comes meanwhile is not).',
  'SWAPDB that makes several waited-for keys ready at once: Redis: served in the order of a hash table; here: in the order of waiting (repeatable).',
  'HRANDFIELD and SRANDMEMBER with a count below -16777216: Redis: tries, and dies of it; here: `ERR value is out of range` (no reply can hold so many).',
  'KEYS, SCAN, RANDOMKEY, ZSCAN of large sorted sets, SORT BY nosort of a set: Redis: in the order of a hash table seeded at start; here: in the order of adding (scans from the newest), a seeded choice (repeatable; the promise of scans is the same).',
  'Members of a set of equal weight in SORT ALPHA: Redis: in the order of a hash table, as far as its sort leaves it; here: in that of adding (repeatable).',
  "ZRANGE BYLEX and its like over members of different scores, which the documentation leaves open: Redis: depends on LIMIT and, beyond a listpack's size, on the random levels of its skiplist; here: always as on a listpack without LIMIT (repeatable).",
  'maxmemory: Redis: what its allocator has handed out; here: what redis-server 7.0 would need for the same data, reckoned for each key when it is written; used_memory is within a quarter of the real one, buffers of clients do not count.',
  'Which keys a policy evicts: Redis: the best of samples taken at random; here: the best of as many samples, drawn with the seed of the host (repeatable).',
  'OBJECT REFCOUNT of a small integer that COPY made, or of a value that EXEC or a script still holds: Redis: counts them; here: 2147483647 for a small integer, 1 for all else (nothing here depends on it).',
  'ZRANDMEMBER with a count below -16777216: Redis: tries, and dies of it; here: `ERR value is out of range` (no reply can hold so many).',
  "Lua: the sign of a NaN (`tostring(-(0/0))`, `tonumber('nan')`): Redis: `nan` or `-nan`; here: always `-nan`, as `0/0` prints (JavaScript does not tell NaNs apart).",
  'Lua: settings of cjson (`cjson.encode_number_precision(3)`): Redis: last until the server ends, for all scripts; here: last until the script ends (one test must not change another).',
  'Lua: order of `pairs(_G)`, of keys that are tables or functions, and what `tostring(table)` says: Redis: depends on addresses; here: depends on the order of use (repeatable).',
  "Lua: `^` and math.pow: Redis: C's pow; here: the nearest double for whole numbers, else V8's (the last of 15 digits differs now and then).",
  'Lua: depth of recursion: Redis: 16,381 on a fresh server, then 19,997; here: 19,997 (a fresh Redis grows its stack in powers of two).',
  'Lua: `error` with a table that has no `err` field: Redis: dies of it; here: an error.',
  'Lua: a pattern that takes long: Redis: dies of some, and cannot be interrupted in others; here: a script in it can be killed like any other.',
  "Lua: a script that has paused and takes more than half of the process' memory: Redis: goes on until the system ends it; here: `not enough memory` (the process it lives in is the test's own).",
  "Lua: strings of 512 MB and more, tables of more than 67 million entries: Redis: taken from memory; here: `not enough memory` (JavaScript's longest string is 512 MB).",
  'Lua: cmsgpack and cjson deeper than 1,500 tables (cjson only where its own limit of 1,000 was raised): Redis: 4,000 and 7,997; here: `stack overflow`.',
  'Lua: `return pcall(error, message, 2)`: Redis: names the line; here: does not (it is a tail call like any other).',
  'Lua: `load` with a reader that never ends: Redis: stops at the first mistake in the text; here: some pieces later.',
  "Lua: chains of more than 1,000 operators or 200 suffixes (`a.b.c…`) in one expression: Redis: compiled; here: `chunk has too many syntax levels` (JavaScript's parser recurses).",
  'SCRIPT DEBUG YES and SYNC: Redis: the next script runs in a debugger; here: an error (there is no debugger).',
  'Lua: `string.dump`: Redis: bytecode, which Redis does not load; here: `unable to dump given function` (there is no bytecode).',
  "Distances between places: Redis: C's sine and arc sine, which miss the nearest double in one case per thousand; here: always the nearest (four decimals are the same; GEOSEARCHSTORE with STOREDIST may show the 17th digit).",
  'PFADD to a HyperLogLog whose last run is cut off: Redis: goes on with what lies behind it in memory; here: `INVALIDOBJ` (nothing can be known of it).',
  'Fields of hashes that end (7.4): where active expiry is off, Redis removes each at its own first touch, and HLEN counts the others; here: all that are due go at the first touch of any. One HDEL tells replicas of all of them; Redis sends one for each.',
  'INCREX (8.8): not served, as its options still differ between the documents about it.',
];
