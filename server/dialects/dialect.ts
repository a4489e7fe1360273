/**
 * A dialect describes the server that a node answers as: its name and version, and each behaviour in which servers differ.
 * Other code asks for a behaviour by name, never for a version, so a new dialect is one new file. The command table says
 * which commands and options each server has.
 */
import type { RdbFormat } from '../../keyspace/rdb/formats.ts';
import type { GroupCounts } from '../../keyspace/stream/lag.ts';
import type { StringPlace } from '../../keyspace/string-place.ts';
import type { Bytes } from '../../protocol/bytes.ts';
import type { ScriptTexts } from '../../scripting/runtime/texts.ts';
import type { ClientField } from '../clients/fields.ts';
import type { LaterField } from '../figures/info-fields.ts';
import type { ClusterTraits } from './cluster.ts';
import type { SentinelTraits } from './sentinel.ts';

/** A module that is part of a server. */
export interface BuiltInModule {
  readonly name: Bytes;
  readonly version: number;
  /** The path that MODULE LIST reports. */
  readonly path: Bytes;
  /** Its options, as INFO names them. */
  readonly options: readonly Bytes[];
}

/**
 * A fix that some servers have and others of a later version lack. 'keys of repeated options': permissions and COMMAND
 * GETKEYS find the keys of GEORADIUS, XREAD and XREADGROUP as the commands do (Redis 8.2.9, and Debian's updates of 8.0.2).
 */
export type Fix = 'keys of repeated options';

/** The behaviours in which servers differ, each with the choice that one server makes. */
export interface Dialect {
  /** The name that `startServer({ dialect })` and `--dialect` take. */
  readonly name: string;
  /** The server and its version. Only `since.ts` reads them. */
  readonly server: { readonly family: 'redis' | 'valkey'; readonly version: string };
  /** The server and its version in HELLO's reply. */
  readonly hello: { readonly server: Bytes; readonly version: Bytes };
  /** The same while extended-redis-compatibility is on. */
  readonly helloAsRedis: { readonly server: Bytes; readonly version: Bytes };
  /** The server's name in the errors BUSY, LOADING and MISCONF. It is Redis while extended-redis-compatibility is on. */
  readonly title: 'Redis' | 'Valkey';
  /**
   * The last line of a picture of LOLWUT, the line that stands alone for a version without a picture, and the version of the
   * server's own picture, if it has one.
   */
  readonly lolwut: { readonly signature: Bytes; readonly alone: Bytes; readonly picture: 8 | 9 | undefined };
  /** The fields with which INFO's section `server` names the server. */
  readonly infoVersion: readonly (readonly [name: Bytes, value: Bytes])[];
  /** The name of INFO's field that says whether the node is part of a cluster. */
  readonly infoMode: 'redis_mode' | 'server_mode';
  /** The fields of INFO that Redis 7.0 does not have. */
  readonly infoFields: ReadonlySet<LaterField>;
  /** The format of dump files, full syncs and DUMP payloads, and of the scores in DEBUG DIGEST. */
  readonly rdbFormat: RdbFormat;
  /**
   * What a replica says on its second connection, which carries the dataset alone: the option of REPLCONF that names its first
   * one, and the error for a number that no client has. undefined: there is no such connection.
   */
  readonly syncChannel: { readonly option: Bytes; readonly unknown: Bytes } | undefined;
  /** What a replica sends its primary about itself, besides its capabilities. */
  readonly introduction: readonly (readonly Bytes[])[];
  /** The field of dump files that names the server. */
  readonly dumpVersion: readonly [name: Bytes, value: Bytes];
  /** The parameters whose defaults differ from those of Redis 7.0. */
  readonly settings: Readonly<Record<string, boolean | number | string>>;
  /** The parameters that CONFIG REWRITE writes under a newer name: that name, and ours. */
  readonly renamedSettings: readonly (readonly [shown: Bytes, name: Bytes])[];
  /** How CONFIG REWRITE writes save points. */
  readonly saveLines: 'a line for each' | 'one line';

