/** Requests that touch more than one element, at least one form of each command, for data of every size: what `--only cliffs` measures. */

/** How many elements the data has. */
export const SIZES = [1_000, 100_000, 1_000_000] as const;

/** The data of which a node of a cluster has all slots. Its rows are sent to that node. */
export const CLUSTER = 'a node of a cluster';

/** What rows need: a script that builds it, for each element `i`, in an empty server. */
export const DATA: Readonly<Record<string, string>> = {
  keys: "redis.call('SET','k:'..i,i)",
  'keys with a time to live': "redis.call('SET','v:'..i,i,'EX',100000+i)",
  list: "redis.call('RPUSH','l','e:'..i)",
  sets: "redis.call('SADD','s','m:'..i) redis.call('SADD','s2','m:'..2*i) redis.call('SADD','ints',i)",
  hashes: "redis.call('HSET','h','f:'..i,i)",
  'hashes whose fields have a time to live': "redis.call('HSETEX','hv','EX',100000+i,'FIELDS',1,'f:'..i,i)",
  'sorted sets':
    "redis.call('ZADD','z',i,'m:'..i) redis.call('ZADD','z2',i,'m:'..2*i) redis.call('ZADD','zl',0,'m:'..i)",
  streams:
    "redis.call('XADD','x',i..'-1','f',i) redis.call('XADD','y',i..'-1','f',i) redis.call('XREADGROUP','GROUP','g','c','STREAMS','y','>')",
  bits: "redis.call('SETBIT','b',8*i,1) redis.call('APPEND','t','x') redis.call('SETBIT','zeros',8*i,0) redis.call('APPEND','ones','\\255') if i <= 1000 then redis.call('APPEND','short',i%7) redis.call('APPEND','short2',i%5) end",
  places: "redis.call('GEOADD','geo',(i%3600)/10-180,(i%1700)/10-85,'p:'..i)",
  cardinalities: "redis.call('PFADD','p','e:'..i) redis.call('PFADD','p2','e:'..2*i)",
  nothing: '',
  [CLUSTER]: "redis.call('SET','k:'..i,i)",
};

/** The requests before the data. */
export const FIRST = ['XGROUP CREATE y g 0 MKSTREAM', 'CONFIG SET slowlog-log-slower-than -1'];

/**
 * A heading names the data. N is the number of elements, M half of it, K a fiftieth. Requests that belong together are
 * separated by |. `K* X` is K requests X, in which @ is the number of each; ME is the node's id.
 */
