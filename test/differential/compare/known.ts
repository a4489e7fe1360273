/** Every known difference from redis-server 7.0.15. The tester reads its exceptions here, and docs/differences.md is generated from it. */
import type { Rule } from './rule.ts';

/** Commands that redis-server 7.0 does not have, with their tests. */
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
  'client|setinfo': 'Redis 7.2; test/server/clients/handshake.realtime.test.ts',
  'client|no-touch': 'Redis 7.2; test/server/figures/observer.realtime.test.ts',
  'client|capa': 'Valkey 8.0; test/server/dialects/new-commands.beside.test.ts',
  'client|import-source': 'Valkey 8.1; test/server/dialects/new-commands.beside.test.ts',
  'script|show': 'Valkey 8.0; test/server/dialects/new-commands.beside.test.ts',
  xackdel: 'Redis 8.2; test/server/dialects/new-commands.beside.test.ts',
  xdelex: 'Redis 8.2; test/server/dialects/new-commands.beside.test.ts',
  increx: 'Redis 8.8, from its documentation; test/server/dialects/redis-8.8.test.ts',
  xcfgset: 'Redis 8.6; test/server/dialects/redis-8.6.realtime.test.ts',
  xidmprecord: 'Redis 8.6; test/server/dialects/redis-8.6.realtime.test.ts',
  xnack: 'Redis 8.8, from its documentation; test/server/dialects/redis-8.8.test.ts',
  ...Object.fromEntries(
    'VADD VCARD VDIM VEMB VGETATTR VINFO VISMEMBER VLINKS VRANDMEMBER VREM VSETATTR VSIM'
      .split(' ')
      .map((name) => [name, 'Redis 8.0; test/server/commands/vector/']),
  ),
  waitaof: 'Redis 7.2; test/server/replication/replication.realtime.test.ts',
};

/** Commands that are not generated here, because a comparison of their own has what they depend on under control. */
export const controlled: Record<string, string> = {
  ...Object.fromEntries(
    'failover psync replconf replicaof slaveof sync wait waitaof'
      .split(' ')
      .map((name) => [name, 'replicas and primaries played by the tester: test/differential/replicas']),
  ),
  migrate: 'the nodes of a cluster, between which it moves keys: test/differential/cluster',
};

/** Commands that are not generated, each with the reason; they are tested by hand. */
export const excluded: Record<string, string> = {
  monitor:
    'a real server shows a monitor its own requests after their replies, and some requests that it refuses; test/server/figures/observer.realtime.test.ts',
  pfselftest: 'the real servers test themselves for a second, in which keys expire; test/transcripts',
};

/** The reason for texts that each server words differently. */
export const helpReason = 'HELP of every container uses our own summaries.';

/** Why an order is not compared. That of compact encodings is, in the data at the end of each program. */
const HASHED = 'it is in the order of a hash table, whose seed each server draws when it starts';
const DRAWN = 'it is drawn at random, and no seed can be set';

const RULES =
  'single commands are in the order of a hash table, and each server lists those that only it has';

const CONNECTION =
  "numbers, addresses, times and buffers are each server's own; all other fields are compared";