  // Replies

  /** Whether COMMAND DOCS gives the text to display for each argument. */
  readonly displayText: boolean;
  /** Prints a double in a reply: with 17 digits, or with the fewest digits that give the same number back. */
  printDouble(value: number): Bytes;
  /** Prints a script's number as an argument of a command. Integers below 2^53 are printed in full before this is asked. */
  printArgument(value: number): Bytes;
  /** How GEOPOS and similar commands print coordinates: with up to 17 decimals, or like other doubles. */
  readonly coordinates: 'seventeen decimals' | 'double';
  /** The error of XREAD and XREADGROUP when a key has no id. */
  unbalancedStreams(command: 'xread' | 'xreadgroup'): Bytes;
  /** The error of EVALSHA for an unknown script. */
  readonly noScript: Bytes;
  /** What scripts have, word or check differently. */
  readonly scriptTexts: ScriptTexts;
  /** The error of a script or a function that was killed. */
  readonly killed: Readonly<Record<'script' | 'function', Bytes>>;
  /**
   * Which scripts of EVAL stay known: all, or the 500 that ran last. Those of SCRIPT LOAD stay in any case; loading a script that
   * came with EVAL makes it stay, or changes nothing.
   */
  readonly evaluatedScripts: 'all stay' | 'the last 500' | 'the last 500, unless loaded later';
  /** The error of redis.call for an unknown command. */
  readonly unknownInScript: Bytes;
  /** Whether READONLY and READWRITE work on a node without a cluster. */
  readonly readOnlyWithoutCluster: 'refused' | 'accepted';
  /** Whether the entries of ACL LOG have numbers and timestamps. */
  readonly aclLogIds: boolean;
  /** Whether ACL DRYRUN's refusal names the user. */
  readonly denial: 'this user' | 'by name';
  /** Whose connections ACL LOAD closes. */
  readonly aclLoad: 'closes all but the default user' | 'closes users that are gone';
  /** How ACL GETUSER writes a user's command rules: simplified, or as they were given. */
  readonly aclRules: 'worked out' | 'as given';
  /** When a user's flags name sanitize-payload or skip-sanitize-payload. */
  readonly payloadFlag: 'always' | 'once a rule names it' | 'never';
  /** Whether a client that is not logged in is asked for a password even if there is no such command, or its words are wrong. */
  readonly passwordFirst: boolean;
  /** Whether ACL rules say which databases a user may use (db=, alldbs, resetdbs). */
  readonly databaseRules: boolean;
  /** COMMAND DOCS describes the commands of modules too. */
  readonly describesModules: boolean;
  /** What the server got from a later version without its number: fixes of its security updates. */
  readonly fixes: ReadonlySet<Fix>;
  /** Whether GETEX checks its expiry before it looks the key up. */
  readonly getexExpiry: 'after the key' | 'before the key';
  /** Whether BITCOUNT and BITPOS check their arguments before they look the key up. */
  readonly bitArguments: 'after the key' | 'before the key';
  /** What BITCOUNT does with a start and no end. */
  readonly bitcountWithoutEnd: 'refused' | 'to the end';
  /** What a NUL in a connection's name does: it is refused, or whatever comes after it is allowed. */
  readonly nulInName: 'refused' | 'ends the check';
  /** Whether a timeout that ends after the last 64-bit time is an error of its own. */
  readonly farTimeout: 'taken as it is' | 'refused';
  /**
   * What XREAD does with the id +: refuses it, reads the last entry, or reads the last id that was ever added, even if
   * that entry was deleted. For a stream that never had an entry, the last id is an error, unless the word says `or nothing`.
   */
  readonly readLast: 'refused' | 'the last entry' | 'the last id' | 'the last id, or nothing';
  /** What SCAN does with a type that does not exist. */
  readonly unknownType: 'nothing found' | 'refused';
  /** Which cursors SCAN and its kin accept: what C's strtoul reads, without or with leading blanks. */
  readonly cursors: 'as in C' | 'with blanks';
  /** How ZSCAN prints the scores of a skiplist. */
  readonly scanScores: 'like doubles' | 'seventeen digits';
  /** Whether SCAN with TYPE looks each key up, which counts as a hit. */
  readonly scanTypes: 'looked up' | 'seen';
  /** Which of the expired keys that SCAN meets it removes. */
  readonly scanRemoves: 'every one' | 'those that match the pattern' | 'those that match pattern and type';
  /** How HELLO's refusal before AUTH describes the right request. */
  readonly helloHint: Bytes;
  /** When HELLO applies AUTH and SETNAME: each before it reads the next option, or after it has read all of them. */
  readonly helloOptions: 'one by one' | 'all together';
  /** The error of ACL LOAD and ACL SAVE when no ACL file is configured. */
  readonly noAclFile: Bytes;
  /** The error of redis.call with too few arguments. */
  readonly arityInScript: Bytes;

