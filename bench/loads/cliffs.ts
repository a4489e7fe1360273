/** Requests that touch more than one element, one form of each command, for data of every size: what `--only cliffs` measures. */

/** How many elements the data has. */
export const SIZES = [1_000, 100_000, 1_000_000] as const;

/** Scripts that build the data, from an element ARGV[1] to an element ARGV[2], and what they build. */
export const DATA: readonly (readonly [what: string, script: string])[] = [
  ['keys', "redis.call('SET','k:'..i,i)"],
  ['list', "redis.call('RPUSH','l','e:'..i)"],
  ['sets', "redis.call('SADD','s','m:'..i) redis.call('SADD','s2','m:'..2*i)"],
  ['hashes', "redis.call('HSET','h','f:'..i,i)"],
  [
    'sorted sets',
    "redis.call('ZADD','z',i,'m:'..i) redis.call('ZADD','z2',i,'m:'..2*i) redis.call('ZADD','zl',0,'m:'..i)",
  ],
  [
    'streams',
    "redis.call('XADD','x',i..'-1','f',i) redis.call('XADD','y',i..'-1','f',i) redis.call('XREADGROUP','GROUP','g','c','STREAMS','y','>')",
  ],
  ['bits', "redis.call('SETBIT','b',8*i,1) redis.call('APPEND','t','x')"],
  ['places', "redis.call('GEOADD','geo',(i%3600)/10-180,(i%1700)/10-85,'p:'..i)"],
  ['cardinalities', "redis.call('PFADD','p','e:'..i) redis.call('PFADD','p2','e:'..2*i)"],
];

/** The requests before the data. */
export const FIRST = ['XGROUP CREATE y g 0 MKSTREAM', 'CONFIG SET slowlog-log-slower-than -1'];

