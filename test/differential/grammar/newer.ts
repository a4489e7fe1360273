/** Templates for commands that came after Redis 7.0: a dialect generates those that its server has. */
import type { Templates } from './data.ts';

const FIELDS = '(FIELDS 1 <field>|FIELDS 2 <field> <field>|FIELDS 3 <field> <field> <field>)';
const PAIRS = '(FIELDS 1 <field> <value>|FIELDS 2 <field> <value> <field> <value>)';
const CONDITION = '[(NX|XX|GT|LT)]';
const END = '(EX <seconds>|PX <millis>|EXAT <at>|PXAT <atms>)';

export const fieldTimes: Templates = {
  hexpire: `<hash> <seconds> ${CONDITION} ${FIELDS}`,
  hexpireat: `<hash> <at> ${CONDITION} ${FIELDS}`,
  hexpiretime: `<hash> ${FIELDS}`,
  hgetdel: `<hash> ${FIELDS}`,
  hgetex: `<hash> [(${END}|PERSIST)] ${FIELDS}`,
  hpersist: `<hash> ${FIELDS}`,
  hpexpire: `<hash> <millis> ${CONDITION} ${FIELDS}`,
  hpexpireat: `<hash> <atms> ${CONDITION} ${FIELDS}`,
  hpexpiretime: `<hash> ${FIELDS}`,
  hpttl: `<hash> ${FIELDS}`,
  hset: '<hash> (<field> <value>)+',
  hsetex: [`<hash> {[(FNX|FXX)] [(${END}|KEEPTTL)]} ${PAIRS}`, `<hash> [(NX|XX)] [${END}] ${PAIRS}`],
  httl: `<hash> ${FIELDS}`,
};

export const comparisons: Templates = {
  delex: [
    '<string>',
    '<string> (IFEQ|IFNE) <value>',
    '<string> (IFDEQ|IFDNE) (0123456789abcdef|2d06800538d394c2|x)',
  ],
  delifeq: '<string> <value>',
  digest: '<string>',
  msetex: [
    '1 <string> <value> {[(NX|XX)] [(EX <seconds>|PX <millis>|EXAT <at>|PXAT <atms>|KEEPTTL)]}',
    '2 <string> <value> <string> <value> {[(NX|XX)] [(EX <seconds>|PX <millis>|EXAT <at>|PXAT <atms>|KEEPTTL)]}',
    '<count> <string> <value> <string>',
  ],
};

/** Ids of producers of XIDMPRECORD, whose entries are so late that the ids do not expire. */
export const producers: Templates = {
  xcfgset: '<stream> {[IDMP-DURATION (100|50|86400|<count>)] [IDMP-MAXSIZE (100|2|1|<count>)]}',
  xidmprecord: '<stream> (p|q|<value>) (a|b|c|<value>) (99999999999-5|99999999999999-1|<xid>)',
  xadd: '<stream> (99999999999999-*|<xadd>) <field> <value>',
  xreadgroup: [
    'GROUP <group> <consumer> {[COUNT <positive>] [NOACK]} STREAMS <stream> >',
    'GROUP <group> <consumer> {[COUNT <positive>] CLAIM 100000000} STREAMS <stream> (>|<xid>)',
  ],
  'xinfo|stream': '<stream> [FULL]',
};