  // The append-only file

  /** The program that checks and mends append-only files, which errors name. */
  readonly aofChecker: 'redis-check-aof' | 'valkey-check-aof';
  /** How a start names an unknown subcommand in the file: by its command, or with the error that a client would get. */
  readonly unknownInAof: 'the command' | 'its error';
  /** Whether the manifest has the replication offsets of the increments, and a start continues from them. */
  readonly manifestOffsets: boolean;
  /** What the replication offset does without a backlog while writes are stored on the disk. */
  readonly offsetWithoutReplicas: 'stands still' | 'counts effects';
  /**
   * Which offset WAIT and WAITAOF wait for: the one after the client's last command, whatever that was; or the one after its
   * last command with an effect of its own in the stream. Since a blocked client is served within the request of another,
   * that is no command with an effect of its own.
   */
  readonly waitsFor: 'its last command' | 'its last effect';

  /** Whether the error of an unknown command speaks of arguments when there are none. */
  readonly unknownWithoutArguments: 'with an empty list' | 'by its name alone';
  /** Whether the refusal of a command in a transaction names it. */
  readonly refusedInTransaction: 'a command' | 'by its name';
  /** The error of a command that scripts may not call. */
  readonly notFromScript: Bytes;
  /** Which events MSETEX with a time sends first for each key. */
  readonly msetexEvents: 'expire first' | 'set first';
  /** What becomes of the commands of a transaction when one is refused while they are queued. */
  readonly spoiltTransaction: 'keeps its commands' | 'drops its commands';
  /** What must end a header or an argument of a request. */
  readonly linesEnd: 'CR and any byte' | 'CR LF';
  /** Whether MEMORY STATS lists databases that something has asked for and that are empty. */
  readonly emptyDatabases: 'not reported' | 'reported';
  /** What RESET makes of CLIENT IMPORT-SOURCE. */
  readonly resetImport: 'goes on' | 'ends';
  /** What replicas receive when the last fields of a hash expire. */
  readonly lastFields: 'HDEL' | 'HDEL and the key';
  /** The error of redis.call for an unknown subcommand. */
  readonly subcommandInScript: 'as an unknown command' | 'by its name';
  /** How INFO errorstats counts a call of a script that the user's rights do not allow, whose text begins with ERR. */
  readonly deniedInScript: 'ERR' | 'NOPERM';
  /** What LTRIM is when it removes nothing: a change, for WATCH and client-side caching, or an event only. */
  readonly vainTrim: 'a change' | 'an event only';
  /** The name under which GEOADD is replicated. */
  readonly geoaddAs: 'zadd' | 'ZADD';
  /** The errors of MSETEX for a bad number of keys, and for too few pairs. */
  readonly msetexErrors: { readonly number: Bytes; readonly pairs: Bytes };
  /** The error of WAIT on a replica. */
  readonly waitOnReplica: Bytes;
  /** What INFO says of a replica behind its lag. */
  readonly replicaInInfo: Bytes;
  /** Whether replicas get a PING in every period, or when the stream has not grown for that long. */
  readonly pings: 'in every period' | 'when idle';

