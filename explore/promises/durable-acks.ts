/** The promise that acknowledged writes outlive failovers. */
import type { LockPromise } from './promise.ts';

export const durableAcks: LockPromise = {
  sentence:
    'acknowledged writes outlive failovers. Not checked by default: no asynchronous replication keeps it',
  broken: 'Durability is broken',
  onRequest: true,
  *ofHistory({ lost: [first] }) {
    if (first === undefined) return;
    const { client, node, command, at } = first;
    yield { at, what: `${client ?? node}'s ${command.join(' ')} was acknowledged and then lost`, visits: [] };
  },
};
