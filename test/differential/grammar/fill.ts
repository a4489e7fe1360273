/** Requests that put something where the others look: what programs begin with, and what comes between. */

/** Whole requests in the notation of template.ts, by family. */
export const fillers: Readonly<Record<string, readonly string[]>> = {
  strings: [
    'SET <string> <value>',
    'SET <string> <int>',
    'MSET (<string> <value>)+',
    'APPEND <string> <value>',
  ],
  hashes: [
    'HSET <hash> (<field> <value>)+ <field> <value>',
    'HSET <hash> <field> <int>',
    'HSET <hash> <manyFields>',
  ],
  lists: ['RPUSH <list> <member>+ <member>', 'RPUSH <list> <int>+', 'RPUSH <list> <manyMembers>'],
  sets: ['SADD <set> <member>+ <member>', 'SADD <set> <manyNumbers>', 'SADD <set> <manyMembers>'],
  sortedSets: ['ZADD <zset> (<plainScore> <member>)+', 'ZADD <zset> <manyScores>'],
  streams: [
    'XADD <stream> <laterId> (<field> <value>)+',
    'XADD <stream> <laterId> <field> <value>',
    'XGROUP CREATE <stream> grp 0 MKSTREAM',
    'XGROUP CREATE <stream> grp 0 MKSTREAM',
    'XREADGROUP GROUP grp <consumer> COUNT 2 STREAMS <stream> >',
  ],
  bitmaps: ['SET <bits> <value>', 'SETBIT <bits> <bitOffset> 1'],
  places: ['GEOADD <geo> (<longitude> <latitude> <member>)+'],
  cardinalities: ['PFADD <hll> <member>+', 'PFADD <hll> <manyMembers>'],
};
