/** Generates requests to the nodes of a cluster: commands on keys of every node, CLUSTER, and what follows redirects. */
import { slotOf } from '../../../protocol/slot.ts';
import type { ClusterTraits } from '../../../server/dialects/cluster.ts';
import type { Random } from '../random.ts';

type Moves = ClusterTraits['movesSlots'];

/** A request to one of the nodes. */
export interface NodeRequest {
  readonly node: number;
  readonly words: readonly string[];
}

/** How many nodes there are: three primaries, and a replica of the first. */
export const NODES = 4;
const REPLICA = 3;

/** Keys of a few slots: two slots of each primary, with several keys each. */
const TAGS = ['a', 'b', 'c', 'd', 'e', 'f'];
export const KEYS = TAGS.flatMap((tag) => [tag, `{${tag}}1`, `x{${tag}}2`]);
/** The slots that programs move about. */
export const SLOTS = TAGS.map((tag) => slotOf(tag));

const BAD = ['', 'x', '-1', '16384', '1.5', '99999999999999999999', '0', 'ID', 'NODE'];

function ownerOf(slot: number): number {
  return slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2;
}

/** A reference to a node's id, which each side replaces by its own. */
function id(random: Random): string {
  return random.percent(90) ? `<ID${random.below(NODES)}>` : random.pick(BAD);
}

function slot(random: Random): string {
  return random.percent(90) ? String(random.pick(SLOTS)) : random.pick(BAD);
}

/** Keys: one, or several of which most share a slot. */
function keys(random: Random, count: number): string[] {
  const tag = random.pick(TAGS);
  return Array.from({ length: count }, () =>
    random.percent(85) ? random.pick([tag, `{${tag}}1`, `x{${tag}}2`]) : random.pick(KEYS),
  );
}

function dataCommand(random: Random): string[] {
  const [key = '', other = ''] = keys(random, 2);
  return random.pick([
    ['GET', key],
    ['SET', key, 'v'],
    ['SET', key, 'w'],
    ['SET', key, 'v', 'NX'],
    ['DEL', key],
    ['DEL', key, other],
    ['MGET', key, other],
    ['MGET', ...keys(random, 3)],
    ['MSET', key, '1', other, '2'],
    ['MSETEX', '2', key, '1', other, '2'],
    ['DELEX', key],
    ['DELIFEQ', key, 'v'],
    ['EXISTS', key, other],
    ['INCR', key],
    ['RENAME', key, other],
    ['COPY', key, other],
    ['COPY', key, other, 'DB', random.pick(['0', '1', 'x'])],
    ['MOVE', key, '1'],
    ['SELECT', random.pick(['0', '1', 'x', '16'])],
    ['SWAPDB', '0', '1'],
    ['SORT', key, 'BY', random.pick(['x*', 'nosort', `{${key}}*`])],
    ['SORT', key, 'GET', random.pick(['#', 'x*', `{${key}}*`])],
    ['OBJECT', 'ENCODING', key],
    ['EXPIRE', key, '100'],
    ['BLPOP', key, other, '0.01'],
    ['LPUSH', key, '1'],
    ['XREAD', 'STREAMS', key, other, '0', '0'],
    ['SPUBLISH', key, 'm'],
    ['PUBLISH', key, 'm'],
    ['WATCH', key, other],
    ['UNWATCH'],
    ['DUMP', key],
    ['TOUCH', key, other],
    ['PFCOUNT', key, other],
    ['ZUNIONSTORE', key, '2', other, key],
    ['LMPOP', '2', key, other, 'LEFT'],
    ['KEYS', '*'],
    ['DBSIZE'],
    ['RANDOMKEY'],
    ['EXISTS'],
  ]);
}

const SHEBANG = '#!lua\n';

function script(random: Random): string[] {
  const [key = '', other = ''] = keys(random, 2);
  const body = random.pick([
    `return redis.call('GET','${key}')`,
    `return redis.call('SET','${key}','s')`,
    `redis.call('SET','${key}','s') return redis.call('GET','${other}')`,
    `return redis.call('MGET','${key}','${other}')`,
    `return redis.call('MSETEX','2','${key}','1','${other}','2')`,
    `return redis.pcall('GET','${key}')`,
    "return redis.call('SELECT','1')",
    "return redis.call('DBSIZE')",
    'return 1',
  ]);
  const head = random.pick([
    '',
    '',
    SHEBANG,
    '#!lua flags=allow-cross-slot-keys\n',
    '#!lua flags=no-cluster\n',
  ]);
  const declared = random.pick([[], [key], [key, other]]);
  return [random.pick(['EVAL', 'EVAL', 'EVAL_RO']), head + body, String(declared.length), ...declared];
}

