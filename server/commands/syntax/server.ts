/**
 * The arguments, history and deprecation of server, replication and scripting commands, in the notation of
 * server/table/syntax.ts.
 */
import type { SyntaxTable } from '../../table/syntax.ts';

export const serverSyntax: SyntaxTable = {
  'acl|cat': '[categoryname]',
  'acl|deluser': 'username...',
  'acl|dryrun': 'username command [arg...]',
  'acl|genpass': '[bits:int]',
  'acl|getuser': {
    words: 'username',
    history: [
      '6.2.0 Permissions for channels.',
      '7.0.0 Selectors; patterns are answered as rules, in one string.',
    ],
  },
  'acl|log': '[operation:(count:int | RESET)]',
  'acl|setuser': {
    words: 'username [rule...]',
    history: ['6.2.0 Permissions for channels.', '7.0.0 Selectors; permissions to read and to write a key.'],
  },
  bgsave: {
    words: '[SCHEDULE@3.2.2]',
    history: ['3.2.2 `SCHEDULE`.'],
  },
  'commandlog|get': 'count:int type:(slow | large-request | large-reply)',
  'commandlog|len': 'type:(slow | large-request | large-reply)',
  'commandlog|reset': 'type:(slow | large-request | large-reply)',
  'command|docs': '[command-name...]',
  'command|info': {
    words: '[command-name...]',
    history: ['7.0.0 Without a name it describes every command.'],
  },
  'command|list': '[FILTERBY=filterby:(MODULE=module-name | ACLCAT=category | PATTERN=pattern:pattern)]',
  'config|get': {
    words: 'parameter:{parameter}...',
    history: ['7.0.0 Takes several patterns.'],
  },
  'config|set': {
    words: 'parameter_value:{parameter value}...',
    history: ['7.0.0 Takes several parameters.'],
  },
  debug: {
    system: true,
  },
  failover: '[TO=target:{host port:int [FORCE]}] [ABORT] [TIMEOUT=milliseconds:int]',
  flushall: {
    words: '[async:(ASYNC@4.0.0 | SYNC@6.2.0)]',
    history: ['4.0.0 `ASYNC`.', '6.2.0 `SYNC`.'],
  },
  flushdb: {
    words: '[async:(ASYNC@4.0.0 | SYNC@6.2.0)]',
    history: ['4.0.0 `ASYNC`.', '6.2.0 `SYNC`.'],
  },
  info: {
    words: '[section...]',
    history: ['7.0.0 Takes several sections.'],
  },
  'latency|graph': 'event',
  'latency|histogram': '[command...]',
  'latency|history': 'event',
  'latency|reset': '[event...]',
  lolwut: '[VERSION=version:int]',
  'memory|usage': 'key#0 [SAMPLES=count:int]',
  'module|load': 'path [arg...]',
  'module|loadex': 'path [CONFIG=configs:{name value}+++] [ARGS=args:{arg}...]',
  'module|unload': 'name',
  psync: 'replicationid offset:int',
  replconf: {
    system: true,
  },
  replicaof: 'args:(host-port:{host port:int} | no-one:{NO ONE})',
  'restore-asking': {
    words:
      'key#0 ttl:int serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME=seconds:int@5.0.0] [FREQ=frequency:int@5.0.0]',
    history: ['3.0.0 `REPLACE`.', '5.0.0 `ABSTTL`.', '5.0.0 `IDLETIME` and `FREQ`.'],
    system: true,
  },
  shutdown: {
    words: '[nosave_save:(NOSAVE | SAVE)] [NOW@7.0.0] [FORCE@7.0.0] [ABORT@7.0.0]',
    history: ['7.0.0 `NOW`, `FORCE` and `ABORT`.'],
  },
  slaveof: {
    words: 'args:(host-port:{host port:int} | no-one:{NO ONE})',
    deprecated: '5.0.0 `REPLICAOF`',
  },
  'hotkeys|start':
    'METRICS=metrics:{count:int [CPU] [NET]} [COUNT=k:int] [DURATION=seconds:int] [SAMPLE=ratio:int] [SLOTS=slots:{count:int slot:int...}]',
  'slowlog|get': {
    words: '[count:int]',
    history: ["4.0.0 Answers the client's address and name too."],
  },
  swapdb: 'index1:int index2:int',
  eval: 'script numkeys:int [key#0...] [arg...]',
  eval_ro: 'script numkeys:int [key#0...] [arg...]',
  evalsha: 'sha1 numkeys:int [key#0...] [arg...]',
  evalsha_ro: 'sha1 numkeys:int [key#0...] [arg...]',
  fcall: 'function numkeys:int [key#0...] [arg...]',
  fcall_ro: 'function numkeys:int [key#0...] [arg...]',
  'function|delete': 'library-name',
  'function|flush': '[async:(ASYNC | SYNC)]',
  'function|list': '[LIBRARYNAME=library-name-pattern] [WITHCODE]',
  'function|load': '[REPLACE] function-code',
  'function|restore': 'serialized-value [policy:(FLUSH | APPEND | REPLACE)]',
  'script|debug': 'mode:(YES | SYNC | NO)',
  'script|exists': 'sha1...',
  'script|flush': {
    words: '[async:(ASYNC | SYNC)@6.2.0]',
    history: ['6.2.0 `ASYNC` and `SYNC`.'],
  },
  'script|load': 'script',
  'script|show': 'sha1',
};