  /** How CONFIG SET refuses a negative value of an unsigned parameter: by its bounds, or as negative. */
  /** Whether a parameter's number may be written as C reads it: in base 16, and beyond 64 bits as the largest. */
  readonly settingNumbers: 'as in C' | 'in base 10, within 64 bits';
  readonly unsignedSettings: 'within bounds' | 'not negative';
  /** The fields of CLIENT LIST and CLIENT INFO, in their order. */
  readonly clientFields: readonly ClientField[];
  /** Whether CLIENT LIST and CLIENT KILL take one value for a filter, or a list of numbers; LIST then takes them all. */
  readonly clientFilters: 'each takes one value' | 'each takes a list';
  /** When CLIENT LIST shows 0 queued commands, not -1, for a client without a transaction. */
  readonly emptyTransaction: 'never' | 'once one was begun';
  /** Whether CLIENT PAUSE and CLIENT UNBLOCK refuse words that they do not know. */
  readonly surplusWords: 'refused' | 'ignored';

  /** What MONITOR and the logs of commands hide. Later servers also hide the passwords of TLS keys. */
  readonly hides: 'passwords' | 'passwords and names of users';
  /**
   * Which requests are read into a buffer that all clients share. CLIENT INFO and CLIENT LIST do not count it in `qbuf`, until a
   * request of another kind gives the client a buffer of its own.
   */
  readonly sharedQueryBuffer: 'none' | 'for lone requests' | 'for whole requests';
  /** Whether PFDEBUG SIMD switches the faster instructions of processors, which change no reply. */
  readonly switchesSimd: boolean;
  /** How SLOWLOG shows the commands that scripts call. */
  readonly slowInScript: 'by ?:0' | 'by nobody' | 'as 0, by the caller';
  /** What the logs of large requests and replies say about a command that a script calls: the script's request, or its reply. */
  readonly sizesInScript: 'of the request' | 'of the reply';
  /** Whether there are logs of large requests and replies (COMMANDLOG). */
  readonly sizeLogs: boolean;

  // Data

  /** What LPOS does with the lowest RANK, which has no positive counterpart: it counts as -1, or is refused. */
  readonly lowestRank: 'the first from the tail' | 'refused';
  /** The encoding of lists with few elements. */
  readonly smallList: 'quicklist' | 'listpack';
  /** The encoding of small sets whose members are not all integers. */
  readonly smallSet: 'hashtable' | 'listpack';

  /** How an integer is stored that a script sets as a string: as a number, like every other, or as the text. */
  readonly integersOfScripts: 'as numbers' | 'as text';
  /** Where a short string is stored, and so which strings have the encoding embstr. */
  readonly stringPlace: StringPlace;
  /** How far the count of entries that a consumer group has read is trusted, for lag and entries-read of XINFO. */
  readonly groupCounts: GroupCounts;
  /** What XSETID does with an id smaller than that of a deleted entry. */
  readonly setIdBelowDeleted: 'accepted' | 'refused';
  /** Whether XADD and XTRIM with `~` remove entries where DELREF or ACKED says what happens to references. */
  readonly approximateTrims: 'not with DELREF or ACKED' | 'with every policy';
  /** Whether the position of a destroyed group still counts where ACKED asks which entries all groups have read. */
  readonly destroyedGroup: 'still counts' | 'no longer counts';
  /** What XGROUP does with an ENTRIESREAD that is larger than the number of entries ever added. */
  readonly entriesRead: 'as given' | 'at most all';

  // Vector sets