function question(random: Random): string[] {
  return random.pick([
    ['CLUSTER', 'INFO'],
    ['CLUSTER', 'NODES'],
    ['CLUSTER', 'SLOTS'],
    ['CLUSTER', 'SHARDS'],
    ['CLUSTER', 'LINKS'],
    ['CLUSTER', 'MYID'],
    ['CLUSTER', 'KEYSLOT', random.pick(['', 'a', '{}a', '{a', 'a{b}c{d}', '}{x}', '{{a}}', ...KEYS])],
    ['CLUSTER', 'COUNTKEYSINSLOT', slot(random)],
    ['CLUSTER', 'GETKEYSINSLOT', slot(random), random.pick(['10', '0', '-1', 'x'])],
    ['CLUSTER', random.pick(['REPLICAS', 'SLAVES']), id(random)],
    ['CLUSTER', 'COUNT-FAILURE-REPORTS', id(random)],
    ['CLUSTER', 'SLOT-STATS', 'SLOTSRANGE', slot(random), slot(random)],
    [
      'CLUSTER',
      'SLOT-STATS',
      'ORDERBY',
      random.pick(['key-count', 'x']),
      'LIMIT',
      random.pick(['3', '0', 'x']),
    ],
    ['CLUSTER', 'SAVECONFIG'],
    ['CLUSTER', random.pick(['NODES', 'FOO', 'INFO', 'SLOTS', 'MYSHARDID2']), 'x'],
    ['CLUSTER'],
    ['INFO', 'cluster'],
    ['CONFIG', 'GET', 'cluster-[a-l]*'],
    ['ROLE', 'x'],
  ]);
}

/** Commands that only fail, so that the cluster stays as it is. */
function mistake(random: Random): string[] {
  return random.pick([
    ['CLUSTER', 'ADDSLOTS', slot(random), slot(random)],
    ['CLUSTER', 'ADDSLOTSRANGE', slot(random), slot(random)],
    ['CLUSTER', 'ADDSLOTSRANGE', '1', '2', '3'],
    ['CLUSTER', 'DELSLOTS', random.pick(BAD.slice(0, 4)), '5'],
    ['CLUSTER', 'DELSLOTS', '5', '5', '16384'],
    ['CLUSTER', 'DELSLOTSRANGE', '9', '3'],
    ['CLUSTER', 'FORGET', random.pick([...BAD, 'nobody'])],
    ['CLUSTER', 'REPLICATE', random.pick([...BAD, 'nobody'])],
    [
      'CLUSTER',
      'MEET',
      random.pick(['localhost', '127.0.0.1', '300.1.1.1']),
      random.pick(['x', '0', '70000', '-1']),
    ],
    ['CLUSTER', 'MEET', '127.0.0.1', random.pick(['1', '0']), random.pick(['x', '0', '70000', '-1'])],
    ['CLUSTER', 'MEET', '127.0.0.1', '60000'],
    ['CLUSTER', 'SET-CONFIG-EPOCH', random.pick(['-1', 'x', '7'])],
    ['CLUSTER', 'RESET', 'x'],
    ['CLUSTER', 'FAILOVER', random.pick(['x', 'y', 'FORCE']), random.pick(['x', 'REPLICAID'])],
    ['CLUSTER', 'SETSLOT', slot(random), 'NODE', 'nobody'],
    [
      'CLUSTER',
      'SETSLOT',
      slot(random),
      random.pick(['FOO', 'MIGRATING', 'NODE', 'STABLE']),
      ...(random.percent(50) ? ['x', 'y'] : []),
    ],
    ['REPLICAOF', 'NO', 'ONE'],
    ['FAILOVER'],
    ['CONFIG', 'SET', 'cluster-preferred-endpoint-type', 'x'],
    ['CONFIG', 'SET', 'cluster-announce-hostname', 'a b'],
    ['CONFIG', 'SET', 'cluster-enabled', 'no'],
    ['CONFIG', 'SET', 'cluster-migration-barrier', random.pick(['-1', 'x'])],
  ]);
}

