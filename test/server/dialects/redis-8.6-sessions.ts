/** Requests whose replies are compared with redis-server 8.6, one a line. */
import type { Session } from './sessions.ts';

/** Trims a stream whose nodes have three entries in many ways, with nothing read and with some entries acknowledged. */
function trims(): string {
  const lines = ['CONFIG SET stream-node-max-entries 3'];
  const ways = ['MAXLEN ~ 3 DELREF', 'MINID ~ 6 DELREF', 'MAXLEN ~ 1 ACKED', 'MINID ~ 6 LIMIT 4 DELREF'];
  ways.push('MINID ~ 7 LIMIT 5 ACKED', 'MAXLEN ~ 1 LIMIT 2 DELREF', 'MINID ~ 6 KEEPREF');
  for (const read of [false, true]) {
    for (const way of ways) {
      lines.push('DEL s', ...Array.from({ length: 10 }, (_, i) => `XADD s ${i + 1}-1 f v`));
      lines.push('XGROUP CREATE s g 0');
      if (read) lines.push('XREADGROUP GROUP g c COUNT 10 STREAMS s >', 'XACK s g 1-1 2-1 4-1 5-1');
      lines.push(`XTRIM s ${way}`, 'XRANGE s - +');
    }
  }
  lines.push('XADD s MAXLEN ~ 2 DELREF 11-1 f v', 'XRANGE s - +', 'XPENDING s g');
  return [...lines, 'XADD s ACKED MAXLEN ~ 1 12-1 f v', 'XLEN s'].join('\n');
}

/** Sets strings of about the longest length that is embedded, with and without deadlines. */
function embedded(): string {
  const lines: string[] = [];
  for (const [key, length] of [
    ['a', 40],
    ['k'.repeat(31), 10],
    ['k'.repeat(33), 8],
  ] as const) {
    for (const value of ['v'.repeat(length), 'v'.repeat(length + 1)]) {
      for (const deadline of ['', ' EX 100']) {
        for (const request of [
          `SET ${key} ${value}${deadline}`,
          `EXPIRE ${key} 50`,
          `SET ${key} ${value} KEEPTTL`,
        ]) {
          lines.push(request, `OBJECT ENCODING ${key}`);
        }
        lines.push(`DEL ${key}`);
      }
    }
  }
  return lines.join('\n');
}