/** Commands whose answers are compared by a rule weaker than byte for byte, with the reason. */
export const loose: Record<string, readonly [Rule, string]> = {
  'acl|cat': ['unordered', HASHED],
  'acl|genpass': ['size', DRAWN],
  'command|list': ['unordered', HASHED],
  'acl|getuser': ['rules', RULES],
  'acl|list': ['rules', RULES],
  'client|info': ['client', CONNECTION],
  'client|list': ['client', CONNECTION],
  'hotkeys|get': [
    {
      every: {
        fields: {
          'all-commands-all-slots-us': 'shape',
          'net-bytes-all-commands-all-slots': 'shape',
          'collection-start-time-unix-ms': 'near',
          'collection-duration-ms': 'shape',
          'total-cpu-time-user-ms': 'shape',
          'total-cpu-time-sys-ms': 'shape',
          'total-net-bytes': 'shape',
          'by-cpu-time-us': 'shape',
          'by-net-bytes': 'shape',
        },
      },
    },
    'how long requests take is a matter of chance, and how long some replies are; test/server/figures/hot-keys.test.ts has the bytes',
  ],
  info: [
    'report',
    "its fields are the server's own; INFO replication is exact in test/differential/replicas",
  ],
  lastsave: ['nearSeconds', 'the servers do not save at the same moment'],
  randomkey: ['shape', DRAWN],
  role: [
    { each: ['exact', 'shape', { every: { each: ['shape', 'exact', 'shape'] } }] },
    'its offsets count the bytes since the server started; exact in test/differential/replicas',
  ],
  time: [{ each: ['nearSeconds', 'shape'] }, 'it is the clock, whose microseconds differ'],
  'acl|log': [
    {
      every: {
        fields: {
          'age-seconds': 'shape',
          'client-info': 'client',
          'entry-id': 'shape',
          'timestamp-created': 'near',
          'timestamp-last-updated': 'near',
        },
      },
    },
    'entries are numbered from the start of each server, and have the time',
  ],
  'command|': [
    'info',
    'subcommands are in the order of a hash table; notes on key specifications are in our own words',
  ],
  'command|docs': ['docs', 'its prose is in our own words'],
  'command|info': [
    'info',
    'subcommands are in the order of a hash table; notes on key specifications are in our own words',
  ],
  'latency|doctor': ['shape', 'its advice is in our own words'],
  'latency|histogram': [
    { every: { fields: { histogram_usec: 'shape' } } },
    'how long requests take is a matter of chance',
  ],
  lolwut: ['shape', 'its picture is our own'],
  'memory|doctor': ['shape', 'its advice is in our own words'],
  'memory|malloc-stats': ['shape', "its figures are the allocator's"],
  'memory|stats': [
    'names',
    "its figures are the allocator's, and databases that were used once may be listed",
  ],
  'config|get': ['pairs', HASHED],
  'function|dump': ['payload', HASHED],
  'function|list': ['info', HASHED],
  dump: [
    'payload',
    'a hash table is written in the order of its buckets, whose seed each server draws; the nodes of lists and streams depend on their history, and ours have no gaps',
  ],
  hgetall: ['pairs', HASHED],
  hkeys: ['unordered', HASHED],
  hvals: ['unordered', HASHED],
  keys: ['unordered', HASHED],
  'object|idletime': ['nearSeconds', 'it counts seconds'],
  VINFO: [
    { fields: { 'max-level': 'shape', 'vset-uid': 'shape' } },
    'layers are drawn at random, and sets are numbered from the start of each server',
  ],
  VLINKS: ['shape', 'the links are chosen at random'],
  VRANDMEMBER: ['unordered', 'it is drawn at random; only counts that take all elements are generated'],
  'memory|usage': [
    'shape',
    'the size of a hash table depends on its history, and that of a block on the allocator; tables, lists and streams are estimated; exact values are in test/transcripts',
  ],
  pexpiretime: ['near', 'a relative expiry counts from when each server executes it'],
  expiretime: ['nearSeconds', 'a relative expiry counts from when each server executes it'],
  pttl: ['near', 'time passes between the two servers'],
  'pubsub|channels': ['unordered', HASHED],
  'pubsub|shardchannels': ['unordered', HASHED],
  sdiff: ['unordered', HASHED],
  sinter: ['unordered', HASHED],
  smembers: ['unordered', HASHED],
  spop: ['unordered', `${HASHED}; only counts that take all members are generated`],
  sunion: ['unordered', HASHED],
  ttl: ['nearSeconds', 'time passes between the two servers'],
};

/** A difference that is accepted in the replies that show it. */
export interface Accepted {
  readonly name: string;
  readonly reason: string;
  /** The dialects in which the real server differs so; all when left out. */
  readonly dialects?: readonly string[];
  /** True when the data differs from here on, so that the rest of the program cannot be compared. */
  readonly ends?: boolean;
  /** True for a request whose replies may differ in this way. The replies are printed bytes. */
  applies(argv: readonly string[], mine: string, theirs: string): boolean;
}