const forms = `
## keys
del COPY k:1 tmp REPLACE | DEL tmp k:none k:other
unlink COPY k:1 tmp REPLACE | UNLINK tmp k:none k:other
keys KEYS *
keys KEYS k:*1*
keys KEYS k:1
scan SCAN 0 COUNT N
scan SCAN 0 MATCH k:*1* COUNT N
scan SCAN 0 TYPE hash COUNT N
randomkey RANDOMKEY
dbsize DBSIZE
exists EXISTS k:1 k:2 k:3 k:4 k:5 k:6 k:7 k:8
touch TOUCH k:1 k:2 k:3 k:4 k:5 k:6 k:7 k:8
mget MGET k:1 k:2 k:3 k:4 k:5 k:6 k:7 k:8
mset MSET k:1 1 k:2 2 k:3 3 k:4 4
msetnx MSETNX k:1 1 new 2
rename RENAME k:1 k:new | RENAME k:new k:1
move MOVE k:1 1 | SELECT 1 | MOVE k:1 0 | SELECT 0
expire EXPIRE k:1 1000 | PERSIST k:1
swapdb SWAPDB 0 1 | SWAPDB 0 1
info INFO everything
info INFO
info INFO keyspace
info INFO keysizes
info INFO memory
memory|stats MEMORY STATS
watch WATCH k:1 k:2 k:3 | UNWATCH
eval EVAL "for i = 1, N do redis.call('GET', 'k:' .. i) end" 0
eval EVAL "for i = 1, N do redis.call('SET', 'k:' .. i, i) end" 0
eval EVAL "return #redis.call('KEYS', '*')" 0
eval EVAL "for i = 1, N do redis.call('SETEX', 'v:' .. i, 9, i) end for i = 1, N do redis.call('DEL', 'v:' .. i) end" 0
flushdb SELECT 1 | EVAL "for i = 1, N do redis.call('SET', i, i) end" 0 | FLUSHDB | SELECT 0

## keys with a time to live
keys KEYS *
scan SCAN 0 COUNT N
randomkey RANDOMKEY
dbsize DBSIZE
expire EXPIRE v:1 1000
info INFO everything
info INFO keyspace

## list
copy COPY l tmp REPLACE
dump DUMP l
rename COPY l tmp REPLACE | RENAME tmp tmp2 | UNLINK tmp2
memory|usage MEMORY USAGE l SAMPLES 0
sort SORT l ALPHA LIMIT 0 10
sort SORT l BY nosort LIMIT 0 10
sort SORT l ALPHA DESC STORE tmp
sort_ro SORT_RO l ALPHA LIMIT 0 10
sort_ro SORT_RO l BY weight:* GET # LIMIT 0 10
lpush LPUSH l a b | LPOP l 2
rpush RPUSH l a b | RPOP l 2
lpushx LPUSHX l a | LPOP l
rpushx RPUSHX l a | RPOP l
lpop LPUSH l a b c | LPOP l 3
lpop COPY l tmp REPLACE | LPOP tmp N
rpop RPUSH l a b c | RPOP l 3
rpop COPY l tmp REPLACE | RPOP tmp M
lindex LINDEX l M
lrange LRANGE l 0 -1
lrange LRANGE l M -1
lrange LRANGE l -100 -1
lrem LREM l 0 none
lrem LREM l -1 none
lrem RPUSH l x | LREM l -1 x
lset LSET l M e:M
linsert LINSERT l BEFORE e:M x | LREM l 1 x
linsert LINSERT l AFTER none x
lpos LPOS l none
lpos LPOS l none RANK -1
lpos LPOS l e:M COUNT 0
lpos LPOS l none COUNT 0 MAXLEN M
ltrim RPUSH l a b | LTRIM l 0 -3
ltrim COPY l tmp REPLACE | LTRIM tmp M -1
lmove LMOVE l l LEFT RIGHT | LMOVE l l RIGHT LEFT
lmpop LPUSH l a b c | LMPOP 1 l LEFT COUNT 3
blmpop LPUSH l a b c | BLMPOP 0 1 l LEFT COUNT 3
blpop LPUSH l a | BLPOP l 0
brpop RPUSH l a | BRPOP l 0
eval EVAL "return #redis.call('LRANGE', 'l', 0, -1)" 0
eval EVAL "local t = redis.call('LRANGE', 'l', 0, -1) return #cjson.encode(t)" 0
eval EVAL "local t = redis.call('LRANGE', 'l', 0, -1) return #table.concat(t, ',')" 0
eval EVAL "for i = 1, N do redis.call('RPUSH', 'built', i) end redis.call('DEL', 'built')" 0

## sets
del COPY s tmp REPLACE | DEL tmp
unlink COPY s tmp REPLACE | UNLINK tmp
copy COPY s tmp REPLACE
dump DUMP s
memory|usage MEMORY USAGE s SAMPLES 0
sort SORT s ALPHA LIMIT 0 10
sort SORT s BY nosort LIMIT 0 10
sort SORT ints LIMIT 0 10
sort SORT ints DESC STORE tmp
sort_ro SORT_RO s ALPHA LIMIT 0 10
sadd SADD s m:1 m:2 m:3
srem SADD s a b | SREM s a b
srem COPY s tmp REPLACE | SREM tmp m:1 m:2
smembers SMEMBERS s
smembers SMEMBERS ints
smismember SMISMEMBER s m:1 m:M none
smove SADD s a | SMOVE s s3 a | SREM s3 a
spop SADD s3 a b c | SPOP s3 3
eval EVAL "redis.call('SADD', 's', unpack(redis.call('SPOP', 's', 3)))" 0
spop COPY s tmp REPLACE | SPOP tmp M
srandmember SRANDMEMBER s 10
srandmember SRANDMEMBER s M
srandmember SRANDMEMBER s -M
sinter SINTER s s2
sinter SINTER s ints
sintercard SINTERCARD 2 s s2
sintercard SINTERCARD 2 s s2 LIMIT 100
sinterstore SINTERSTORE tmp s s2
sunion SUNION s s2
sunion SUNION s ints
sunionstore SUNIONSTORE tmp s s2
sdiff SDIFF s s2
sdiffstore SDIFFSTORE tmp s s2
sscan SSCAN s 0 COUNT N
sscan SSCAN s 0 MATCH m:*1* COUNT N
sscan SSCAN ints 0 COUNT N
zunion ZUNION 2 s s2
zinterstore ZINTERSTORE tmp 2 s s2
eval EVAL "return #redis.call('SMEMBERS', 's')" 0
eval EVAL "for i = 1, N do redis.call('SADD', 'built', i) end redis.call('DEL', 'built')" 0

## hashes
del COPY h tmp REPLACE | DEL tmp
copy COPY h tmp REPLACE
dump DUMP h
memory|usage MEMORY USAGE h SAMPLES 0
hset HSET h f:M 1 f:1 2
hmset HMSET h f:M 1 f:1 2
hmget HMGET h f:1 f:M f:none
hgetall HGETALL h
hkeys HKEYS h
hvals HVALS h
hdel HDEL h f:M | HSET h f:M 1
hrandfield HRANDFIELD h 10 WITHVALUES
hrandfield HRANDFIELD h M
hrandfield HRANDFIELD h -M WITHVALUES
hscan HSCAN h 0 COUNT N
hscan HSCAN h 0 COUNT N NOVALUES
hscan HSCAN h 0 MATCH f:*1* COUNT N
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
hsetex HSETEX h EX 1000 FIELDS 2 f:M 1 f:1 1 | HPERSIST h FIELDS 2 f:M f:1
hgetdel HGETDEL h FIELDS 1 f:M | HSET h f:M 1
eval EVAL "return #redis.call('HGETALL', 'h')" 0
eval EVAL "for i = 1, N do redis.call('HSET', 'built', i, i) end redis.call('DEL', 'built')" 0
eval EVAL "for i = 1, N do redis.call('HSETEX', 'built', 'EX', 1000, 'FIELDS', 1, i, i) end redis.call('DEL', 'built')" 0

## hashes whose fields have a time to live
copy COPY hv tmp REPLACE
dump DUMP hv
memory|usage MEMORY USAGE hv SAMPLES 0
hgetall HGETALL hv
hkeys HKEYS hv
hscan HSCAN hv 0 COUNT N
hrandfield HRANDFIELD hv 10
httl HTTL hv FIELDS 2 f:1 f:M
hset HSET hv f:M 1 | HPEXPIRE hv 1000000 FIELDS 1 f:M

## sorted sets
copy COPY z tmp REPLACE
dump DUMP z
memory|usage MEMORY USAGE z SAMPLES 0
sort SORT z BY nosort LIMIT 0 10
sort SORT z ALPHA LIMIT 0 10
sort_ro SORT_RO z BY nosort DESC LIMIT 0 10
zadd ZADD z M m:M 1 m:1
zadd ZADD z GT CH M m:M 1 m:1
zincrby ZINCRBY z 0 m:M
zrem ZREM z m:M | ZADD z M m:M
zmscore ZMSCORE z m:1 m:M none
zrank ZRANK z m:M
zrank ZRANK z m:M WITHSCORE
zrevrank ZREVRANK z m:M
zcount ZCOUNT z -inf M
zcount ZCOUNT z (1 (M
zlexcount ZLEXCOUNT zl [a [z
zlexcount ZLEXCOUNT zl [m:1 +
zrange ZRANGE z 0 -1
zrange ZRANGE z 0 -1 WITHSCORES
zrange ZRANGE z 0 -1 REV
zrange ZRANGE z M M
zrange ZRANGE z -inf +inf BYSCORE
zrange ZRANGE z -inf +inf BYSCORE LIMIT M 10
zrange ZRANGE z +inf -inf BYSCORE REV LIMIT M 10
zrange ZRANGE zl - + BYLEX
zrange ZRANGE zl + - BYLEX REV LIMIT M 10
zrangestore ZRANGESTORE tmp z 0 -1
zrangestore ZRANGESTORE tmp z -inf +inf BYSCORE LIMIT M 100
zrevrange ZREVRANGE z 0 -1
zrevrange ZREVRANGE z 0 -1 WITHSCORES
zrangebyscore ZRANGEBYSCORE z -inf +inf
zrangebyscore ZRANGEBYSCORE z -inf +inf WITHSCORES LIMIT M 10
zrevrangebyscore ZREVRANGEBYSCORE z +inf -inf LIMIT M 10
zrangebylex ZRANGEBYLEX zl - +
zrangebylex ZRANGEBYLEX zl - + LIMIT M 10
zrevrangebylex ZREVRANGEBYLEX zl + - LIMIT M 10
zremrangebyrank COPY z tmp REPLACE | ZREMRANGEBYRANK tmp 0 -1
zremrangebyrank COPY z tmp REPLACE | ZREMRANGEBYRANK tmp M -2
zremrangebyscore COPY z tmp REPLACE | ZREMRANGEBYSCORE tmp -inf +inf
zremrangebylex COPY zl tmp REPLACE | ZREMRANGEBYLEX tmp - +
zrandmember ZRANDMEMBER z 10
zrandmember ZRANDMEMBER z M
zrandmember ZRANDMEMBER z -M WITHSCORES
zscan ZSCAN z 0 COUNT N
zscan ZSCAN z 0 MATCH m:*1* COUNT N
zpopmin ZADD z -1 a -2 b | ZPOPMIN z 2
zpopmin COPY z tmp REPLACE | ZPOPMIN tmp M
zpopmax ZADD z inf a inf b | ZPOPMAX z 2
zpopmax COPY z tmp REPLACE | ZPOPMAX tmp M
zmpop ZADD z -1 a -2 b | ZMPOP 1 z MIN COUNT 2
bzmpop ZADD z -1 a -2 b | BZMPOP 0 1 z MIN COUNT 2
bzpopmin ZADD z -1 a | BZPOPMIN z 0
bzpopmax ZADD z inf a | BZPOPMAX z 0
zunion ZUNION 2 z z2
zunion ZUNION 2 z z2 WEIGHTS 2 3 AGGREGATE MAX WITHSCORES
zunionstore ZUNIONSTORE tmp 2 z z2
zinter ZINTER 2 z z2
zinter ZINTER 2 z z2 AGGREGATE MIN WITHSCORES
zinterstore ZINTERSTORE tmp 2 z z2
zintercard ZINTERCARD 2 z z2
zintercard ZINTERCARD 2 z z2 LIMIT 100
zdiff ZDIFF 2 z z2
zdiff ZDIFF 2 z z2 WITHSCORES
zdiffstore ZDIFFSTORE tmp 2 z z2
eval EVAL "return #redis.call('ZRANGE', 'z', 0, -1, 'WITHSCORES')" 0
eval EVAL "for i = 1, N do redis.call('ZADD', 'built', i, i) end redis.call('DEL', 'built')" 0

## streams
copy COPY x tmp REPLACE
dump DUMP y
memory|usage MEMORY USAGE x SAMPLES 0
xrange XRANGE x - +
xrange XRANGE x M + COUNT 10
xrevrange XREVRANGE x + -
xrevrange XREVRANGE x + - COUNT 100
xdel XADD tmpx 1-1 a b | XDEL tmpx 1-1 | DEL tmpx
xread XREAD COUNT 1000 STREAMS x 0
xread XREAD STREAMS x 0
xread XREAD STREAMS x +
xreadgroup XREADGROUP GROUP g c COUNT 1000 STREAMS y 0
xreadgroup XREADGROUP GROUP g c STREAMS y 0
xreadgroup XGROUP CREATE x gg 0 | XREADGROUP GROUP gg c STREAMS x > | XGROUP DESTROY x gg
xreadgroup XGROUP CREATE x gg 0 | XREADGROUP GROUP gg c NOACK STREAMS x > | XGROUP DESTROY x gg
xack XACK y g 0-1
xpending XPENDING y g
xpending XPENDING y g - + N
xpending XPENDING y g IDLE 1 - + N c
xpending XPENDING y g - + N none
xclaim XCLAIM y g c 0 1-1 2-1
xautoclaim XAUTOCLAIM y g c 0 0 COUNT 100
xautoclaim XAUTOCLAIM y g c 0 0 COUNT N JUSTID
xautoclaim XAUTOCLAIM y g c 99999999 0 COUNT N
xdelex XADD tmpx 1-1 a b | XDELEX tmpx IDS 1 1-1 | DEL tmpx
xackdel XACKDEL y g IDS 1 0-1
xinfo|stream XINFO STREAM y
xinfo|stream XINFO STREAM y FULL COUNT 10
xinfo|stream XINFO STREAM y FULL COUNT 0
xinfo|groups XINFO GROUPS y
xinfo|consumers XINFO CONSUMERS y g
xgroup|create XGROUP CREATE x gg M | XGROUP DESTROY x gg
xgroup|setid XGROUP SETID y g $
xgroup|destroy COPY y tmp REPLACE | XGROUP DESTROY tmp g
xgroup|delconsumer COPY y tmp REPLACE | XGROUP DELCONSUMER tmp g c
eval EVAL "return #redis.call('XRANGE', 'x', '-', '+')" 0
eval EVAL "for i = 1, N do redis.call('XADD', 'built', '*', 'f', i) end redis.call('DEL', 'built')" 0
xadd XADD x MAXLEN N * f v
xadd XADD x MAXLEN ~ N * f v
xtrim XADD x * f v | XTRIM x MAXLEN N
xtrim COPY x tmp REPLACE | XTRIM tmp MAXLEN 10
xtrim COPY x tmp REPLACE | XTRIM tmp MINID M
xtrim COPY y tmp REPLACE | XTRIM tmp MAXLEN 10 DELREF

## bits
copy COPY t tmp REPLACE
dump DUMP t
append APPEND t x
get GET t
set COPY t tmp REPLACE | SET tmp 1
strlen STRLEN t
getrange GETRANGE t 0 -1
getrange GETRANGE t M M
substr SUBSTR t 0 -1
setrange SETRANGE t M y
setrange COPY t tmp REPLACE | SETRANGE tmp M y
setbit SETBIT b M 1
setbit COPY b tmp REPLACE | SETBIT tmp M 1
getbit GETBIT b M
bitcount BITCOUNT b
bitcount SETBIT b 1 1 | BITCOUNT b
bitcount BITCOUNT b 1 -2 BIT
bitcount BITCOUNT t M -1
bitpos BITPOS b 0
bitpos BITPOS b 0 M
bitpos SETBIT b 1 1 | BITPOS zeros 1
bitpos BITPOS zeros 1
bitpos BITPOS ones 0 1 -1 BIT
bitop BITOP NOT tmp b
bitop BITOP AND tmp b t
bitop BITOP OR tmp b t zeros
bitop BITOP XOR tmp b t
bitop BITOP DIFF tmp b t
bitop BITOP ONE tmp b t zeros
bitfield BITFIELD b GET u8 #1 SET u8 #2 1
bitfield BITFIELD b INCRBY i16 M 1 OVERFLOW SAT INCRBY u4 7 1
bitfield_ro BITFIELD_RO b GET u8 #1
lcs SET tmp abcdefghijklmnop | LCS tmp tmp
lcs LCS short short2
lcs LCS short short2 IDX WITHMATCHLEN
lcs LCS short short2 LEN
eval EVAL "return #redis.call('GET', 't')" 0
eval EVAL "return #string.rep(redis.call('GET', 't'), 3)" 0
eval EVAL "return #(redis.call('GET', 't') .. 'x')" 0
eval EVAL "local n = 0 for w in string.gmatch(redis.call('GET', 't'), 'x') do n = n + 1 end return n" 0
eval EVAL "return #string.gsub(redis.call('GET', 't'), 'x', 'y')" 0
eval EVAL "return string.find(redis.call('GET', 't'), 'y', 1, true)" 0
eval EVAL "return #string.upper(redis.call('GET', 't'))" 0
eval EVAL "return #string.reverse(redis.call('GET', 't'))" 0
eval EVAL "local t = redis.call('GET', 't') local n = 0 for i = 1, #t do n = n + string.byte(t, i) end return n" 0
eval EVAL "return redis.sha1hex(redis.call('GET', 't'))" 0
eval EVAL "return #cjson.encode(redis.call('GET', 't'))" 0

## places
geoadd GEOADD geo 1 1 p:1 2 2 p:2
geopos GEOPOS geo p:1 p:M
geodist GEODIST geo p:1 p:M
geohash GEOHASH geo p:1 p:M
geosearch GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 1000 km
geosearch GEOSEARCH geo FROMMEMBER p:1 BYBOX 4000 4000 km
geosearch GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 5000 km ASC COUNT 10 WITHCOORD WITHDIST WITHHASH
geosearch GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 5000 km COUNT 10 ANY
geosearch GEOSEARCH geo FROMLONLAT 0 0 BYRADIUS 20000 km
geosearchstore GEOSEARCHSTORE tmp geo FROMLONLAT 0 0 BYBOX 1000 1000 km
geosearchstore GEOSEARCHSTORE tmp geo FROMLONLAT 0 0 BYRADIUS 5000 km STOREDIST
georadius GEORADIUS geo 0 0 1000 km
georadius GEORADIUS geo 0 0 5000 km STORE tmp
georadius_ro GEORADIUS_RO geo 0 0 1000 km COUNT 10
georadiusbymember GEORADIUSBYMEMBER geo p:1 1000 km
georadiusbymember_ro GEORADIUSBYMEMBER_RO geo p:1 1000 km ASC

## cardinalities
pfadd PFADD p a b c
pfadd PFADD p N | SET p4 1 | DEL p4
pfcount PFCOUNT p
pfcount PFADD p a | PFCOUNT p
pfcount PFCOUNT p p2
pfmerge PFMERGE p3 p p2
pfmerge PFMERGE p3 p
eval EVAL "for i = 1, N do redis.call('PFADD', 'built', i) end redis.call('DEL', 'built')" 0

## nothing
exec MULTI | PING | PING | EXEC
discard MULTI | PING | DISCARD
eval EVAL "local n = 0 for i = 1, N do n = n + i end return n" 0
eval_ro EVAL_RO "local t = {} for i = 1, N do t[i] = i end return #t" 0
eval EVAL "local t = {} for i = 1, N do t[i] = i end return t" 0
eval EVAL "local t = {} for i = 1, N do t[i] = (i * 7919) % N end table.sort(t) return #t" 0
eval EVAL "local t = {} for i = 1, N do t[i] = (i * 7919) % N end table.sort(t, function(a, b) return a > b end) return #t" 0
eval EVAL "local t = {} for i = 1, N do t['k' .. i] = i end local n = 0 for k in pairs(t) do n = n + 1 end return n" 0
eval EVAL "local t = {} for i = 1, K do table.insert(t, 1, i) end return #t" 0
eval EVAL "local t = {} for i = 1, K do t[i] = i end for i = 1, K do table.remove(t, 1) end return #t" 0
eval EVAL "local s = '' for i = 1, K do s = s .. i end return #s" 0
eval EVAL "for i = 1, N do string.format('%d %s %5.1f', i, 'x', i) end" 0
eval EVAL "for i = 1, N do tostring(i) tonumber(i .. '') end" 0
eval EVAL "for i = 1, N do pcall(error, 'x') end" 0
eval EVAL "for i = 1, K do pcall(redis.call, 'nosuch') end" 0
eval EVAL "for i = 1, N do bit.band(i, 255) bit.tohex(i) end" 0
eval EVAL "for i = 1, N do struct.unpack('>I4', struct.pack('>I4', i)) end" 0
eval EVAL "local t = {} for i = 1, N do t[i] = i end return #cjson.encode(t)" 0
eval EVAL "local t = {} for i = 1, K do t[i] = {a = i, b = {1, 2}} end return #cjson.encode(t)" 0
eval EVAL "local t = {} for i = 1, K do t['k' .. i] = 'v' .. i end return #cjson.encode(t)" 0
eval EVAL "local t = {} for i = 1, K do t[i] = {a = i} end return #cjson.decode(cjson.encode(t))" 0
eval EVAL "local t = {} for i = 1, K do t[i] = {a = i, b = 'x'} end return #cmsgpack.pack(t)" 0
eval EVAL "local t = {} for i = 1, K do t[i] = {a = i} end return #cmsgpack.unpack(cmsgpack.pack(t))" 0
eval EVAL "local function f(n) return 1 + f(n + 1) end return pcall(f, 1)" 0
eval EVAL "local function f(n) return f(n) + g(n) end return {pcall(f, 1)}" 0
eval EVAL "local s = string.rep('a', K) return string.find(s, '.-b')" 0
script|load SCRIPT FLUSH | K* SCRIPT LOAD "return @"
script|load SCRIPT FLUSH | K* SCRIPT LOAD "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return @"
script|load SCRIPT LOAD "return N"
eval SCRIPT FLUSH | K* EVAL "return @" 0
script|exists SCRIPT EXISTS a b c
function|load FUNCTION FLUSH | K* FUNCTION LOAD "#!lua name=l@\\nredis.register_function('f@', function() return 1 end)"
function|list FUNCTION LIST
function|list FUNCTION LIST WITHCODE
function|dump FUNCTION DUMP
function|stats FUNCTION STATS
config|get CONFIG GET *
config|get CONFIG GET *max* save
command COMMAND
command|count COMMAND COUNT
command|list COMMAND LIST
command|list COMMAND LIST FILTERBY PATTERN *get*
command|list COMMAND LIST FILTERBY ACLCAT hash
command|info COMMAND INFO
command|info COMMAND INFO get set
command|docs COMMAND DOCS
command|docs COMMAND DOCS get
command|getkeys COMMAND GETKEYS MGET a b c
command|getkeysandflags COMMAND GETKEYSANDFLAGS MGET a b c
info INFO everything
info INFO commandstats latencystats errorstats

## a node of a cluster
cluster|setslot CLUSTER SETSLOT 1 STABLE
cluster|setslot CLUSTER SETSLOT 1 NODE ME
cluster|setslot 100* CLUSTER SETSLOT @ NODE ME
cluster|delslots CLUSTER DELSLOTS 1 2 3 | CLUSTER ADDSLOTS 1 2 3
cluster|addslotsrange CLUSTER DELSLOTSRANGE 0 16383 | CLUSTER ADDSLOTSRANGE 0 16383
cluster|slots CLUSTER SLOTS
cluster|shards CLUSTER SHARDS
cluster|nodes CLUSTER NODES
cluster|info CLUSTER INFO
cluster|links CLUSTER LINKS
cluster|countkeysinslot CLUSTER COUNTKEYSINSLOT 1
cluster|getkeysinslot CLUSTER GETKEYSINSLOT 1 100
cluster|slot-stats CLUSTER SLOT-STATS SLOTSRANGE 0 16383
cluster|slot-stats CLUSTER SLOT-STATS ORDERBY key-count LIMIT 10
keys KEYS *
scan SCAN 0 COUNT N
randomkey RANDOMKEY
info INFO everything
`;