/** N is the number of elements, M half of it. Requests that belong together are separated by |. */
const forms = `
del COPY s tmp REPLACE | DEL tmp
unlink COPY s tmp REPLACE | UNLINK tmp
copy COPY s tmp REPLACE
dump DUMP h
keys KEYS *
scan SCAN 0 COUNT N
exists EXISTS k:1 k:2 k:3 k:4 k:5 k:6 k:7 k:8
touch TOUCH k:1 k:2 k:3 k:4 k:5 k:6 k:7 k:8
mget MGET k:1 k:2 k:3 k:4 k:5 k:6 k:7 k:8
mset MSET k:1 1 k:2 2 k:3 3 k:4 4
msetnx MSETNX k:1 1 new 2
sort SORT z BY nosort LIMIT 0 10
sort_ro SORT_RO l ALPHA LIMIT 0 10
memory|usage MEMORY USAGE h SAMPLES 0
append APPEND t x
getrange GETRANGE t 0 -1
substr SUBSTR t 0 -1
setrange SETRANGE t M y
setbit SETBIT b M 1
bitcount BITCOUNT b
bitpos BITPOS b 0 M
bitop BITOP NOT tmp b
bitfield BITFIELD b GET u8 #1 SET u8 #2 1
bitfield_ro BITFIELD_RO b GET u8 #1
lcs SET tmp abcdefghijklmnop | LCS tmp tmp
hset HSET h f:M 1 f:1 2
hmset HMSET h f:M 1 f:1 2
hmget HMGET h f:1 f:M f:none
hgetall HGETALL h
hkeys HKEYS h
hvals HVALS h
hdel HDEL h f:M | HSET h f:M 1
hrandfield HRANDFIELD h 10 WITHVALUES
hscan HSCAN h 0 COUNT N
hexpire HEXPIRE h 1000 FIELDS 1 f:M | HPERSIST h FIELDS 1 f:M
hpexpire HPEXPIRE h 1000000 FIELDS 1 f:M | HPERSIST h FIELDS 1 f:M
hexpireat HEXPIREAT h 9999999999 FIELDS 1 f:M | HPERSIST h FIELDS 1 f:M
hpexpireat HPEXPIREAT h 9999999999000 FIELDS 1 f:M | HPERSIST h FIELDS 1 f:M
hpersist HPERSIST h FIELDS 2 f:M f:1
httl HTTL h FIELDS 2 f:M f:1
hpttl HPTTL h FIELDS 2 f:M f:1
hexpiretime HEXPIRETIME h FIELDS 2 f:M f:1
hpexpiretime HPEXPIRETIME h FIELDS 2 f:M f:1
hgetex HGETEX h PERSIST FIELDS 2 f:M f:1
hsetex HSETEX h FIELDS 2 f:M 1 f:1 1
hgetdel HGETDEL h FIELDS 1 f:M | HSET h f:M 1
lpush LPUSH l a b | LPOP l 2
rpush RPUSH l a b | RPOP l 2
lpushx LPUSHX l a | LPOP l
rpushx RPUSHX l a | RPOP l
lpop LPUSH l a b c | LPOP l 3
rpop RPUSH l a b c | RPOP l 3
lrange LRANGE l 0 -1
lrem LREM l 0 none
lset LSET l M e:set
linsert LINSERT l BEFORE e:set x | LREM l 1 x
lpos LPOS l none
ltrim RPUSH l a b | LTRIM l 0 -3
lmpop LPUSH l a b c | LMPOP 1 l LEFT COUNT 3
blmpop LPUSH l a b c | BLMPOP 0 1 l LEFT COUNT 3
blpop LPUSH l a | BLPOP l 0
brpop RPUSH l a | BRPOP l 0
sadd SADD s m:1 m:2 m:3
srem SADD s a b | SREM s a b
smembers SMEMBERS s
smismember SMISMEMBER s m:1 m:M none
spop SADD s a b c | SPOP s 3 | SADD s m:1
srandmember SRANDMEMBER s 10
sinter SINTER s s2
sintercard SINTERCARD 2 s s2
sinterstore SINTERSTORE tmp s s2
sunion SUNION s s2
sunionstore SUNIONSTORE tmp s s2
sdiff SDIFF s s2
sdiffstore SDIFFSTORE tmp s s2
sscan SSCAN s 0 COUNT N
zadd ZADD z M m:M 1 m:1
zincrby ZINCRBY z 0 m:M
zrem ZREM z m:M | ZADD z M m:M
zmscore ZMSCORE z m:1 m:M none
zrank ZRANK z m:M
zrevrank ZREVRANK z m:M
zcount ZCOUNT z -inf M
zlexcount ZLEXCOUNT z [a [z
zrange ZRANGE z 0 -1 WITHSCORES
zrangestore ZRANGESTORE tmp z 0 -1
zrevrange ZREVRANGE z 0 -1
zrangebyscore ZRANGEBYSCORE z -inf +inf LIMIT M 10
zrevrangebyscore ZREVRANGEBYSCORE z +inf -inf LIMIT M 10
zrangebylex ZRANGEBYLEX zl - + LIMIT M 10
zrevrangebylex ZREVRANGEBYLEX zl + - LIMIT M 10
zremrangebyrank COPY z tmp REPLACE | ZREMRANGEBYRANK tmp 0 -1
zremrangebyscore COPY z tmp REPLACE | ZREMRANGEBYSCORE tmp -inf +inf
zremrangebylex COPY zl tmp REPLACE | ZREMRANGEBYLEX tmp - +
zrandmember ZRANDMEMBER z 10
zscan ZSCAN z 0 COUNT N
zpopmin ZADD z -1 a -2 b | ZPOPMIN z 2
zpopmax ZADD z inf a inf b | ZPOPMAX z 2
zmpop ZADD z -1 a -2 b | ZMPOP 1 z MIN COUNT 2
bzmpop ZADD z -1 a -2 b | BZMPOP 0 1 z MIN COUNT 2
bzpopmin ZADD z -1 a | BZPOPMIN z 0
bzpopmax ZADD z inf a | BZPOPMAX z 0
zunion ZUNION 2 z z2
zunionstore ZUNIONSTORE tmp 2 z z2
zinter ZINTER 2 z z2
zinterstore ZINTERSTORE tmp 2 z z2
zintercard ZINTERCARD 2 z z2
zdiff ZDIFF 2 z z2
zdiffstore ZDIFFSTORE tmp 2 z z2
geoadd GEOADD geo 1 1 p:1 2 2 p:2
geopos GEOPOS geo p:1 p:M
geodist GEODIST geo p:1 p:M
geohash GEOHASH geo p:1 p:M
geosearch GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 1000 km
geosearchstore GEOSEARCHSTORE tmp geo FROMLONLAT 0 0 BYBOX 1000 1000 km
georadius GEORADIUS geo 0 0 1000 km
georadius_ro GEORADIUS_RO geo 0 0 1000 km COUNT 10
georadiusbymember GEORADIUSBYMEMBER geo p:1 1000 km
georadiusbymember_ro GEORADIUSBYMEMBER_RO geo p:1 1000 km ASC
pfadd PFADD p a b c
pfcount PFCOUNT p p2
pfmerge PFMERGE p3 p p2
xadd XADD x MAXLEN N * f v
xrange XRANGE x - +
xrevrange XREVRANGE x + - COUNT 100
xdel XADD tmpx 1-1 a b | XDEL tmpx 1-1 | DEL tmpx
xtrim XADD x * f v | XTRIM x MAXLEN N
xread XREAD COUNT 1000 STREAMS x 0
xreadgroup XREADGROUP GROUP g c COUNT 1000 STREAMS y 0
xack XACK y g 0-1
xpending XPENDING y g
xclaim XCLAIM y g c 0 1-1 2-1
xautoclaim XAUTOCLAIM y g c 0 0 COUNT 100
xdelex XADD tmpx 1-1 a b | XDELEX tmpx IDS 1 1-1 | DEL tmpx
xackdel XACKDEL y g IDS 1 0-1
xinfo|stream XINFO STREAM y FULL COUNT 10
xinfo|groups XINFO GROUPS y
xinfo|consumers XINFO CONSUMERS y g
xgroup|destroy XGROUP CREATE x gg 0 | XGROUP DESTROY x gg
xgroup|delconsumer XGROUP CREATECONSUMER y g d | XGROUP DELCONSUMER y g d
exec MULTI | PING | PING | EXEC
discard MULTI | PING | DISCARD
watch WATCH k:1 k:2 k:3 | UNWATCH
eval EVAL "local n = 0 for i = 1, N do n = n + i end return n" 0
eval_ro EVAL_RO "local t = {} for i = 1, N do t[i] = i end return #t" 0
script|load SCRIPT LOAD "return N"
script|exists SCRIPT EXISTS a b c
config|get CONFIG GET *
command|list COMMAND LIST
command|info COMMAND INFO
command|docs COMMAND DOCS
command|getkeys COMMAND GETKEYS MGET a b c
command|getkeysandflags COMMAND GETKEYSANDFLAGS MGET a b c
info INFO everything
`;

