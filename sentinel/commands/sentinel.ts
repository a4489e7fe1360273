/** SENTINEL (https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/#sentinel-commands). */
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { fail, wrongArity } from '../../protocol/errors.ts';
import { globMatch } from '../../protocol/glob.ts';
import { NULL_ARRAY, OK, type Reply, ReplyError, SimpleString } from '../../protocol/reply.ts';
import type { Since } from '../../server/dialects/since.ts';
import { integer } from '../../server/table/arguments.ts';
import {
  type Argv,
  type CommandSpec,
  declaring,
  type EntryChange,
  type Flag,
} from '../../server/table/command.ts';
import { hostOf, isSame } from '../address.ts';
import { askOthers } from '../down.ts';
import { vote } from '../election.ts';
import { startFailover } from '../failover.ts';
import type { DataInstance, Instance, Primary } from '../instances.ts';
import { announceMonitored, monitor, reset, unmonitor } from '../primaries.ts';
import { selectReplica } from '../selection.ts';
import type { SentinelCaller, SentinelServer } from '../server.ts';
import { config } from './config.ts';
import { describeInstance } from './fields.ts';
import { debug, setOptions } from './set.ts';
import { sentinelSyntax, VALKEY } from './syntax.ts';

const { defineContainer } = declaring<SentinelCaller>();

const NO_SUCH = 'ERR No such master with that name';
const FLAGS: readonly Flag[] = ['admin'];

/** The primary of this name. Throws Redis' error if it is not monitored. */
function named(client: SentinelCaller, name: Bytes): Primary {
  return client.server.sentinel.primaries.get(name) ?? fail(NO_SUCH);
}

function describe({ server }: SentinelCaller, instance: Instance): Reply {
  return describeInstance(instance, server.now, server.dialect.sentinel.showsReboot);
}

function listPrimaries(client: SentinelCaller): Reply {
  return [...client.server.sentinel.primaries.values()].map((each) => describe(client, each));
}

function listReplicas(client: SentinelCaller, argv: Argv<3>): Reply {
  const shown = [...named(client, argv[2]).replicas.values()].filter((replica) => replica.isAnnounced);
  return shown.map((each) => describe(client, each));
}

function addressOf(client: SentinelCaller, argv: Argv<3>): Reply {
  const primary = client.server.sentinel.primaries.get(argv[2]);
  if (primary === undefined) return NULL_ARRAY;
  return [primary.announced.host, String(primary.announced.port)];
}

/** Another Sentinel asks whether the primary is down and, if it names itself, for this one's vote. */
function isDownByAddress(client: SentinelCaller, argv: Argv<6>): Reply {
  const { sentinel } = client.server;
  const [, , ip, portText, epochText, candidate] = argv;
  const [port, epoch] = [integer(portText), integer(epochText)];
  const host = hostOf(ip, sentinel.globals['resolve-hostnames']) ?? '';
  const primary = [...sentinel.primaries.values()].find((each) => isSame(each.address, { host, port }));
  const isDown = !sentinel.isTilted && primary?.isDown === true;
  if (primary === undefined || candidate === '*') return [isDown ? 1 : 0, '*', 0];
  const voted = vote(sentinel, primary, epoch, candidate);
  return [isDown ? 1 : 0, voted.leader ?? '*', voted.epoch];
}

/**
 * Replaces a primary without asking the other Sentinels, or, if the primary is to hand over itself, once they have elected
 * this one. Throws Redis' error if that is not possible now.
 */
export function forceFailover(
  server: SentinelServer,
  name: Bytes,
  how: 'forced' | 'coordinated' = 'forced',
): void {
  const { sentinel } = server;
  const primary = sentinel.primaries.get(name) ?? fail(NO_SUCH);
  if (how === 'coordinated' && primary.isHandingOver === undefined) {
    fail('NOGOODPRIMARY Primary does not support FAILOVER command');
  }
  if (primary.failover.isUnderWay) fail('INPROG Failover already in progress');
  if (selectReplica(sentinel, primary) === undefined) {
    fail('NOGOODSLAVE No suitable replica to promote');
  }
  server.log('warning', `Executing user requested FAILOVER of '${primary.name}'`);
  if (sentinel.traits.coordinates) {
    primary.downSince = sentinel.now;
    primary.isDown = true;
  }
  startFailover(sentinel, primary);
  if (how === 'forced') primary.failover.isForced = true;
  else {
    primary.failover.isCoordinated = true;
    askOthers(sentinel, primary, true);
  }
}

function failover({ server }: SentinelCaller, argv: Argv<-3>): Reply {
  if (argv.length > 4) throw wrongArity('sentinel|failover');
  const [, , name, option] = argv;
  if (!server.sentinel.primaries.has(name)) fail(NO_SUCH);
  if (option !== undefined && asciiUpper(option) !== 'COORDINATED')
    fail('ERR Unknown failover option specified');
  forceFailover(server, name, option === undefined ? 'forced' : 'coordinated');
  return OK;
}

