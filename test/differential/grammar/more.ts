/** Templates for streams, bitmaps, places and cardinalities. */
import type { Templates } from './data.ts';

const REFERENCES = '(KEEPREF|DELREF|ACKED)';
const TRIM = '(MAXLEN|MINID) [(=|~)] (<count>|<xid>) [LIMIT <count>]';

/** XADD without an id of its own is left out: its ids are the servers' times. */
export const streams: Templates = {
  xack: '<stream> <group> <xid>+',
  xackdel: [
    `<stream> <group> [${REFERENCES}] IDS 1 <xid>`,
    `<stream> <group> [${REFERENCES}] IDS 2 <xid> <xid>`,
  ],
  xadd: [
    '<stream> <xadd> (<field> <value>)+',
    '<stream> <xadd> (<field> <value>)+',
    `<stream> [NOMKSTREAM] [${TRIM}] <xadd> (<field> <value>)+`,
    `<stream> {[NOMKSTREAM] [${REFERENCES}] [${TRIM}]} <xadd> <field> <value>`,
    '<stream> <xadd> <field> <value> <field>',
  ],
  xautoclaim: '<stream> <group> <consumer> <idle> <xid> {[COUNT <positive>] [JUSTID]}',
  xclaim: [
    '<stream> <group> <consumer> <idle> <xid>+ {[JUSTID] [FORCE] [RETRYCOUNT <count>]}',
    '<stream> <group> <consumer> <idle> <xid>+ {[IDLE <count>] [TIME <atms>] [FORCE] [LASTID <xid>]}',
  ],
  xdel: '<stream> <xid>+',
  xdelex: [
    `<stream> [${REFERENCES}] IDS 1 <xid>`,
    `<stream> IDS 2 <xid> <xid> [${REFERENCES}]`,
    `<stream> {[${REFERENCES}] [${REFERENCES}] [IDS <count> <xid>+]}`,
  ],
  'xgroup|create': '<stream> <group> (<xid>|$) {[MKSTREAM] [ENTRIESREAD <index>]}',
  'xgroup|createconsumer': '<stream> <group> <consumer>',
  'xgroup|delconsumer': '<stream> <group> <consumer>',
  'xgroup|destroy': '<stream> <group>',
  'xgroup|setid': '<stream> <group> (<xid>|$) [ENTRIESREAD <index>]',
  'xinfo|consumers': '<stream> <group>',
  'xinfo|groups': '<stream>',
  'xinfo|stream': '<stream> [FULL [COUNT <count>]]',
  xlen: '<stream>',
  xpending: ['<stream> <group>', '<stream> <group> [IDLE <idle>] <xstart> <xend> <positive> [<consumer>]'],
  xrange: '<stream> <xstart> <xend> [COUNT <count>]',
  xread: [
    '[COUNT <positive>] STREAMS <stream> (<xid>|$)',
    '[COUNT <positive>] STREAMS <stream> <stream> <xid> <xid>',
    'BLOCK (0|1000000|<count>) STREAMS <stream> ($|<xid>)',
    'STREAMS <stream> <stream> <xid>',
  ],
  xreadgroup: [
    'GROUP <group> <consumer> {[COUNT <positive>] [NOACK]} STREAMS <stream> (>|>|<xid>)',
    'GROUP <group> <consumer> STREAMS <stream> <stream> > >',
    'GROUP <group> <consumer> BLOCK 0 STREAMS <stream> >',
  ],
  xrevrange: '<stream> <xend> <xstart> [COUNT <count>]',
  xsetid: '<stream> <xid> [ENTRIESADDED <count> MAXDELETEDID <xid>]',
  xtrim: [`<stream> ${TRIM}`, `<stream> {${TRIM} [${REFERENCES}]}`],
};