/** Ranges of slots: of one primary, of two, backwards, twice the same, and none. */
function ranges(random: Random): string[] {
  return random.pick([
    ['5', '9'],
    ['0', '5'],
    ['5', '5'],
    ['9', '5'],
    ['5460', '5461'],
    ['5461', '5465'],
    ['10922', '10923'],
    ['5', '9', '7', '12'],
    ['5', '9', '10', '12'],
    ['5', '9', '6000', '6001'],
    ['5', '9', '11'],
    ['x', '9'],
    ['5', '16384'],
    ['-1', '3'],
    [],
    [slot(random), slot(random)],
  ]);
}

/** An id of a move that nobody makes. */
const NO_MOVE = '0123456789abcdef0123456789abcdef01234567';

/** Requests about moves that begin none: from the source with Valkey 9, to the target with Redis 8.4 and later. */
function moveMistake(random: Random, moves: Moves): NodeRequest {
  const node = random.below(NODES);
  const name = random.percent(70) ? random.pick(['STATUS', 'CANCEL']) : 'IMPORT';
  if (moves === 'to the target') {
    const words = random.pick([
      // The node has these slots, or they belong to two nodes, or they are no ranges.
      [
        'IMPORT',
        ...random.pick([
          ['5', '9'],
          ['5460', '5461'],
          ['9', '5'],
          ['5', '9', '7', '12'],
          ['x', '1'],
          ['5'],
          [],
        ]),
      ],
      [
        name,
        random.pick(['ALL', 'all', 'ID', 'id', 'x', '']),
        ...random.pick([[], [], [NO_MOVE], ['x'], ['x', 'y']]),
      ],
      [random.pick(['x', 'STATUS', 'CANCEL', 'IMPORT'])],
    ]);
    const trim = [
      'TRIMSLOTS',
      random.pick(['RANGES', 'x']),
      random.pick(['1', '1', '0', '2', 'x']),
      ...ranges(random),
    ];
    return random.percent(15)
      ? { node: random.below(REPLICA), words: trim }
      : // On the other nodes an import might begin.
        {
          node: words[0] === 'IMPORT' ? random.pick([0, REPLICA]) : node,
          words: ['CLUSTER', 'MIGRATION', ...words],
        };
  }
  const from = random.percent(90) ? 'SLOTSRANGE' : random.pick(['x', 'NODE', '']);
  // To itself, to a node that does not exist, or nowhere.
  const to = random.pick([
    ...[['NODE', `<ID${node}>`], ['NODE', NO_MOVE], ['NODE', 'x'], ['NODE'], [], ['x', '<ID1>']],
  ]);
  return {
    node,
    words: random.pick([
      ['CLUSTER', 'MIGRATESLOTS', from, ...ranges(random), ...to],
      [
        'CLUSTER',
        'MIGRATESLOTS',
        from,
        ...ranges(random),
        ...to,
        ...random.pick([['x'], ['SLOTSRANGE', '5', '9', ...to]]),
      ],
      [
        'CLUSTER',
        random.pick(['GETSLOTMIGRATIONS', 'CANCELSLOTMIGRATIONS']),
        ...random.pick([[], [], ['x'], ['ALL']]),
      ],
      [
        'CLUSTER',
        'SYNCSLOTS',
        random.pick(['FINISH', 'ACK', 'PAUSED', 'x', 'ESTABLISH']),
        ...random.pick([[], ['x']]),
      ],
      [
        'CLUSTER',
        'SYNCSLOTS',
        'FINISH',
        'STATE',
        random.pick(['success', 'failed', 'x']),
        'NAME',
        random.pick([NO_MOVE, 'x']),
      ],
      [
        'CLUSTER',
        'FLUSHSLOT',
        slot(random),
        ...random.pick([[], [], ['SYNC'], ['ASYNC'], ['x'], ['x', 'y']]),
      ],
    ]),
  };
}

