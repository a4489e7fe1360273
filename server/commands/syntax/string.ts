/**
 * The arguments, history and deprecation of string, bitmap and HyperLogLog commands, in the notation of
 * server/table/syntax.ts.
 */
import type { SyntaxTable } from '../../table/syntax.ts';

export const stringSyntax: SyntaxTable = {
  append: 'key#0 value',
  cad: 'key#0 value',
  cas: 'key#0 oldvalue newvalue [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | KEEPTTL)]',
  decr: 'key#0',
  decrby: 'key#0 decrement:int',
  delex:
    'key#0 [condition:(IFEQ=ifeq-value | IFNE=ifne-value | IFDEQ=ifdeq-digest:int | IFDNE=ifdne-digest:int)]',
  delifeq: 'key#0 value',
  digest: 'key#0',
  get: 'key#0',
  getdel: 'key#0',
  getex:
    'key#0 [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | PERSIST)]',
  getrange: 'key#0 start:int end:int',
  getset: {
    words: 'key#0 value',
    deprecated: '6.2.0 `SET`, `GET`',
  },
  incr: 'key#0',
  incrby: 'key#0 increment:int',
  incrbyfloat: 'key#0 increment:double',
  increx:
    'key#0 [increment:(BYFLOAT=float:double | BYINT=integer:int)] [SATURATE] [LBOUND=lowerbound] [UBOUND=upperbound] [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | PERSIST)] [ENX]',
  lcs: 'key1#0 key2#0 [LEN] [IDX] [MINMATCHLEN=len:int] [WITHMATCHLEN]',
  mget: 'key#0...',
  mset: 'key_value:{key#0 value}...',
  msetex:
    'numkeys:int data:{key#0 value}... [condition:(NX | XX)] [expiration:(EX=seconds:int | PX=milliseconds:int | EXAT=unix-time-seconds:time | PXAT=unix-time-milliseconds:time | KEEPTTL)]',
  msetnx: 'key_value:{key#0 value}...',
  psetex: 'key#0 milliseconds:int value',
  set: {
    words:
      'key#0 value [condition:(NX | XX | IFEQ=ifeq-value@8.4.0@valkey-8.1.0~ | IFNE=ifne-value@8.4.0~ | IFDEQ=ifdeq-digest:int@8.4.0~ | IFDNE=ifdne-digest:int@8.4.0~)@2.6.12] [GET@6.2.0] [expiration:(EX=seconds:int@2.6.12 | PX=milliseconds:int@2.6.12 | EXAT=unix-time-seconds:time@6.2.0 | PXAT=unix-time-milliseconds:time@6.2.0 | KEEPTTL@6.0.0)]',
    history: [
      '2.6.12 `EX`, `PX`, `NX` and `XX`.',
      '6.0.0 `KEEPTTL`.',
      '6.2.0 `GET`, `EXAT` and `PXAT`.',
      '7.0.0 `GET` goes with `NX`.',
    ],
    changes: [
      {
        since: { valkey: '8.1.0' },
        words:
          'key#0 value [condition:(NX@2.6.12 | XX@2.6.12 | IFEQ=comparison-value@8.4.0@valkey-8.1.0~ | IFNE=comparison-value@8.4.0~ | IFDEQ=comparison-digest@8.4.0~ | IFDNE=comparison-digest@8.4.0~)] [GET@6.2.0] [expiration:(EX=seconds:int@2.6.12 | PX=milliseconds:int@2.6.12 | EXAT=unix-time-seconds:time@6.2.0 | PXAT=unix-time-milliseconds:time@6.2.0 | KEEPTTL@6.0.0)]',
        history: ['8.1.0 `IFEQ`.'],
      },
      { since: { redis: '8.4.0' }, history: ['8.4.0 `IFEQ`, `IFNE`, `IFDEQ` and `IFDNE`.'] },
    ],
  },
  setex: 'key#0 seconds:int value',
  setnx: 'key#0 value',
  setrange: 'key#0 offset:int value',
  strlen: 'key#0',
  substr: {
    words: 'key#0 start:int end:int',
    deprecated: '2.0.0 `GETRANGE`',
  },
  bitcount: {
    words: 'key#0 [index:{start:int end:int [index_unit:(BYTE | BIT)@7.0.0]}]',
    history: ['7.0.0 Positions count in `BYTE` or in `BIT`.'],
  },
  bitfield:
    'key#0 [operation:(GET=encoding_offset:{encoding offset:int} | write:{[OVERFLOW=wrap_sat_fail:(WRAP | SAT | FAIL)] write_operation:(SET=encoding_offset_value:{encoding offset:int value:int} | INCRBY=encoding_offset_increment:{encoding offset:int increment:int})})...]',
  bitfield_ro: 'key#0 [GET=encoding_offset:{encoding offset:int}+++]',
  bitop: {
    words: 'operation destkey#0 key#1...',
    changes: [
      { since: '7.2.0', words: 'operation:(AND | OR | XOR | NOT) destkey#0 key#1...' },
      {
        since: '8.2.0',
        words: 'operation:(AND | OR | XOR | NOT | DIFF | DIFF1 | ANDOR | ONE) destkey#0 key#1...',
      },
    ],
  },
  bitpos: {
    words: 'key#0 bit:int [index:{start:int [end_index:{end:int [index_unit:(BYTE | BIT)@7.0.0]}]}]',
    history: ['7.0.0 Positions count in `BYTE` or in `BIT`.'],
  },
  getbit: 'key#0 offset:int',
  setbit: 'key#0 offset:int value:int',
  pfadd: 'key#0 [element...]',
  pfcount: 'key#0...',
  pfdebug: {
    words: 'subcommand key#0',
    system: true,
  },
  pfmerge: 'destkey#0 sourcekey#1...',
  pfselftest: {
    system: true,
  },
};