function checkQuorum(client: SentinelCaller, argv: Argv<3>): Reply {
  const primary = named(client, argv[2]);
  const others = [...primary.sentinels.values()];
  const usable = others.filter((each) => !each.isDown).length + 1;
  const why: string[] = [];
  if (usable < primary.quorum) {
    why.push('Not enough available Sentinels to reach the specified quorum for this master');
  }
  if (usable < Math.floor((others.length + 1) / 2) + 1) {
    why.push('Not enough available Sentinels to reach the majority and authorize a failover');
  }
  if (why.length > 0) return new ReplyError(`NOQUORUM ${usable} usable Sentinels. ${why.join('. ')}`);
  const text = `OK ${usable} usable Sentinels. Quorum and failover authorization can be reached`;
  return new SimpleString(text);
}

function store(client: SentinelCaller): Reply {
  if (!client.server.sentinel.flush()) fail('ERR Failed to save config file. Check server logs.');
  return OK;
}

function startToMonitor(client: SentinelCaller, argv: Argv<6>): Reply {
  const { sentinel } = client.server;
  const [, , name, ip, portText, quorumText] = argv;
  const quorum = integer(quorumText, 'ERR Invalid quorum');
  const port = integer(portText, 'ERR Invalid port');
  if (quorum <= 0) fail('ERR Quorum must be 1 or greater.');
  const host = hostOf(ip, sentinel.globals['resolve-hostnames']);
  if (host === undefined) fail('ERR Invalid IP address or hostname specified');
  if (port < 0 || port > 65535) fail('ERR Invalid port number.');
  const primary = monitor(sentinel, name, { host, port }, quorum);
  if (primary === undefined) fail('ERR Duplicate master name.');
  const reply = store(client);
  announceMonitored(sentinel, primary);
  return reply;
}

function resetMatching(client: SentinelCaller, argv: Argv<3>): Reply {
  const { sentinel } = client.server;
  const found = [...sentinel.primaries.values()].filter(({ name }) => globMatch(argv[2], name));
  for (const primary of found) {
    reset(sentinel, primary);
    sentinel.event('warning', '+reset-master', primary);
  }
  return found.length;
}

function infoCache(client: SentinelCaller, argv: Argv<-3>): Reply {
  const { sentinel, now } = client.server;
  const primaries = new Set(argv.slice(2).flatMap((name) => sentinel.primaries.get(name) ?? []));
  const cached = (each: DataInstance, primary: Primary): Reply => [
    primary.infoAt === 0 ? 0 : now - each.infoAt,
    each.info ?? null,
  ];
  return [...primaries].flatMap((primary): Reply[] => [
    primary.name,
    [primary, ...primary.replicas.values()].map((each) => cached(each, primary)),
  ]);
}

/** The points at which a Sentinel can be made to crash. */
const CRASHES: Readonly<Record<string, number>> = { 'crash-after-election': 1, 'crash-after-promotion': 2 };

function simulateFailure(client: SentinelCaller, argv: Argv<-3>): Reply {
  const { sentinel } = client.server;
  sentinel.simulatedFailures = 0;
  for (const word of argv.slice(2)) {
    const name = asciiLower(word);
    if (name === 'help') return Object.keys(CRASHES);
    if (!Object.hasOwn(CRASHES, name)) fail('ERR Unknown failure simulation specified');
    sentinel.simulatedFailures |= CRASHES[name] ?? 0;
  }
  return OK;
}

interface Entry<A extends number> {
  readonly since: Since;
  readonly arity: A;
  readonly summary: string;
  readonly complexity?: string;
  readonly changes?: readonly EntryChange[];
  readonly run: CommandSpec<A, SentinelCaller>['run'];
}

function entry<const A extends number>(about: Entry<A>): CommandSpec<A, SentinelCaller> {
  return { complexity: 'O(1)', flags: FLAGS, ...about };
}

const PRIMARY = 'Describes one primary.';
const PRIMARIES = 'Describes every monitored primary.';
const ADDRESS = "Returns a primary's current address.";
const IS_DOWN = 'Returns whether this Sentinel finds a primary down; votes for a leader if asked.';
const REPLICAS = 'Describes the replicas of a primary.';

