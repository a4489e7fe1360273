/** What LAB answers: nodes, lost writes and failovers as maps. */
import { type Bytes, fromText } from '../../protocol/bytes.ts';
import { MapReply, type Reply } from '../../protocol/reply.ts';
import type { LockHolder, LockOverlap } from '../account/queries.ts';
import type { RealClockNode } from '../real-clock/node.ts';
import type { Failover } from '../replica-group/replica-group.ts';
import type { Write } from '../replica-group/write-log.ts';

/** What a node's process does. */
export type NodeState = 'up' | 'paused' | 'down';

/** What the node's process does. */
export function stateOf({ up, paused }: RealClockNode): NodeState {
  if (!up) return 'down';
  return paused ? 'paused' : 'up';
}

/**
 * The entry of a node in LAB NODES. Its role is what the node itself believes, which a client may have changed with REPLICAOF.
 * @param isPrimary whether the lab takes a node that is down for the primary
 */
export function nodeReply(node: RealClockNode, isPrimary: boolean): Reply {
  const { name, port, server } = node;
  const state = stateOf(node);
  const leads = state === 'down' ? isPrimary : server.role === 'primary';
  const fields = { name: fromText(name), role: leads ? 'primary' : 'replica', state, port };
  return new MapReply([...Object.entries(fields).flat(), 'offset', server.replication.offset]);
}

/** A write that a failover lost. */
export function writeReply({ kind, db, key, type, holder, client, offset, command }: Write): Reply {
  const fields: [Bytes, Reply][] = [
    ['kind', kind],
    ['db', db],
    ['key', key],
    ['type', type],
    ['holder', holder ?? null],
    ['client', client === undefined ? null : fromText(client)],
    ['offset', offset],
    ['command', [...command]],
  ];
  return new MapReply(fields.flat());
}

/** What a failover did, and which acknowledged writes it lost. */
export function failoverReply({ from, to, offset, oldOffset, lost, unanswered, complete }: Failover): Reply {
  const fields: [Bytes, Reply][] = [
    ['from', fromText(from)],
    ['to', fromText(to)],
    ['offset', offset ?? null],
    ['old-offset', oldOffset],
    ['lost', lost.map(writeReply)],
    ['unanswered', unanswered.map(writeReply)],
    ['complete', complete ? 1 : 0],
  ];
  return new MapReply(fields.flat());
}

/** A client in LAB HOLDERS. Times are in whole milliseconds since the lab began. */
export function holderReply({
  lock,
  client,
  token,
  from,
  until,
  believes,
  granted,
  shared,
  inside,
}: LockHolder): Reply {
  const fields: [Bytes, Reply][] = [
    ['lock', lock],
    ['client', fromText(client)],
    ['token', token ?? null],
    ['from', Math.round(from)],
    ['until', until === null ? null : Math.round(until)],
    ['believes', believes ? 1 : 0],
    ['granted', granted ? 1 : 0],
    ['shared', shared ? 1 : 0],
    ['inside', inside === true ? 1 : 0],
  ];
  return new MapReply(fields.flat());
}

/** A time in LAB OVERLAPS. */
export function overlapReply({ lock, clients, from, to, inside }: LockOverlap): Reply {
  const fields: [Bytes, Reply][] = [
    ['lock', lock],
    ['clients', clients.map(fromText)],
    ['from', Math.round(from)],
    ['to', Math.round(to)],
    ['inside', inside === true ? 1 : 0],
  ];
  return new MapReply(fields.flat());
}