export const SESSIONS: readonly Session[] = [
  [
    'ids of idempotent producers',
    `
    XADD s IDMP p1 a * f v
    XADD s IDMP p1 a * f other
    XADD s IDMP p2 a * f v
    XADD s IDMP p1 b NOMKSTREAM * f v
    XADD nosuch IDMP p1 b NOMKSTREAM * f v
    XADD s IDMPAUTO p1 * f v
    XADD s IDMPAUTO p1 * f v
    XADD s IDMPAUTO p1 * f v g w
    XADD s IDMPAUTO p1 * g w f v
    XADD s IDMP p1 a MAXLEN 2 * f v
    XINFO STREAM s
    XINFO STREAM s FULL
    XLEN s
    XADD s IDMP p a 1-1 f v
    XADD s IDMP
    XADD s IDMP p
    XADD s IDMP p a
    XADD s IDMP p a *
    XADD s IDMPAUTO * f v
    XADD s IDMPAUTO p x * f v
    XADD s IDMP p a IDMP p b * f v
    XADD s IDMP p a IDMPAUTO p * f v
    XADD s IDMPAUTO p IDMP p b * f v
    XCFGSET s
    XCFGSET s IDMP-DURATION
    XCFGSET s IDMP-DURATION 0
    XCFGSET s IDMP-DURATION 86401
    XCFGSET s IDMP-MAXSIZE 0
    XCFGSET s IDMP-MAXSIZE 10001
    XCFGSET s IDMP-MAXSIZE 2 IDMP-MAXSIZE 3
    XCFGSET s IDMP-DURATION 2 IDMP-DURATION 3
    XCFGSET s FOO 3
    XCFGSET nosuch IDMP-DURATION 5
    XCFGSET s IDMP-DURATION 100
    XINFO STREAM s
    XCFGSET s IDMP-DURATION 50 IDMP-MAXSIZE 2
    XINFO STREAM s
    XADD s IDMP p a * f v
    XADD s IDMP p b * f v
    XADD s IDMP p c * f v
    XADD s IDMP p a * f v
    XINFO STREAM s
    CONFIG SET stream-idmp-maxsize 7 stream-idmp-duration 9
    XADD t 1-1 f v
    XINFO STREAM t
    CONFIG SET stream-idmp-maxsize 0
    CONFIG SET stream-idmp-duration 86401
    CONFIG GET stream-idmp-maxsize
    CONFIG GET stream-idmp-duration`,
  ],
  [
    'XIDMPRECORD',
    `
    XIDMPRECORD s p a 1-1
    XADD s 9999999999999-1 f v
    XADD s 9999999999999-2 f v
    XIDMPRECORD s p a 9999999999999-1
    XIDMPRECORD s p a 9999999999999-1
    XIDMPRECORD s p a 9999999999999-2
    XIDMPRECORD s p b 3-1
    XIDMPRECORD s p b x
    XIDMPRECORD s p
    XIDMPRECORD s p b 2-1 x
    SADD t a
    XIDMPRECORD t p b 2-1
    XADD t IDMP p b * f v`,
  ],
  [
    'XREADGROUP with CLAIM',
    `
    XADD s 1-1 a 1
    XADD s 2-1 b 2
    XADD s 3-1 c 3
    XADD s 4-1 d 4
    XGROUP CREATE s g 0
    XREADGROUP GROUP g alice COUNT 2 STREAMS s >
    XREADGROUP GROUP g bob CLAIM 1000000 STREAMS s >
    XREADGROUP GROUP g bob CLAIM 1000000 STREAMS s >
    XREADGROUP GROUP g bob CLAIM 1000000 STREAMS s 0
    XCLAIM s g alice 0 1-1 2-1 TIME 1
    XPENDING s g
    XREADGROUP GROUP g carol COUNT 1 CLAIM 100000000 STREAMS s >
    XADD s 5-1 e 5
    XREADGROUP GROUP g carol COUNT 5 CLAIM 100000000 STREAMS s >
    XREADGROUP GROUP g carol COUNT 5 CLAIM 100000000 STREAMS s >
    XADD s 6-1 e 5
    XCLAIM s g alice 0 1-1 2-1 3-1 TIME 1
    XDEL s 2-1
    XREADGROUP GROUP g dave COUNT 2 NOACK CLAIM 100000000 STREAMS s >
    XREADGROUP GROUP g dave COUNT 2 NOACK CLAIM 100000000 STREAMS s >
    XPENDING s g
    XREADGROUP GROUP g dave CLAIM -1 STREAMS s >
    XREADGROUP GROUP g dave CLAIM x STREAMS s >
    XREADGROUP GROUP g dave CLAIM
    XREAD CLAIM 5 STREAMS s 0
    XREADGROUP GROUP nosuch dave CLAIM 5 STREAMS s >`,
  ],
  [
    'fields with a TTL, whose options may come in any order',
    `
    HSET h a 1 b 2
    HEXPIRE h 1000 FIELDS 1 a NX
    HEXPIRE h 1000 NX FIELDS 1 a
    HEXPIRE h 1000 NX GT FIELDS 1 a
    HEXPIRE h 1000 FIELDS 1 a FOO
    HEXPIRE h 1000 FIELDS 3 a b
    HEXPIRE h 1000 NX XX GT
    HEXPIRE h 1000 FIELDS 0 a
    HEXPIRE h 1000 FIELDS 1 a FIELDS 1 b
    HGETEX h FIELDS 1 a PERSIST
    HGETEX h FIELDS 1 a EX 1000
    HGETEX h KEEPTTL FIELDS 1 a
    HGETEX h FIELDS 3 a
    HGETEX h a b c
    HSETEX h FIELDS 1 a 5 EX 1000
    HSETEX h PERSIST FIELDS 1 a 5
    HSETEX h FNX FXX FIELDS 1 a 5
    HSETEX h FIELDS 2 a 5
    HGETALL h`,
  ],
  [
    'DELEX, DIGEST and MSETEX',
    `
    SET k v
    DELEX k IFEQ w
    DELEX k IFNE v
    DELEX k IFDEQ 0123456789abcdef
    DELEX k IFDNE 0123
    DELEX k FOO v
    DELEX k IFEQ
    DELEX k IFEQ v x
    DIGEST k
    DIGEST nosuch
    SADD s a
    DIGEST s
    DELEX s IFEQ a
    DELEX s
    DELEX k IFEQ v
    DELEX k
    SET n 12345
    DIGEST n
    MSETEX 2 a 1 b 2 NX
    MSETEX 2 a 1 c 2 NX
    MSETEX 2 a 1 c 2 XX
    MSETEX 2 a 1 b 3 XX EX 1000
    TTL b
    MSETEX 2 a 1 b 3 KEEPTTL
    TTL b
    MSETEX 0 a 1
    MSETEX x a 1
    MSETEX 2 a 1 b
    MSETEX 1 a 1 NX XX
    MSETEX 1 a 1 EX 10 PX 10
    MSETEX 1 a 1 EX 0
    MSETEX 2147483648 a 1`,
  ],
  [
    'VRANGE',
    `
    VADD v VALUES 2 1 2 b
    VADD v VALUES 2 1 3 a
    VADD v VALUES 2 1 4 B
    VADD v VALUES 2 1 5 aa
    VADD v VALUES 2 1 6 c
    VADD v VALUES 2 1 7 é
    VRANGE v - +
    VRANGE v - + 2
    VRANGE v - + 0
    VRANGE v - + -1
    VRANGE v [b [c
    VRANGE v (a (c
    VRANGE v (b +
    VRANGE v [c [a
    VRANGE v - (b 1
    VRANGE v + -
    VRANGE v + - x
    VRANGE v + b
    VRANGE v [b -
    VRANGE v - -
    VRANGE v b c
    VRANGE v [b c
    VRANGE v [ (
    VRANGE v [b (
    VRANGE v - +x
    VRANGE v - + 1.5
    VRANGE v - + 99999999999999999999
    VRANGE v -
    VRANGE v - + 1 2
    VRANGE nosuch - +
    SET s 1
    VRANGE s - +
    VRANGE s x y
    VADD v VALUES 3 1 2 3 d
    VADD v VALUES 2 5 1 a
    VSIM v VALUES 2 1 2 WITHSCORES COUNT 2
    VSIM v ELE a COUNT 1 WITHATTRIBS
    VEMB v a
    VEMB v nosuch
    VLINKS v nosuch
    VCARD v
    VDIM v
    VDIM nosuch
    VSETATTR v a {"x":1}
    VGETATTR v a
    VSIM v ELE a FILTER .x==1
    VISMEMBER v a
    VREM v a
    VREM v a
    VRANDMEMBER nosuch
    COMMAND INFO vadd vcard vdim vemb vgetattr vinfo vismember vlinks vrandmember vrange vrem vsetattr vsim
    VCARD
    VSIM v
    VLINKS v a b c
    VINFO nosuch`,
  ],
  ['approximate trims under each policy', trims()],
  [
    'entries that all groups have read, after a group is gone',
    `
    XADD s 1-1 f v
    XADD s 2-1 f v
    XADD s 3-1 f v
    XADD s 4-1 f v
    XGROUP CREATE s g 0
    XGROUP CREATE s h 0
    XREADGROUP GROUP g c COUNT 4 STREAMS s >
    XREADGROUP GROUP h c COUNT 2 STREAMS s >
    XDELEX s ACKED IDS 4 1-1 2-1 3-1 4-1
    XACK s g 1-1 2-1 3-1
    XDELEX s ACKED IDS 4 1-1 2-1 3-1 4-1
    XGROUP DESTROY s h
    XDELEX s ACKED IDS 4 1-1 2-1 3-1 4-1
    XLEN s`,
  ],
  [
    'comparisons with NX and XX',
    `
    DEL a
    SET a q IFEQ b NX
    SET a q IFEQ b XX
    SET a q IFNE b XX
    SET a q IFNE b NX
    SET a b
    SET a q IFEQ b NX
    SET a q IFEQ c XX
    SET a q IFEQ b XX
    GET a
    SET a q NX IFEQ b
    SET a q XX IFNE b
    SET a r IFDNE 0000000000000000 XX GET
    SET a q IFDEQ b NX
    SET a q IFEQ b IFNE b
    SET a q IFEQ b IFEQ r
    SET a q IFEQ b XX NX
    RPUSH l 1
    SET l q IFEQ b NX
    SET l q IFEQ b XX`,
  ],
  ['which strings are embedded', embedded()],
  [
    'the policies by the last modification',
    `
    CONFIG SET maxmemory-policy allkeys-lrm
    CONFIG SET maxmemory-policy volatile-lrm
    CONFIG GET maxmemory-policy
    SET a b
    OBJECT IDLETIME a
    OBJECT FREQ a
    RESTORE r 0 x IDLETIME 100
    CONFIG SET maxmemory-policy volatile-lru
    CONFIG SET maxmemory-policy lrm
    CONFIG SET maxmemory-policy ALLKEYS-LRM
    CONFIG GET maxmemory-policy`,
  ],
  [
    'arrays of cjson',
    `
    EVAL "cjson.decode_array_with_array_mt(true) return cjson.encode({a=cjson.decode('[[],{},[1,null]]')})" 0
    EVAL "return tostring(cjson.decode_array_with_array_mt('on')) .. tostring(cjson.decode_array_with_array_mt())" 0
    EVAL "return tostring(cjson.decode_array_with_array_mt('off')) .. tostring(cjson.decode_array_with_array_mt(false))" 0
    EVAL "return cjson.decode_array_with_array_mt(1)" 0
    EVAL "return cjson.decode_array_with_array_mt(true, 1)" 0
    EVAL "cjson.decode_array_with_array_mt(true) local t = cjson.decode('[]') t.a = 1 return cjson.encode(t)" 0
    EVAL "cjson.decode_array_with_array_mt(true) local t = cjson.decode('[1,2]') t[1] = nil t[2] = nil return cjson.encode(t)" 0
    EVAL "cjson.decode_array_with_array_mt(true) local t = setmetatable({}, getmetatable(cjson.decode('[]'))) t[1] = 1 t[3] = 3 return cjson.encode(t)" 0
    EVAL "cjson.decode_array_with_array_mt(true) return tostring(getmetatable(cjson.decode('[]')) == getmetatable(cjson.decode('[1]')))" 0
    EVAL "cjson.decode_array_with_array_mt(true) getmetatable(cjson.decode('[]')).x = 1" 0
    EVAL "cjson.decode_array_with_array_mt(false) return tostring(getmetatable(cjson.decode('[]')))" 0
    EVAL "return cjson.encode(setmetatable({}, {__is_cjson_array = 1}))" 0
    EVAL "return cjson.encode(setmetatable({}, {__is_cjson_array = false}))" 0
    EVAL "return cjson.encode(setmetatable({}, setmetatable({}, {__index = {__is_cjson_array = true}})))" 0
    EVAL "local c = cjson.new() return {tostring(c.decode_array_with_array_mt()), c.encode(c.decode('[]'))}" 0
    EVAL "local r = {} for k in pairs(cjson) do table.insert(r, k) end return r" 0`,
  ],
  [
    'commands that move slots, without a cluster, and VRANGE',
    `
    CLUSTER MIGRATION
    CLUSTER MIGRATION IMPORT 0 1
    CLUSTER MIGRATION STATUS ALL
    CLUSTER SYNCSLOTS a b
    TRIMSLOTS RANGES 1 0 1
    TRIMSLOTS RANGES 1 0
    CLUSTER KEYSLOT a
    VADD v VALUES 2 1 0 a
    VRANGE v b h x
    VRANGE v - h x
    VRANGE v - +
    VRANGE v - h
    VRANGE nosuch b h x`,
  ],
  [
    'HOTKEYS: arguments and errors',
    `
    HOTKEYS GET
    HOTKEYS
    HOTKEYS NOSUCH
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS START
    HOTKEYS START METRICS
    HOTKEYS START METRICS 0
    HOTKEYS START METRICS 0 CPU
    HOTKEYS START METRICS 1
    HOTKEYS START METRICS x CPU
    HOTKEYS START METRICS 3 CPU NET
    HOTKEYS START METRICS 3 CPU NET X
    HOTKEYS START METRICS 1 CPU NET
    HOTKEYS START METRICS 2 CPU CPU
    HOTKEYS START METRICS 1 FOO
    HOTKEYS START METRICS 2 CPU FOO
    HOTKEYS START METRICS -1 CPU
    HOTKEYS START COUNT 5
    HOTKEYS START COUNT 5 METRICS 1 CPU
    HOTKEYS START METRICS 1 CPU
    HOTKEYS RESET
    HOTKEYS STOP
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS RESET
    HOTKEYS START METRICS 1 CPU COUNT 0
    HOTKEYS START METRICS 1 CPU COUNT 65
    HOTKEYS START METRICS 1 CPU COUNT 1000
    HOTKEYS START METRICS 1 CPU COUNT -1
    HOTKEYS START METRICS 1 CPU COUNT x
    HOTKEYS START METRICS 1 CPU COUNT
    HOTKEYS START METRICS 1 CPU DURATION
    HOTKEYS START METRICS 1 CPU DURATION x
    HOTKEYS START METRICS 1 CPU DURATION -1
    HOTKEYS START METRICS 1 CPU DURATION 0
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS START METRICS 1 CPU DURATION 99999999999999999999
    HOTKEYS START METRICS 1 CPU DURATION 9223372036854775
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS START METRICS 1 CPU DURATION 9223372036854775807
    HOTKEYS START METRICS 1 CPU SAMPLE 0
    HOTKEYS START METRICS 1 CPU SAMPLE -1
    HOTKEYS START METRICS 1 CPU SAMPLE x
    HOTKEYS START METRICS 1 CPU SAMPLE 99999999999
    HOTKEYS START METRICS 1 CPU SLOTS
    HOTKEYS START METRICS 1 CPU SLOTS 0
    HOTKEYS START METRICS 1 CPU SLOTS 1
    HOTKEYS START METRICS 1 CPU SLOTS 1 0
    HOTKEYS START METRICS 1 CPU SLOTS 2 0 0
    HOTKEYS START METRICS 1 CPU SLOTS 1 16384
    HOTKEYS START METRICS 1 CPU SLOTS x 1
    HOTKEYS START METRICS 1 CPU FOO
    HOTKEYS START METRICS 1 CPU COUNT 5 COUNT 6
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS START METRICS 1 CPU METRICS 1 NET
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS START METRICS 1 CPU SAMPLE 2 SAMPLE 3
    HOTKEYS STOP
    HOTKEYS RESET
    hotkeys start metrics 2 net cpu count 5
    HOTKEYS STOP
    HOTKEYS START METRICS 1 NET COUNT 2
    HOTKEYS STOP x
    HOTKEYS RESET x
    HOTKEYS START METRICS 2 NET CPU COUNT 20
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS START METRICS 1 CPU SAMPLE 2
    HOTKEYS STOP
    HOTKEYS START METRICS 2 CPU NOPE COUNT 3
    HOTKEYS START METRICS 2 CPU
    HOTKEYS START METRICS 2 COUNT CPU
    HOTKEYS START METRICS 1 NET NET
    HOTKEYS STOP
    HOTKEYS START METRICS 1 CPU DURATION 1000001
    HOTKEYS START METRICS 1 CPU DURATION 1000000 SAMPLE 2147483648
    HOTKEYS STOP
    HOTKEYS START METRICS 2 CPU COUNT 3 NET
    HOTKEYS START METRICS 2 FOO CPU
    HOTKEYS STOP
    HOTKEYS START METRICS
    HOTKEYS START METRICS 2
    HOTKEYS START SAMPLE 2
    HOTKEYS START FOO
    HOTKEYS START METRICS 01 CPU
    HOTKEYS START METRICS 1 CPU COUNT 05
    HOTKEYS STOP
    HOTKEYS START METRICS 1 CPU SAMPLE 2147483647
    HOTKEYS STOP
    HOTKEYS STOP
    HOTKEYS RESET
    HOTKEYS GET
    COMMAND INFO hotkeys|start hotkeys|get
    COMMAND GETKEYSANDFLAGS DELEX a
    COMMAND GETKEYSANDFLAGS DELEX a IFEQ b
    INFO hotkeys
    EVAL "return redis.call('hotkeys', 'get')" 0`,
  ],
];