export const bitmaps: Templates = {
  bitcount: '<bits> [<index> <index> [(BYTE|BIT|<value>)]]',
  bitfield: [
    '<bits> (GET <bitType> <bitPlace>)+',
    '<bits> [OVERFLOW (WRAP|SAT|FAIL|<value>)] {SET <bitType> <bitPlace> <int> [INCRBY <bitType> <bitPlace> <int>] [GET <bitType> <bitPlace>]}',
  ],
  bitfield_ro: '<bits> (GET <bitType> <bitPlace>)+',
  bitop: [
    '(AND|OR|XOR) <bits> <bits>+',
    '(DIFF|DIFF1|ANDOR|ONE) <bits> <bits>+',
    'NOT <bits> <bits>',
    '(NOT|<value>) <bits> <bits>+',
  ],
  bitpos: '<bits> <bit> [<index> [<index> [(BYTE|BIT|<value>)]]]',
  getbit: '<bits> <bitOffset>',
  setbit: '<bits> <bitOffset> <bit>',
};

const WITH = '{[WITHCOORD] [WITHDIST] [WITHHASH] [COUNT <positive> [ANY]] [(ASC|DESC)]}';

export const places: Templates = {
  geoadd: '<geo> [(NX|XX)] [CH] (<longitude> <latitude> <member>)+',
  geodist: '<geo> <member> <member> [<unit>]',
  geohash: '<geo> <member>*',
  geopos: '<geo> <member>*',
  georadius: `<geo> <longitude> <latitude> <radius> <unit> ${WITH}`,
  georadius_ro: `<geo> <longitude> <latitude> <radius> <unit> ${WITH}`,
  georadiusbymember: `<geo> <member> <radius> <unit> ${WITH}`,
  georadiusbymember_ro: `<geo> <member> <radius> <unit> ${WITH}`,
  geosearch: [
    `<geo> FROMLONLAT <longitude> <latitude> BYRADIUS <radius> <unit> ${WITH}`,
    `<geo> FROMMEMBER <member> BYBOX <radius> <radius> <unit> ${WITH}`,
  ],
  geosearchstore:
    '<geo> <geo> FROMLONLAT <longitude> <latitude> BYRADIUS <radius> <unit> {[ASC] [COUNT <positive>] [STOREDIST]}',
};

const VECTOR_KEY = '(v1|v1|v2|<any>)';
const ELEMENT = '(a|b|c|d|e|<member>)';
const COMPONENT = '(0|1|-1|2|0.5|-0.25|3e2|<int>)';
const GIVEN = `(VALUES 3 ${COMPONENT} ${COMPONENT} ${COMPONENT}|VALUES 2 ${COMPONENT} ${COMPONENT})`;

/** CAS is left out, and NOTHREAD is always there: threads would leave the order of requests to chance. */
export const vectors: Templates = {
  VADD: [
    `${VECTOR_KEY} ${GIVEN} ${ELEMENT}`,
    `${VECTOR_KEY} ${GIVEN} ${ELEMENT} {[EF <positive>] [SETATTR <attributes>] [M 16]}`,
    `v2 VALUES 3 ${COMPONENT} ${COMPONENT} ${COMPONENT} ${ELEMENT} (NOQUANT|BIN)`,
    `(v2|v3) REDUCE 2 ${GIVEN} ${ELEMENT} [NOQUANT]`,
  ],
  VCARD: VECTOR_KEY,
  VDIM: VECTOR_KEY,
  VEMB: `${VECTOR_KEY} ${ELEMENT} [RAW]`,
  VGETATTR: `${VECTOR_KEY} ${ELEMENT}`,
  VINFO: VECTOR_KEY,
  VISMEMBER: `${VECTOR_KEY} ${ELEMENT}`,
  VLINKS: `${VECTOR_KEY} ${ELEMENT}`,
  VRANDMEMBER: `${VECTOR_KEY} 1000`,
  VREM: `${VECTOR_KEY} ${ELEMENT}`,
  VSETATTR: `${VECTOR_KEY} ${ELEMENT} <attributes>`,
  VSIM: [
    `${VECTOR_KEY} (ELE ${ELEMENT}|${GIVEN}) TRUTH NOTHREAD {[WITHSCORES] [COUNT <positive>] [WITHATTRIBS]}`,
    `${VECTOR_KEY} ELE ${ELEMENT} TRUTH NOTHREAD {[FILTER <condition>] [EPSILON (0.1|0.5|1|<float>)] [EF <positive>] [FILTER-EF <positive>]}`,
  ],
};

export const cardinalities: Templates = {
  pfadd: ['<hll> <member>*', '<hll> <manyMembers>'],
  pfcount: '<hll>+',
  pfmerge: '<hll> <hll>*',
};
