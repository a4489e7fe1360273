/** Clusters with TLS whose answers are recorded: how each is configured, and what its clients ask. */

/** The ports of a node. 0: it does not listen on that one. */
export interface NodePorts {
  readonly plain: number;
  readonly tls: number;
  readonly bus: number;
}

/** A cluster: two primaries, and in some scenes a replica of the first. */
export interface Scene {
  readonly name: string;
  readonly listens: 'on both ports' | 'with TLS only' | 'without TLS only';
  readonly nodes: 1 | 2 | 3;
  /** What all nodes have in their configuration besides their ports and certificates. */
  readonly settings: Readonly<Record<string, string>>;
  /** What a node has in addition. */
  readonly own?: (index: number, ports: NodePorts) => Readonly<Record<string, string>>;
  /** Requests to the first node before the questions. */
  readonly first?: readonly (readonly string[])[];
}

/** Ports that a node only announces. */
function announced(kinds: readonly ('port' | 'tls-port')[]) {
  return (index: number): Record<string, string> =>
    Object.fromEntries(
      kinds.map((kind) => [`cluster-announce-${kind}`, String((kind === 'port' ? 7000 : 7100) + index)]),
    );
}

const YES = { 'tls-cluster': 'yes', 'tls-replication': 'yes' };
const NO = { 'tls-cluster': 'no', 'tls-replication': 'no' };

function both(name: string, rest: Omit<Scene, 'name' | 'settings' | 'listens'>): Scene[] {
  return [
    { name: `a bus with TLS, ${name}`, listens: 'on both ports', settings: YES, ...rest },
    { name: `a bus without TLS, ${name}`, listens: 'on both ports', settings: NO, ...rest },
  ];
}

const HOSTNAME = (index: number) => ({ 'cluster-announce-hostname': `node-${index}.example` });

export const SCENES: readonly Scene[] = [
  ...both('both ports', { nodes: 3 }),
  {
    name: 'a bus with TLS, replication without',
    listens: 'on both ports',
    nodes: 3,
    settings: { 'tls-cluster': 'yes', 'tls-replication': 'no' },
  },
  {
    name: 'a bus without TLS, replication with it',
    listens: 'on both ports',
    nodes: 3,
    settings: { 'tls-cluster': 'no', 'tls-replication': 'yes' },
  },
  { name: 'a bus with TLS, no plain port', listens: 'with TLS only', nodes: 2, settings: YES },
  { name: 'a bus without TLS, no plain port', listens: 'with TLS only', nodes: 2, settings: NO },
  { name: 'a bus with TLS, no port for TLS', listens: 'without TLS only', nodes: 2, settings: YES },
  ...both('both ports announced', { nodes: 2, own: announced(['port', 'tls-port']) }),
  ...both('the plain port announced', { nodes: 2, own: announced(['port']) }),
  ...both('the port for TLS announced', { nodes: 2, own: announced(['tls-port']) }),
  ...both('hostnames', {
    nodes: 2,
    own: HOSTNAME,
    first: [['CONFIG', 'SET', 'cluster-preferred-endpoint-type', 'hostname']],
  }),
  ...both('unknown endpoints', {
    nodes: 2,
    own: HOSTNAME,
    first: [['CONFIG', 'SET', 'cluster-preferred-endpoint-type', 'unknown-endpoint']],
  }),
  ...both('ports announced by CONFIG SET', {
    nodes: 1,
    first: [
      ['CONFIG', 'SET', 'cluster-announce-ip', '10.0.0.5'],
      ['CONFIG', 'SET', 'cluster-announce-port', '7000'],
      ['CONFIG', 'SET', 'cluster-announce-tls-port', '7100'],
      ['CONFIG', 'SET', 'cluster-announce-bus-port', '17000'],
    ],
  }),
  ...both('the port of the bus by default', { nodes: 1, own: () => ({ 'cluster-port': '0' }) }),
];

/** A key of the second primary. */
const FAR = '{a}';
/** A key of the first primary, and its slot, which is being moved to the second one. */
const MOVING = '{c}';
export const MOVING_SLOT = '7365';
/** A list that clients of the first primary wait for, and its slot, which is then given to the second one. */
export const AWAITED = '{f}';
export const AWAITED_SLOT = '3168';

const OWN_ADDRESS = "return string.match(redis.call('CLUSTER', 'NODES'), '(%S+) myself')";

/** What each client asks the first node, if it is alone. `<ID0>` stands for its id. */
export const ALONE: readonly (readonly string[])[] = [
  ['CLUSTER', 'NODES'],
  ['CLUSTER', 'SLOTS'],
  ['CLUSTER', 'SHARDS'],
  ['CLUSTER', 'MYID'],
  ['CONFIG', 'GET', 'cluster-announce-*port'],
];

/** What each client asks the first of several nodes. `<PLAIN1>` and `<TLS1>` are ports of the second one, or 0. */
export const QUESTIONS: readonly (readonly string[])[] = [
  ...ALONE,
  ['CLUSTER', 'REPLICAS', '<ID0>'],
  ['GET', FAR],
  ['MGET', FAR, MOVING],
  ['GET', MOVING],
  ['SSUBSCRIBE', FAR],
  ['EVAL', "return redis.call('GET', KEYS[1])", '1', FAR],
  ['EVAL', "return redis.call('CLUSTER', 'SLOTS')", '0'],
  ['EVAL', OWN_ADDRESS, '0'],
  ['INFO', 'replication'],
  ['SET', AWAITED, 'v'],
  ['MIGRATE', '127.0.0.1', '<PLAIN1>', AWAITED, '0', '1000'],
  ['MIGRATE', '127.0.0.1', '<TLS1>', AWAITED, '0', '1000'],
  ['DEL', AWAITED],
];

/** What each client asks the replica. */
export const REPLICA_QUESTIONS: readonly (readonly string[])[] = [
  ['CLUSTER', 'NODES'],
  ['GET', FAR],
  ['GET', AWAITED],
  ['ROLE'],
  ['INFO', 'replication'],
];
