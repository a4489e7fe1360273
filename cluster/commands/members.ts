/** The subcommands of CLUSTER about nodes: meeting and forgetting them, roles, epochs, and failing over. */
import { asciiLower, asciiUpper, type Bytes } from '../../protocol/bytes.ts';
import { fail, SYNTAX } from '../../protocol/errors.ts';
import { OK, type Reply, SimpleString } from '../../protocol/reply.ts';
import { type Client, PRIMARY_LINK } from '../../server/clients/client.ts';
import { empty } from '../../server/commands/node/server.ts';
import { promote } from '../../server/replication/role.ts';
import { integer, wordAt } from '../../server/table/arguments.ts';
import type { Cluster } from '../cluster.ts';
import { replacePrimary } from '../election.ts';
import { send } from '../gossip.ts';
import { countReports } from '../health.ts';
import { FAILED, HANDSHAKE, type Member, TO_MEET } from '../member.ts';
import { fromBus, portFor } from '../ports.ts';
import { followPrimary } from '../slots.ts';
import { describeMember } from './describe.ts';

function named({ members }: Cluster, id: Bytes): Member {
  return members.get(id) ?? fail(`ERR Unknown node ${id}`);
}

/** MEET: dials a node, which becomes a member when it answers. */
export function meet(cluster: Cluster, argv: readonly Bytes[]): Reply {
  const [, , ip = '', portText = '', busText] = argv;
  const { ports, farPort } = cluster.server.dialect.cluster;
  const kind = ports === 'TCP' ? 'TCP ' : '';
  if (argv.length > 5) {
    fail(`ERR unknown subcommand or wrong number of arguments for '${argv[1]}'. Try CLUSTER HELP.`);
  }
  const port = integer(portText, `ERR Invalid ${kind}base port specified: ${portText}`);
  const busPort =
    busText === undefined
      ? port + 10_000
      : integer(busText, `ERR Invalid ${kind}bus port specified: ${busText}`);
  const inRange = port > 0 && port <= 65535 && busPort > 0 && busPort <= 65535;
  if (!inRange && farPort === 'out of range') {
    fail(`ERR ${port > 0 && port <= 65535 ? 'Cluster bus port' : 'Port'} number is out of range`);
  }
  if (!inRange || !isAddress(ip)) fail(`ERR Invalid node address specified: ${ip}:${portText}`);
  const same = [...cluster.members.values()].some(
    (each) => each.has(HANDSHAKE) && each.ip === ip && each.busPort === busPort,
  );
  if (same) return OK;
  const member = cluster.add(cluster.server.randomHex(40), HANDSHAKE | TO_MEET);
  member.settle(ip, fromBus(cluster.server, { port, otherPort: 0 }), busPort);
  return OK;
}

function isAddress(ip: Bytes): boolean {
  const parts = ip.split('.');
  if (parts.length === 4) return parts.every((part) => /^\d{1,3}$/.test(part) && integer(part) < 256);
  return /^[0-9a-fA-F:]*:[0-9a-fA-F:]*$/.test(ip) && ip.length > 1;
}

/** FORGET: removes a member. For a minute it does not come back by hearsay. */
export function forget(cluster: Cluster, argv: readonly Bytes[]): Reply {
  const member = named(cluster, wordAt(argv, 2));
  const { myself } = cluster;
  if (member === myself) fail("ERR I tried hard but I can't forget myself...");
  if (myself.primary === member) fail("ERR Can't forget my master!");
  // How long it may not come back by hearsay.
  cluster.forgotten.set(member.id, cluster.now + cluster.server.settings['cluster-blacklist-ttl'] * 1000);
  cluster.remove(member);
  cluster.due.state = true;
  cluster.due.store = true;
  return OK;
}

/** Makes a replica a primary without data and slots. */
function leavePrimary(cluster: Cluster): void {
  const { myself, server } = cluster;
  if (myself.isPrimary) return;
  cluster.makePrimary(myself);
  promote(server);
  empty(server, server.databases);
}

/** REPLICATE: the node becomes a replica, or with NO ONE an empty primary of a shard of its own. */
export function replicate(cluster: Cluster, argv: readonly Bytes[]): Reply {
  if (argv.length > 3) {
    const [, , no = '', one = ''] = argv;
    if (argv.length > 4 || asciiUpper(no) !== 'NO' || asciiUpper(one) !== 'ONE') refuseMore(argv);
    if (cluster.myself.isReplica) {
      leavePrimary(cluster);
      cluster.myself.shardId = cluster.server.randomHex(40);
    }
    return OK;
  }
  const { myself } = cluster;
  const primary = named(cluster, wordAt(argv, 2));
  if (primary === myself) fail("ERR Can't replicate myself");
  if (primary.isReplica) fail('ERR I can only replicate a master, not a replica.');
  if (myself.isPrimary && (myself.slots.size > 0 || cluster.hasAnyKeys)) {
    fail('ERR To set a master the node must be empty and without assigned slots.');
  }
  if (myself.primary !== primary) followPrimary(cluster, primary);
  cluster.due.state = true;
  cluster.due.store = true;
  return OK;
}

