/**
 * The arguments, history and deprecation of connection, pub/sub and transaction commands, in the notation of
 * server/table/syntax.ts.
 */
import type { SyntaxTable } from '../../table/syntax.ts';

export const connectionSyntax: SyntaxTable = {
  auth: {
    words: '[username@6.0.0] password',
    history: ['6.0.0 Users have names.'],
  },
  'client|caching': 'mode:(YES | NO)',
  'client|capa': 'capability...',
  'client|import-source': 'enabled:(ON | OFF)',
  'client|kill': {
    words:
      'filter:("ip:port"!2.8.12 | new-format:([ID=client-id:int@2.8.12] | [TYPE=normal_master_slave_pubsub:(NORMAL | MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)@2.8.12] | [USER=username] | [ADDR="ip:port"] | [LADDR="ip:port"@6.2.0] | [SKIPME="yes/no"])...)',
    history: [
      '2.8.12 Takes filters besides an address.',
      '2.8.12 `ID`.',
      '3.2.0 `TYPE` knows `MASTER`.',
      '5.0.0 `TYPE` knows `REPLICA`, a newer word for `SLAVE`.',
      '6.2.0 `LADDR`.',
    ],
  },
  'client|list': {
    words:
      '[TYPE=normal_master_replica_pubsub:(NORMAL | MASTER | REPLICA | PUBSUB)@5.0.0] [ID=id:{client-id:int...}@6.2.0]',
    history: [
      '2.8.12 The field `id`.',
      '5.0.0 `TYPE`.',
      '6.0.0 The field `user`.',
      '6.2.0 `ID`; the fields `argv-mem`, `tot-mem`, `laddr` and `redir`.',
      '7.0.0 The fields `resp`, `multi-mem`, `rbs` and `rbp`.',
      '7.0.3 The field `ssub`.',
    ],
  },
  'client|no-evict': 'enabled:(ON | OFF)',
  'client|no-touch': 'enabled:(ON | OFF)',
  'client|pause': {
    words: 'timeout:int [mode:(WRITE | ALL)@6.2.0]',
    history: ['6.2.0 `WRITE` pauses only the clients that write.'],
  },
  'client|reply': 'on_off_skip:(ON | OFF | SKIP)',
  'client|setinfo': 'attr:(LIB-NAME=libname | LIB-VER=libver)',
  'client|setname': 'connection-name',
  'client|tracking':
    'status:(ON | OFF) [REDIRECT=client-id:int] [PREFIX=prefix+++] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]',
  'client|unblock': 'client-id:int [timeout_error:(TIMEOUT | ERROR)]',
  echo: 'message',
  hello: {
    words: '[arguments:{protover:int [AUTH=username_password:{username password}] [SETNAME=clientname]}]',
    history: ['6.2.0 Without a version it only describes the connection.'],
  },
  ping: '[message]',
  select: 'index:int',
  psubscribe: 'pattern:{pattern:pattern}...',
  publish: 'channel message',
  'pubsub|channels': '[pattern:pattern]',
  'pubsub|numsub': '[channel...]',
  'pubsub|shardchannels': '[pattern:pattern]',
  'pubsub|shardnumsub': '[shardchannel...]',
  punsubscribe: '[pattern:pattern...]',
  spublish: 'shardchannel message',
  ssubscribe: 'shardchannel...',
  subscribe: 'channel...',
  sunsubscribe: '[shardchannel...]',
  unsubscribe: '[channel...]',
  watch: 'key#0...',
};
