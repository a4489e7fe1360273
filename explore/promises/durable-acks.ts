/** The promise that acknowledged writes outlive failovers. */
import type { LockPromise } from './promise.ts';

export const durableAcks: LockPromise = {
  sentence: 'acknowledged writes outlive failovers, which no asynchronous replication keeps',
  nothing: 'without failovers and restarts',
  hasCase: ({ faults }) => faults.some(({ kind }) => /^(?:failover|restart|promote)/.test(kind)),
  broken: 'Durability is broken',
  onRequest: true,
  *ofHistory({ lost: [first] }) {
    if (first === undefined) return;
    const { client, node, command, at } = first;
    yield { at, what: `${client ?? node}'s ${command.join(' ')} was acknowledged and then lost`, visits: [] };
  },
};
