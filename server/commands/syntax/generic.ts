/**
 * The arguments, history and deprecation of commands for keys of any type, in the notation of server/table/syntax.ts.
 */
import type { SyntaxTable } from '../../table/syntax.ts';

export const genericSyntax: SyntaxTable = {
  copy: 'source#0 destination#1 [DB=destination-db:int] [REPLACE]',
  del: 'key#0...',
  dump: 'key#0',
  exists: {
    words: 'key#0...',
    history: ['3.0.3 Takes several keys.'],
  },
  expire: {
    words: 'key#0 seconds:int [condition:(NX | XX | GT | LT)@7.0.0]',
    history: ['7.0.0 `NX`, `XX`, `GT` and `LT`.'],
  },
  expireat: {
    words: 'key#0 unix-time-seconds:time [condition:(NX | XX | GT | LT)@7.0.0]',
    history: ['7.0.0 `NX`, `XX`, `GT` and `LT`.'],
  },
  expiretime: 'key#0',
  keys: 'pattern:pattern',
  migrate: {
    words:
      "host port:int key_or_empty_string:(key#0 | empty_string:'') destination-db:int timeout:int [COPY@3.0.0] [REPLACE@3.0.0] [authentication:([AUTH=password@4.0.7] | [AUTH2=username_password:{username password}@6.0.0])] [KEYS=key#1@3.0.6...]",
    history: ['3.0.0 `COPY` and `REPLACE`.', '3.0.6 `KEYS`.', '4.0.7 `AUTH`.', '6.0.0 `AUTH2`.'],
  },
  move: 'key#0 db:int',
  'object|encoding': 'key#0',
  'object|freq': 'key#0',
  'object|idletime': 'key#0',
  'object|refcount': 'key#0',
  persist: 'key#0',
  pexpire: {
    words: 'key#0 milliseconds:int [condition:(NX | XX | GT | LT)@7.0.0]',
    history: ['7.0.0 `NX`, `XX`, `GT` and `LT`.'],
  },
  pexpireat: {
    words: 'key#0 unix-time-milliseconds:time [condition:(NX | XX | GT | LT)@7.0.0]',
    history: ['7.0.0 `NX`, `XX`, `GT` and `LT`.'],
  },
  pexpiretime: 'key#0',
  pttl: {
    words: 'key#0',
    history: ['2.8.0 Answers -2 when there is no such key.'],
  },
  rename: 'key#0 newkey#1',
  renamenx: {
    words: 'key#0 newkey#1',
    history: ['3.2.0 A key may be renamed to itself.'],
  },
  restore: {
    words:
      'key#0 ttl:int serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME=seconds:int@5.0.0] [FREQ=frequency:int@5.0.0]',
    history: ['3.0.0 `REPLACE`.', '5.0.0 `ABSTTL`.', '5.0.0 `IDLETIME` and `FREQ`.'],
  },
  scan: {
    words: 'cursor:int [MATCH=pattern:pattern] [COUNT=count:int] [TYPE=type@6.0.0]',
    history: ['6.0.0 `TYPE`.'],
  },
  sort: 'key#0 [BY=pattern:pattern#1] [LIMIT=offset_count:{offset:int count:int}] [GET=pattern:pattern#1+++] [order:(ASC | DESC)] [sorting:ALPHA] [STORE=destination#2]',
  sort_ro:
    'key#0 [BY=pattern:pattern#1] [LIMIT=offset_count:{offset:int count:int}] [GET=pattern:pattern#1+++] [order:(ASC | DESC)] [sorting:ALPHA]',
  touch: 'key#0...',
  ttl: {
    words: 'key#0',
    history: ['2.8.0 Answers -2 when there is no such key.'],
  },
  type: 'key#0',
  unlink: 'key#0...',
  wait: 'numreplicas:int timeout:int',
  waitaof: 'numlocal:int numreplicas:int timeout:int',
};