/** One row: a command and the requests of its form. */
export interface Cliff {
  readonly command: string;
  readonly requests: readonly (readonly string[])[];
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** The rows for data of a size. */
export function cliffsOf(size: number): Cliff[] {
  return forms
    .trim()
    .split('\n')
    .map((line) => {
      const [command = ''] = line.split(' ', 1);
      const text = line
        .slice(command.length + 1)
        .replace(/\bN\b/g, String(size))
        .replace(/\bM\b/g, String(size / 2));
      return { command, requests: text.split(' | ').map(wordsOf) };
    });
}

/** Commands that touch several elements by their complexity and have no row, by a pattern for their names, each with the reason. */
export const WITHOUT_ROW: readonly (readonly [names: RegExp, reason: string])[] = [
  [
    /^(cluster\|.*|clusterscan|trimslots)$/,
    'a node of a cluster answers it; its figures are those of slots and nodes, which are few',
  ],
  [
    /^(delex|digest|hotkeys\|get|msetex|xnack)$/,
    'redis-server 8.2, beside which the rows are measured, does not have it',
  ],
  [/^(auth|acl\|.*)$/, 'it is about users, who are few'],
  [/^client\|/, 'it is about connections: the chapter crowds has many'],
  [/^p?s?(un)?subscribe$|^s?publish$|^pubsub\|/, 'it is about subscriptions: the chapter crowds has many'],
  [
    /^(flushall|flushdb|swapdb|save|shutdown|debug|monitor|psync|sync|migrate|lolwut)$/,
    'it changes or ends what the other rows measure',
  ],
  [/^(slowlog|latency|commandlog)\|/, 'its logs have a limit'],
  [/^(evalsha|evalsha_ro|fcall|fcall_ro)$/, 'it runs what EVAL runs'],
  [/^(function\|.*|script\|flush)$/, 'it compiles what SCRIPT LOAD compiles, or drops it'],
  [/^(restore|restore-asking)$/, 'it reads what DUMP writes: the chapter footprint loads a dataset'],
  [/^config\|set$/, 'its parameters are few'],
  [/^V[A-Z]+$/, 'vector sets are searched in full: docs/differences.md'],
];
