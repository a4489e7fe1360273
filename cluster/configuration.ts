/**
 * nodes.conf: what a node knows of its cluster, in the format of redis-server. It is written after every change, so that
 * a node that restarts keeps its id, its slots and its vote.
 */
import { type Bytes, parseSafeInteger } from '../protocol/bytes.ts';
import type { Cluster } from './cluster.ts';
import { describeMember } from './commands/describe.ts';
import {
  FAILED,
  HANDSHAKE,
  type Member,
  MYSELF,
  NO_ADDRESS,
  NO_FAILOVER,
  PRIMARY,
  REPLICA,
  SUSPECTED,
} from './member.ts';
import { fromBus, toBus } from './ports.ts';

const FLAGS: Readonly<Record<string, number>> = {
  myself: MYSELF,
  master: PRIMARY,
  slave: REPLICA,
  'fail?': SUSPECTED,
  fail: FAILED,
  handshake: HANDSHAKE,
  noaddr: NO_ADDRESS,
  nofailover: NO_FAILOVER,
};

/** The content of nodes.conf. */
function linesOf(cluster: Cluster): Bytes {
  const lines = [...cluster.members.values()]
    .filter((member) => !member.has(HANDSHAKE))
    .map((member) => withShard(cluster, member));
  lines.push(`vars currentEpoch ${cluster.currentEpoch} lastVoteEpoch ${cluster.lastVoteEpoch}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** A line of CLUSTER NODES, with the id of the shard where the dialect knows shards. */
function withShard(cluster: Cluster, member: Member): Bytes {
  if (!cluster.server.dialect.cluster.hasShards) {
    return describeMember(cluster, member, toBus(cluster.server, member).port);
  }
  const line = describeMember(cluster, member, member.port);
  const [id = '', address = '', ...rest] = line.split(' ');
  const named = address.includes(',') ? address : `${address},`;
  return [id, `${named},tls-port=${member.tlsPort},shard-id=${member.shardId}`, ...rest].join(' ');
}

function numberOf(text: Bytes | undefined): number {
  return parseSafeInteger(text ?? '') ?? 0;
}

/** Applies the content of nodes.conf to a node that knows nobody yet. */
function load(cluster: Cluster, text: Bytes): void {
  const lines = text.split('\n').filter((line) => line !== '');
  const words = lines.map((line) => line.split(' '));
  const own = words.find((line) => line[2]?.split(',').includes('myself'));
  if (own?.[0] !== undefined) cluster.rename(cluster.myself, own[0]);
  const known = (id: Bytes): Member => cluster.members.get(id) ?? cluster.add(id, 0);
  for (const line of words) {
    const [id = '', address = '', flags = '', primary = '-', , , epoch, , ...slots] = line;
    if (id === 'vars') {
      cluster.currentEpoch = numberOf(line[2]);
      cluster.lastVoteEpoch = numberOf(line[4]);
      continue;
    }
    const member = known(id);
    member.flags = flags.split(',').reduce((all, name) => all | (FLAGS[name] ?? 0), 0);
    readAddress(cluster, member, address);
    if (primary !== '-') member.follow(known(primary));
    if (member.isPrimary) member.configEpoch = numberOf(epoch);
    for (const range of slots) readSlots(cluster, member, range, known);
  }
  // Redis keeps the highest epoch, whatever the last line says.
  for (const { configEpoch } of cluster.members.values()) {
    cluster.currentEpoch = Math.max(cluster.currentEpoch, configEpoch);
  }
}

function readAddress(cluster: Cluster, member: Member, text: Bytes): void {
  const [place = '', hostname = '', ...about] = text.split(',');
  const [, ip = '', port, busPort] = /^(.*):(\d+)@(\d+)$/.exec(place) ?? [];
  const fields = new Map(about.map((each) => each.split('=') as [Bytes, Bytes]));
  const [named, plain, secure] = [numberOf(port), fields.get('tcp-port'), fields.get('tls-port')];
  const ports =
    plain === undefined && secure === undefined
      ? fromBus(cluster.server, { port: named, otherPort: 0 })
      : {
          port: plain === undefined ? named : numberOf(plain),
          tlsPort: secure === undefined ? named : numberOf(secure),
        };
  member.settle(ip, ports, numberOf(busPort));
  member.hostname = hostname;
  member.shardId = fields.get('shard-id') ?? member.shardId;
}

function readSlots(cluster: Cluster, member: Member, text: Bytes, known: (id: Bytes) => Member): void {
  const open = /^\[(\d+)-([<>])-([0-9a-f]+)\]$/.exec(text);
  if (open !== null) {
    const [, slot, direction, id = ''] = open;
    const slots = direction === '>' ? cluster.migrating : cluster.importing;
    slots.set(numberOf(slot), known(id));
    return;
  }
  const [first, last] = text.split('-');
  for (let slot = numberOf(first); slot <= numberOf(last ?? first); slot++) cluster.assign(slot, member);
}

/** Keeps the view of the cluster in a file of the host's disk: reads it if it exists, and writes it after each change. */
export function keepIn(cluster: Cluster, file: string): void {
  const { disk } = cluster.host;
  const text = disk.read(file);
  if (text !== undefined && text !== '') load(cluster, text);
  const store = (): string | undefined => {
    try {
      disk.write(file, linesOf(cluster));
      disk.sync(file);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  cluster.store = store;
  if (text === undefined || text === '') store();
}