export const sentinelCommand = defineContainer(
  'sentinel',
  'sentinel',
  {
    summary: 'Commands of a Sentinel.',
    since: '2.8.4',
    helpSince: '6.2.0',
    syntax: sentinelSyntax,
    complexity: 'Depends on subcommand.',
    flags: FLAGS,
  },
  {
    ckquorum: entry({
      summary: 'Checks whether enough Sentinels are there for a failover.',
      since: '2.8.4',
      complexity: '',
      arity: 3,
      run: checkQuorum,
    }),
    config: entry({
      summary: 'Reads or changes the parameters of this Sentinel.',
      since: '6.2.0',
      arity: -3,
      changes: [{ since: '7.2.0', arity: -4 }],
      run: ({ server }, argv) =>
        config(server.sentinel, argv, server.dialect.sentinel.config === 'several parameters'),
    }),
    debug: entry({
      summary: 'Lists or changes the periods of this Sentinel.',
      since: '7.0.0',
      complexity: 'O(N) with N the number of periods',
      arity: -2,
      run: ({ server }, argv) => debug(server.sentinel, argv.slice(2)),
    }),
    failover: entry({
      summary: 'Fails a primary over without asking the other Sentinels.',
      since: '2.8.4',
      complexity: '',
      arity: 3,
      changes: [{ since: { valkey: '9.0.0' }, arity: -3 }],
      run: failover,
    }),
    flushconfig: entry({
      summary: 'Stores the configuration and the state.',
      since: '2.8.4',
      arity: 2,
      run: store,
    }),
    'get-master-addr-by-name': entry({ summary: ADDRESS, since: '2.8.4', arity: 3, run: addressOf }),
    'get-primary-addr-by-name': entry({ summary: ADDRESS, since: VALKEY, arity: 3, run: addressOf }),
    'info-cache': entry({
      summary: 'Returns the last INFO of primaries and their replicas.',
      since: '3.2.0',
      complexity: 'O(N) with N the number of instances',
      arity: -3,
      run: infoCache,
    }),
    'is-master-down-by-addr': entry({ summary: IS_DOWN, since: '2.8.4', arity: 6, run: isDownByAddress }),
    'is-primary-down-by-addr': entry({ summary: IS_DOWN, since: VALKEY, arity: 6, run: isDownByAddress }),
    master: entry({
      summary: PRIMARY,
      since: '2.8.4',
      arity: 3,
      run: (client, argv) => describe(client, named(client, argv[2])),
    }),
    primary: entry({
      summary: PRIMARY,
      since: VALKEY,
      arity: 3,
      run: (client, argv) => describe(client, named(client, argv[2])),
    }),
    masters: entry({
      summary: PRIMARIES,
      since: '2.8.4',
      complexity: 'O(N) with N the number of primaries',
      arity: 2,
      run: listPrimaries,
    }),
    primaries: entry({
      summary: PRIMARIES,
      since: VALKEY,
      complexity: 'O(N) with N the number of primaries',
      arity: 2,
      run: listPrimaries,
    }),
    monitor: entry({
      summary: 'Starts to monitor a primary.',
      since: '2.8.4',
      arity: 6,
      run: startToMonitor,
    }),
    myid: entry({
      summary: "Returns this Sentinel's id.",
      since: '6.2.0',
      arity: 2,
      run: ({ server }) => server.sentinel.id,
    }),
    'pending-scripts': entry({
      summary: 'Lists the scripts that wait to be run; here there are none.',
      since: '2.8.4',
      complexity: '',
      arity: 2,
      run: () => [],
    }),
    remove: entry({
      summary: 'No longer monitors a primary.',
      since: '2.8.4',
      arity: 3,
      run(client, argv) {
        unmonitor(client.server.sentinel, named(client, argv[2]));
        return store(client);
      },
    }),
    replicas: entry({
      summary: REPLICAS,
      since: '5.0.0',
      complexity: 'O(N) with N the number of replicas',
      arity: 3,
      run: listReplicas,
    }),
    reset: entry({
      summary: 'Forgets the replicas, the other Sentinels and the state of primaries.',
      since: '2.8.4',
      complexity: 'O(N) with N the number of primaries',
      arity: 3,
      run: resetMatching,
    }),
    sentinels: entry({
      summary: 'Describes the other Sentinels of a primary.',
      since: '2.8.4',
      complexity: 'O(N) with N the number of Sentinels',
      arity: 3,
      run: (client, argv) =>
        [...named(client, argv[2]).sentinels.values()].map((each) => describe(client, each)),
    }),
    set: entry({
      summary: 'Changes the settings of a primary.',
      since: '2.8.4',
      arity: -5,
      run: (client, argv) => setOptions(client.server.sentinel, named(client, argv[2]), argv.slice(3)),
    }),
    'simulate-failure': entry({
      summary: 'Makes this Sentinel crash at a point of its next failover.',
      since: '3.2.0',
      complexity: '',
      arity: -3,
      run: simulateFailure,
    }),
    slaves: entry({
      summary: REPLICAS,
      since: '2.8.0',
      complexity: 'O(N) with N the number of replicas',
      arity: 3,
      run: listReplicas,
    }),
  },
);