/** REPLICAS: the lines of CLUSTER NODES of a primary's replicas. */
export function listReplicas(cluster: Cluster, argv: readonly Bytes[], client: Client): Reply {
  const primary = named(cluster, wordAt(argv, 2));
  if (primary.isReplica) fail('ERR The specified node is not a master');
  return primary.replicas.map((replica) =>
    describeMember(cluster, replica, portFor(cluster.server, replica, client)),
  );
}

export function countFailureReports(cluster: Cluster, argv: readonly Bytes[]): Reply {
  return countReports(cluster, named(cluster, wordAt(argv, 2)));
}

/** Takes a new configuration epoch without asking. Returns false if the node has the highest already. */
export function bumpEpoch(cluster: Cluster): boolean {
  const { myself } = cluster;
  const highest = [...cluster.members.values()].reduce(
    (most, { configEpoch }) => Math.max(most, configEpoch),
    cluster.currentEpoch,
  );
  if (myself.configEpoch !== 0 && myself.configEpoch === highest) return false;
  cluster.currentEpoch = highest + 1;
  myself.configEpoch = cluster.currentEpoch;
  cluster.due.store = true;
  return true;
}

/** BUMPEPOCH. */
export function bump(cluster: Cluster): Reply {
  const changed = bumpEpoch(cluster);
  return new SimpleString(`${changed ? 'BUMPED' : 'STILL'} ${cluster.myself.configEpoch}`);
}

/** SET-CONFIG-EPOCH. */
export function setEpoch(cluster: Cluster, argv: readonly Bytes[]): Reply {
  const text = wordAt(argv, 2);
  const epoch = integer(text);
  if (epoch < 0) fail(`ERR Invalid config epoch specified: ${text}`);
  if (cluster.members.size > 1) {
    fail('ERR The user can assign a config epoch only when the node does not know any other node.');
  }
  if (cluster.myself.configEpoch !== 0) fail('ERR Node config epoch is already non-zero');
  cluster.myself.configEpoch = epoch;
  cluster.currentEpoch = Math.max(cluster.currentEpoch, epoch);
  cluster.due.state = true;
  cluster.due.store = true;
  return OK;
}

/** Throws when there are words after the one option of RESET or FAILOVER. */
function refuseMore(argv: readonly Bytes[]): void {
  if (argv.length <= 3) return;
  fail(`ERR unknown subcommand or wrong number of arguments for '${argv[1]}'. Try CLUSTER HELP.`);
}

/** RESET: the node forgets the cluster; with HARD its id as well. */
export function reset(cluster: Cluster, argv: readonly Bytes[]): Reply {
  const how = asciiLower(argv[2] ?? 'soft');
  refuseMore(argv);
  if (how !== 'hard' && how !== 'soft') fail(SYNTAX);
  const { myself, server } = cluster;
  if (myself.isPrimary && cluster.hasAnyKeys) {
    fail("ERR CLUSTER RESET can't be called with master nodes containing keys");
  }
  leavePrimary(cluster);
  cluster.migrating.clear();
  cluster.importing.clear();
  cluster.endHandover();
  for (const slot of cluster.owners.keys()) cluster.release(slot);
  for (const member of [...cluster.members.values()]) if (member !== myself) cluster.remove(member);
  if (how === 'hard') {
    cluster.currentEpoch = 0;
    myself.configEpoch = 0;
    cluster.lastVoteEpoch = 0;
    cluster.rename(myself, server.randomHex(40));
    myself.shardId = server.randomHex(40);
  }
  cluster.due.state = true;
  cluster.due.store = true;
  return OK;
}

/**
 * FAILOVER: this replica takes over; FORCE without the consent of its primary, TAKEOVER without anybody's. A primary that
 * ends names the replica that is to take over.
 */
export function failover(cluster: Cluster, argv: readonly Bytes[], client?: Client): Reply {
  const { passesOn } = cluster.server.dialect.cluster;
  if (!passesOn) refuseMore(argv);
  let how: '' | 'force' | 'takeover' = '';
  for (let at = 2; at < argv.length; at++) {
    const word = asciiLower(argv[at] ?? '');
    if (word === 'takeover') how = word;
    else if (word === 'force') how ||= word;
    else if (word === 'replicaid' && passesOn && client?.has(PRIMARY_LINK) && at + 1 < argv.length) {
      if (argv[++at] !== cluster.myself.id) return OK;
    } else fail(SYNTAX);
  }
  const { myself } = cluster;
  const { primary } = myself;
  if (myself.isPrimary) fail('ERR You should send CLUSTER FAILOVER to a replica');
  if (primary === undefined) return fail("ERR I'm a replica but my master is unknown to me");
  if ((primary.has(FAILED) || primary.link === undefined) && how === '') {
    fail('ERR Master is down or failed, please use CLUSTER FAILOVER FORCE');
  }
  cluster.endHandover();
  const until = cluster.now + cluster.server.settings['cluster-manual-failover-timeout'];
  if (how === 'takeover') {
    bumpEpoch(cluster);
    replacePrimary(cluster);
  } else {
    cluster.handover = { until, replica: undefined, offset: undefined, isReady: how === 'force' };
    if (how === '') send(cluster, primary.link, 'mfstart');
    cluster.due.takeover = true;
  }
  return OK;
}
