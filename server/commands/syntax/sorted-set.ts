/** The arguments, history and deprecation of sorted set and geo commands, in the notation of server/table/syntax.ts. */
import type { SyntaxTable } from '../../table/syntax.ts';

export const sortedSetSyntax: SyntaxTable = {
  bzmpop: 'timeout:double numkeys:int key#0... where:(MIN | MAX) [COUNT=count:int]',
  bzpopmax: {
    words: 'key#0... timeout:double',
    history: ['6.0.0 The timeout may have decimals.'],
  },
  bzpopmin: {
    words: 'key#0... timeout:double',
    history: ['6.0.0 The timeout may have decimals.'],
  },
  zadd: {
    words:
      'key#0 [condition:(NX | XX)@3.0.2] [comparison:(GT | LT)@6.2.0] [change:CH@3.0.2] [increment:INCR@3.0.2] score_member:{score:double member}...',
    history: ['2.4.0 Takes several members.', '3.0.2 `XX`, `NX`, `CH` and `INCR`.', '6.2.0 `GT` and `LT`.'],
  },
  zcard: 'key#0',
  zcount: 'key#0 min:double max:double',
  zdiff: 'numkeys:int key#0... [WITHSCORES]',
  zdiffstore: 'destination#0 numkeys:int key#1...',
  zincrby: 'key#0 increment:int member',
  zinter:
    'numkeys:int key#0... [WEIGHTS=weight:int...] [AGGREGATE=aggregate:(SUM | MIN | MAX | COUNT@8.8.0)] [WITHSCORES]',
  zintercard: 'numkeys:int key#0... [LIMIT=limit:int]',
  zinterstore:
    'destination#0 numkeys:int key#1... [WEIGHTS=weight:int...] [AGGREGATE=aggregate:(SUM | MIN | MAX | COUNT@8.8.0)]',
  zlexcount: 'key#0 min max',
  zmpop: 'numkeys:int key#0... where:(MIN | MAX) [COUNT=count:int]',
  zmscore: 'key#0 member...',
  zpopmax: 'key#0 [count:int]',
  zpopmin: 'key#0 [count:int]',
  zrandmember: 'key#0 [options:{count:int [WITHSCORES]}]',
  zrange: {
    words:
      'key#0 start stop [sortby:(BYSCORE | BYLEX)@6.2.0] [REV@6.2.0] [LIMIT=offset_count:{offset:int count:int}@6.2.0] [WITHSCORES]',
    history: ['6.2.0 `REV`, `BYSCORE`, `BYLEX` and `LIMIT`.'],
  },
  zrangebylex: {
    words: 'key#0 min max [LIMIT=offset_count:{offset:int count:int}]',
    deprecated: '6.2.0 `ZRANGE`, `BYLEX`',
  },
  zrangebyscore: {
    words: 'key#0 min:double max:double [WITHSCORES@2.0.0] [LIMIT=offset_count:{offset:int count:int}]',
    history: ['2.0.0 `WITHSCORES`.'],
    deprecated: '6.2.0 `ZRANGE`, `BYSCORE`',
  },
  zrangestore:
    'dst#0 src#1 min max [sortby:(BYSCORE | BYLEX)] [REV] [LIMIT=offset_count:{offset:int count:int}]',
  zrank: {
    words: 'key#0 member [WITHSCORE@7.2.0]',
    changes: [{ since: '7.2.0', history: ['7.2.0 `WITHSCORE`.'] }],
  },
  zrem: {
    words: 'key#0 member...',
    history: ['2.4.0 Takes several members.'],
  },
  zremrangebylex: 'key#0 min max',
  zremrangebyrank: 'key#0 start:int stop:int',
  zremrangebyscore: 'key#0 min:double max:double',
  zrevrange: {
    words: 'key#0 start:int stop:int [WITHSCORES]',
    deprecated: '6.2.0 `ZRANGE`, `REV`',
  },
  zrevrangebylex: {
    words: 'key#0 max min [LIMIT=offset_count:{offset:int count:int}]',
    deprecated: '6.2.0 `ZRANGE`, `REV`, `BYLEX`',
  },
  zrevrangebyscore: {
    words: 'key#0 max:double min:double [WITHSCORES] [LIMIT=offset_count:{offset:int count:int}]',
    history: ['2.1.6 A range may exclude its ends.'],
    deprecated: '6.2.0 `ZRANGE`, `REV`, `BYSCORE`',
  },
  zrevrank: {
    words: 'key#0 member [WITHSCORE@7.2.0]',
    changes: [{ since: '7.2.0', history: ['7.2.0 `WITHSCORE`.'] }],
  },
  zscan: 'key#0 cursor:int [MATCH=pattern:pattern] [COUNT=count:int]',
  zscore: 'key#0 member',
  zunion:
    'numkeys:int key#0... [WEIGHTS=weight:int...] [AGGREGATE=aggregate:(SUM | MIN | MAX | COUNT@8.8.0)] [WITHSCORES]',
  zunionstore:
    'destination#0 numkeys:int key#1... [WEIGHTS=weight:int...] [AGGREGATE=aggregate:(SUM | MIN | MAX | COUNT@8.8.0)]',
  geoadd: {
    words:
      'key#0 [condition:(NX | XX)@6.2.0] [change:CH@6.2.0] longitude_latitude_member:{longitude:double latitude:double member}...',
    history: ['6.2.0 `CH`, `NX` and `XX`.'],
  },
  geodist: 'key#0 member1 member2 [unit:(M | KM | FT | MI)]',
  geohash: 'key#0 member...',
  geopos: 'key#0 member...',
  georadius: {
    words:
      'key#0 longitude:double latitude:double radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count:{COUNT=count:int [ANY@6.2.0]}] [order:(ASC | DESC)] [STORE=key#1] [STOREDIST=key#2]',
    history: ['6.2.0 `COUNT` takes `ANY`.', '7.0.0 Units may be written in capitals.'],
    deprecated: '6.2.0 `GEOSEARCH` or `GEOSEARCHSTORE`, `BYRADIUS`',
  },
  georadius_ro: {
    words:
      'key#0 longitude:double latitude:double radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count:{COUNT=count:int [ANY@6.2.0]}] [order:(ASC | DESC)]',
    history: ['6.2.0 `COUNT` takes `ANY`.'],
    deprecated: '6.2.0 `GEOSEARCH`, `BYRADIUS`',
  },
  georadiusbymember: {
    words:
      'key#0 member radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count:{COUNT=count:int [ANY]}] [order:(ASC | DESC)] [STORE=key#1] [STOREDIST=key#2]',
    history: ['7.0.0 Units may be written in capitals.'],
    deprecated: '6.2.0 `GEOSEARCH` or `GEOSEARCHSTORE`, `BYRADIUS`, `FROMMEMBER`',
  },
  georadiusbymember_ro: {
    words:
      'key#0 member radius:double unit:(M | KM | FT | MI) [WITHCOORD] [WITHDIST] [WITHHASH] [count:{COUNT=count:int [ANY]}] [order:(ASC | DESC)]',
    deprecated: '6.2.0 `GEOSEARCH`, `BYRADIUS`, `FROMMEMBER`',
  },
  geosearch: {
    words:
      'key#0 from:(FROMMEMBER=member | FROMLONLAT=longitude_latitude:{longitude:double latitude:double}) by:(circle:{BYRADIUS=radius:double unit:(M | KM | FT | MI)} | box:{BYBOX=width:double height:double unit:(M | KM | FT | MI)}) [order:(ASC | DESC)] [count:{COUNT=count:int [ANY]}] [WITHCOORD] [WITHDIST] [WITHHASH]',
    history: ['7.0.0 Units may be written in capitals.'],
  },
  geosearchstore: {
    words:
      'destination#0 source#1 from:(FROMMEMBER=member | FROMLONLAT=longitude_latitude:{longitude:double latitude:double}) by:(circle:{BYRADIUS=radius:double unit:(M | KM | FT | MI)} | box:{BYBOX=width:double height:double unit:(M | KM | FT | MI)}) [order:(ASC | DESC)] [count:{COUNT=count:int [ANY]}] [STOREDIST]',
    history: ['7.0.0 Units may be written in capitals.'],
  },
};
