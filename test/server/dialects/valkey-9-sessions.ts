/** Requests whose replies are compared with valkey-server 9.1, one a line. */
import type { Session } from './sessions.ts';
import { DATABASE_SESSIONS } from './valkey-9-database-sessions.ts';

const FAR = '4102444800';

/** Sets strings of about the longest length that is embedded, with and without an earlier deadline. */
function embedded(): string {
  const lines: string[] = [];
  for (const [key, length] of [
    ['a', 112],
    ['k'.repeat(31), 82],
    ['k'.repeat(33), 78],
    ['k'.repeat(120), 1],
  ] as const) {
    for (const more of [0, 1]) {
      const texts = [length, Math.max(1, length - 8)].map((each) => 'v'.repeat(each + more));
      const requests = [`SET ${key} ${texts[0]}`, `EXPIRE ${key} 50`, `SET ${key} ${texts[1]}`];
      for (const request of [...requests, `EXPIRE ${key} 50`, `SET ${key} ${texts[1]} KEEPTTL`]) {
        lines.push(request, `OBJECT ENCODING ${key}`);
      }
      lines.push(`DEL ${key}`);
    }
  }
  return lines.join('\n');
}

export const SESSIONS: readonly Session[] = [
  [
    'GEOSEARCH BYPOLYGON',
    `
    GEOADD g 13.361389 38.115556 palermo 15.087269 37.502669 catania 12.758489 38.788135 edge 14.0154 37.4902 enna 2.35 48.85 paris
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 ASC WITHDIST WITHCOORD WITHHASH
    GEOSEARCH g BYPOLYGON 4 12 36 12 40 16 40 16 36 DESC WITHDIST
    GEOSEARCH g bypolygon 4 12 36 12 40 16 40 16 36 ASC COUNT 2
    GEOSEARCH g BYPOLYGON 4 12 36 12 40 16 40 16 36 COUNT 1 ANY
    GEOSEARCH g BYPOLYGON 5 -10 30 20 30 20 60 -10 60 14 38 ASC WITHDIST
    GEOSEARCH g BYPOLYGON 4 -179 -80 179 -80 179 80 -179 80 ASC WITHDIST
    GEOSEARCH g BYPOLYGON 3 13 37 13 37 13 37
    GEOSEARCH g BYPOLYGON 3 0 0 1 1 2 2 BYPOLYGON 4 12 36 12 40 16 40 16 36 ASC
    GEOSEARCH nosuch BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCHSTORE kept g BYPOLYGON 4 12 36 12 40 16 40 16 36
    ZRANGE kept 0 -1 WITHSCORES
    GEOSEARCHSTORE kept g BYPOLYGON 4 12 36 12 40 16 40 16 36 STOREDIST
    ZRANGE kept 0 -1
    GEOSEARCHSTORE kept nosuch BYPOLYGON 4 12 36 12 40 16 40 16 36
    EXISTS kept
    GEOSEARCH g BYPOLYGON 2 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 4 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON x 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 4294967299 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 x
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 89
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 FROMLONLAT 1 2
    GEOSEARCH g FROMLONLAT 1 2 BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCH g FROMMEMBER enna BYPOLYGON 3 13 37 16 37 14.5 39.5
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 FROMMEMBER enna
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 BYRADIUS 1 km
    GEOSEARCH g BYPOLYGON 3 13 37 16 37 14.5 39.5 BYBOX 1 1 km
    GEOSEARCH g FROMLONLAT 1 2 ASC COUNT 3 WITHDIST
    GEOSEARCH g ASC COUNT 3 WITHDIST WITHHASH WITHCOORD
    GEORADIUS g 1 2 3 km BYPOLYGON 3 13 37 16 37 14.5 39.5`,
  ],
  [
    'fields with a TTL',
    `
    HSET h a 1 b 2 c 3
    HEXPIREAT h ${FAR} FIELDS 2 a nosuch
    HEXPIREAT h ${FAR} NX FIELDS 1 a
    HEXPIREAT h ${FAR} XX FIELDS 2 a b
    HEXPIREAT h ${FAR}0 GT FIELDS 2 a b
    HEXPIREAT h ${FAR} LT FIELDS 2 a b
    HEXPIREAT h ${FAR} NX XX FIELDS 1 a
    HEXPIREAT h ${FAR} GT LT FIELDS 1 a
    HEXPIREAT h ${FAR} FOO FIELDS 1 a
    HEXPIREAT h ${FAR} FIELDS 2 a
    HEXPIREAT h ${FAR} FIELDS 0 a
    HEXPIREAT h ${FAR} FIELDS x a
    HEXPIREAT h ${FAR} FIELD 1 a
    HEXPIREAT h -1 FIELDS 1 a
    HEXPIREAT h x FIELDS 1 a
    HEXPIREAT h 99999999999999999 FIELDS 1 a
    HEXPIREAT nosuch ${FAR} FIELDS 1 a
    OBJECT ENCODING h
    HEXPIRETIME h FIELDS 3 a c nosuch
    HPEXPIRETIME h FIELDS 1 a
    HEXPIRETIME h FIELDS 2 a
    HEXPIRETIME h FIELD 1 a
    HTTL h FIELDS 1 c
    HPTTL nosuch FIELDS 1 c
    HPERSIST h FIELDS 3 a c nosuch
    HPERSIST h FIELDS 2 a
    HEXPIRE h 0 FIELDS 1 a
    HEXPIREAT h 1 FIELDS 2 b c
    EXISTS h`,
  ],
  [
    'HSETEX, HGETEX and HGETDEL',
    `
    HSETEX h FIELDS 2 a 1 b 2
    HSETEX h EXAT ${FAR} FIELDS 1 a 3
    HEXPIRETIME h FIELDS 2 a b
    HSETEX h KEEPTTL FIELDS 1 a 4
    HEXPIRETIME h FIELDS 1 a
    HSETEX h FNX FIELDS 2 a 5 c 6
    HSETEX h FXX FIELDS 2 a 5 c 6
    HSETEX h FXX PXAT ${FAR}000 FIELDS 2 a 5 b 6
    HSETEX h NX FIELDS 1 a 5
    HSETEX nosuch XX FIELDS 1 a 5
    HSETEX h NX XX FIELDS 1 a 5
    HSETEX h EX 10 PX 10 FIELDS 1 a 5
    HSETEX h FIELDS 2 a 5
    HSETEX h FIELDS 0 a 5
    HSETEX h FOO FIELDS 1 a 5
    HSETEX h EX -1 FIELDS 1 a 5
    HSETEX h EXAT 1 FIELDS 1 b 5
    HSETEX gone EXAT 1 FIELDS 1 b 5
    EXISTS gone
    HGETALL h
    HGETEX h FIELDS 2 a nosuch
    HGETEX h EXAT ${FAR} FIELDS 1 a
    HGETEX h PERSIST FIELDS 1 a
    HEXPIRETIME h FIELDS 1 a
    HGETEX h PERSIST EX 5 FIELDS 1 a
    HGETEX h NX FIELDS 1 a
    HGETEX h FIELDS 3 a
    HGETEX nosuch FIELDS 1 a
    HGETEX h EXAT 1 FIELDS 1 a
    HSET h x 1 y 2
    HGETDEL h FIELDS 2 x nosuch
    HGETDEL h FIELDS 3 x
    HGETDEL h FIELD 1 x
    HGETDEL h FIELDS 1 y
    EXISTS h`,
  ],
  [
    'DELIFEQ and MSETEX',
    `
    SET k v
    DELIFEQ k w
    DELIFEQ k v
    DELIFEQ k v
    SADD s a
    DELIFEQ s a
    MSETEX 2 a 1 b 2 NX
    MSETEX 2 a 1 c 2 NX
    MSETEX 2 a 1 b 2 XX EXAT ${FAR}
    EXPIRETIME a
    MSETEX 1 a 1 KEEPTTL
    EXPIRETIME a`,
  ],
  ['which strings are embedded', embedded()],
  [
    'the filters of CLIENT',
    `
    CLIENT SETNAME me
    CLIENT LIST NAME nobody
    CLIENT LIST NOT-NAME me
    CLIENT LIST NAME
    CLIENT LIST NAME me NOT-NAME me
    CLIENT LIST DB 1
    CLIENT LIST DB x
    CLIENT LIST DB 16
    CLIENT LIST NOT-DB 0
    CLIENT LIST NOT-DB x
    CLIENT LIST NOT-DB 99
    CLIENT LIST FLAGS q
    CLIENT LIST FLAGS P
    CLIENT LIST NOT-FLAGS ""
    CLIENT LIST NOT-FLAGS q
    CLIENT LIST LIB-NAME x
    CLIENT LIST LIB-NAME ""
    CLIENT SETINFO lib-name foo
    CLIENT LIST NOT-LIB-NAME foo
    CLIENT LIST LIB-VER ""
    CLIENT LIST IDLE 0
    CLIENT LIST IDLE x
    CLIENT LIST IDLE 1000
    CLIENT LIST NOT-IDLE 1
    CLIENT LIST CAPA r
    CLIENT LIST CAPA x
    CLIENT LIST NOT-CAPA x
    CLIENT LIST NOT-CAPA ""
    CLIENT LIST NOT-ID
    CLIENT LIST NOT-ID a
    CLIENT LIST NOT-ID 0
    CLIENT LIST NOT-ID 9998 9999 NAME zz
    CLIENT LIST NOT-TYPE normal
    CLIENT LIST NOT-TYPE other
    CLIENT LIST NOT-USER default
    CLIENT LIST NOT-USER nobody
    CLIENT LIST NOT-SKIPME yes
    CLIENT LIST NOT-MAXAGE 10
    CLIENT LIST IP 1.2.3.4
    CLIENT KILL NAME nobody
    CLIENT KILL NOT-NAME me
    CLIENT KILL IP 1.2.3.4
    CLIENT KILL DB 9
    CLIENT KILL FLAGS b
    CLIENT KILL FLAGS q
    CLIENT KILL NOT-ID x
    CLIENT KILL CAPA q`,
  ],
  [
    'what only this server says',
    `
    MODULE LIST
    INFO modules
    COMMAND GETKEYS GEORADIUS a 1 2 3 m STORE b STOREDIST c
    COMMAND GETKEYSANDFLAGS GEORADIUS a 1 2 3 m STORE b STOREDIST c
    COMMAND GETKEYS GEORADIUS a 1 2 3 m STOREDIST c STORE b
    COMMAND GETKEYSANDFLAGS GEORADIUSBYMEMBER a b 3 m
    ZADD z 1 a
    GEOSEARCH z FROMMEMBER b BYRADIUS 1 m
    GEOSEARCHSTORE d z FROMMEMBER b BYRADIUS 1 m
    GEORADIUSBYMEMBER z b 1 m
    EVAL "return redis.call('client', 'foo')" 0
    CLUSTER KEYSLOT a
    CLUSTER KEYSLOT
    CLUSTER INFO
    CLUSTERSCAN 0
    CLUSTER MIGRATESLOTS SLOTSRANGE 0 1 NODE x
    CLUSTER GETSLOTMIGRATIONS
    CLUSTER CANCELSLOTMIGRATIONS
    CLUSTER FLUSHSLOT 1
    CLUSTER SYNCSLOTS a
    CLUSTER REPLICATE NO ONE
    HSET h a b
    HPEXPIREAT h 4102444800123 FIELDS 1 a
    INFO keyspace
    RESTORE r 0 x`,
  ],
  ...DATABASE_SESSIONS,
  [
    'scores in decimal alone',
    `
    ZADD z 0x10 a
    ZADD z 1e3 a
    ZADD z 1e b
    ZADD z +1 c
    ZADD z " 1" d
    ZADD z "1 " d
    ZADD z inf e
    ZADD z +inf e2
    ZADD z -inf e2
    ZADD z infinity f
    ZADD z +infinity f
    ZADD z -Infinity f
    ZADD z INF f
    ZADD z nan g
    ZADD z "nan(1)" g
    ZADD z .5 h
    ZADD z 5. h
    ZADD z . h
    ZADD z "" h
    ZADD z 1e400 i
    ZADD z 1e-400 i
    ZADD z -1e400 i
    ZADD z 1e308 i
    ZADD z ++1 i
    ZADD z +-1 i
    ZADD z 1d i
    ZADD z 1_0 i
    ZADD z 1f i
    ZADD z -0 j
    ZADD z 00001 j
    ZADD z 1E+2 j
    ZADD z 1e+ j
    ZADD z infin j
    ZADD z 0x1p3 j
    ZADD z -0x10 j
    ZADD z 4.9e-324 k
    ZADD z 2e-324 k
    ZADD z 2.2250738585072011e-308 k
    ZADD z 1.7976931348623159e308 l
    ZADD z 0e999999999999 l
    ZADD z 123456789012345678901234567890 l
    ZINCRBY z 0x10 a
    ZINCRBY z +1 a
    ZINCRBY z 1e400 a
    ZINCRBY z " 1" a
    ZRANGEBYSCORE z 0x1 0x100
    ZRANGEBYSCORE z (0x1 100
    ZRANGEBYSCORE z (+1 100
    ZRANGEBYSCORE z "( 1" 100
    ZRANGEBYSCORE z +1 1e400
    ZRANGEBYSCORE z 1e 2
    ZRANGEBYSCORE z " 1" 2
    ZRANGEBYSCORE z -1e400 1e400
    ZRANGEBYSCORE z infinity infinity
    ZRANGEBYSCORE z "" ""
    ZRANGEBYSCORE z 1x 2
    ZRANGEBYSCORE z ( 2
    ZRANGEBYSCORE z 1 )2
    ZUNION 1 z WEIGHTS 0x2
    ZUNION 1 z WEIGHTS +2
    ZUNION 1 z WEIGHTS " 2"
    ZUNION 1 z WEIGHTS 1e400
    ZUNION 1 z WEIGHTS nan
    ZUNION 1 z WEIGHTS inf
    GEOADD g 0x1 0x2 a
    GEOADD g +1 +2 b
    GEOADD g 1e1 " 2" b
    GEOADD g 1e400 2 b
    GEOADD g inf 2 b
    GEOADD g nan 2 b
    GEORADIUS g 0x1 0x2 0x10 km
    GEOSEARCH g FROMLONLAT 0x1 0x2 BYRADIUS 0x10 km
    GEOSEARCH g FROMLONLAT 1 2 BYRADIUS 1e400 km
    GEOSEARCH g FROMLONLAT 1 2 BYBOX 0x1 0x2 km
    GEOSEARCH g FROMLONLAT 1 2 BYRADIUS inf km
    GEOSEARCH g FROMLONLAT 1 2 BYRADIUS nan km
    INCRBYFLOAT f 0x10
    INCRBYFLOAT f 0x1p3
    INCRBYFLOAT f +1
    INCRBYFLOAT f " 1"
    INCRBYFLOAT f 1e400
    INCRBYFLOAT f 1e5000
    INCRBYFLOAT f inf
    INCRBYFLOAT f nan
    INCRBYFLOAT f 1e
    INCRBYFLOAT f 1e-400
    INCRBYFLOAT f .5
    INCRBYFLOAT f 5.
    INCRBYFLOAT f -infinity
    INCRBYFLOAT f2 1
    INCRBYFLOAT f2 1
    INCRBYFLOAT f2 1
    RPUSH li 0x10 5 " 3"
    SORT li
    SORT li ALPHA
    RPUSH li2 1e3 5 +3 inf
    SORT li2
    RPUSH li3 1e400
    SORT li3
    RPUSH li4 nan
    SORT li4
    RPUSH li5 5
    SORT li5 BY w_*`,
  ],
  [
    'integers of scripts, and SCRIPT DEBUG',
    `
    SET k v
    GETEX nosuch EXAT 1
    GETEX nosuch EX -1
    GETEX nosuch PX 99999999999999999999
    GETEX nosuch EX 9223372036854775
    GETEX nosuch EX 99999999999999999
    GETEX nosuch NOPE
    LPUSH l a
    GETEX l PX 0
    GETEX l PX x
    COMMAND GETKEYSANDFLAGS DELEX a
    COMMAND GETKEYSANDFLAGS DELEX a IFEQ b
    EVAL "redis.call('append','q1','1') return redis.call('object','encoding','q1')" 0
    EVAL "redis.call('append','q1','2') return redis.call('object','encoding','q1')" 0
    EVAL "redis.call('setrange','q2',0,'1') return redis.call('object','encoding','q2')" 0
    EVAL "redis.call('hset','qh','1','2') return redis.call('object','encoding','qh')" 0
    EVAL "redis.call('lpush','ql','1','2') return redis.call('object','encoding','ql')" 0
    EVAL "redis.call('sadd','qs','1','2') return redis.call('object','encoding','qs')" 0
    EVAL "redis.call('getset','q3','9') return redis.call('object','encoding','q3')" 0
    EVAL "redis.call('set','q4','9','ex','100') return redis.call('object','encoding','q4')" 0
    EVAL "redis.call('set','q4','9','get') return redis.call('object','encoding','q4')" 0
    EVAL "redis.call('msetex','1','q5','9') return redis.call('object','encoding','q5')" 0
    EVAL "redis.call('incrby','q6','9') return redis.call('object','encoding','q6')" 0
    EVAL "redis.call('incrbyfloat','q7','9') return redis.call('object','encoding','q7')" 0
    EVAL "redis.call('set','q8','12345678901234567890') return redis.call('object','encoding','q8')" 0
    EVAL "redis.call('set','q9','1') redis.call('incr','q9') return redis.call('object','encoding','q9')" 0
    EVAL "redis.call('set','q9','1') redis.call('copy','q9','q10') return redis.call('object','encoding','q10')" 0
    EVAL "redis.call('set','q9','1') redis.call('rename','q9','q11') return redis.call('object','encoding','q11')" 0
    EVAL "redis.call('rpush','ql2','1') redis.call('sort','ql2','store','ql3') return redis.call('object','encoding','ql3')" 0
    EVAL "redis.call('set','q12',string.rep('x',100)) return redis.call('object','encoding','q12')" 0
    EVAL "redis.call('set','q12',string.rep('x',44)) return redis.call('object','encoding','q12')" 0
    EVAL "redis.call('set','q12',string.rep('x',45)) return redis.call('object','encoding','q12')" 0
    EVAL "redis.call('set','q12',string.rep('x',70)) return redis.call('object','encoding','q12')" 0
    EVAL "redis.call('set','q12',string.rep('x',110)) return redis.call('object','encoding','q12')" 0
    EVAL "redis.call('set','q12',string.rep('x',120)) return redis.call('object','encoding','q12')" 0
    EVAL "redis.call('restore','q13','0',redis.call('dump','q9')) return redis.call('object','encoding','q13')" 0
    SET q14 1
    EVAL "redis.call('set','q14','5') return redis.call('object','encoding','q14')" 0
    EVAL "redis.call('bitfield','q15','set','u8','0','49') return redis.call('object','encoding','q15')" 0
    EVAL "redis.call('getex','q14','ex','100') return redis.call('object','encoding','q14')" 0
    MULTI
    SET q16 1
    EXEC
    OBJECT ENCODING q16
    EVAL "redis.call('set','q17',1) return redis.call('object','encoding','q17')" 0
    OBJECT ENCODING q17
    SCRIPT DEBUG NO
    SCRIPT DEBUG NO x
    SCRIPT DEBUG NO LuA
    SCRIPT DEBUG nosuch x
    SCRIPT DEBUG nosuch
    SCRIPT DEBUG YES x y
    SCRIPT DEBUG ""`,
  ],
  [
    'words after the mode of CLIENT PAUSE, and CLUSTER SETSLOT in a script that only reads',
    `
    CLIENT PAUSE x NOSUCH
    CLIENT PAUSE x NOSUCH x
    CLIENT PAUSE 0 NOSUCH x
    CLIENT PAUSE 0 WRITE x
    CLIENT UNPAUSE
    EVAL_RO "return redis.pcall('cluster','setslot','a','1')" 0
    EVAL_RO "return redis.pcall('cluster','setslot','1','stable')" 0
    EVAL_RO "return redis.pcall('cluster','setslot','1')" 0
    EVAL_RO "return redis.pcall('cluster','addslots','1')" 0
    EVAL "return redis.pcall('cluster','setslot','a','1')" 0
    COMMAND INFO cluster|setslot`,
  ],
  [
    'the order of the keys of Lua tables, LTRIM that removes nothing, and unknown subcommands in scripts',
    `
    EVAL "local r = {} for i = 1, 60 do r[string.rep(string.char(97 + i % 26), i % 40) .. i] = i end local t = {} for k in pairs(r) do t[#t + 1] = k end return t" 0
    HSET hh name 1 type 2 display_text 3 token 4 flags 5
    EVAL "redis.setresp(3) return redis.call('HGETALL', 'hh')" 0
    HSET hh f1x7 1 f1x14 2 f1x21 3
    EVAL "redis.setresp(3) return redis.call('HGETALL', 'hh')" 0
    EVAL "return cjson.encode({name = 1, id = 2, value = 3, x = {a = 1, b = 2, c = 3}, list = {1, 2}, token = string.rep(string.char(200), 5)})" 0
    EVAL "return cjson.encode(cjson.decode(ARGV[1]))" 0 {"b":1,"a":2,"hello":{"z":1,"y":2},"":0}
    EVAL "local t = setmetatable({}, {__index = function(_, k) return k end, __newindex = rawset}) t.q = 1 return {t.abc, t.q, redis.sha1hex('x'), string.upper('a')}" 0
    RPUSH l a b c
    WATCH l
    LTRIM l 0 -1
    MULTI
    PING
    EXEC
    WATCH l
    LTRIM l -5 9
    MULTI
    PING
    EXEC
    WATCH l
    LTRIM l 0 1
    MULTI
    PING
    EXEC
    EVAL "return redis.pcall('COMMANDLOG', 'a\\r\\nb')" 0
    EVAL "return redis.pcall('XINFO', '\\r\\n').err" 0
    EVAL "return redis.pcall('OBJECT', string.rep('x', 130)).err" 0
    EVAL_RO "return redis.pcall('CLUSTER', 'SYNCSLOTS', '1').err" 0
    ACL SETUSER alice on nopass +@all
    AUTH alice pw
    CONFIG RESETSTAT
    EVAL "return redis.call('SET', 'a', '1')" 0
    EVAL "return redis.pcall('PUBLISH', 'c', '1').err" 0
    EVAL "return redis.call('NOSUCH')" 0
    INFO errorstats
    CONFIG GET maxmemory-policy MAXMEMORY appendonly hz slaveof
    CONFIG GET slowlog-* commandlog-*
    CONFIG GET *-entries`,
  ],
];