  /** The modules that the server brings with it, as MODULE LIST, HELLO and INFO report them. */
  readonly modules: readonly BuiltInModule[];
  /** What VSIM's EPSILON limits: the distance, which is 2 for opposite vectors, or half of it. */
  readonly epsilon: 'the distance' | 'half the distance';
  /** Whether null in a FILTER expression is a value or is left out. */
  readonly filterNulls: 'values' | 'left out';
  /** Where the operator `in` of a FILTER expression looks. */
  readonly filterIn: 'in lists' | 'in lists and texts';

  // Effects and events

  /** Whether SET takes NX or XX behind a comparison, and IFEQ twice. */
  readonly conditions: 'one' | 'a comparison, then NX or XX';
  /** What SET does with a deadline in the past: it stores the string, which then expires, or only removes the key. */
  readonly setInThePast: 'stored' | 'not stored';
  /** How replicas remove a key that RESTORE replaced by a value whose deadline has passed. */
  readonly restoreRemoves: 'with DEL' | 'as lazyfree-lazy-server-del says';
  /** The keyspace event when a command sets a deadline in the past. */
  readonly pastDeadline: 'del' | 'expired';
  /** How replicas receive a SET with PXAT: in a short form like every other expiry, or unchanged. */
  readonly setWithPxat: 'rewritten' | 'as sent';
  /** Whether a long member that ZADD names makes a sorted set a skiplist even if XX keeps it out. */
  readonly longestOfZadd: 'counts' | 'does not count';
  /** What a transaction queues while no memory is left: nothing, or commands that need none. */
  readonly queueWithoutMemory: 'nothing' | 'what needs none';
  /** What is at a negative offset of LIMIT in ZRANGE and its kin. */
  readonly negativeOffset: 'nothing' | 'from the end of a skiplist';
  /** How a client that waits for keys is served when one is ready: from that key alone, or as if it asked again. */
  readonly serveWaiting: 'from the ready key' | 'as if asked again';
  /** When INFO commandstats counts the call of a client that waits. One that leaves is not counted at its end. */
  readonly waitingCalls: 'counted when they begin' | 'counted when they end';
  /** How commandstats counts a wait that CLIENT UNBLOCK or REPLICAOF ends: failed or rejected, and in which case. */
  readonly endedByForce: 'failed, by CLIENT UNBLOCK' | 'failed, with an error' | 'rejected, with an error';
  /** Whether LREM refuses the smallest count, and LSET takes the lower 32 bits of the index. */
  readonly listNumbers: 'as they are' | 'checked and cut';
  /** How many of the members that SPOP removed are in one SREM for the replicas. */
  readonly poppedTogether: number;
  /** How replicas receive MSETEX with EXAT. */
  readonly msetexWithExat: 'as sent' | 'as PXAT';
  /** Where the SELECT of a transaction is in the replication stream. */
  readonly transactionSelect: 'before MULTI' | 'after MULTI';
  /** Whether FLUSHALL and FLUSHDB free the keys in another thread even without ASYNC, which only INFO shows. */
  readonly syncFlush: 'frees at once' | 'frees in another thread';
  /** Whether FUNCTION FLUSH ASYNC frees the interpreter of functions with them, which only INFO shows. */
  readonly flushedInterpreter: 'kept' | 'freed';
  /**
   * Whether SCRIPT FLUSH and FUNCTION FLUSH ask CONFIG GET for a parameter of Lua when they make a new interpreter. The
   * request counts as one of the client's, in INFO commandstats and in the slow log too.
   */
  readonly newInterpreter: 'asks nothing' | 'asks CONFIG GET';
  /** Whether a RESP3 client gets the messages that its own command causes before or after the reply. */
  readonly ownMessages: 'before the reply' | 'after the reply';
  /** In which order CONFIG GET lists parameters. Redis has none: it follows a hash table. */
  readonly settingsOrder: 'of the table' | 'by name';
  /** What COMMAND INFO answers in place of a command's subcommands if it has none. Those of others are an array. */
  readonly noSubcommands: 'an empty set' | 'an empty array';
  /** Whether redis.acl_check_cmd takes a command with any number of words. */
  readonly aclCheckWords: 'any number' | 'counted';
  /** Whether EXEC asks the rules of ACL again whether the user may use the keys of a queued command. */
  readonly queuedKeys: 'checked again' | 'not checked again';
  /** How far BITFIELD reads a type. */
  readonly bitfieldTypes: 'up to a NUL' | 'to the end';
  /** Whether XREADGROUP counts as a change when it reads the consumer's own entries again. */
  readonly readHistory: 'counts as a change' | 'changes nothing';
  /** The error of XADD with `<ms>-*` when the millisecond has no sequence number left. */
  readonly noSequenceLeft: Bytes;
  /** Whether LATENCY LATEST adds the sum and the number of an event's latencies. */
  readonly latencySums: boolean;
  /** How LMOVE's directions are written in the replication stream when a waiting BLMOVE is served. */
  readonly servedMove: 'in small letters' | 'as sent';
  /** Whether the scores of a range and the weights of SORT may have leading blanks or be hexadecimal, as C's strtod reads them. */
  readonly looseScores: boolean;
  /** Whether scores, weights and places may be hexadecimal. */
  readonly hexadecimal: boolean;
  /** The error of a search around a member that the set does not have. */
  lostMember(member: Bytes): Bytes;
  /** Whether GEOSEARCH takes BYPOLYGON. */
  readonly geoPolygons: boolean;
  /**
   * When XREADGROUP, XCLAIM and XAUTOCLAIM create a consumer: with its first entry, or at once. In the second case each
   * delivery also sends the group's position to the replicas.
   */
  readonly consumers: 'made with an entry' | 'made at once';
  /** Whose rules the commands for hash fields with a TTL follow: arguments, errors, events and effects. */
  readonly fieldCommands: 'redis' | 'valkey';
  /** Whether replicas receive one HDEL for each expired field, or one for all that expire together. */
  readonly expiredFields: 'one by one' | 'together';
  /** Where HEXPIRE, HSETEX and HGETEX of Redis accept FIELDS: in one place, or anywhere among the options. */
  readonly fieldArguments: 'in one place' | 'in any order';
  /** Whether keyspace events tell which keys were overwritten, and which changed their type. */
  readonly overwriteEvents: boolean;
  /** Whether keyspace events name the fields of a hash on channels of their own (notify-keyspace-events S, T, I and V). */
  readonly subkeyEvents: boolean;
  /** The group's position that replicas receive with an entry of XREADGROUP. */
  readonly deliveredPosition: 'that of the entry' | 'before the delivery';
  /** Whether XINFO reports when a consumer last got an entry. */
  readonly consumerActivity: boolean;
  /**
   * The command that replicates HINCRBYFLOAT. HSETEX keeps the field's TTL. With 'with its deadline', it is HSETEX with the deadline
   * if the field has a TTL, and HSET otherwise; in a hash with such fields, HINCRBY is replicated in the same way, and HSETNX as HSET.
   */
  readonly fieldIncrement: 'HSET' | 'HSETEX' | 'with its deadline';
  /** The error for a client that waits in XREADGROUP when the stream or its group is removed: one of its own, or the usual one. */
  readonly lostStream: 'that it is gone' | 'as if asked now';
  /** Which keys a tracked connection has read when it has run a script: those that it declares, or those of its calls. */
  readonly scriptReads: 'declared keys' | 'keys of its calls';
  /** How a node of this dialect answers as a Sentinel. */
  readonly sentinel: SentinelTraits;
  /** How a node of this dialect answers as part of a cluster. */
  readonly cluster: ClusterTraits;
  /** Whether a script may call WAIT and XREAD with BLOCK, which then reply as if their timeout was over. */
  readonly blockInScript: 'refused' | 'answered';
  /** Whose offset WAIT and WAITAOF count in a script: that of the script's own client, which is always 0, or its caller's. */
  readonly waitInScript: "the script's" | "its caller's";
}
