/** Templates for the commands around the data: transactions, messages, scripts, connections and the server. */
import type { Templates } from './data.ts';

export const transactions: Templates = {
  discard: '',
  exec: ['', '', '', '<value>'],
  multi: ['', '', '', '<value>'],
  unwatch: '',
  watch: '<any>+',
};

export const messages: Templates = {
  psubscribe: '<channelPattern>+',
  publish: '<channel> <value>',
  'pubsub|channels': '[<channelPattern>]',
  'pubsub|numpat': '',
  'pubsub|numsub': '<channel>*',
  'pubsub|shardchannels': '[<channelPattern>]',
  'pubsub|shardnumsub': '<channel>*',
  punsubscribe: '<channelPattern>*',
  spublish: '<channel> <value>',
  ssubscribe: '<channel>+',
  subscribe: '<channel>+',
  sunsubscribe: '<channel>*',
  unsubscribe: '<channel>*',
};

/** Scripts as requests; scripts that call other generated commands are made in scripts.ts. */
export const scripting: Templates = {
  'script|exists': '<sha>+',
  'script|flush': ['[(SYNC|ASYNC)]', '<value>', '<value>', '<value>'],
  'script|show': '<sha>',
  'client|capa': '(redirect|<value>)+',
  'client|import-source': '(ON|OFF|<value>)',
  'script|load': '<script>',
  'script|kill': '',
  eval: '<script> <n:string> <value>*',
  eval_ro: '<script> <n:string> <value>*',
  evalsha: '<sha> <n:string> <value>*',
  evalsha_ro: '<sha> <n:string> <value>*',
};

/** Functions, of a few libraries whose names collide. */
export const functions: Templates = {
  'function|delete': '<library>',
  'function|dump': '',
  'function|flush': ['[(SYNC|ASYNC)]', '<value>', '<value>', '<value>'],
  'function|kill': '',
  'function|list': ['', 'WITHCODE', '{[LIBRARYNAME <library>] [WITHCODE] [<value>]}'],
  'function|load': [
    '<libraryCode>',
    'REPLACE <libraryCode>',
    'REPLACE <libraryCode>',
    '<value> <libraryCode>',
  ],
  'function|restore': '<libraryPayload> [(FLUSH|APPEND|REPLACE|<value>)]',
  'function|stats': '',
  fcall: ['<function> <n:string> <value>*', '<function> <n:any> <value>*'],
  fcall_ro: '<function> <n:string> <value>*',
};

export const connection: Templates = {
  asking: '',
  auth: ['<value>', 'default <value>', '<value> <value> <value>'],
  'client|getname': '',
  'client|caching': '(YES|NO|<value>)',
  'client|getredir': '',
  'client|tracking': [
    'OFF',
    'ON [BCAST] [NOLOOP]',
    'ON (OPTIN|OPTOUT)',
    'ON BCAST PREFIX <value> [PREFIX <value>]',
    '<value>',
  ],
  'client|trackinginfo': '',
  'client|id': '',
  'client|no-evict': '(ON|OFF|<value>)',
  'client|reply': '(ON|OFF|SKIP|ON|<value>)',
  'client|no-touch': ['(ON|OFF)', '<value>'],
  'client|setinfo': ['(LIB-NAME|LIB-VER) <value>', '<value> <value>'],
  'client|setname': '<name>',
  'client|unblock': '<client> [(TIMEOUT|ERROR|<value>)]',
  'client|unpause': '',
  echo: '<value>',
  hello: ['(2|3)', '(2|3) SETNAME <name>', '<int> [SETNAME <name>] [<value>]', '3 AUTH default <value>', ''],
  ping: ['', '<value>', '<value> <value>'],
  quit: '',
  readonly: '',
  readwrite: '',
  reset: '',
  select: '<db>',
};

