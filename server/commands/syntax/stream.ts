/** The arguments, history and deprecation of stream commands, in the notation of server/table/syntax.ts. */
import type { SyntaxTable } from '../../table/syntax.ts';

const REFERENCES = 'condition:(KEEPREF | DELREF | ACKED)';
const PRODUCER =
  'idmp:(idmpauto-with-pid:{idmpauto-token:IDMPAUTO pid} | idmp-with-pid-iid:{idmp-token:IDMP pid iid})';
const TRIM =
  "strategy:(MAXLEN | MINID@6.2.0) [operator:(equal:'=' | approximately:'~')] threshold [LIMIT=count:int@6.2.0]";

export const streamSyntax: SyntaxTable = {
  xack: 'key#0 group id...',
  xackdel: `key#0 group [${REFERENCES}] IDS=ids:{numids:int id...}`,
  xadd: {
    words:
      "key#0 [NOMKSTREAM@6.2.0] [trim:{strategy:(MAXLEN | MINID@6.2.0) [operator:(equal:'=' | approximately:'~')] threshold [LIMIT=count:int@6.2.0]}] id_or_auto:(auto_id:'*' | id) field_value:{field value}...",
    history: [
      '6.2.0 `NOMKSTREAM`; trims by `MINID`, within `LIMIT`.',
      '7.0.0 An id may leave its second half to the server: `ms-*`.',
    ],
    changes: [
      {
        since: '7.2.0',
        words: `key#0 [NOMKSTREAM@6.2.0] [trim:{${TRIM}}] id-selector:(auto-id:'*' | id) data:{field value}...`,
      },
      {
        since: '8.2.0',
        words: `key#0 [NOMKSTREAM@6.2.0] [${REFERENCES}] [trim:{${TRIM}}] id-selector:(auto-id:'*' | id) data:{field value}...`,
        history: ['8.2.0 `KEEPREF`, `DELREF` and `ACKED`.'],
      },
      {
        since: '8.6.0',
        words: `key#0 [NOMKSTREAM@6.2.0] [${REFERENCES}] [${PRODUCER}] [trim:{${TRIM}}] id-selector:(auto-id:'*' | id) data:{field value}...`,
      },
    ],
  },
  xautoclaim: {
    words: 'key#0 group consumer min-idle-time start [COUNT=count:int] [JUSTID]',
    history: ['7.0.0 Its third element lists the entries that no longer exist.'],
  },
  xcfgset:
    'key#0 [idmp-duration-block:{idmp-duration-token:IDMP-DURATION duration:int}] [idmp-maxsize-block:{idmp-maxsize-token:IDMP-MAXSIZE maxsize:int}]',
  xclaim:
    'key#0 group consumer min-idle-time id... [IDLE=ms:int] [TIME=unix-time-milliseconds:time] [RETRYCOUNT=count:int] [FORCE] [JUSTID] [LASTID=id]',
  xdel: 'key#0 id...',
  xdelex: `key#0 [${REFERENCES}] IDS=ids:{numids:int id...}`,
  'xgroup|create': {
    words: "key#0 groupname id:(id | new_id:'$') [MKSTREAM] [ENTRIESREAD=entries_read:int]",
    history: ['7.0.0 `ENTRIESREAD`.'],
  },
  'xgroup|createconsumer': 'key#0 groupname consumername',
  'xgroup|delconsumer': 'key#0 groupname consumername',
  'xgroup|destroy': 'key#0 groupname',
  'xgroup|setid': {
    words: "key#0 groupname id:(id | new_id:'$') [ENTRIESREAD=entries_read:int]",
    history: ['7.0.0 `ENTRIESREAD`.'],
  },
  xidmprecord: 'key#0 pid iid stream-id',
  'xinfo|consumers': 'key#0 groupname',
  'xinfo|groups': {
    words: 'key#0',
    history: ['7.0.0 The fields `entries-read` and `lag`.'],
  },
  'xinfo|stream': {
    words: 'key#0 [FULL=full:{[COUNT=count:int]}]',
    history: [
      '6.0.0 `FULL`.',
      '7.0.0 The fields `max-deleted-entry-id`, `entries-added`, `recorded-first-entry-id`, `entries-read` and `lag`.',
    ],
    changes: [{ since: '8.6.0', history: ['8.6.0 Six fields about idempotent producers.'] }],
  },
  xlen: 'key#0',
  xnack: 'key#0 group mode:(SILENT | FAIL | FATAL) IDS=ids:{numids:int id...} [RETRYCOUNT=count:int] [FORCE]',
  xpending: {
    words: 'key#0 group [filters:{[IDLE=min-idle-time:int@6.2.0] start end count:int [consumer]}]',
    history: ['6.2.0 `IDLE`; a range may exclude its ends.'],
  },
  xrange: {
    words: 'key#0 start end [COUNT=count:int]',
    history: ['6.2.0 A range may exclude its ends.'],
  },
  xread: '[COUNT=count:int] [BLOCK=milliseconds:int] STREAMS=streams:{key#0... id...}',
  xreadgroup: {
    words:
      'GROUP=group_consumer:{group consumer} [COUNT=count:int] [BLOCK=milliseconds:int] [NOACK] STREAMS=streams:{key#0... id...}',
    changes: [
      {
        since: '8.4.0',
        words:
          'GROUP=group-block:{group consumer} [COUNT=count:int] [BLOCK=milliseconds:int] [CLAIM=min-idle-time:int] [NOACK] STREAMS=streams:{key#0... id...}',
      },
    ],
  },
  xrevrange: {
    words: 'key#0 end start [COUNT=count:int]',
    history: ['6.2.0 A range may exclude its ends.'],
  },
  xsetid: {
    words: 'key#0 last-id [ENTRIESADDED=entries_added:int@7.0.0] [MAXDELETEDID=max_deleted_entry_id@7.0.0]',
    history: ['7.0.0 `ENTRIESADDED` and `MAXDELETEDID`.'],
  },
  xtrim: {
    words:
      "key#0 trim:{strategy:(MAXLEN | MINID@6.2.0) [operator:(equal:'=' | approximately:'~')] threshold [LIMIT=count:int@6.2.0]}",
    history: ['6.2.0 `MINID` and `LIMIT`.'],
    changes: [
      {
        since: '8.2.0',
        words: `key#0 trim:{${TRIM} [${REFERENCES}]}`,
        history: ['8.2.0 `KEEPREF`, `DELREF` and `ACKED`.'],
      },
    ],
  },
};