/** SETSLOT with a limit for the replicas' answers, as Valkey has it. */
function timedStep(random: Random): NodeRequest {
  const moved = random.pick(SLOTS);
  const owner = ownerOf(moved);
  const action = random.pick([
    ['STABLE'],
    ['MIGRATING', `<ID${(owner + 1) % 3}>`],
    ['IMPORTING', id(random)],
    ['NODE', `<ID${owner}>`],
    ['NODE', 'nobody'],
    ['x'],
  ]);
  const limit = random.pick([
    ['TIMEOUT', '5000'],
    ['timeout', '4000'],
    ['TIMEOUT'],
    ['TIMEOUT', 'x'],
    ['TIMEOUT', '-1'],
    ['x', 'y'],
  ]);
  return {
    node: random.percent(80) ? owner : random.below(NODES),
    words: ['CLUSTER', 'SETSLOT', String(moved), ...action, ...limit],
  };
}

/** A change that only the node itself notices. */
function localChange(random: Random): NodeRequest {
  const moved = random.pick(SLOTS);
  const owner = ownerOf(moved);
  const [other] = random.shuffle([0, 1, 2].filter((each) => each !== owner));
  return random.pick<NodeRequest>([
    { node: owner, words: ['CLUSTER', 'SETSLOT', String(moved), 'MIGRATING', `<ID${other}>`] },
    { node: other ?? 0, words: ['CLUSTER', 'SETSLOT', String(moved), 'IMPORTING', `<ID${owner}>`] },
    { node: owner, words: ['CLUSTER', 'SETSLOT', String(moved), 'MIGRATING', `<ID${other}>`] },
    { node: other ?? 0, words: ['CLUSTER', 'SETSLOT', String(moved), 'IMPORTING', `<ID${owner}>`] },
    { node: random.below(NODES), words: ['CLUSTER', 'SETSLOT', String(moved), 'IMPORTING', id(random)] },
    { node: random.below(NODES), words: ['CLUSTER', 'SETSLOT', String(moved), 'STABLE'] },
    {
      node: random.below(NODES),
      words: ['CONFIG', 'SET', 'cluster-require-full-coverage', random.pick(['yes', 'no'])],
    },
    {
      node: random.below(NODES),
      words: ['CONFIG', 'SET', 'cluster-allow-reads-when-down', random.pick(['yes', 'no'])],
    },
    {
      node: random.below(NODES),
      words: [
        'CONFIG',
        'SET',
        'cluster-preferred-endpoint-type',
        random.pick(['ip', 'hostname', 'unknown-endpoint']),
      ],
    },
    ...(random.percent(30)
      ? [{ node: owner, words: ['CLUSTER', random.pick(['DELSLOTS', 'ADDSLOTS']), String(moved)] }]
      : []),
  ]);
}

function migration(random: Random): NodeRequest {
  const all = keys(random, 2);
  const from = random.below(3);
  const to = random.below(3);
  const options = random.pick([[], ['REPLACE'], ['COPY'], ['COPY', 'REPLACE']]);
  const place = ['MIGRATE', '127.0.0.1', `<PORT${to}>`];
  const words = random.percent(50)
    ? [...place, all[0] ?? '', '0', '1000', ...options]
    : [...place, '', random.pick(['0', '0', '1']), '1000', ...options, 'KEYS', ...all];
  // A node that sends a key to itself would wait for itself.
  return { node: from === to ? (from + 1) % 3 : from, words };
}

/** One request of a program, to nodes that can do what the traits say. */
export function clusterRequest(
  random: Random,
  { movesSlots, setSlotTakesTimeout }: ClusterTraits,
): NodeRequest {
  const node = random.percent(15) ? REPLICA : random.below(REPLICA);
  return random.weighted<() => NodeRequest>([
    [() => ({ node, words: dataCommand(random) }), 45],
    [() => ({ node, words: script(random) }), 10],
    [
      () => ({
        node,
        words: random.pick([['ASKING'], ['READONLY'], ['READWRITE'], ['MULTI'], ['EXEC'], ['DISCARD']]),
      }),
      18,
    ],
    [() => ({ node, words: question(random) }), 10],
    [() => ({ node, words: mistake(random) }), 6],
    [() => localChange(random), 8],
    [() => migration(random), 3],
    [() => moveMistake(random, movesSlots), movesSlots === 'not' ? 0 : 12],
    [() => timedStep(random), setSlotTakesTimeout ? 4 : 0],
  ])();
}
