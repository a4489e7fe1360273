/**
 * What later servers than Redis 7.0 declare otherwise about the arguments, history and deprecation of commands, in the
 * notation of server/table/syntax.ts. 7.2 renamed many arguments.
 */
import type { SyntaxChange } from '../../table/syntax.ts';

/** By full name, oldest first. The changes in the command's own entry come after them. */
export const laterSyntax: Readonly<Record<string, readonly SyntaxChange[]>> = {
  hello: [
    {
      since: '7.2.0',
      words: '[arguments:{protover:int [AUTH=auth:{username password}] [SETNAME=clientname]}]',
    },
    { since: { valkey: '8.1.0' }, history: ['8.1.0 The field `availability_zone`.'] },
  ],
  'cluster|addslotsrange': [{ since: '7.2.0', words: 'range:{start-slot:int end-slot:int}...' }],
  'cluster|setslot': [
    {
      since: { valkey: '8.1.0' },
      words:
        'slot:int subcommand:(IMPORTING=importing/node-id | MIGRATING=migrating/node-id | NODE=node/node-id | STABLE) [TIMEOUT=timeout:int@valkey-8.0.0]',
      history: ['8.0.0 `TIMEOUT`.'],
    },
    {
      since: '8.0.0',
      words:
        'slot:int subcommand:(IMPORTING=importing/node-id | MIGRATING=migrating/node-id | NODE=node/node-id | STABLE)',
    },
  ],
  'cluster|delslotsrange': [{ since: '7.2.0', words: 'range:{start-slot:int end-slot:int}...' }],
  'cluster|meet': [{ since: '7.2.0', words: 'ip port:int [cluster-bus-port:int@4.0.0]' }],
  'cluster|reset': [{ since: '7.2.0', words: '[reset-type:(HARD | SOFT)]' }],
  'client|reply': [{ since: '7.2.0', words: 'action:(ON | OFF | SKIP)' }],
  'client|kill': [
    {
      since: { valkey: '8.1.0' },
      words:
        'filter:(old-format/"ip:port"!2.8.12 | new-format:([ID=client-id:int@2.8.12...] | [TYPE=client-type:(NORMAL | MASTER@3.2.0 | PRIMARY@valkey-8.0.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)@2.8.12] | [USER=username] | [ADDR=addr/"ip:port"] | [LADDR=laddr/"ip:port"@6.2.0] | [SKIPME=skipme:(YES | NO)] | [MAXAGE=maxage:int@valkey-8.0.0])...)',
      history: [
        '8.0.0 `MAXAGE`.',
        '8.0.0 `TYPE` knows `PRIMARY`, a newer word for `MASTER`.',
        '8.1.0 `ID` takes several numbers.',
      ],
    },
    {
      since: { valkey: '9.0.0' },
      words:
        'filter:(old-format/"ip:port"!2.8.12 | new-format:([ID=client-id:int@2.8.12...] | [TYPE=client-type:(NORMAL | MASTER@3.2.0 | PRIMARY@valkey-8.0.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)@2.8.12] | [USER=username] | [ADDR=addr/"ip:port"] | [LADDR=laddr/"ip:port"@6.2.0] | [SKIPME=skipme:(YES | NO)] | [MAXAGE=maxage:int@valkey-8.0.0] | [NAME=name@valkey-9.0.0] | [IDLE=idle:int@valkey-9.0.0] | [FLAGS=flags@valkey-9.0.0] | [LIB-NAME=lib-name@valkey-9.0.0] | [LIB-VER=lib-ver@valkey-9.0.0] | [DB=db:int@valkey-9.0.0] | [CAPA=capa@valkey-9.0.0] | [IP=ip@valkey-9.0.0] | [NOT-TYPE=not-client-type:(NORMAL | MASTER | PRIMARY | SLAVE | REPLICA | PUBSUB)@valkey-9.0.0] | [NOT-ID=not-client-id:int@valkey-9.0.0...] | [NOT-USER=not-username@valkey-9.0.0] | [NOT-ADDR=not-addr/"ip:port"@valkey-9.0.0] | [NOT-LADDR=not-laddr/"ip:port"@valkey-9.0.0] | [NOT-NAME=not-name@valkey-9.0.0] | [NOT-FLAGS=not-flags@valkey-9.0.0] | [NOT-LIB-NAME=not-lib-name@valkey-9.0.0] | [NOT-LIB-VER=not-lib-ver@valkey-9.0.0] | [NOT-DB=not-db:int@valkey-9.0.0] | [NOT-CAPA=not-capa@valkey-9.0.0] | [NOT-IP=not-ip@valkey-9.0.0])...)',
      history: [
        '9.0.0 Filters by name, idle time, flags, library, database, capabilities and address without port; filters that begin with `NOT-`.',
      ],
    },
    {
      since: '8.0.0',
      words:
        'filter:(old-format/"ip:port"!2.8.12 | new-format:([ID=client-id:int@2.8.12] | [TYPE=client-type:(NORMAL | MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)@2.8.12] | [USER=username] | [ADDR=addr/"ip:port"] | [LADDR=laddr/"ip:port"@6.2.0] | [SKIPME=skipme:(YES | NO)] | [MAXAGE=maxage:int@7.4.0])...)',
      history: ['7.4.0 `MAXAGE`.'],
    },
  ],
  'client|unblock': [{ since: '7.2.0', words: 'client-id:int [unblock-type:(TIMEOUT | ERROR)]' }],
  'client|list': [
    {
      since: { valkey: '8.1.0' },
      words:
        '[TYPE=client-type:(NORMAL | MASTER | REPLICA | PUBSUB)@5.0.0] [ID=client-id:int@6.2.0...] [USER=username@valkey-8.1.0] [ADDR=addr/"ip:port"@valkey-8.1.0] [LADDR=laddr/"ip:port"@valkey-8.1.0] [SKIPME=skipme:(YES | NO)@valkey-8.1.0] [MAXAGE=maxage:int@valkey-8.1.0]',
      history: [
        '8.0.0 `TYPE` knows `PRIMARY`, a newer word for `MASTER`.',
        '8.1.0 `USER`, `ADDR`, `LADDR`, `SKIPME` and `MAXAGE`.',
      ],
    },
    {
      since: { valkey: '9.0.0' },
      words:
        '[TYPE=client-type:(NORMAL | MASTER | REPLICA | PUBSUB)@5.0.0] [ID=client-id:int@6.2.0...] [USER=username@valkey-8.1.0] [ADDR=addr/"ip:port"@valkey-8.1.0] [LADDR=laddr/"ip:port"@valkey-8.1.0] [SKIPME=skipme:(YES | NO)@valkey-8.1.0] [MAXAGE=maxage:int@valkey-8.1.0] [NAME=name@valkey-9.0.0] [IDLE=idle:int@valkey-9.0.0] [FLAGS=flags@valkey-9.0.0] [LIB-NAME=lib-name@valkey-9.0.0] [LIB-VER=lib-ver@valkey-9.0.0] [DB=db:int@valkey-9.0.0] [CAPA=capa@valkey-9.0.0] [IP=ip@valkey-9.0.0] [NOT-TYPE=not-client-type:(NORMAL | MASTER | REPLICA | PUBSUB)@valkey-9.0.0] [NOT-ID=not-client-id:int@valkey-9.0.0...] [NOT-USER=not-username@valkey-9.0.0] [NOT-ADDR=not-addr/"ip:port"@valkey-9.0.0] [NOT-LADDR=not-laddr/"ip:port"@valkey-9.0.0] [NOT-NAME=not-name@valkey-9.0.0] [NOT-FLAGS=not-flags@valkey-9.0.0] [NOT-LIB-NAME=not-lib-name@valkey-9.0.0] [NOT-LIB-VER=not-lib-ver@valkey-9.0.0] [NOT-DB=not-db:int@valkey-9.0.0] [NOT-CAPA=not-capa@valkey-9.0.0] [NOT-IP=not-ip@valkey-9.0.0]',
      history: [
        '9.0.0 Filters by name, idle time, flags, library, database, capabilities and address without port; filters that begin with `NOT-`.',
      ],
    },
    {
      since: '8.0.0',
      words: '[TYPE=client-type:(NORMAL | MASTER | REPLICA | PUBSUB)@5.0.0] [ID=client-id:int@6.2.0...]',
      history: [
        '7.2.0 The fields `lib-name` and `lib-ver`.',
        '7.4.0 The field `watch`.',
        '8.0.0 The field `io-thread`.',
      ],
    },
  ],
  'config|get': [{ since: '7.2.0', words: 'parameter...' }],
  'config|set': [{ since: '7.2.0', words: 'data:{parameter value}...' }],
  'command|getkeysandflags': [{ since: '7.2.0', words: 'command [arg...]' }],
  'command|getkeys': [{ since: '7.2.0', words: 'command [arg...]' }],
  flushall: [{ since: '7.2.0', words: '[flush-type:(ASYNC@4.0.0 | SYNC@6.2.0)]' }],
  flushdb: [{ since: '7.2.0', words: '[flush-type:(ASYNC@4.0.0 | SYNC@6.2.0)]' }],
  bgsave: [
    {
      since: { valkey: '8.1.0' },
      words: '[operation:(SCHEDULE@3.2.2 | CANCEL@valkey-8.1.0)]',
      history: ['8.1.0 `CANCEL`.'],
    },
  ],
  'acl|cat': [{ since: '7.2.0', words: '[category]' }],
  shutdown: [
    {
      since: { valkey: '8.1.0' },
      words:
        '[abort-selector:(save-selector-block:{[save-selector:(NOSAVE | SAVE)] [NOW@7.0.0] [FORCE@7.0.0]} | ABORT@7.0.0)]',
    },
    {
      since: { valkey: '9.0.0' },
      words:
        '[abort-selector:(save-selector-block:{[save-selector:(NOSAVE | SAVE)] [NOW@7.0.0] [FORCE@7.0.0] [SAFE@valkey-9.0.0] [FAILOVER@valkey-9.0.0]} | ABORT@7.0.0)]',
      history: ['9.0.0 `SAFE` and `FAILOVER`.'],
    },
    { since: '8.0.0', words: '[save-selector:(NOSAVE | SAVE)] [NOW@7.0.0] [FORCE@7.0.0] [ABORT@7.0.0]' },
  ],
  'module|loadex': [{ since: '7.2.0', words: 'path [CONFIG=configs:{name value}+++] [ARGS=args...]' }],
  mset: [{ since: '7.2.0', words: 'data:{key#0 value}...' }],
  msetnx: [{ since: '7.2.0', words: 'data:{key#0 value}...' }],
  hset: [{ since: '7.2.0', words: 'key#0 data:{field value}...' }],
  hmset: [
    { since: '7.2.0', words: 'key#0 data:{field value}...' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  hscan: [{ since: '7.2.0', words: 'key#0 cursor:int [MATCH=pattern:pattern] [COUNT=count:int] [NOVALUES]' }],
  hexpireat: [
    {
      since: { valkey: '9.0.0' },
      words:
        'key#0 unix-time-seconds:int [condition:(NX | XX | GT | LT)@valkey-9.0.0] FIELDS=fields:{numfields:int#0 field...}',
    },
  ],
  hexpiretime: [{ since: { valkey: '9.0.0' }, words: 'key#0 FIELDS=fields:{numfields:int#0 field...}' }],
  hpexpiretime: [{ since: { valkey: '9.0.0' }, words: 'key#0 FIELDS=fields:{numfields:int#0 field...}' }],
  httl: [{ since: { valkey: '9.0.0' }, words: 'key#0 FIELDS=fields:{numfields:int#0 field...}' }],
  hpttl: [{ since: { valkey: '9.0.0' }, words: 'key#0 FIELDS=fields:{numfields:int#0 field...}' }],
  hpersist: [{ since: { valkey: '9.0.0' }, words: 'key#0 FIELDS=fields:{numfields:int#0 field...}' }],
  hgetdel: [{ since: { valkey: '9.0.0' }, words: 'key#0 FIELDS=fields:{numfields:int#0 field...}' }],
  hpexpire: [
    {
      since: { valkey: '9.0.0' },
      words:
        'key#0 milliseconds:int [condition:(NX | XX | GT | LT)@valkey-9.0.0] FIELDS=fields:{numfields:int#0 field...}',
    },
  ],
  hpexpireat: [
    {
      since: { valkey: '9.0.0' },
      words:
        'key#0 unix-time-milliseconds:int [condition:(NX | XX | GT | LT)@valkey-9.0.0] FIELDS=fields:{numfields:int#0 field...}',
    },
  ],
  hgetex: [
    {
      since: { valkey: '9.0.0' },
      words:
        'key#0 [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | PERSIST)] FIELDS=fields:{numfields:int#0 field...}',
    },
  ],
  hsetex: [
    {
      since: { valkey: '9.0.0' },
      words:
        'key#0 [key-condition:(NX | XX)] [fields-condition:(FNX | FXX)] [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | KEEPTTL)] FIELDS=fields:{numfields:int#0 data:{field value}...}',
    },
  ],
  psubscribe: [{ since: '7.2.0', words: 'pattern:pattern...' }],
  lcs: [
    { since: '7.2.0', words: 'key1#0 key2#0 [LEN] [IDX] [MINMATCHLEN=min-match-len:int] [WITHMATCHLEN]' },
  ],
  bitcount: [
    {
      since: { valkey: '8.1.0' },
      words: 'key#0 [range:{start:int [end-unit-block:{end:int [unit:(BYTE | BIT)@7.0.0]}]}]',
      history: ['8.0.0 The end of the range may be left out.'],
    },
    { since: '8.0.0', words: 'key#0 [range:{start:int end:int [unit:(BYTE | BIT)@7.0.0]}]' },
  ],
  bitpos: [
    {
      since: '7.2.0',
      words: 'key#0 bit:int [range:{start:int [end-unit-block:{end:int [unit:(BYTE | BIT)@7.0.0]}]}]',
    },
  ],
  bitfield: [
    {
      since: '7.2.0',
      words:
        'key#0 [operation:(GET=get-block:{encoding offset:int} | write:{[OVERFLOW=overflow-block:(WRAP | SAT | FAIL)] write-operation:(SET=set-block:{encoding offset:int value:int} | INCRBY=incrby-block:{encoding offset:int increment:int})})...]',
    },
  ],
  bitfield_ro: [{ since: '7.2.0', words: 'key#0 [GET=get-block:{encoding offset:int}+++]' }],
  pfmerge: [{ since: '7.2.0', words: 'destkey#0 [sourcekey#1...]' }],
  geoadd: [
    {
      since: '7.2.0',
      words:
        'key#0 [condition:(NX | XX)@6.2.0] [change:CH@6.2.0] data:{longitude:double latitude:double member}...',
    },
  ],
  geopos: [{ since: '7.2.0', words: 'key#0 [member...]' }],
  geohash: [{ since: '7.2.0', words: 'key#0 [member...]' }],
  geosearch: [
    {
      since: '7.2.0',
      words:
        'key#0 from:(FROMMEMBER=member | FROMLONLAT=fromlonlat:{longitude:double latitude:double}) by:(circle:{BYRADIUS=radius:double unit:(M | KM | FT | MI)} | box:{BYBOX=width:double height:double unit:(M | KM | FT | MI)}) [order:(ASC | DESC)] [count-block:{COUNT=count:int [ANY]}] [WITHCOORD] [WITHDIST] [WITHHASH]',
    },
    {
      since: { valkey: '9.0.0' },
      words:
        'key#0 [from:(FROMMEMBER=member | FROMLONLAT=fromlonlat:{longitude:double latitude:double})] by:(circle:{BYRADIUS=radius:double unit:(M | KM | FT | MI)} | box:{BYBOX=width:double height:double unit:(M | KM | FT | MI)} | polygon:{BYPOLYGON=num-vertices:int vertices:{longitude:double latitude:double}...}@valkey-9.0.0) [order:(ASC | DESC)] [count-block:{COUNT=count:int [ANY]}] [WITHCOORD] [WITHDIST] [WITHHASH]',
      history: ['9.0.0 `BYPOLYGON`.'],
    },
  ],
  geosearchstore: [
    {
      since: '7.2.0',
      words:
        'destination#0 source#1 from:(FROMMEMBER=member | FROMLONLAT=fromlonlat:{longitude:double latitude:double}) by:(circle:{BYRADIUS=radius:double unit:(M | KM | FT | MI)} | box:{BYBOX=width:double height:double unit:(M | KM | FT | MI)}) [order:(ASC | DESC)] [count-block:{COUNT=count:int [ANY]}] [STOREDIST]',
    },
    {
      since: { valkey: '9.0.0' },
      words:
        'destination#0 source#1 [from:(FROMMEMBER=member | FROMLONLAT=fromlonlat:{longitude:double latitude:double})] by:(circle:{BYRADIUS=radius:double unit:(M | KM | FT | MI)} | box:{BYBOX=width:double height:double unit:(M | KM | FT | MI)} | polygon:{BYPOLYGON=num-vertices:int vertices:{longitude:double latitude:double}...}@valkey-9.0.0) [order:(ASC | DESC)] [count-block:{COUNT=count:int [ANY]}] [STOREDIST]',
      history: ['9.0.0 `BYPOLYGON`.'],
    },
  ],
  georadius: [
    {
      since: '7.2.0',
      words:
        'key#0 longitude:double latitude:double radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count-block:{COUNT=count:int [ANY@6.2.0]}] [order:(ASC | DESC)] [store:(STORE=storekey#1/key | STOREDIST=storedistkey#2/key)]',
    },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  georadius_ro: [
    {
      since: '7.2.0',
      words:
        'key#0 longitude:double latitude:double radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count-block:{COUNT=count:int [ANY@6.2.0]}] [order:(ASC | DESC)]',
      history: ['7.0.0 Units may be written in capitals.'],
    },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  georadiusbymember: [
    {
      since: '7.2.0',
      words:
        'key#0 member radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count-block:{COUNT=count:int [ANY]}] [order:(ASC | DESC)] [store:(STORE=storekey#1/key | STOREDIST=storedistkey#2/key)]',
      history: ['6.2.0 `COUNT` takes `ANY`.'],
    },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  georadiusbymember_ro: [
    {
      since: '7.2.0',
      words:
        'key#0 member radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count-block:{COUNT=count:int [ANY]}] [order:(ASC | DESC)]',
      history: ['6.2.0 `COUNT` takes `ANY`.', '7.0.0 Units may be written in capitals.'],
    },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  migrate: [
    {
      since: '7.2.0',
      words:
        "host port:int key-selector:(key#0 | empty-string:'') destination-db:int timeout:int [COPY@3.0.0] [REPLACE@3.0.0] [authentication:(AUTH=auth/password@4.0.7 | AUTH2=auth2:{username password}@6.0.0)] [KEYS=keys#1/key@3.0.6...]",
    },
  ],
  'script|flush': [{ since: '7.2.0', words: '[flush-type:(ASYNC | SYNC)@6.2.0]' }],
  'function|flush': [{ since: '7.2.0', words: '[flush-type:(ASYNC | SYNC)]' }],
  sort: [
    {
      since: '7.2.0',
      words:
        'key#0 [BY=by-pattern:pattern#1/pattern] [LIMIT=limit:{offset:int count:int}] [GET=get-pattern:pattern#1/pattern+++] [order:(ASC | DESC)] [sorting:ALPHA] [STORE=destination#2]',
    },
  ],
  sort_ro: [
    {
      since: '7.2.0',
      words:
        'key#0 [BY=by-pattern:pattern#1/pattern] [LIMIT=limit:{offset:int count:int}] [GET=get-pattern:pattern#1/pattern+++] [order:(ASC | DESC)] [sorting:ALPHA]',
    },
  ],
  zadd: [
    {
      since: '7.2.0',
      words:
        'key#0 [condition:(NX | XX)@3.0.2] [comparison:(GT | LT)@6.2.0] [change:CH@3.0.2] [increment:INCR@3.0.2] data:{score:double member}...',
    },
  ],
  zrank: [{ since: '7.2.0', words: 'key#0 member [WITHSCORE]' }],
  zrevrank: [{ since: '7.2.0', words: 'key#0 member [WITHSCORE]' }],
  zrange: [
    {
      since: '7.2.0',
      words:
        'key#0 start stop [sortby:(BYSCORE | BYLEX)@6.2.0] [REV@6.2.0] [LIMIT=limit:{offset:int count:int}@6.2.0] [WITHSCORES]',
    },
  ],
  zrangestore: [
    {
      since: '7.2.0',
      words: 'dst#0 src#1 min max [sortby:(BYSCORE | BYLEX)] [REV] [LIMIT=limit:{offset:int count:int}]',
    },
  ],
  zrangebyscore: [
    {
      since: '7.2.0',
      words: 'key#0 min:double max:double [WITHSCORES@2.0.0] [LIMIT=limit:{offset:int count:int}]',
    },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  zrevrangebyscore: [
    {
      since: '7.2.0',
      words: 'key#0 max:double min:double [WITHSCORES] [LIMIT=limit:{offset:int count:int}]',
    },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  zrangebylex: [
    { since: '7.2.0', words: 'key#0 min max [LIMIT=limit:{offset:int count:int}]' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  zrevrangebylex: [
    { since: '7.2.0', words: 'key#0 max min [LIMIT=limit:{offset:int count:int}]' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  zscan: [
    {
      since: { valkey: '8.1.0' },
      words: 'key#0 cursor:int [MATCH=pattern:pattern] [COUNT=count:int] [NOSCORES]',
      history: ['8.0.0 `NOSCORES`.'],
    },
  ],
  xsetid: [
    {
      since: '7.2.0',
      words: 'key#0 last-id [ENTRIESADDED=entries-added:int@7.0.0] [MAXDELETEDID=max-deleted-id@7.0.0]',
    },
  ],
  xreadgroup: [
    {
      since: '7.2.0',
      words:
        'GROUP=group-block:{group consumer} [COUNT=count:int] [BLOCK=milliseconds:int] [NOACK] STREAMS=streams:{key#0... id...}',
    },
  ],
  'xgroup|destroy': [{ since: '7.2.0', words: 'key#0 group' }],
  'xgroup|createconsumer': [{ since: '7.2.0', words: 'key#0 group consumer' }],
  'xgroup|setid': [
    {
      since: '7.2.0',
      words: "key#0 group id-selector:(id | new-id:'$') [ENTRIESREAD=entriesread:int/entries-read]",
    },
  ],
  'xgroup|delconsumer': [{ since: '7.2.0', words: 'key#0 group consumer' }],
  'xgroup|create': [
    {
      since: '7.2.0',
      words:
        "key#0 group id-selector:(id | new-id:'$') [MKSTREAM] [ENTRIESREAD=entriesread:int/entries-read]",
    },
  ],
  xclaim: [
    {
      since: '7.2.0',
      words:
        'key#0 group consumer min-idle-time id... [IDLE=ms:int] [TIME=unix-time-milliseconds:time] [RETRYCOUNT=count:int] [FORCE] [JUSTID] [LASTID=lastid]',
    },
  ],
  'xinfo|stream': [
    {
      since: '7.2.0',
      words: 'key#0 [full-block:{FULL [COUNT=count:int]}]',
      history: ['7.2.0 The field `active-time`; `seen-time` counts each attempt.'],
    },
  ],
  'xinfo|consumers': [
    {
      since: '7.2.0',
      words: 'key#0 group',
      history: ['7.2.0 The field `inactive`; `idle` counts from each attempt.'],
    },
  ],
  'acl|log': [
    {
      since: '7.2.0',
      history: ['7.2.0 The fields `entry-id`, `timestamp-created` and `timestamp-last-updated`.'],
    },
  ],
  'client|pause': [{ since: '7.2.0', introduced: '3.0.0' }],
  geodist: [{ since: '7.2.0', complexity: 'O(1)' }],
  xread: [{ since: '7.2.0', complexity: '' }],
  quit: [
    { since: '7.2.0', deprecated: '7.2.0 closing the connection' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  setnx: [
    { since: '7.2.0', deprecated: '2.6.12 `SET` with `NX`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  setex: [
    { since: '7.2.0', deprecated: '2.6.12 `SET` with `EX`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  psetex: [
    { since: '7.2.0', deprecated: '2.6.12 `SET` with `PX`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  'cluster|slots': [
    { since: { valkey: '8.1.0' }, deprecated: '' },
    {
      since: { valkey: '9.1.0' },
      history: ['9.1.0 Answers `availability-zone` beside the network of each node.'],
    },
  ],
  'cluster|shards': [
    {
      since: { valkey: '9.1.0' },
      history: ['9.1.0 Answers `id` for each shard and `availability-zone` for each node.'],
    },
  ],
  'cluster|count-failure-reports': [
    {
      since: { valkey: '9.0.0' },
      history: ['9.0.0 Counts no further reports about a node that has failed.'],
    },
  ],
  'acl|setuser': [
    {
      since: { valkey: '9.1.0' },
      history: ['9.1.0 Rules for databases.'],
    },
  ],
  'acl|getuser': [
    {
      since: { valkey: '9.1.0' },
      history: ['9.1.0 Answers the rules for databases.'],
    },
  ],
  slowlog: [
    { since: { valkey: '8.1.0' }, deprecated: '8.1.0 `COMMANDLOG`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  'slowlog|get': [
    { since: { valkey: '8.1.0' }, deprecated: '8.1.0 `COMMANDLOG GET <count> SLOW`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  'slowlog|len': [
    { since: { valkey: '8.1.0' }, deprecated: '8.1.0 `COMMANDLOG LEN SLOW`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  'slowlog|reset': [
    { since: { valkey: '8.1.0' }, deprecated: '8.1.0 `COMMANDLOG RESET SLOW`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  'slowlog|help': [
    { since: { valkey: '8.1.0' }, deprecated: '8.1.0 `COMMANDLOG HELP`' },
    { since: { valkey: '9.0.0' }, deprecated: '' },
  ],
  brpoplpush: [{ since: { valkey: '9.0.0' }, deprecated: '' }],
  rpoplpush: [{ since: { valkey: '9.0.0' }, deprecated: '' }],
  getset: [{ since: { valkey: '9.0.0' }, deprecated: '' }],
  substr: [{ since: { valkey: '9.0.0' }, deprecated: '' }],
  zrevrange: [{ since: { valkey: '9.0.0' }, deprecated: '' }],
  'script|debug': [{ since: { valkey: '9.1.0' }, words: 'mode:(YES | SYNC | NO) [engine@valkey-9.1.0]' }],
  'cluster|replicate': [
    {
      since: { valkey: '9.0.0' },
      words: 'args:(node-id | no-one:{NO ONE}@valkey-9.0.0)',
      history: ['9.0.0 `NO ONE`.'],
    },
  ],
  'commandlog|get': [
    { since: { valkey: '9.0.0' }, words: 'count:int type:(SLOW | LARGE-REQUEST | LARGE-REPLY)' },
  ],
  'commandlog|len': [{ since: { valkey: '9.0.0' }, words: 'type:(SLOW | LARGE-REQUEST | LARGE-REPLY)' }],
  'commandlog|reset': [{ since: { valkey: '9.0.0' }, words: 'type:(SLOW | LARGE-REQUEST | LARGE-REPLY)' }],
};