/** One row: a form of a command, and its requests. */
export interface Cliff {
  readonly command: string;
  /** Its text in the list above, without the numbers of a size. */
  readonly form: string;
  /** What the server has, one of {@link DATA}. */
  readonly data: string;
  readonly requests: readonly (readonly string[])[];
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** A request of the list, or as many as stand before its asterisk. */
function requestsOf(text: string): string[][] {
  const [, times, repeated = ''] = /^(\d+)\* (.*)$/s.exec(text) ?? [];
  if (times === undefined) return [wordsOf(text)];
  return Array.from({ length: Number(times) }, (_, i) => wordsOf(repeated.replaceAll('@', String(i))));
}

function cliffOf(line: string, data: string, size: number): Cliff {
  const [command = ''] = line.split(' ', 1);
  const form = line.slice(command.length + 1);
  const text = form
    .replaceAll('\\n', '\n')
    .replace(/\bN\b/g, String(size))
    .replace(/\bM\b/g, String(size / 2))
    .replace(/\bK\b/g, String(Math.ceil(size / 50)));
  return { command, form, data, requests: text.split(' | ').flatMap(requestsOf) };
}

/** The rows for data of a size. */
export function cliffsOf(size: number): Cliff[] {
  return forms
    .trim()
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const [data = '', ...lines] = section.trim().split('\n');
      return lines.map((line) => cliffOf(line, data, size));
    });
}

/** Commands that touch several elements by their complexity and have no row, by a pattern for their names, each with the reason. */
export const WITHOUT_ROW: readonly (readonly [names: RegExp, reason: string])[] = [
  [
    /^(cluster\|(migration|migrateslots|cancelslotmigrations|getslotmigrations|syncslots|meet|forget|failover|replicate|replicas|slaves|reset|addslots|delslotsrange|count-failure-reports|keyslot|flushslot)|clusterscan|trimslots)$/,
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
    /^(flushall|save|shutdown|debug|monitor|psync|sync|migrate|lolwut)$/,
    'it changes or ends what the other rows measure',
  ],
  [/^(slowlog|latency|commandlog)\|/, 'its logs have a limit'],
  [/^(evalsha|evalsha_ro|fcall|fcall_ro)$/, 'it runs what EVAL runs'],
  [/^(function\|(restore|flush)|script\|flush)$/, 'it compiles what SCRIPT LOAD compiles, or drops it'],
  [/^(restore|restore-asking)$/, 'it reads what DUMP writes: the chapter footprint loads a dataset'],
  [/^config\|set$/, 'its parameters are few'],
  [/^V[A-Z]+$/, 'vector sets are searched in full: docs/differences.md'],
];