const TAKEN = /(Function|Library) \w+ already exists/;

const NO_WEIGHT = "One or more scores can't be converted into double";

/** The last time that Redis' 64 bits can represent, as its Lua passes it on, and the last time here. */
const ENDS = ['-9223372036854775808', '9223372036854774784'] as const;

/** True when two printed replies have the same lines in any order, but for those that tell the time. */
function sameLines(mine: string, theirs: string, time?: RegExp): boolean {
  const lines = (text: string): string =>
    text
      .split('\r\n')
      .map((line) => (time?.test(line) === true ? ':' : line))
      .sort()
      .join();
  return lines(mine) === lines(theirs);
}

export const accepted: readonly Accepted[] = [
  {
    name: 'maps of Lua on Valkey',
    reason:
      "Maps that a script returns are in the order of Lua's hash table, which Valkey fills in an order of its own. Here it is always that of Redis.",
    dialects: ['valkey-8.1', 'valkey-9'],
    applies: (argv, mine, theirs) =>
      /^(eval|fcall)/i.test(argv[0] ?? '') &&
      sameLines(mine, theirs, argv.some((word) => /^xinfo$/i.test(word)) ? /^:\d+$/ : undefined),
  },
  {
    name: 'OBJECT REFCOUNT of what a script has stored',
    reason:
      'OBJECT REFCOUNT, in a script, of a string that this script has stored: Valkey 9 also counts the word that the script still holds. Here it is 1.',
    dialects: ['valkey-9'],
    applies: (argv, mine, theirs) =>
      /^(eval|fcall)/i.test(argv[0] ?? '') &&
      argv.some((word) => /^refcount$/i.test(word)) &&
      theirs.replaceAll(':2\r\n', ':1\r\n') === mine.replaceAll(':2\r\n', ':1\r\n'),
  },
  {
    name: 'OBJECT REFCOUNT of what a transaction has stored',
    reason:
      'OBJECT REFCOUNT, in a transaction, of a string that this transaction has stored: Redis also counts the words that EXEC still holds. Here it is 1.',
    // The elements of EXEC have no marker, which every other reply has.
    applies: ([name = '', sub = ''], mine, theirs) =>
      /^object$/i.test(name) && /^refcount$/i.test(sub) && mine === '1' && /^\d{1,6}$/.test(theirs),
  },
  {
    name: 'MEMORY MALLOC-STATS of a server without statistics of its allocator',
    reason:
      'MEMORY MALLOC-STATS: a server that was built without jemalloc answers in RESP3 with a plain string that it has no figures. Here the figures are text with a format, as with jemalloc.',
    // The elements of EXEC have no marker. A script may tell the type of the text.
    applies: (argv, mine, theirs) =>
      argv.some((word) => /^malloc-stats$/i.test(word)) &&
      theirs.includes('Stats not supported') &&
      (/^eval/i.test(argv[0] ?? '') ||
        (theirs.startsWith('$') && mine.startsWith('=')) ||
        mine === `txt:${theirs}`),
  },
  {
    name: 'VINFO in a script that uses RESP3',
    reason:
      'The names in VINFO are statuses, which are tables in Lua. A script that returns such a map answers it in the order of their addresses in Redis. Here the order is that of VINFO.',
    dialects: ['redis-8.0', 'redis-8.2', 'redis-8.6'],
    applies: (argv, mine, theirs) =>
      /^eval/i.test(argv[0] ?? '') &&
      argv.some((word) => /^vinfo$/i.test(word)) &&
      sameLines(mine, theirs, /^:\d+$/),
  },
  {
    name: 'PEXPIRETIME of the last instant, in a script',
    reason:
      "Times beyond 2^53 ms (the year 287396) are exact in Redis, and the last one overflows when a script passes it on. Here they are rounded to a double's 53 bits.",
    applies: (_argv, mine, theirs) => mine.includes(ENDS[1]) && theirs.replaceAll(...ENDS) === mine,
  },
  {
    name: 'SORT after a number that was out of range',
    reason:
      "SORT: Redis 7.0 does not clear C's errno before it parses a weight, and reports the error of an earlier request (a cursor, a score) as its own.",
    ends: true,
    applies: (_argv, mine, theirs) => theirs.includes(NO_WEIGHT) && !mine.includes(NO_WEIGHT),
  },
  {
    name: 'FUNCTION LOAD and RESTORE of several names that are taken',
    reason:
      'FUNCTION LOAD and RESTORE when several names are taken: Redis reports the first one in the order of a hash table. Here it is the first one in the code.',
    applies: (argv, mine, theirs) =>
      /^function$/i.test(argv[0] ?? '') &&
      TAKEN.test(mine) &&
      TAKEN.exec(mine)?.[1] === TAKEN.exec(theirs)?.[1],
  },
];

