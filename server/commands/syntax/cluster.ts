/** The arguments, history and deprecation of cluster commands, in the notation of server/table/syntax.ts. */
import type { SyntaxTable } from '../../table/syntax.ts';

export const clusterSyntax: SyntaxTable = {
  'cluster|addslots': 'slot:int...',
  'cluster|addslotsrange': 'start-slot_end-slot:{start-slot:int end-slot:int}...',
  'cluster|count-failure-reports': 'node-id',
  'cluster|countkeysinslot': 'slot:int',
  'cluster|delslots': 'slot:int...',
  'cluster|delslotsrange': 'start-slot_end-slot:{start-slot:int end-slot:int}...',
  'cluster|failover': '[options:(FORCE | TAKEOVER)]',
  'cluster|forget': 'node-id',
  'cluster|getkeysinslot': 'slot:int count:int',
  'cluster|keyslot': 'key',
  'cluster|meet': {
    words: 'ip port:int [cluster_bus_port:int@4.0.0]',
    history: ["4.0.0 Takes the port of the cluster's bus."],
  },
  'cluster|replicas': 'node-id',
  'cluster|replicate': 'node-id',
  'cluster|reset': '[hard_soft:(HARD | SOFT)]',
  'cluster|set-config-epoch': 'config-epoch:int',
  'cluster|setslot': 'slot:int subcommand:(IMPORTING=node-id | MIGRATING=node-id | NODE=node-id | STABLE)',
  'cluster|slot-stats':
    'filter:(SLOTSRANGE=slotsrange:{start-slot:int end-slot:int} | ORDERBY=orderby:{metric [LIMIT=limit:int] [order:(ASC | DESC)]})',
  'cluster|slaves': {
    words: 'node-id',
    deprecated: '5.0.0 `CLUSTER REPLICAS`',
  },
  'cluster|flushslot': 'slot:int [flush-type:(ASYNC | SYNC)]',
  'cluster|migrateslots':
    'migration-group:{slotsrange-token:SLOTSRANGE range:{start-slot:int end-slot:int}... node-token:NODE node-id}...',
  'cluster|migration':
    'subcommand:(IMPORT=import:{start-slot:int end-slot:int}... | CANCEL=cancel:(ID=task-id | ALL) | STATUS=status:([ID=task-id] | [ALL]))',
  'cluster|syncslots': {
    words:
      'subcommand:(SYNC=sync:{task-id slot-range:{start-slot:int end-slot:int}...} | RDBCHANNEL=task-id | SNAPSHOT-EOF | STREAM-EOF | ACK=ack:{state offset:int} | FAIL=error | CONF=conf:{option... value...})',
    changes: [{ since: { valkey: '9.0.0' }, words: '', system: true, complexity: 'Depends on subcommand.' }],
  },
  clusterscan: 'cursor [MATCH=match-pattern:pattern] [COUNT=count:int] [TYPE=type] [SLOT=slot:int]',
  trimslots: 'RANGES=ranges:{numranges:int slots:{startslot:int endslot:int}...}',
  'cluster|slots': {
    history: ['4.0.0 Answers the ids of the nodes.', '7.0.0 Answers more about the network of each node.'],
    deprecated: '7.0.0 `CLUSTER SHARDS`',
  },
};
