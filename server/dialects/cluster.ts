/** What differs between the servers when they are part of a cluster. */

/** How a node of a cluster answers. */
export interface ClusterTraits {
  /** How many primaries CLUSTER INFO counts before the first view of the cluster is made. */
  readonly sizeAtFirst: 0 | 1;
  /** Whether a primary and its replicas have the id of their shard in common. */
  readonly hasShards: boolean;
  /** Whether CLUSTER SHARDS shows the id of each shard. */
  readonly showsShardIds: boolean;
  /** How the errors of CLUSTER MEET name the two ports. */
  readonly ports: 'TCP' | 'plain';
  /** What CLUSTER MEET calls a port that no port can be. */
  readonly farPort: 'part of an invalid address' | 'out of range';
  /** Which ports for clients a node announces: that of the bus's transport, with a plain one beside TLS; or both. */
  readonly announces: "the bus's port" | 'both ports';
  /**
   * Whether a reply names the port for TLS depends on a connection: on that of the client, which a script does not have, or
   * on that of the request that is running, which a blocked client does not have. Without one it is as on the bus.
   */
  readonly transport: 'of the connection' | 'of the request';
  /** What SORT may take from other keys. */
  readonly sortPatterns: 'nothing' | 'keys of its slot';
  /** How many databases there are, and what commands say about the others. With 'as configured', `cluster-databases` says it. */
  readonly databases: 'sixteen, one allowed' | 'one, others refused' | 'as configured';
  /** The error for a script whose call names keys of several slots, or of a slot that no node serves. */
  readonly scriptTexts: 'one for all' | 'one for each' | 'without the word script';
  /** Whether CLUSTER KEYSLOT answers on a node without a cluster. */
  readonly slotsWithoutCluster: boolean;
  /** Whether CLUSTER SETSLOT takes a time limit, and ignores further words. */
  readonly setSlotTakesTimeout: boolean;
  /** Whether replicas hear of CLUSTER SETSLOT, and redirect as their primary does. */
  readonly replicatesSetSlot: boolean;
  /** How nodes move slots by themselves: by CLUSTER MIGRATESLOTS at the source, CLUSTER MIGRATION at the target, or not. */
  readonly movesSlots: 'not' | 'from the source' | 'to the target';
  /** Whether a primary that ends can tell a replica to take over (SHUTDOWN FAILOVER). */
  readonly passesOn: boolean;
  /** Where the keys of MSETEX do not count: the request goes to any node, with keys of any slots. */
  readonly msetexAnywhere: 'nowhere' | 'in scripts' | 'everywhere';
  /** Whether EXEC of a transaction that cannot run looks at the keys of its commands. */
  readonly routesSpoiltTransactions: boolean;
  /** Whether a command is queued in a transaction also if its keys are being moved, so that only EXEC is redirected. */
  readonly queuesForMovingSlots: boolean;
  /** Whether a script's call for a slot of another node is refused as such also where scripts may not write. */
  readonly routesScriptsFirst: boolean;
  /** Whether a request with keys of several slots is refused as such also if no node serves the first slot. */
  readonly comparesSlotsFirst: boolean;
  /** Whether MOVE and COPY with a database are put off while their slot is being moved. */
  readonly putsOffCopies: boolean;
  /** Whether SETSLOT refuses to move a slot from a node to itself. */
  readonly refusesMoveToItself: boolean;
  /** Whether CLUSTER INFO counts nodes that fail, and bytes on the bus. */
  readonly countsNodesAndBytes: boolean;
  /** Whether a node that loses a slot to a newer epoch forgets that it was moving the slot away. */
  readonly forgetsMoveOfLostSlot: boolean;
}

/** Redis 7.0. */
export const cluster70: ClusterTraits = {
  sizeAtFirst: 1,
  hasShards: false,
  showsShardIds: false,
  ports: 'TCP',
  farPort: 'part of an invalid address',
  announces: "the bus's port",
  transport: 'of the connection',
  sortPatterns: 'nothing',
  databases: 'sixteen, one allowed',
  scriptTexts: 'one for all',
  slotsWithoutCluster: false,
  setSlotTakesTimeout: false,
  replicatesSetSlot: false,
  movesSlots: 'not',
  passesOn: false,
  msetexAnywhere: 'nowhere',
  routesSpoiltTransactions: true,
  forgetsMoveOfLostSlot: false,
  queuesForMovingSlots: false,
  putsOffCopies: false,
  refusesMoveToItself: false,
  comparesSlotsFirst: false,
  routesScriptsFirst: false,
  countsNodesAndBytes: false,
};
/** Redis 7.2 and 8. */
export const cluster72: ClusterTraits = {
  ...cluster70,
  sizeAtFirst: 0,
  hasShards: true,
  ports: 'plain',
  announces: 'both ports',
  transport: 'of the request',
  sortPatterns: 'keys of its slot',
  databases: 'one, others refused',
  scriptTexts: 'one for each',
};
/** Redis 8.4 and later. */
export const cluster84: ClusterTraits = {
  ...cluster72,
  movesSlots: 'to the target',
  msetexAnywhere: 'in scripts',
  comparesSlotsFirst: true,
};
/** Valkey 8.1. */
export const clusterValkey81: ClusterTraits = {
  ...cluster72,
  farPort: 'out of range',
  setSlotTakesTimeout: true,
  replicatesSetSlot: true,
  routesSpoiltTransactions: false,
  forgetsMoveOfLostSlot: true,
};
/** Valkey 9. */
export const clusterValkey9: ClusterTraits = {
  ...clusterValkey81,
  showsShardIds: true,
  movesSlots: 'from the source',
  passesOn: true,
  msetexAnywhere: 'everywhere',
  scriptTexts: 'without the word script',
  queuesForMovingSlots: true,
  putsOffCopies: true,
  refusesMoveToItself: true,
  comparesSlotsFirst: true,
  routesScriptsFirst: true,
  countsNodesAndBytes: true,
  databases: 'as configured',
  slotsWithoutCluster: true,
};