for (const name of ['hexpiretime', 'hpexpiretime', 'hpttl', 'httl']) {
  loose[name] = [{ every: 'near' }, 'a relative expiry counts from when each server executes it'];
}

const PENDING: Rule = { every: { each: ['exact', 'exact', 'near', 'exact'] } };
const CONSUMER: Rule = {
  fields: {
    'seen-time': 'near',
    'active-time': 'near',
    pending: { every: { each: ['exact', 'near', 'exact'] } },
  },
};
/**
 * XINFO STREAM FULL: the times of delivery, and how many ids of producers are tracked: each server forgets the old ones
 * once a second, at moments of its own.
 */
export const streamInfo: Rule = {
  fields: {
    'pids-tracked': 'shape',
    'iids-tracked': 'shape',
    groups: { every: { fields: { pending: PENDING, consumers: { every: CONSUMER } } } },
  },
};

const DELIVERED = 'times of delivery, and of forgetting the ids of producers, are those of each server';
loose.xpending = [PENDING, DELIVERED];
loose['xinfo|stream'] = [streamInfo, DELIVERED];
loose['xinfo|consumers'] = [{ every: { fields: { idle: 'near', inactive: 'near' } } }, DELIVERED];

/** What is known of a server from documentation alone: the dialect, the behaviour, where it is documented, and when it was read. */
export const documented: readonly (readonly [dialect: string, what: string, page: string, date: string])[] = [
  [
    'redis-8.8',
    'INCREX: syntax, bounds, expiry, errors, replication as SET and events',
    'https://redis.io/docs/latest/commands/increx/ and tests/unit/type/increx.tcl of Redis 8.8',
    '2026-11-22',
  ],
  [
    'redis-8.8',
    'XNACK: modes, errors, the order in which released entries are delivered, XPENDING of released entries',
    'https://redis.io/docs/latest/commands/xnack/ and https://github.com/redis/redis/pull/14797',
    '2026-11-22',
  ],
  [
    'redis-8.8',
    'XNACK: replicated as one XNACK with RETRYCOUNT and FORCE for each entry, wakes consumers that wait with CLAIM. XREADGROUP with CLAIM answers the time since 1970 as the idle time of a released entry. `nacked-count` is the last field of a group in XINFO STREAM FULL. The pages do not say this.',
    'https://redis.io/docs/latest/commands/xnack/',
    '2026-11-22',
  ],
  [
    'redis-8.8',
    'AGGREGATE COUNT of ZUNION, ZINTER, ZUNIONSTORE and ZINTERSTORE',
    'https://redis.io/docs/latest/commands/zunionstore/ and https://github.com/redis/redis/pull/14892',
    '2026-11-22',
  ],
  [
    'redis-8.8',
    'Keyspace events that name the fields of a hash (notify-keyspace-events S, T, I, V)',
    'https://redis.io/docs/latest/develop/pubsub/subkeyspace-notifications/',
    '2026-11-22',
  ],
  [
    'redis-8.8',
    'RDB version 14: streams with released entries (form 27). Arrays are not read.',
    'https://github.com/redis/librdb/pull/98',
    '2026-11-22',
  ],
];

