/** Requests that create data for other requests: the start of each program, and some in between. */

const LOAD = 'FUNCTION LOAD REPLACE <libraryCode>';

/** What programs about a family mostly begin with, in this order. */
export const beginnings: Readonly<Record<string, readonly string[]>> = {
  caching: ['CLIENT TRACKING ON [(BCAST|OPTIN|OPTOUT)] [NOLOOP]'],
  functions: [LOAD, LOAD, LOAD, LOAD],
  scripting: ['SCRIPT LOAD <script>', 'SCRIPT LOAD <script>', 'SCRIPT LOAD <script>'],
  streams: [
    'XGROUP CREATE x1 grp 0 MKSTREAM',
    'XADD x1 1-* <field> <value>',
    'XADD x1 <laterId> <field> <value>',
    'XADD x1 <laterId> <field> <value>',
    'XREADGROUP GROUP grp <consumer> COUNT 2 STREAMS x1 >',
    'XGROUP CREATE x2 grp 0 MKSTREAM',
  ],
};

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
  fieldTimes: ['HSET <hash> (<field> <value>)+ <field> <value>', 'HSET <hash> (<field> <value>)+'],
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
  vectors: ['VADD (v1|v2) VALUES 3 (0|1|2) (1|-1) (0|0.5|<int>) (a|b|c|d|e)'],
  cardinalities: ['PFADD <hll> <member>+', 'PFADD <hll> <manyMembers>'],
};