/** Users of the names alice and bob, which every program begins without. */
export const access: Templates = {
  'acl|deluser': '<user>+',
  'acl|dryrun': '<user> <request>',
  'acl|getuser': '<user>',
  'acl|list': '',
  'acl|setuser': ['<user> <rule>+', '<user> on nopass <rule>+', 'alice on >pw ~* &* +@all <rule>*'],
  'acl|users': '',
  auth: ['alice pw', '<user> (pw|wrong)', '<user> pw'],
};

/** Client-side caching. */
export const caching: Templates = {
  'client|caching': '(YES|NO)',
  'client|getredir': '',
  'client|tracking': [
    'OFF',
    'ON [BCAST] [NOLOOP]',
    'ON (OPTIN|OPTOUT) [NOLOOP]',
    'ON BCAST PREFIX (s|h|l|t|z|x) [PREFIX (n|s1|b|g|p)] [NOLOOP]',
    'ON REDIRECT <client> [BCAST] [NOLOOP]',
  ],
  'client|trackinginfo': '',
  subscribe: '__redis__:invalidate',
};

export const server: Templates = {
  'acl|cat': '[(string|scripting|dangerous|hash|<value>)]',
  'acl|dryrun': 'default <request>',
  'acl|genpass': ['', '<int>', '<value>'],
  'acl|getuser': '(default|<value>)',
  'acl|load': '',
  'acl|save': '',
  'acl|whoami': '',
  pfdebug: '(DECODE|DECODE|ENCODING|TODENSE|<value>) <hll>',
  'command|count': ['', '<value>'],
  command: '',
  'command|list': ['', 'FILTERBY (ACLCAT|PATTERN|MODULE|<value>) (string|s*|dangerous|<value>)'],
  'command|getkeys': '<request>',
  'command|getkeysandflags': '<request>',
  'command|info': '<commandName>+',
  'config|get': '<setting>+',
  'config|set': ['<limit>', '<limit> <limit>', '<value> <value>', '<limit> <value>'],
  'config|resetstat': '',
  'config|rewrite': '',
  'client|info': '',
  'client|list': 'ID <client>',
  'module|list': '',
  save: '',
  info: '[(server|clients|memory|keyspace|replication|stats|all|<value>)+]',
  lastsave: '',
  randomkey: '',
  role: '',
  time: '',
  dbsize: '',
  flushall: '[(SYNC|ASYNC|<value>)]',
  flushdb: '[(SYNC|ASYNC|<value>)]',
  'latency|reset': '<value>*',
  'memory|purge': '[<value>]',
  'memory|usage': ['<any>', '<any> SAMPLES <int>', '<any> <value>'],
  'slowlog|reset': '',
  'commandlog|reset': '(slow|large-request|large-reply|<value>)',
  swapdb: '<db> <db>',
};

/** Refused: neither server is a node of a cluster. */
export const cluster: Templates = {
  'cluster|addslots': '<value> <value>*',
  'cluster|addslotsrange': '<value> <value> <value>*',
  'cluster|bumpepoch': '',
  'cluster|count-failure-reports': '<value>',
  'cluster|countkeysinslot': '<value>',
  'cluster|delslots': '<value> <value>*',
  'cluster|delslotsrange': '<value> <value> <value>*',
  'cluster|failover': '<value>*',
  'cluster|flushslots': '',
  'cluster|forget': '<value>',
  'cluster|getkeysinslot': '<value> <value>',
  'cluster|info': '',
  'cluster|keyslot': '<value>',
  'cluster|links': '',
  'cluster|meet': '<value> <value> <value>*',
  'cluster|myid': '',
  'cluster|myshardid': '',
  'cluster|nodes': '',
  'cluster|replicas': '<value>',
  'cluster|replicate': '<value>',
  'cluster|reset': '<value>*',
  'cluster|saveconfig': '',
  'cluster|set-config-epoch': '<value>',
  'cluster|setslot': '<value> <value> <value>*',
  'cluster|shards': '',
  'cluster|slaves': '<value>',
  'cluster|slot-stats': '<value> <value> <value>*',
  'cluster|slots': '',
};