/** Differences that no generated request shows, in the page's words. */
export const prose: readonly string[] = [
  'HOTKEYS (redis-8.6): Redis keeps an estimate of the keys that cost most. Here every key that was used is counted, so the figures are exact, and keys that cost the same are in the order of their first use. A request that waited for its reply is not counted.',
  'When a replica cannot read a dataset (a value of an unknown module, an unknown version), Redis has already dropped its own data and asks again at once, forever. Here the replica keeps its data, asks again after 1, 2, 4 … at most 60 s, and reports the reason in the log and in `master_link_error` of INFO.',
  'MIGRATE: Redis serves nobody until the target has answered, and keeps the connection, its user and its database for the next MIGRATE. Here only requests that could see or change one of the keys wait (in a transaction all wait), and each MIGRATE has a connection of its own. A host with an unknown name is reported like one that cannot be written to. Scripts cannot call MIGRATE.',
  'Times in INFO commandstats and latencystats, LATENCY HISTOGRAM: Redis measures every call. Here every 64th call of a command is measured, and every call while SLOWLOG asks for less than a millisecond, or LATENCY or MONITOR is on (two readings of the clock take a third of the time of a SET).',
  'SLOWLOG at its usual thresholds is exact to the microsecond in Redis. Here it is exact to the millisecond, and a transaction or script counts as a whole.',
  "DEBUG is refused by Redis unless enable-debug-command allows it. Here it is allowed unless that is `no`, because this is a server for tests. HTSTATS, STRUCTSIZE, SDSLEN and other subcommands about Redis' internals are missing. QUICKLIST-PACKED-THRESHOLD checks its size and has no effect. LOADAOF is an error on a server without a place for an append-only file.",
  'SHUTDOWN: Redis waits up to shutdown-timeout for replicas that lag. Here the server ends at once.',
  'tracking-table-max-keys: when the table of tracked keys is full, Redis and Valkey forget random keys, before the next request. Here the oldest keys are forgotten, after the request that filled it.',
  'Names with a NUL: Valkey ends the name of a subcommand at it. Redis 8 also runs a command whose name goes on behind a NUL if the request before had the same command. Here there is no such command, as in Redis 7.0.',
  'MONITOR: a client that monitors gets the line of its own request before the reply, and in Redis after it. Redis shows an EXEC with too many words although it refuses it, and hides the words of AUTH only if their number is right.',
  'LATENCY DOCTOR, LATENCY GRAPH and MEMORY DOCTOR have texts and drawings of their own.',
  'ACL LIST and ACL GETUSER list single commands after the categories: Redis in the order of a hash table, here in the order of our table (repeatable).',
  'INFO: the instantaneous figures of Redis cover the last second and a half. Here they cover the time since the last INFO. Memory and times are our own figures. Fields about C, its compiler and its threads are missing. With more than 10,000 keys in a database, keysizes is an estimate from a sample of them: keys are counted when it is asked for, and not at every write.',
  'SORT with BY or GET reports missed keys in the order of its look-ups, which in Redis is the order of a hash table.',
  'AUTH and HELLO with a wrong password, in a transaction or behind other requests of a pipeline: Redis 7.2 and later, and Valkey, may send no reply at all, so that the client takes the next reply for it. Here the error is always sent.',
  'QUIT closes a connection that has turned replies off. Redis 7.0 leaves it open without reading from it.',
  'CONFIG: port, bind and unixsocket cannot be changed while the server is running: CONFIG SET answers as a server that cannot listen there. TLS cannot be changed either while it is in use, nor be switched on: the error is that of a server whose certificates cannot be read. Sizes above 2^53 bytes are rounded. repl-backlog-size may be below 16 KiB.',
  '[parameters.md](parameters.md) lists the parameters that are accepted without effect, and the values that are refused at startup and by CONFIG SET, with the reason.',
  'SAVE and BGSAVE: Redis writes a file. Here the dump is kept in memory unless a dump file was named (`rdbFile`, `--dir`, `--dbfilename`). BGSAVE and BGREWRITEAOF start a process in Redis. Here they are in progress for one period of `hz` (a tenth of a second), or for `rdb-key-save-delay` microseconds a key if that is longer, and BGREWRITEAOF writes nothing unless there is a place for an append-only file.',
  'appendonly is refused unless `dir`, `appenddirname` or `appendfilename` names a place: nothing is written to a disk that was not asked for. appendfsync everysec syncs when the next second begins; Redis may do so up to a second earlier. aof_delayed_fsync is always 0.',
  'A crash that leaves half of a transaction at the end of an append-only file: Redis cuts off the last half command and keeps the MULTI, if that command is cut, so that the next start takes back everything written after it. Here the whole transaction is cut off.',
  'Hashes with times of fields, vector sets, and streams with entries that a consumer gave back are RESTORE commands in the base of an append-only file with aof-use-rdb-preamble no. A damaged RDB in an append-only file is refused with a text of our own.',
  'DEBUG RELOAD NOFLUSH without MERGE, when a key of the dump exists, crashes Redis. Here it is an error, and nothing changes.',
  'An ACL file with a parenthesis that is not closed crashes all servers. Here it is an error like the others.',
  'CLIENT UNBLOCK of a client whose request CLIENT PAUSE holds back (redis-7.0, redis-8.0, valkey-8.1): Redis 7.0 and 8.0 and Valkey 8.1 crash. With ERROR they answer the client with the error instead, and 7.0 runs the request later as well. Here the reply is 0, and the request goes on to wait, as in later servers.',
  'CLIENT NO-TOUCH ON (redis-8.0, valkey-8.1): Redis 8.0.2 and Valkey 8.1.1 crash when this client writes to a key that another client waits for (https://github.com/valkey-io/valkey/pull/2347). Here the waiting client is served.',
  'HSETEX with a time that names a field twice (redis-8.6): Redis 8.6.2 fails an assertion in t_hash.c and ends, if the hash is or becomes a hash table and has no times yet (`HSET h x <65 bytes>`, `HSETEX h EX 9 FIELDS 2 a 1 a 2`). Here the field has the last value.',
  'PFDEBUG SIMD with a word that is neither ON nor OFF (Redis 8, Valkey): the server sends the error, and then the reply of a word that it knows, so that the client takes it for the reply to the next request. Here only the error is sent.',
  'DUMP does not compress its payloads.',
  'A compact form in a dump file or a payload of RESTORE that has a member twice, half a pair, members out of order, a wrong count of elements or a score that is no number: Redis 7.0 to 8.6 and Valkey 8.1 do not look into most of them (sanitize-dump-payload is no by default), load them, and answer from what is there: SISMEMBER of a set out of order may miss a member, and HGETALL shows a field twice. A listpack or an intset with a member twice crashes all of these servers as soon as the value takes another form, as with one long field. Valkey 9 refuses all but a sorted set out of order. Here a sorted set is put in order, and the rest is refused. Of a stream, the stored length is believed as it is there, and its runs are counted anew.',
  'Redis 7.0 refuses RDB files later than version 10, and Valkey 8.1 those later than 11. Here every file of version 1 to 14 of Redis, and 80 of Valkey, is read, and a replica accepts every such payload of RESTORE and FUNCTION RESTORE from its primary. Clients get the error of Redis.',
  'A replica of Redis 8 ignores HPERSIST for a field whose time has passed when the command arrives, and then differs from its primary. Here the replica follows its primary.',
  'A replica that does not know a command of its primary, because the primary is newer, logs that in Redis and differs from then on. Here it applies every command and option that one of our dialects has.',
  'Replicas do not offer their primary a second connection for the dataset (`rdb-channel-repl` of Redis 8, `dual-channel` of Valkey), and primaries do not ask for one.',
  'A replica asks again with SYNC in Redis when its primary answers PSYNC with an error, as servers before Redis 2.8 do. Here it gives the attempt up, and tries again a second later.',
  'Keys with a time that clients write on a replica with `replica-read-only no`: Redis removes them itself when their time has passed. Here they are hidden then, count in DBSIZE, and are removed when the replica becomes a primary.',
  'A line without the form of a request in the stream of a primary: a replica of Valkey stays connected and reads nothing more. Here it asks for the whole dataset at once, as in Redis.',
  'Values and metadata of modules are not read from RDB files, except the vector sets of Redis 8. The error names the type of the module.',
  'VSIM (redis-8.0, redis-8.2) compares every element, as Redis does with TRUTH. Without TRUTH Redis searches a graph: it may miss elements, has elements at the same distance in an order of chance, and stops early for FILTER-EF. Scores, and the vectors in every form, are equal to the last bit; the projection of REDUCE has nothing random in Redis either.',
  'VADD (redis-8.0, redis-8.2) adds no layers to the graph, and links an element with the nearest older ones when VLINKS, DUMP or a snapshot first asks for links: VLINKS and max-level of VINFO differ. A graph that was loaded is kept. CAS, EF and NOTHREAD change nothing, because nothing runs in a thread. REDUCE is refused when its matrix would be larger than 256 MiB; Redis tries to allocate it.',
  'VRANDMEMBER (redis-8.0, redis-8.2) gives every element the same chance. Redis walks along links at random.',
  'vset-uid of VINFO (redis-8.0, redis-8.2) is given when it is first asked for.',
  'COMMAND DOCS has summaries, complexities, histories and successors in our own words. Versions, arguments and flags are the same. COMMAND COUNT and COMMAND LIST include the additional commands.',
  'TIME does not change inside a script or a transaction, as in Redis 7.2 and later. In 7.0 it does.',
  "Values are at most 512 MiB less 1 KiB long, because V8 has no longer strings. A longer value is refused with Redis' error for values above proto-max-bulk-len.",
  'repl-diskless-sync-delay is 0 by default (Redis: 5 s). A dataset is always sent with its length, whatever repl-diskless-sync is.',
  "A RESP3 client's own messages (PUBLISH to itself, keyspace events): Redis sends them before or after the reply, and during EXEC between the elements of its array, which breaks it. Here they come before the reply, and after EXEC's reply, because clients would lose track otherwise. Redis 7.2 and later, and Valkey, send them after the reply, and so do their dialects here.",
  'When several patterns of one client match, Redis sends the messages in the order of a hash table that is seeded at startup. Here the order is that of the subscriptions (repeatable).',
  'UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE without names, and PUBSUB CHANNELS, use the order of a hash table in Redis. Here they use the order of the subscriptions (repeatable).',
  'Members and fields of hash tables (SMEMBERS, HGETALL of large or mixed collections) are in the order of a hash table in Redis. Here they are in the order of insertion (repeatable).',
  'HDEL in the replication stream, for fields of a hash that expire together (valkey-9): Valkey names them in the order of a hash table. Here they are in the order of their deadlines (repeatable).',
  'Cursors of SCAN, HSCAN, SSCAN and ZSCAN are positions in a hash table in Redis, so that an item may be returned twice when the table shrinks. Here they are numbers of items, from the newest to the oldest: an item that exists during the whole scan is returned exactly once, and one that is added during the scan is not returned.',
  'A quicklist that shrinks becomes a listpack again when its nodes have become one. In Redis that depends on how the nodes came about; here it depends on the elements alone.',
  'RESTORE of a vector set (redis-8.0, redis-8.2): Redis accepts payloads with an element twice, with more links than the node has room for, and with room that no link needs. Here they are bad data.',
  'SWAPDB that makes several awaited keys ready at once: Redis serves the clients in the order of a hash table. Here they are served in the order of waiting (repeatable).',
  'HRANDFIELD and SRANDMEMBER with a count below -16777216: Redis tries, and crashes. Here the reply is `ERR value is out of range`, because no reply can have so many elements.',
  'KEYS, SCAN, RANDOMKEY, ZSCAN of large sorted sets, and SORT BY nosort of a set: Redis uses the order of a hash table that is seeded at startup. Here it is the order of insertion (scans begin with the newest), or a seeded choice (repeatable, with the same guarantees for scans).',
  'Members of a set with equal weight in SORT ALPHA: in Redis in the order of a hash table, as far as its sort keeps it. Here in the order of insertion (repeatable).',
  'ZRANGE BYLEX and similar commands on members with different scores, which the documentation leaves undefined: in Redis the result depends on LIMIT and, for a skiplist, on its random levels. Here it is that of a listpack without LIMIT, and for a skiplist what halving finds (repeatable).',
  "maxmemory counts what the allocator has handed out in Redis. Here it counts what redis-server 7.0 would need for the same data, computed for each key when it is written. used_memory is within a quarter of the real figure. Clients' buffers do not count.",
  "Which keys a policy evicts: in Redis the best of random samples. Here the best of as many samples, drawn with the host's seed (repeatable).",
  'OBJECT REFCOUNT of a small integer that COPY created, or of a value that a script still holds: Redis counts the references. Here it is 2147483647 for a small integer and 1 for everything else.',
  'ZRANDMEMBER with a count below -16777216: Redis tries, and crashes. Here the reply is `ERR value is out of range`, because no reply can have so many elements.',
  "Lua: the sign of a NaN (`tostring(-(0/0))`, `tonumber('nan')`) is `nan` or `-nan` in Redis. Here it is always `-nan`, like `0/0`, because JavaScript does not distinguish NaNs.",
  'Lua: settings of cjson (`cjson.encode_number_precision(3)`) last until the server ends in Redis, for all scripts. Here they last until the script ends, so that one test does not affect another.',
  'Lua: the order of `pairs(_G)` and of keys that are tables or functions, and the result of `tostring(table)`, depend on addresses in Redis. Here they depend on the order of use (repeatable).',
  "Lua: `^` and math.pow are C's pow in Redis. Here they return the nearest double for integers, and otherwise V8's result (the last of 15 digits differs occasionally).",
  'Lua: the maximum depth of recursion is 16,381 on a fresh Redis and 19,997 later. Here it is always 19,997.',
  'Lua: `error` with a table that has no `err` field crashes Redis. Here it is an error.',
  'Lua: some patterns that take long crash Redis, and others cannot be interrupted. Here a script that matches one can be killed like any other.',
  "Memory: a request that allocates too much continues in Redis until the system ends the process. Here a request may keep a quarter of the heap's limit (`requestMemory`, `--request-memory`), and else gets `ERR ... exceeds the memory limit of one request`, because the process belongs to the test. A script cannot catch this error.",
  "Lua: strings of 512 MB and more, and tables of more than 67 million entries, are limited by memory in Redis. Here they get `not enough memory` (JavaScript's longest string is 512 MB).",
  'Lua: cmsgpack and cjson (cjson only when its own limit of 1,000 was raised) nest 4,000 and 7,997 tables in Redis. Here more than 1,500 give `stack overflow`.',
  'Lua: the error of `return pcall(error, message, 2)` names the line in Redis. Here it does not, because this is a tail call like any other.',
  'Lua: `load` with a reader that never ends stops at the first error in the text in Redis. Here it stops some pieces later.',
  "Lua: chains of more than 1,000 operators or 200 suffixes (`a.b.c…`) in one expression are compiled by Redis. Here they give `chunk has too many syntax levels` (JavaScript's parser recurses).",
  'SCRIPT DEBUG YES and SYNC run the next script in a debugger in Redis. Here they are an error, because there is no debugger.',
  'Lua: `string.dump` returns bytecode in Redis, which Redis does not load. Here it returns the header of bytecode alone.',
  "Distances between places: Redis uses C's sine and arc sine, which miss the nearest double in one of a thousand cases. Here the nearest double is always used (four decimals are the same; GEOSEARCHSTORE with STOREDIST may show the 17th digit).",
  'PFADD to a HyperLogLog whose last run is truncated: Redis continues with the bytes after it in memory. Here it is `INVALIDOBJ`.',
  'Hash fields that expire (7.4): when active expiry is off, a command removes the expired fields that it names, as in Redis. There, HEXPIRE, HDEL, HMGET and, in 8.0, HSETEX do not: HEXPIRE brings such a field back, and HDEL counts it. HSCAN, HRANDFIELD and HLEN leave the others out; in Redis, they remove or count some of them.',
];
