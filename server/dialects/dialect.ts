/**
 * What a dialect is: the server that a node answers as, told by data and by named behaviours. Mechanisms ask for a behaviour by
 * its name and never for a version, so that a new dialect is one new file. What exists since when stands in the command table.
 */
import type { RdbFormat } from '../../keyspace/rdb/formats.ts';
import type { Bytes } from '../../protocol/bytes.ts';

/** How a node answers where servers differ. */
export interface Dialect {
  /** As `startServer({ dialect })` and `--dialect` name it. */
  readonly name: string;
  /** The server and its version; only `since.ts` asks for them. */
  readonly server: { readonly family: 'redis' | 'valkey'; readonly version: string };
  /** The server and its version, as HELLO gives them. */
  readonly hello: { readonly server: Bytes; readonly version: Bytes };
  /** The last line of LOLWUT. */
  readonly lolwut: Bytes;
  /** The fields with which INFO's section `server` names the server. */
  readonly infoVersion: readonly (readonly [name: Bytes, value: Bytes])[];
  /** What INFO calls the field that says whether the node is part of a cluster. */
  readonly infoMode: 'redis_mode' | 'server_mode';
  /** The form of dump files, full syncs, DUMP's payloads and DEBUG DIGEST. */
  readonly rdbFormat: RdbFormat;
  /** What a replica says about itself to its primary besides its capabilities. */
  readonly introduction: readonly (readonly Bytes[])[];
  /** The field of dump files that names the server. */
  readonly dumpVersion: readonly [name: Bytes, value: Bytes];
  /** Parameters whose defaults are not those of Redis 7.0. */
  readonly settings: Readonly<Record<string, boolean | number>>;

  // Replies

  /** How doubles are printed: with 17 digits, or with the fewest that are read back as the same number. */
  printDouble(value: number): Bytes;
  /** How a number in a script becomes an argument, unless it is a whole one below 2^53. */
  printArgument(value: number): Bytes;
  /** GEOPOS and its like: coordinates with up to 17 decimals, or as other doubles. */
  readonly coordinates: 'seventeen decimals' | 'double';
  /** What XREAD and XREADGROUP say of a key without an id. */
  unbalancedStreams(command: 'xread' | 'xreadgroup'): Bytes;
  /** EVALSHA of an unknown script. */
  readonly noScript: Bytes;
  /** redis.call of a command that does not exist. */
  readonly unknownInScript: Bytes;
  /** The name of the table of functions, as Lua's errors have it. */
  readonly luaTable: 'redis' | 'server';
  /** READONLY and READWRITE on a node without a cluster. */
  readonly readOnlyWithoutCluster: 'refused' | 'accepted';
  /** Whether NOPERM and ACL DRYRUN name the user. */
  readonly denial: 'this user' | 'by name';
  /** ACL: how the rules for commands are written out. */
  readonly aclRules: 'worked out' | 'as given';
  /** ACL: whether users that nobody has told otherwise have the flag sanitize-payload. */
  readonly sanitizeByDefault: boolean;
  /** BITCOUNT and BITPOS: whether a missing key is answered before the other arguments are looked at. */
  readonly bitArguments: 'after the key' | 'before the key';
  /** BITCOUNT with a start and no end. */
  readonly bitcountWithoutEnd: 'refused' | 'to the end';

  /** SCAN with a type that does not exist. */
  readonly unknownType: 'nothing found' | 'refused';
  /** HSCAN and its like: whether a cursor that is no number is refused where the key is missing, and which are numbers. */
  readonly cursors: 'as in C' | 'plain digits';
  /** Two texts about the missing ACL file, and redis.call with too few words. */
  readonly noAclFile: Bytes;
  readonly arityInScript: Bytes;

  // Data

  /** What lists with few elements are called. */
  readonly smallList: 'quicklist' | 'listpack';
  /** How small sets of any members are kept. */
  readonly smallSet: 'hashtable' | 'listpack';

  // Effects and events

  /** The event of a key that a command gives a deadline in the past. */
  readonly pastDeadline: 'del' | 'expired';
  /** Words of LMOVE in the replication stream, for BLMOVE that has waited. */
  readonly servedMove: 'as sent, in small letters' | 'in capitals';
  /** Whether a score of a range may have leading blanks or be hexadecimal, as C reads it. */
  readonly looseScores: boolean;
  /** When XREADGROUP, XCLAIM and XAUTOCLAIM make a consumer, and whether each delivery tells replicas the group's position. */
  readonly consumers: 'made with an entry' | 'made at once';
  /** Whether XINFO tells when consumers were last given an entry. */
  readonly consumerActivity: boolean;
  /** What replicas are told of HINCRBYFLOAT. */
  readonly fieldIncrement: 'HSET' | 'HSETEX';
  /** How a client that waits in XREADGROUP is told that the stream or its group is gone. */
  readonly lostStream: 'that it is gone' | 'as if asked now';
  /** Blocking commands in scripts, and XREAD with BLOCK: refused, or answered as if the time was up. */
  readonly blockInScript: 'refused' | 'answered';
}
